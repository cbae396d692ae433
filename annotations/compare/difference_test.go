package compare_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// predicted are the judge's differences and people's.
type predicted struct {
	judge []float64
	human []ibid.Number
}

// flatterer makes two runs over the same questions, of which people would call
// equally many right. The judge errs at random, and in the new run it also calls
// every fifth answer right that is not. People labelled every fourth row of both,
// of them those that labels says.
func flatterer(t *testing.T, labels int) (base, other *compare.Run, differences predicted) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	var rows [2][]row
	var labelled [2][]runs.LabelledRow
	for i := range 400 {
		id := fmt.Sprint(i)
		var human, judged [2]float64
		for side := range human {
			if rng.Float64() < 0.6 {
				human[side] = 1
			}
			judged[side] = human[side]
			switch {
			case rng.Float64() < 0.1:
				judged[side] = 1 - judged[side]
			case side == 1 && i%5 == 0:
				judged[side] = 1
			}
			rows[side] = append(rows[side], row{id: id, system: "s", correct: new(judged[side])})
		}
		differences.judge, differences.human = append(differences.judge, judged[1]-judged[0]), append(differences.human, ibid.Number{})
		if i%4 == 0 && len(labelled[0]) < labels {
			differences.human[i] = ibid.Some(human[1] - human[0])
			for side := range human {
				labelled[side] = append(labelled[side], runs.LabelledRow{Key: runs.Key{ID: id, System: "s", Row: int64(i)}, Values: map[string]float64{"citation_correctness": human[side]}})
			}
		}
	}
	base, other = write(t, "base", rows[0], nil), write(t, "other", rows[1], nil)
	for side, r := range []*compare.Run{base, other} {
		if err := runs.Labelled().Write(r.Dir, labelled[side]); err != nil {
			t.Fatal(err)
		}
	}
	return base, other, differences
}

// TestCorrected: a difference that the judge alone makes does not survive people's
// labels, and the comparison says so beside it.
func TestCorrected(t *testing.T) {
	base, other, differences := flatterer(t, 100)
	r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, "citation_correctness")})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Pairs[0].Differences[0]
	if d.Outcome != compare.Better {
		t.Fatalf("the judge's own difference is %s: %+v", d.Outcome, d)
	}
	c := d.Corrected
	want, _ := stats.PPI(differences.judge, differences.human, stats.NewRows[int](nil, nil), -1, 1, 0.95)
	if c == nil || c.Labelled != 100 || c.Diff != want.Value || c.Low != want.Low || c.High != want.High {
		t.Fatalf("corrected %+v, want %+v", c, want)
	}
	if !(c.Low < 0 && c.High > 0 && *c.Base > 0.5 && *c.New < *d.New) {
		t.Errorf("corrected %+v: base %v, new %v, where the judge says %v and %v", c, *c.Base, *c.New, *d.Base, *d.New)
	}
	if text := strings.Join(d.Warnings, "\n"); !strings.Contains(text, "people's labels do not confirm it") {
		t.Errorf("warnings %q", text)
	}
	var table bytes.Buffer
	if err := r.WriteParquet(&table); err != nil {
		t.Fatal(err)
	}
}

// TestTooFewLabels: ten pairs must be labelled; with nine there is no correction.
func TestTooFewLabels(t *testing.T) {
	for labels, want := range map[int]bool{stats.FewestLabels - 1: false, stats.FewestLabels: true} {
		base, other, _ := flatterer(t, labels)
		r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Metrics: quantities(t, "citation_correctness", "micro(citation_correctness)")})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Pairs[0].Differences {
			if has := d.Corrected != nil; has != (want && d.Agg == runs.Macro) {
				t.Errorf("%d labels, %s: corrected %v", labels, d.Agg, d.Corrected)
			}
		}
	}
}
