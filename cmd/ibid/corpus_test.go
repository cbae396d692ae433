package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// corpusTolerance is how far a figure may be from the one expected, which has ten
// decimals.
const corpusTolerance = 1e-9

// TestEvidenceInference scores an annotated corpus as a user would, and compares
// the figures in the summary, in what show prints, and those that the rows give
// with the expected ones. The script evidence covers the same ground in small.
func TestEvidenceInference(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs(filepath.Join("..", "..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		AllRows struct {
			Items        int64 `json:"items_with_two_annotators"`
			Macro, Micro map[string]float64
		} `json:"all_rows"`
	}
	readShared(t, filepath.Join(shared, "expected", "evidence-inference-v2.json"), &expected)

	dir := t.TempDir()
	mustIbid(t, dir, "import", "evidence-inference", filepath.Join(shared, "data", "evidence-inference-v2"),
		"--truth-annotator", "0", "-o", "ei.parquet", "--docs", "docs.parquet", "-q")
	mustIbid(t, dir, "run", "ei.parquet", "--documents", "docs.parquet", "--judge", "none", "--id", "ei", "-q")
	run := filepath.Join(dir, "runs", "ei")
	rows := readRows(t, filepath.Join(run, runs.RowsFile))
	if int64(len(rows)) != expected.AllRows.Items {
		t.Errorf("%d rows, want %d", len(rows), expected.AllRows.Items)
	}
	sources := []struct {
		name string
		read func(metric, agg string) (float64, bool)
	}{
		{"rows", func(metric, agg string) (float64, bool) { return fromRows(rows, metric, agg) }},
		{"summary", fromSummary(t, run)},
		{"show", fromShow(t, dir, "runs/ei")},
	}
	for _, source := range sources {
		t.Run(source.name, func(t *testing.T) {
			compared := 0
			for agg, figures := range map[string]map[string]float64{runs.Macro: expected.AllRows.Macro, runs.Micro: expected.AllRows.Micro} {
				for metric, want := range figures {
					if _, ours := metrics.Lookup(metric); !ours || strings.HasPrefix(metric, "token_") {
						continue // chance-corrected agreement, sums under other names, tokens between white space
					}
					compared++
					if got, ok := source.read(metric, agg); !ok || math.Abs(got-want) > corpusTolerance {
						t.Errorf("%s %s = %v (defined: %t), want %v", agg, metric, got, ok, want)
					}
				}
			}
			if compared != 10 {
				t.Errorf("compared %d figures, want 6 of macro and 4 of micro", compared)
			}
		})
	}
	for name, count := range map[string]string{
		"overlap_chars": "chars_intersection", "truth_chars": "chars_gold", "pred_chars": "chars_pred",
	} {
		if got, want := sum(rows, name), expected.AllRows.Micro[count]; got != want {
			t.Errorf("sum of %s = %v, want %v", name, got, want)
		}
	}
}

// fromRows is the plain mean of a metric's values, or the quotient of the sums
// that its definition names.
func fromRows(rows []map[string]cell, metric, agg string) (float64, bool) {
	d, _ := metrics.Lookup(metric)
	num, den := 0.0, 0.0
	for _, row := range rows {
		switch {
		case row[d.Name].Null:
		case agg == runs.Macro:
			num += row[d.Name].Double
			den++
		default:
			num += terms(row, d.Num)
			den += terms(row, d.Den)
		}
	}
	return num / den, den > 0
}

func terms(row map[string]cell, list []metrics.Term) float64 {
	total := 0.0
	for _, term := range list {
		cell := row[term.Column]
		total += term.Factor * (float64(cell.Int) + cell.Double)
	}
	return total
}

func sum(rows []map[string]cell, count string) float64 {
	total := int64(0)
	for _, row := range rows {
		total += row[count].Int
	}
	return float64(total)
}

// fromSummary looks estimates over all systems up in summary.parquet.
func fromSummary(t *testing.T, run string) func(metric, agg string) (float64, bool) {
	t.Helper()
	summary, err := runs.Summary.Read(run)
	if err != nil {
		t.Fatal(err)
	}
	return func(metric, agg string) (float64, bool) {
		for _, r := range summary {
			if r.System == "" && r.Slice == "" && r.Metric == metric && r.Agg == agg && r.Estimate != nil {
				return *r.Estimate, true
			}
		}
		return 0, false
	}
}

// fromShow looks them up in what show --json prints.
func fromShow(t *testing.T, dir, run string) func(metric, agg string) (float64, bool) {
	t.Helper()
	var shown struct {
		Summary []struct {
			System, Slice, Metric, Agg string
			Estimate                   *float64
		}
	}
	if err := json.Unmarshal([]byte(mustIbid(t, dir, "show", run, "--json")), &shown); err != nil {
		t.Fatal(err)
	}
	return func(metric, agg string) (float64, bool) {
		for _, r := range shown.Summary {
			if r.System == "" && r.Slice == "" && r.Metric == metric && r.Agg == agg && r.Estimate != nil {
				return *r.Estimate, true
			}
		}
		return 0, false
	}
}
