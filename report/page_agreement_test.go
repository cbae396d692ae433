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
	if err := runs.WriteAgreement(data.Dir, agreementRows()); err != nil {
		t.Fatal(err)
	}
	p, err := newPage(t.Context(), PageOptions{}, data)
	if err != nil {
		t.Fatal(err)
	}
	if len(view[agreementView](p).Runs) != 1 || len(view[agreementView](p).Runs[0].Lines) != 1 || len(view[agreementView](p).Runs[0].More) != 1 || len(view[agreementView](p).Runs[0].Pairs) != 3 {
		t.Fatalf("agreement = %+v", view[agreementView](p).Runs)
	}
	l := view[agreementView](p).Runs[0].Lines[0]
	if l.Value != "0.700" || l.Word.Tone != toneWarn || l.Word.Short != "undecided: about 29 items would decide" || l.Target != "0.800" || len(l.Strip.Gates) != 1 || l.Strip.Gates[0].X != "80.00%" {
		t.Errorf("line = %+v", l)
	}
	m := view[agreementView](p).Runs[0].Maps[0]
	if len(m.Cells) != 6 || len(m.Rows) != 3 {
		t.Fatalf("map = %+v", m)
	}
	goldenPicture(t, "heat.html", "heat", m)
	if p := twins().page(t, PageOptions{}); view[agreementView](p).Runs != nil || strings.Contains(writePage(t, p), "h-agreement") {
		t.Error("a run with one annotator has a section on agreement")
	}
}
