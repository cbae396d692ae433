package annotations_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// shareRow is a summary row of n rows with three items each, of which a judge of
// known rates judged all, and people would call a share of each row's supported.
func shareRow(rng *rand.Rand, n int, se, sp float64) (row runs.SummaryRow, truth float64) {
	var shares, ones []float64
	for range n {
		own := 0.2 + 0.6*rng.Float64() // items of a row are alike
		yes := 0.0
		for range 3 {
			right := sp
			human := rng.Float64() < own
			if human {
				right = se
			}
			if human == (rng.Float64() < right) {
				yes++
			}
		}
		shares, ones = append(shares, yes/3), append(ones, 1)
	}
	e := stats.NewQuotient(shares, ones).Within(nil, 0, 1, 0.95)
	row = runs.SummaryRow{Metric: "citation_correctness", Agg: runs.Macro}
	row.Fill(&e)
	return row, 0.5
}

// TestMacroShares: means of rows' shares, corrected by the rates of 200 other
// labels, cover what people would say about as often as promised, where the raw
// ones do not.
func TestMacroShares(t *testing.T) {
	const runsOf, n, se, sp = 600, 500, 0.9, 0.7
	rng := rand.New(rand.NewPCG(11, 12))
	covered, raw := 0, 0
	for range runsOf {
		row, truth := shareRow(rng, n, se, sp)
		var older stats.Confusion
		for range 200 {
			human := rng.Float64() < truth
			right := sp
			if human {
				right = se
			}
			older.Add(human, human == (rng.Float64() < right))
		}
		if *row.Low <= truth && truth <= *row.High {
			raw++
		}
		summary := []runs.SummaryRow{row}
		annotations.CorrectByRates(map[string]annotations.Rates{"citation support": ratesOf(older)}, summary)
		c := summary[0]
		if c.Corrected == nil {
			t.Fatal("not corrected")
		}
		sensitivity, specificity := float64(older.TP)/float64(older.TP+older.FN), float64(older.TN)/float64(older.TN+older.FP)
		want := (*row.Estimate + specificity - 1) / (sensitivity + specificity - 1)
		if math.Abs(*c.Corrected-min(1, want)) > 1e-12 {
			t.Fatalf("corrected %v, want %v", *c.Corrected, want)
		}
		if *c.CorrectedLow <= truth && truth <= *c.CorrectedHigh {
			covered++
		}
	}
	if share := float64(covered) / runsOf; share < 0.92 || share > 0.985 {
		t.Errorf("corrected intervals cover %.3f", share)
	}
	if share := float64(raw) / runsOf; share > 0.2 {
		t.Errorf("raw intervals cover %.3f: the judge is too good for the test", share)
	}
}

// TestWorthlessJudge: what an earlier judge corrected does not stay where the rates
// of this one correct nothing.
func TestWorthlessJudge(t *testing.T) {
	row, _ := shareRow(rand.New(rand.NewPCG(3, 4)), 100, 0.9, 0.7)
	summary := []runs.SummaryRow{row}
	annotations.CorrectByRates(map[string]annotations.Rates{"citation support": ratesOf(stats.Confusion{TP: 90, FN: 10, TN: 70, FP: 30})}, summary)
	if summary[0].Corrected == nil {
		t.Fatal("not corrected")
	}
	annotations.CorrectByRates(map[string]annotations.Rates{"citation support": ratesOf(stats.Confusion{TP: 30, FN: 70, TN: 50, FP: 50})}, summary)
	if r := summary[0]; r.Corrected != nil || r.CorrectedLow != nil || r.CorrectedMethod != "" {
		t.Errorf("still corrected: %v by %s", *r.Corrected, r.CorrectedMethod)
	}
}

// ratesOf are the rates of a judge of items that have nothing in common.
func ratesOf(c stats.Confusion) annotations.Rates {
	positive, negative := float64(c.TP+c.FN), float64(c.TN+c.FP)
	return annotations.Rates{
		Sensitivity: annotations.Rate{Share: stats.FractionOf(float64(c.TP), positive).Value, Effective: positive},
		Specificity: annotations.Rate{Share: stats.FractionOf(float64(c.TN), negative).Value, Effective: negative},
		Labels:      c.N(),
	}
}
