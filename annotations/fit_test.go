package annotations

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid"
	"ibid/metrics/stats"
)

// TestEqualThresholds, by hand: 0.2 takes both positive items and one negative, 0.6 one and
// none: both are right in three of four.
func TestEqualThresholds(t *testing.T) {
	items := []Verdict{{Judge: 0.7, Human: 1}, {Judge: 0.1}, {Judge: 0.5}, {Judge: 0.3, Human: 1}}
	if l := chooseLimits(SupportScore, items, 0.5); l.Supported == nil || *l.Supported != 0.2 {
		t.Errorf("%+v, want the lower of 0.2 and 0.6", l)
	}
	if l := chooseLimits(SupportScore, items, 0); l.Supported != nil {
		t.Errorf("%v without negative items", *l.Supported)
	}
}

// fittable are n items of as many documents, half of them yes with a score from 0.6 on.
func fittable(n int) []Verdict {
	var out []Verdict
	for i := range n {
		v := Verdict{Item: fmt.Sprint(i), Document: fmt.Sprint("d", i), Judge: 0.4 - float64(i%20)/100}
		if i%2 == 0 {
			v.Judge, v.Human = v.Judge+0.4, 1
		}
		out = append(out, v)
	}
	return out
}

// TestFewLabels: thresholds take ten labels of each side, and ten documents.
func TestFewLabels(t *testing.T) {
	if _, err := Fit(SupportScore, fittable(20), 0.5); err != nil {
		t.Error(err)
	}
	one := fittable(40)
	for i := range one {
		one[i].Document = fmt.Sprint("d", i%9)
	}
	for name, items := range map[string][]Verdict{"19 labels": fittable(19), "9 documents": one, "none": nil} {
		if _, err := Fit(SupportScore, items, 0.5); !errors.As(err, new(NotFittedError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDealt: every document is in one fold, which its own labels did not choose, and another
// document meets the threshold of all.
func TestDealt(t *testing.T) {
	items := fittable(60)
	fitted, err := Fit(SupportScore, items, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, f := range fitted.Folds {
		if len(f.Documents) != 12 {
			t.Errorf("a fold of %d documents", len(f.Documents))
		}
		var others []Verdict
		in := make(map[string]bool)
		for _, d := range f.Documents {
			in[d], seen[d] = true, true
		}
		for _, it := range items {
			if !in[it.Document] {
				others = append(others, it)
			}
		}
		if want := slowThreshold(others, func(Verdict) bool { return true }); *f.Supported != want || *fitted.For(f.Documents[0]).Supported != want {
			t.Errorf("fold %v, want %v", *f.Supported, want)
		}
	}
	if len(seen) != 60 || fitted.For("another") != fitted.Limits {
		t.Errorf("%d documents", len(seen))
	}
}

// TestSureLimits: a limit on overlap is loosened as long as it is surely right in 90 % of cases,
// and what lies between the two is undecided.
func TestSureLimits(t *testing.T) {
	var items []Verdict
	add := func(n int, overlap, human float64) {
		for range n {
			items = append(items, Verdict{Item: fmt.Sprint(len(items)), Document: fmt.Sprint("d", len(items)), Judge: overlap, Human: human})
		}
	}
	add(60, 0.97, 1) // 60 of 60: at least 0.951
	add(40, 0.72, 1)
	add(2, 0.72, 0) // 100 of 102: at least 0.939
	add(20, 0.52, 0)
	add(20, 0.52, 1) // 120 of 142: at least 0.786
	add(40, 0.12, 0) // 40 of 40: at least 0.928
	l := chooseLimits(OverlapScore, items, 0.5)
	if l.Supported == nil || *l.Supported != 0.55 || l.Unsupported == nil || *l.Unsupported != 0.5 {
		t.Fatalf("%+v", l)
	}
	fitted := Thresholds{Of: OverlapScore, Limits: l}
	for overlap, want := range map[float64]ibid.Tri{0.55: ibid.Yes, 0.53: ibid.Unset, 0.5: ibid.No} {
		if got := fitted.Decide("d", overlap); got != want {
			t.Errorf("%v: %v, want %v", overlap, got, want)
		}
	}
	if c := Calibrate("", "lexical", items, CalibrateOptions{Options: testOptions, Threshold: 0.5, Fitted: &fitted}); c.Confusion != (stats.Confusion{TP: 100, FP: 2, TN: 40}) || c.Undecided != 40 || c.Abstains {
		t.Errorf("%+v", c)
	}
	if l := chooseLimits(OverlapScore, items[:29], 0.5); l != (Limits{}) {
		t.Errorf("%+v of 29 labels", l)
	}
	var even []Verdict
	for i := range 100 {
		even = append(even, Verdict{Item: fmt.Sprint(i), Judge: 1, Human: float64(i % 2)})
	}
	if _, err := Fit(OverlapScore, even, 0.5); !errors.As(err, new(NotFittedError)) || !strings.Contains(err.Error(), "no threshold is right in 90 % of cases") {
		t.Error(err)
	}
}

// TestThresholdsFile: what is written is read, and what no program of ours wrote is refused.
func TestThresholdsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	want, err := Fit(SupportScore, fittable(30), 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadThresholds(path)
	if err != nil || *got.Supported != *want.Supported || len(got.Folds) != 5 || *got.For("d3").Supported != *want.For("d3").Supported {
		t.Errorf("%+v, %v", got, err)
	}
	for text, why := range map[string]string{
		``:                                "unexpected end",
		`id,support`:                      "invalid character",
		`{"schema":"ibid.marks/v1"}`:      `schema is "ibid.marks/v1"`,
		`{"schema":"ibid.thresholds/v1"}`: `of is ""`,
		`{"schema":"ibid.thresholds/v1","of":"support"}`:                                     "have supported",
		`{"schema":"ibid.thresholds/v1","of":"support","supported":2}`:                       "not in [0, 1]",
		`{"schema":"ibid.thresholds/v1","of":"overlap","supported":0.4,"unsupported":0.4}`:   "not below",
		`{"schema":"ibid.thresholds/v1","of":"support","supported":0.4,"folds":[{"x":0.3}]}`: "have supported",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadThresholds(path); !errors.Is(err, ibid.ErrUsage) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
