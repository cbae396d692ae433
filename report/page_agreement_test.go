package report

import (
	"strings"
	"testing"

	"ibid/dataset/runs"
)

// three annotators, and what they agree on.
func agreementRows() []runs.AgreementRow {
	pair := func(names string, v *float64) runs.AgreementRow {
		return runs.AgreementRow{Statistic: "char_jaccard", Kind: runs.SpanAgreement, Annotators: names, Items: 12, Documents: 6, Estimate: v, Level: 0.95}
	}
	return []runs.AgreementRow{
		{Statistic: "char_alpha", Kind: runs.SpanAgreement, Annotators: runs.AllAnnotators, Items: 20, Documents: 8, Estimate: new(0.7), Low: new(0.6), High: new(0.82), Level: 0.95, Target: new(0.8), Verdict: "undecided", Need: new(int64(29))},
		{Statistic: "char_f1", Kind: runs.SpanAgreement, Annotators: runs.AllAnnotators, Items: 20, Documents: 8, Estimate: new(0.8), Level: 0.95},
		{Statistic: "char_jaccard", Kind: runs.SpanAgreement, Annotators: runs.AllAnnotators, Slice: "lang=en", Items: 20, Documents: 8, Estimate: new(0.1), Level: 0.95},
		pair("ada|ben", new(0.9)), pair("ada|<cy>", new(0.25)), pair("ben|<cy>", nil),
	}
}

func TestPageShowsAgreement(t *testing.T) {
	data := twins().run(t)
	if err := runs.Agreement.Write(data.Dir, agreementRows()); err != nil {
		t.Fatal(err)
	}
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	html := writePage(t, p)
	for _, want := range []string{
		"about 29 items would decide", `<line class="zero" y1="0" y2="22" x1="80.00%" x2="80.00%"/>`, "<bdi>0.700</bdi>", "[0.600, 0.820]",
		"char_jaccard of marked places", `<td class="heat9 num"><bdi>0.900</bdi></td>`, `<td class="heat2 num"><bdi>0.250</bdi></td>`, "ada and &lt;cy&gt;",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(html, "lang=en") {
		t.Error("the page has a slice by tag")
	}
	if html := writePage(t, twins().page(t, PageOptions{})); strings.Contains(html, "h-agreement") {
		t.Error("a run with one annotator has a section on agreement")
	}
}
