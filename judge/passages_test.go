package judge_test

import (
	"strings"
	"testing"

	"ibid"
	"ibid/judge"
)

// TestUncited finds the passages with the largest shares of a claim, without those that it
// cites, and none twice.
func TestUncited(t *testing.T) {
	text := "The mill burned in June. Water is wet. The mill was built of oak by Anna. Oak grows slowly."
	cited := int32(strings.Index(text, "Water"))
	r := &judge.Request{
		Claims: []ibid.Claim{
			{Text: "Anna built the mill of oak.", Citations: []int32{0}},
			{Text: "Was it?", Citations: []int32{0}},
			{Text: "Nobody knows zebras."},
		},
		Evidence: []judge.Evidence{{Citation: 0, Text: "The mill burned in June."}, {Citation: 1, Text: "Anna likes oak."}},
		Sources:  []judge.Source{{Doc: "d", Page: 2, Text: text, Cited: []judge.Interval{{Start: 0, End: cited, Citation: 0}}}},
	}
	l := judge.NewLexical()
	if got := l.Factual(r); got[0] != ibid.Yes || got[1] != ibid.No || got[2] != ibid.Yes {
		t.Errorf("factual: %v", got)
	}
	found := l.Uncited(r, []int{0, 2}, 3)
	var texts []string
	for _, p := range found[0] {
		texts = append(texts, p.Text)
		switch {
		case p.Place != nil && (p.Evidence != -1 || p.Place.Doc != "d" || p.Place.Page != 2 || string([]rune(text)[p.Place.Start:p.Place.End]) != p.Text):
			t.Errorf("%q at %+v", p.Text, *p.Place)
		case p.Place == nil && (p.Evidence != 1 || string([]rune(r.Evidence[1].Text)[p.At.Start:p.At.End]) != p.Text):
			t.Errorf("%q in evidence %d at %+v", p.Text, p.Evidence, p.At)
		}
	}
	want := "The mill was built of oak by Anna|Anna likes oak|Oak grows slowly"
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if len(found[1]) != 0 {
		t.Errorf("nothing has a word of the third claim: %+v", found[1])
	}
	if got := l.Uncited(r, []int{0}, 1); len(got[0]) != 1 || got[0][0].Text != texts[0] {
		t.Errorf("the best alone: %+v", got)
	}
}
