package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"ibid"
)

// indexed writes documents as an index and returns its path.
func indexed(t *testing.T, docs []ibid.Document) string {
	t.Helper()
	d, err := LoadDocuments(t.Context(), documentList(docs), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	path := filepath.Join(t.TempDir(), "documents.index")
	if err := d.WriteIndex(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// placesIn resolves citations into documents, each with and without a page.
func placesIn(t *testing.T, d *Documents) (places []ibid.Place) {
	t.Helper()
	r := NewResolver(d.View(0), Conventions{Checks: allChecks})
	row := ibid.Answer{ID: "q", HasCitations: true}
	for i := range testSource {
		for _, page := range []ibid.Integer{{}, some(2)} {
			row.Citations = append(row.Citations, ibid.Citation{Doc: testSource[i].Doc, Page: page, Start: some(1), End: some(7)})
		}
	}
	r.Resolve(&row)
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	for i := range row.Citations {
		places = append(places, row.Citations[i].Place)
	}
	return places
}

// TestIndex: documents of an index are those that it was made of: their texts, pages and
// blocks, and the places that citations get in them.
func TestIndex(t *testing.T) {
	first, err := LoadDocuments(t.Context(), documentList(testSource), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	path := indexed(t, testSource)
	d, err := OpenIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !IsIndex(path) || IsIndex(filepath.Join(t.TempDir(), "none")) || d.Len() != first.Len() {
		t.Errorf("%d documents, want %d", d.Len(), first.Len())
	}
	for i := range testSource {
		name := testSource[i].Doc
		want, known, err := first.View(0).Text(name)
		got, ok, e := d.View(0).Text(name)
		if err != nil || e != nil || ok != known || ok && got.String() != want.String() {
			t.Errorf("%s: %v, %v, known %t, want %t", name, err, e, ok, known)
		}
	}
	if got, want := placesIn(t, d), placesIn(t, first); !reflect.DeepEqual(got, want) {
		t.Errorf("places\n%+v\nwant\n%+v", got, want)
	}
	names, err := d.Names()
	if err != nil || names.own[NormalName(plainDoc.Doc)] != plainDoc.Doc {
		t.Errorf("names %v, %v", names, err)
	}
	two, err := OpenIndex(indexed(t, []ibid.Document{withText("A", "x"), withText("./a", "y")}))
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if _, err := two.Names(); err == nil {
		t.Error("two documents have one normal name")
	}
}

// TestDamagedIndex: an index with any byte changed, or cut anywhere, is refused with what to
// do, or has every text that it gives as it was.
func TestDamagedIndex(t *testing.T) {
	good, err := os.ReadFile(indexed(t, testSource))
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for i := range testSource {
		texts[testSource[i].Doc] = testSource[i].Text
	}
	path := filepath.Join(t.TempDir(), "bad.index")
	refused, unread := 0, 0
	try := func(what string, at int, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		d, err := OpenIndex(path)
		if err != nil {
			refused++
			if hint, _ := ibid.Advice(err); !errors.Is(err, errDamagedIndex) || hint == "" {
				t.Errorf("%s %d: %v, hint %q", what, at, err, hint)
			}
			return
		}
		defer d.Close()
		for i := range testSource {
			if !testSource[i].HasText {
				continue
			}
			text, ok, err := d.View(0).Text(testSource[i].Doc)
			switch {
			case err != nil:
				unread++
			case !ok || text.String() != texts[testSource[i].Doc]:
				t.Errorf("%s %d: %s has another text", what, at, testSource[i].Doc)
			}
		}
	}
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 0x20
		try("changed at", at, bad)
		try("cut at", at, good[:at])
	}
	if refused < len(good) || unread == 0 {
		t.Errorf("%d of %d were refused, and %d texts not read", refused, 2*len(good), unread)
	}
}
