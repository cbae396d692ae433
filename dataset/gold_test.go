package dataset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ibid"
)

// TestGoldElements: what is kept encoded comes back as it was, each answer's own and in
// the order of the table.
func TestGoldElements(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "ünï", "q-1", strings.Repeat("long ", 200)}
	text := func() string { return texts[rng.IntN(len(texts))] }
	integer := func() ibid.Integer {
		return [...]ibid.Integer{{}, ibid.Some(int64(0)), ibid.Some(int64(-3)), ibid.Some(int64(1) << 40)}[rng.IntN(4)]
	}
	for _, group := range []int{groupTruth, groupLabels} {
		r := newGoldReader(group)
		g := r.gold
		want := make(map[[2]string][]goldElement)
		for range 300 {
			e := goldElement{id: fmt.Sprint("q", rng.IntN(40)), system: fmt.Sprint("s", rng.IntN(2))}
			if group == groupTruth {
				e.system = "default"
				e.mark = ibid.Mark{DocNull: true}
				switch rng.IntN(3) {
				case 0:
					e.empty = true
				case 1:
					if e.mark.Doc = text(); e.mark.Doc != "" {
						e.mark.DocNull = false
					}
					fallthrough
				default:
					m := &e.mark
					m.Annotator, m.Page, m.Start, m.End, m.Unit, m.CitedText, m.ClaimID = text(), ibid.SomeIf(int64(7), rng.IntN(2) == 0), integer(), integer(), text(), text(), text()
					if !m.Page.Known() {
						m.Page = ibid.Integer{}
					}
				}
			} else {
				e.mark.DocNull = true // there is no mark
				e.label = ibid.Label{Annotator: text(), ClaimID: text(), CitationID: text(), Kind: ibid.SupportLabel, Value: ibid.SomeIf(rng.Float64(), rng.IntN(2) == 0)}
				if !e.label.Value.Known() {
					e.label.Value = ibid.Number{}
				}
				e.claimText, e.claimStart, e.claimEnd = text(), integer(), integer()
			}
			if err := r.add(&e); err != nil {
				t.Fatal(err)
			}
			key := [2]string{e.id, e.system}
			want[key] = append(want[key], e)
		}
		r.finish()
		for key, elements := range want {
			var got []goldElement
			g.each(key[0], key[1], func(_ int, e *goldElement) {
				e.encoded = ""
				e.system = key[1] // truth has none
				got = append(got, *e)
			})
			if !reflect.DeepEqual(got, elements) {
				t.Fatalf("%v:\ngot  %+v\nwant %+v", key, got, elements)
			}
		}
		g.each("q1000", "s0", func(int, *goldElement) { t.Error("an element of another answer") })
	}
}

// FuzzGold: no table of labels or truth makes the reader panic, and what it takes can be
// found by its id.
func FuzzGold(f *testing.F) {
	f.Add(".csv", "id,doc,start,end\nq1,a,0,1\n")
	f.Add(".csv", "id,truth\nq1,\"[{}]\"\n")
	f.Add(".jsonl", `{"id": "q1", "truth": [{"doc": "a", "start": 1.0}]}`)
	f.Add(".jsonl", `{"id": 7, "doc": "a", "page": 99999999999}`)
	f.Add(".jsonl", `{"id": "q1", "claim_text": "x", "kind": "support", "value": true}`)
	f.Fuzz(func(t *testing.T, ext, table string) {
		if ext != ".csv" && ext != ".jsonl" {
			t.Skip()
		}
		path := filepath.Join(t.TempDir(), "gold"+ext)
		if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(string) (*Gold, error){OpenTruth, openLabels} {
			g, err := open(path)
			if err != nil {
				continue
			}
			for k := range g.entries {
				e, found := g.element(k), false
				g.each(e.id, e.system, func(other int, _ *goldElement) { found = found || other == k })
				if !found {
					t.Errorf("element %d is not found by its id %q", k, e.id)
				}
			}
		}
	})
}

func openLabels(pattern string) (*Gold, error) { return OpenLabels(pattern, nil) }

// TestGoldOfSeveral: a table of one opinion in place of several replaces what rows have
// themselves, and any other one is refused.
func TestGoldOfSeveral(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.parquet")
	w, err := NewWriter(rows, "document")
	if err != nil {
		t.Fatal(err)
	}
	mark := func(who string, end int64) ibid.Mark {
		return ibid.Mark{Annotator: who, Doc: "d", Start: ibid.Some[int64](0), End: ibid.Some(end)}
	}
	label := func(who string, v float64) ibid.Label {
		return ibid.Label{Annotator: who, Kind: ibid.SupportLabel, Value: ibid.Some(v)}
	}
	for _, id := range []string{"a", "b"} {
		err := w.Write(&ibid.Answer{
			ID: id, System: "s", Query: "?", Answer: "!", HasTruth: true, HasLabels: true,
			Truth: []ibid.Mark{mark("ada", 5), mark("ben", 9)}, Labels: []ibid.Label{label("ada", 0), label("ben", 1)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	read := func(annotator string) ([]ibid.Answer, error) {
		t.Helper()
		path := filepath.Join(dir, annotator+".jsonl")
		text := fmt.Sprintf(`{"id":"a","truth":[{"doc":"d","start":0,"end":7,"annotator":%[1]q}]}
{"id":"a","system":"s","labels":[{"kind":"support","value":0.5,"annotator":%[1]q}]}
`, annotator)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		truth, err := OpenTruth(path)
		if err != nil {
			t.Fatal(err)
		}
		labels, err := OpenLabels(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		source, err := Open(rows, ReadOptions{Want: WantAll})
		if err != nil {
			t.Fatal(err)
		}
		source = source.Join(truth, labels)
		if _, err := source.CheckJoin(t.Context(), Conventions{}, nil); err != nil {
			return nil, err
		}
		var out []ibid.Answer
		err = source.Read(t.Context(), 0, 10, func(b *Batch) error {
			defer b.Release()
			for i := range b.Len() {
				var row ibid.Answer
				b.Row(i, &row)
				out = append(out, row)
			}
			return nil
		})
		return out, err
	}
	got, err := read(ibid.Adjudicated)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got[0], got[1]; len(a.Truth) != 1 || a.Truth[0].End.Value != 7 || len(a.Labels) != 1 || a.Labels[0].Value.Value != 0.5 || len(b.Truth) != 2 || len(b.Labels) != 2 {
		t.Errorf("a has %v and %v, b %v and %v", a.Truth, a.Labels, b.Truth, b.Labels)
	}
	if _, err := read("cyd"); err == nil || !strings.Contains(err.Error(), "has truth of its own") {
		t.Errorf("another annotator: %v", err)
	}
}
