package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"ibid/annotations/compare"
)

// TestCompareExpertQA compares the systems of an annotated corpus, which answered
// different questions: they stand side by side, without a difference or a rank, and
// their shares of cited claims that hold differ by as much as an independent program
// says.
func TestCompareExpertQA(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Pairwise map[string]struct {
			Diff float64 `json:"precision_strict_diff"`
		} `json:"precision_strict_pairwise_z"`
	}
	readShared(t, filepath.Join(shared, "expected", "expertqa.json"), &expected)
	dir := t.TempDir()
	mustIbid(t, dir, "import", "expertqa", filepath.Join(shared, "data", "expertqa", "rand_test.jsonl"), "-o", "e.parquet", "--docs", "docs.parquet", "-q")
	mustIbid(t, dir, "run", "e.parquet", "--documents", "docs.parquet", "--judge", "human", "--id", "e", "-q")
	var r compare.Result
	text := mustIbid(t, dir, "compare", "runs/e", "--by", "system", "--metric", "micro(cited_claim_precision)", "--json")
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Pairs) != len(expected.Pairwise) {
		t.Fatalf("%d pairs, want %d", len(r.Pairs), len(expected.Pairwise))
	}
	for _, p := range r.Pairs {
		name := r.Sides[p.Base].System + " - " + r.Sides[p.New].System
		want, ok := expected.Pairwise[name]
		if !ok {
			t.Errorf("%s is not expected", name)
			continue
		}
		d := p.Differences[0]
		if p.Paired || d.Diff != nil || d.P != nil || d.Reason != compare.NotPaired {
			t.Errorf("%s: paired %t, difference %v, p %v, reason %q", name, p.Paired, d.Diff, d.P, d.Reason)
		}
		// Theirs is the first less the second, with 10 decimals.
		if d.Base == nil || d.New == nil || math.Abs(*d.Base-*d.New-want.Diff) > 1e-9 {
			t.Errorf("%s: %v and %v, want a difference of %v", name, d.Base, d.New, want.Diff)
		}
	}
	for _, ranking := range r.Rankings {
		if len(ranking.Places) > 0 {
			t.Errorf("ranks by %s of sides without a common question: %v", ranking.Metric, ranking.Places)
		}
	}
}
