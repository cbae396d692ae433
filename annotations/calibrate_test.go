package annotations

import (
	"fmt"
	"math"
	"testing"

	"ibid/metrics/stats"
)

// agreeing are n items, of so many documents, that a judge and people accept and
// as many that both reject.
func agreeing(n, documents int) []Verdict {
	var out []Verdict
	for i := range n {
		for _, v := range []float64{0, 1} {
			out = append(out, Verdict{Item: fmt.Sprint(i, v), Cluster: fmt.Sprint(i % documents), Human: v, Judge: v})
		}
	}
	return out
}

func calibrateOptions() CalibrateOptions {
	return CalibrateOptions{Options: testOptions, Threshold: 0.5, Positive: 0.5, Bins: 10}
}

// TestSharesOfSharedDocuments: where every verdict is right, documents that are
// resampled are all alike, so that only Wilson's interval over the documents says
// how little that proves.
func TestSharesOfSharedDocuments(t *testing.T) {
	c := Calibrate("support", "bot", agreeing(12, 4), calibrateOptions())
	for _, name := range []string{"sensitivity", "specificity", "precision", "negative_predictive_value", "accuracy"} {
		want := stats.Wilson(4, 4, 0.95)
		if r := c.Statistic(name); r.Estimate == nil || *r.Estimate != 1 || r.Low == nil || math.Abs(*r.Low-want.Low) > 1e-12 || *r.High != 1 || len(r.Warnings) == 0 {
			t.Errorf("%s = %+v, want [%v, 1] with a warning", name, r, want.Low)
		}
	}
	alone := Calibrate("support", "bot", agreeing(1, 1), calibrateOptions())
	if r := alone.Statistic("sensitivity"); r.Estimate == nil || r.Low != nil {
		t.Errorf("one document has the interval %+v", r)
	}
	if r := Calibrate("support", "bot", nil, calibrateOptions()).Statistic("sensitivity"); r.Estimate != nil || r.Low != nil {
		t.Errorf("sensitivity of nothing = %+v", r)
	}
}

// TestCurveHasIntervals compares bins of items of their own documents with Wilson.
func TestCurveHasIntervals(t *testing.T) {
	var items []Verdict
	for i := range 30 {
		v := Verdict{Item: fmt.Sprint(i), Cluster: fmt.Sprint("d", i), Judge: 0.35}
		if i%3 == 0 {
			v.Human = 1
		}
		items = append(items, v)
	}
	items = append(items, Verdict{Item: "x", Cluster: "x", Judge: 0.95, Human: 1})
	c := Calibrate("support", "bot", items, calibrateOptions())
	if len(c.EqualWidth) != 2 || c.EqualWidth[0].Index != 3 || c.EqualWidth[0].Count != 30 {
		t.Fatalf("bins = %+v", c.EqualWidth)
	}
	want := stats.Wilson(10, 30, 0.95)
	if b := c.EqualWidth[0]; b.Low == nil || math.Abs(*b.Low-want.Low) > 1e-12 || math.Abs(*b.High-want.High) > 1e-12 {
		t.Errorf("interval %v to %v, want %v to %v", *b.Low, *b.High, want.Low, want.High)
	}
	if b := c.EqualWidth[1]; b.Low != nil || b.PositiveRate != 1 {
		t.Errorf("a bin of one item = %+v", b)
	}
}
