package harness_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid/dataset/runs"
)

// TestResampledIntervals: the bootstrap replaces intervals and nothing else, and
// depends neither on the order of the rows nor on the number of workers.
func TestResampledIntervals(t *testing.T) {
	rows := questions(80, "a", "b")
	read := func(settings ...string) []runs.SummaryRow {
		t.Helper()
		dir := evaluate(t, writeRows(t, rows), append(settings, "slices=[lang]", "statistics.resamples=500")...)
		summary, err := runs.ReadSummary(dir)
		if err != nil {
			t.Fatal(err)
		}
		return summary
	}
	analytic := read()
	bca := read("statistics.method=bca")
	methods := map[string]int{}
	for i, row := range bca {
		methods[row.Method]++
		want := analytic[i]
		row.Low, row.High, row.Method, row.Warnings = want.Low, want.High, want.Method, want.Warnings
		if diff := cmp.Diff(want, row); diff != "" {
			t.Fatalf("the bootstrap changed (-analytic +bca):\n%s", diff)
		}
	}
	if methods["bca/components"] < 20 {
		t.Errorf("methods %v", methods)
	}
	for i, row := range bca {
		// Wilson's interval never takes more rows for known than there are, also where
		// clusters are more alike than their rows.
		if row.Method != "bca/components" || row.Clusters < 30 || strings.HasPrefix(analytic[i].Method, "wilson-cluster-t") {
			continue
		}
		width := *analytic[i].High - *analytic[i].Low
		if math.Abs((*row.High-*row.Low)-width) > 0.3*width {
			t.Errorf("%s %s: [%v, %v], analytic [%v, %v]", row.Metric, row.Agg, *row.Low, *row.High, *analytic[i].Low, *analytic[i].High)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if diff := cmp.Diff(bca, read("statistics.method=bca", "performance.parallel_evaluation=false")); diff != "" {
		t.Errorf("in another order, by one worker (-want +got):\n%s", diff)
	}
	percentile := read("statistics.method=percentile")
	if !slices.ContainsFunc(percentile, func(r runs.SummaryRow) bool { return r.Method == "percentile/components" }) {
		t.Error("no percentile interval")
	}
}
