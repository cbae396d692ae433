package report

import (
	"strings"
	"testing"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// disputed is a run with a disagreement on places and one on labels, and three
// annotators, of whom cy saw neither item.
func disputed(t *testing.T) RunData {
	t.Helper()
	data := harbour().run(t)
	if err := runs.Agreement.Write(data.Dir, agreementRows()); err != nil {
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

func TestPageShowsDisagreements(t *testing.T) {
	p, err := newPage(t.Context(), PageOptions{}, disputed(t))
	if err != nil {
		t.Fatal(err)
	}
	agreement := doc.FormatText(doc.TextOptions{Width: 200, All: true}, docView(t, p, "agreement"))
	const want = `
q1 Jaccard 0.400
How much cargo?
report

ada [20, 38)
  The harbour handled {4.2 million}[ tonn]{es}. 😀 The quay cost 84 million.
ben [16, 31) and [36, 38)
  The harbour hand[led ]{4.2 million} tonn{es}. 😀 The quay cost 84 million.

<cy> did not see it.
`
	if !strings.Contains(agreement, want) {
		t.Errorf("no%s in\n%s", want, agreement)
	}
	// Who looked and marked nothing is there; who marked another text is, too.
	for _, want := range []string{
		"<cy> marked nothing in this text\n", "ben looked and marked nothing\n", "q2/beta claim c1 support 33 % of the pairs agree\n", "“Nothing.”\n", "- ada said 1\n- ben said 0\n- the judge some/model said 0.250\n", "gone no two agree\n",
	} {
		if !strings.Contains(agreement, want) {
			t.Errorf("no %q in\n%s", want, agreement)
		}
	}
	html := writePage(t, p)
	for _, want := range []string{`<a href="#row=q1/alpha"><bdi>q1</bdi></a>`, `<mark class="t all"><span class="sr">(marked by all: </span>4.2 million<span class="sr">)</span></mark>`, "<h3><bdi>gone</bdi>"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestDisagreementsWithoutTexts(t *testing.T) {
	data := disputed(t)
	data.Texts = nil
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	if html := writePage(t, p); !strings.Contains(html, "[16, 31) and [36, 38): the text is not at hand") || !strings.Contains(html, "looked and marked nothing") {
		t.Error("the page does not say that texts are missing")
	}
}

func TestLongMarksAreShortened(t *testing.T) {
	long := strings.Repeat("0123456789", 100)
	blocks := disputedTexts([]annotations.Passage{{Annotator: "ada", Doc: "d", Start: 0, End: 1000}, {Annotator: "ben", Doc: "d", Start: -1, End: -1}},
		func(string, int32) (string, bool) { return long, true })
	panels := blocks[1].(doc.Panels)
	text := panels[0].Text[0].Text
	if !strings.Contains(text, " … ") || len(text) > 500 || !strings.HasPrefix(text, long[:stretchStart]) || !strings.HasSuffix(text, long[:stretchEnd]) {
		t.Errorf("a mark of 1,000 characters is shown as %q", text)
	}
	if p := panels[1]; p.Below != "marked a place that is not in this text" {
		t.Errorf("a mark without a place = %+v", p)
	}
}
