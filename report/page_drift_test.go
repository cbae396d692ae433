package report

import (
	"fmt"
	"strings"
	"testing"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
)

// driftOf is a drift of that many verdicts, out of 300.
func driftOf(lost int, moved bool) *compare.Drift {
	d := &compare.Drift{
		Base: "monday", New: "tuesday", Rows: 300, Verdicts: 300, OneSided: 2, Lost: int64(lost), P: new(0.5), Test: "t", Level: 0.95, Moved: moved,
		Agreement: []compare.DriftAgreement{{Kind: "claim support", Before: compare.AgreementRates{Items: 300, Sensitivity: new(0.9)}, After: compare.AgreementRates{Items: 300, Sensitivity: new(0.8)}}},
	}
	for i := range lost {
		d.Flipped = append(d.Flipped, compare.Flipped{
			ID: fmt.Sprintf("a%03d", i), System: "<s>", Claim: new(int64(i)), Text: "<b>The pier\u202e</b>", Before: 1, LabelBase: "full", LabelAfter: "none",
		})
	}
	return d
}

// TestPageDrift: the judge's section says whether the judge moved, lists what
// flipped, and lists it where there is no comparison, too.
func TestPageDrift(t *testing.T) {
	p := twins().page(t, PageOptions{NotCompared: "the judge moved", Drifts: []*compare.Drift{driftOf(60, true)}})
	if len(view[judgeView](p).Drifts) != 1 {
		t.Fatalf("drifts %+v", view[judgeView](p).Drifts)
	}
	d := view[judgeView](p).Drifts[0]
	if d.Word.Code != "moved" || len(d.Flipped) != shownFlips || d.More != "10 more in ibid compare --json" || d.Title != "tuesday against monday" {
		t.Errorf("%+v", d)
	}
	facts := make(map[string]string)
	for _, f := range d.Facts {
		facts[f[0]] = f[1]
	}
	for name, want := range map[string]string{
		"verdicts on anchors": "300 on 300", "became supported": "0", "became unsupported": "60", "flipped": "20 %",
		"judged in one run only": "2", "claim support, sensitivity": "0.900 → 0.800", "claim support, specificity": "– → –",
	} {
		if facts[name] != want {
			t.Errorf("%s = %q, want %q", name, facts[name], want)
		}
	}
	html := writePage(t, p)
	for _, want := range []string{`href="#judge"`, "<bdi>a000/&lt;s&gt; claim 0</bdi>", "&lt;b&gt;The pier\ufffd&lt;/b&gt;", "<details open><summary>verdicts on anchors that flipped"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %s", want)
		}
	}

	r := pairOf()
	r.Drifts = []*compare.Drift{driftOf(1, false), {Base: "monday", New: "bare", Unchecked: "bare has no anchors"}}
	p = twins().page(t, PageOptions{Comparison: r})
	if len(view[judgeView](p).Drifts) != 2 || view[judgeView](p).Drifts[0].Word.Code != "steady" || view[judgeView](p).Drifts[1].Word.Code != "unchecked" || view[judgeView](p).Drifts[1].Facts != nil {
		t.Errorf("%+v", view[judgeView](p).Drifts)
	}
	if html := writePage(t, p); !strings.Contains(html, "<details><summary>verdicts on anchors that flipped") {
		t.Error("the flip of a judge that did not move is not folded away")
	}
}

// TestPageAnchors: a run says what its anchors are, and how far its judge agrees on
// them with people.
func TestPageAnchors(t *testing.T) {
	f := twins()
	f.manifest.Anchors = &runs.AnchorsRecord{
		Rows: 300, Claims: 320, SpentUSD: new(0.0123), Agreement: []runs.AnchorsAgreement{{Kind: "claim support", BothYes: 9, HumanOnly: 1, JudgeOnly: 2}},
	}
	p := f.page(t, PageOptions{})
	if len(view[judgeView](p).Runs) != 1 {
		t.Fatalf("judges %+v", view[judgeView](p).Runs)
	}
	text := fmt.Sprint(view[judgeView](p).Runs[0].Facts)
	for _, want := range []string{"[anchors 300 rows with 320 claims]", "[cost of the anchors $0.0123]", "[anchors, claim support sensitivity 0.900, specificity 0.000 (12 labels)]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s has no %s", text, want)
		}
	}
}
