package report

import (
	"strings"
	"testing"

	"ibid/annotations"
	"ibid/dataset/runs"
)

// disputed is a run with a disagreement on places and one on labels, and three
// annotators, of whom cy saw neither item.
func disputed(t *testing.T) RunData {
	t.Helper()
	data := harbour().run(t)
	if err := runs.WriteAgreement(data.Dir, agreementRows()); err != nil {
		t.Fatal(err)
	}
	mark := func(who string, start, end int64) annotations.Passage {
		return annotations.Passage{Annotator: who, Doc: "report", Start: start, End: end}
	}
	err := annotations.WriteDisagreements(data.Dir, []annotations.Disagreement{
		{Kind: runs.SpanAgreement, ID: "q1", Row: 0, Agreement: 0.4, Passages: []annotations.Passage{mark("ada", 20, 38), mark("ben", 16, 31), mark("ben", 36, 38)}},
		{Kind: runs.SpanAgreement, ID: "q2", Row: 1, Agreement: 0, Passages: []annotations.Passage{mark("ada", 0, 11), {Annotator: "ben"}, {Annotator: "<cy>", Doc: "diary", Start: 0, End: 6}}},
		{Kind: runs.LabelAgreement, ID: "q2/beta claim c1 support", Row: 1, Agreement: 1.0 / 3, Text: "Nothing.", Judge: new(0.25), Said: []annotations.Rating{{Annotator: "ada", Value: "1"}, {Annotator: "ben", Value: "0"}}},
		{Kind: runs.LabelAgreement, ID: "gone", Row: 99, Agreement: 0, Said: []annotations.Rating{{Annotator: "ada", Value: "1"}, {Annotator: "ben", Value: "0"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// marksOf writes the stretches of a side: what it marks in brackets, what all mark
// in braces.
func marksOf(s markedSide) string {
	var b strings.Builder
	for _, p := range s.Passages {
		for _, r := range p.Runs {
			switch {
			case r.True && r.Predicted:
				b.WriteString("{" + r.Text + "}")
			case r.True:
				b.WriteString("[" + r.Text + "]")
			default:
				b.WriteString(r.Text)
			}
		}
	}
	return b.String()
}

func TestPageShowsDisagreements(t *testing.T) {
	p, err := newPage(t.Context(), PageOptions{}, disputed(t))
	if err != nil {
		t.Fatal(err)
	}
	marks, said := view[agreementView](p).Runs[0].Marks, view[agreementView](p).Runs[0].Said
	if len(marks) != 2 || len(said) != 2 {
		t.Fatalf("%d disagreements on places, %d on labels", len(marks), len(said))
	}
	first := marks[0]
	if first.Link != "#row=q1/alpha" || first.Question != "How much cargo?" || first.Agreement != "Jaccard 0.400" || first.Unseen != "<cy> did not see it." {
		t.Errorf("disagreement = %+v", first)
	}
	if got, want := marksOf(first.Texts[0].Sides[0]), "The harbour handled {4.2 million}[ tonn]{es}. 😀 The quay cost 84 million."; got != want {
		t.Errorf("ada marked %q, want %q", got, want)
	}
	if got, want := marksOf(first.Texts[0].Sides[1]), "The harbour hand[led ]{4.2 million} tonn{es}. 😀 The quay cost 84 million."; got != want {
		t.Errorf("ben marked %q, want %q", got, want)
	}
	// Who looked and marked nothing is there; who marked another text is, too.
	second := marks[1]
	if len(second.Texts) != 2 || second.Unseen != "" {
		t.Fatalf("second disagreement = %+v", second)
	}
	nothing := make(map[string]string)
	for _, s := range second.Texts[1].Sides {
		nothing[s.Annotator] = s.Nothing
	}
	if nothing["ada"] != "" || nothing["ben"] != "looked and marked nothing" || nothing["<cy>"] != "marked nothing in this text" {
		t.Errorf("nothing is marked by %v", nothing)
	}
	if l := said[0]; l.Agreement != "33 % of the pairs agree" || l.About != "Nothing." || len(l.Said) != 3 || l.Said[2] != (saidLine{"some/model", "0.250", true}) {
		t.Errorf("labels = %+v", l)
	}
	if l := said[1]; l.Link != "" || l.Agreement != "no two agree" {
		t.Errorf("a row that is not there = %+v", l)
	}
	goldenPicture(t, "disagreement.html", "disagreement", first)
}

func TestDisagreementsWithoutTexts(t *testing.T) {
	data := disputed(t)
	data.Texts = nil
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	side := view[agreementView](p).Runs[0].Marks[0].Texts[0].Sides[1]
	if side.Places != "[16, 31) and [36, 38)" || side.Passages != nil {
		t.Errorf("side = %+v", side)
	}
	if html := writePage(t, p); !strings.Contains(html, "The text is not at hand.") || !strings.Contains(html, "looked and marked nothing") {
		t.Error("the page does not say that texts are missing")
	}
}

func TestLongMarksAreShortened(t *testing.T) {
	long := strings.Repeat("0123456789", 100)
	texts := disputedTexts([]annotations.Passage{{Annotator: "ada", Doc: "d", Start: 0, End: 1000}, {Annotator: "ben", Doc: "d", Start: -1, End: -1}},
		func(string, int32) (string, bool) { return long, true })
	text := texts[0].Sides[0].Passages[0].Runs[0].Text
	if !strings.Contains(text, " … ") || len(text) > 500 || !strings.HasPrefix(text, long[:stretchStart]) || !strings.HasSuffix(text, long[:stretchEnd]) {
		t.Errorf("a mark of 1,000 characters is shown as %q", text)
	}
	if s := texts[0].Sides[1]; s.Nothing != "marked a place that is not in this text" || s.Places != "" {
		t.Errorf("a mark without a place = %+v", s)
	}
}
