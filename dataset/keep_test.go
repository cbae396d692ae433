package dataset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"ibid"
	"ibid/metrics/token"
)

// TestFill: filler has the length of what it stands for in every unit, and what is kept is
// as it was.
func TestFill(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	alphabet := []rune("ab \n\té東😀\u0301\u00ad\x00")
	for range 500 {
		text := make([]rune, rng.IntN(60))
		for i := range text {
			text[i] = alphabet[rng.IntN(len(alphabet))]
		}
		var kept []ibid.Stretch
		inside := make([]bool, len(text))
		for range rng.IntN(4) {
			if len(text) == 0 {
				break
			}
			from := rng.IntN(len(text))
			to := from + rng.IntN(len(text)-from+1)
			kept = append(kept, ibid.Stretch{Start: int64(from), End: int64(to)})
			for i := from; i < to; i++ {
				inside[i] = true
			}
		}
		got := []rune(fill(token.NewText(string(text)), kept))
		if len(got) != len(text) {
			t.Fatalf("%q: %d code points of %d", string(text), len(got), len(text))
		}
		for i, c := range text {
			switch {
			case inside[i] && got[i] != c:
				t.Fatalf("%q, kept %v: code point %d is %q", string(text), kept, i, got[i])
			case !inside[i] && (len(string(got[i])) != len(string(c)) || len(utf16.Encode(got[i:i+1])) != len(utf16.Encode(text[i:i+1]))):
				t.Fatalf("%q: filler %q for %q is of another length", string(text), got[i], c)
			case !inside[i] && strings.ContainsRune("ab東é", got[i]):
				t.Fatalf("%q: %q is left at %d", string(text), got[i], i)
			}
		}
	}
}

// TestKeptWriter: rows are read as they were, those with bad values with what was wrong;
// documents have what stands around places and nothing else.
func TestKeptWriter(t *testing.T) {
	dir := t.TempDir()
	long := "secret " + strings.Repeat("x ", 600) + "The tower is 330 metres high. " + strings.Repeat("y ", 600) + "secret"
	at := int64(strings.Index(long, "The tower"))
	r := NewResolver(loadView(t, withText("d", long), withText("never named", "secret")), Conventions{})
	rows, documents := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "documents.parquet")
	w, err := NewKeptWriter(rows, documents, r)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range []ibid.Answer{
		{ID: "good", Query: "How high?", Answer: "330 metres.", HasCitations: true, Citations: []ibid.Citation{{Doc: "d", Start: some(at), End: some(at + 29)}}},
		{ID: "half a span", Answer: "a", HasCitations: true, Citations: []ibid.Citation{{Doc: "d", Start: some(3)}}},
		{ID: "bad before", Answer: "a", Err: errors.New("query: not UTF-8")},
		{ID: "bad page", Answer: "a", HasCitations: true, Citations: []ibid.Citation{{Doc: "d", Page: some(1 << 40)}}},
	} {
		if err := w.Write(&row); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
	}
	if err := w.Skip(&ibid.Answer{ID: "skipped", Answer: "secret", Tags: []ibid.Tag{{Key: "k", Value: "v"}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	source, err := Open(rows, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	err = source.Read(t.Context(), 0, 10, func(b *Batch) error {
		defer b.Release()
		var row ibid.Answer
		for i := range b.Len() {
			b.Row(i, &row)
			told = append(told, fmt.Sprint(row.ID, ": ", row.Answer, " ", row.Err))
		}
		return nil
	})
	want := []string{
		"good: 330 metres. <nil>", "half a span: a citations.end: element 0: null, but start is 3", "bad before: a query: not UTF-8",
		"bad page: a citations.page: element 0: 1099511627776 does not fit into 32 bits", "skipped:  <nil>",
	}
	if err != nil || strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	docs, err := OpenDocuments(documents, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	err = docs.Read(t.Context(), func(d *ibid.Document) error {
		names = append(names, d.Doc)
		if len(d.Text) != len(long) || strings.Contains(d.Text, "secret") || strings.Index(d.Text, "The tower is 330 metres high. ") != int(at) {
			t.Errorf("document %s: %d bytes of %d: %q", d.Doc, len(d.Text), len(long), d.Text)
		}
		return nil
	})
	if err != nil || len(names) != 1 {
		t.Errorf("documents %v, %v", names, err)
	}
}
