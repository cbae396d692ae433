package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"ibid/annotations/compare"
)

// TestCompareExpertQA compares the systems of an annotated corpus, which answered
// different questions, with the figures of an independent program: differences of
// the share of cited claims that hold are the same. That program's test takes claims
// for independent; ours, over answers, must never be the surer of the two.
func TestCompareExpertQA(t *testing.T) {
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Pairwise map[string]struct {
			Diff float64 `json:"precision_strict_diff"`
			P    float64 `json:"p_two_sided"`
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
		if p.Paired || d.Test != "welch-t" {
			t.Errorf("%s: paired %t, test %s", name, p.Paired, d.Test)
		}
		// Theirs is the first less the second, with 10 decimals.
		if math.Abs(*d.Diff+want.Diff) > 1e-9 {
			t.Errorf("%s: difference %v, want %v", name, -*d.Diff, want.Diff)
		}
		if *d.P < want.P {
			t.Errorf("%s: p = %v over answers, %v over claims", name, *d.P, want.P)
		}
	}
}
