package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A spanCase is one case of the span vectors: spans are [doc, page, start, end].
type spanCase struct {
	ID          string
	Tolerance   int64
	Truth, Pred [][4]any
	Expected    struct {
		ValidTruth     int64 `json:"valid_truth"`
		ValidPred      int64 `json:"valid_pred"`
		TruthChars     int64 `json:"truth_chars"`
		PredChars      int64 `json:"pred_chars"`
		Intersection   int64
		Precision      *float64
		Recall         *float64
		F1             *float64
		Jaccard        *float64
		Dice           *float64
		MeanExact      *float64 `json:"mean_exact_jaccard"`
		MeanTolerance  *float64 `json:"mean_tolerance_jaccard"`
		PerfectMatches int64    `json:"perfect_matches"`
		GoodMatches    int64    `json:"good_matches"`
		DroppedPred    []int    `json:"dropped_pred"`
	}
}

// TestSpanVectors takes the span vectors through the whole program: JSON Lines,
// import, one run per tolerance, and the numbers that rows.parquet has or gives.
func TestSpanVectors(t *testing.T) {
	tests := []struct{ name, path string }{
		{"own", filepath.Join("..", "..", "metrics", "testdata", "spans.json")},
		{"shared", filepath.Join("..", "..", "..", "shared", "vectors", "spans_public.json")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var file struct{ Cases []spanCase }
			readShared(t, tt.path, &file)
			if len(file.Cases) == 0 {
				t.Fatalf("%s has no cases", tt.path)
			}
			byTolerance := make(map[int64][]spanCase)
			for _, c := range file.Cases {
				byTolerance[c.Tolerance] = append(byTolerance[c.Tolerance], c)
			}
			for tolerance, cases := range byTolerance {
				t.Run(fmt.Sprintf("tolerance=%d", tolerance), func(t *testing.T) { runCases(t, tolerance, cases) })
			}
		})
	}
}

// readShared reads a JSON file, or skips the test where the folder is not there.
func readShared(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is missing", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// runCases makes one run of the cases, one row each.
func runCases(t *testing.T, tolerance int64, cases []spanCase) {
	dir := t.TempDir()
	var lines strings.Builder
	for _, c := range cases {
		record := map[string]any{
			"id": c.ID, "query": "q", "answer": "a",
			"citations": spanRecords(c.Pred), "truth": spanRecords(c.Truth),
		}
		line, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, "cases.jsonl"), []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	mustIbid(t, dir, "import", "jsonl", "cases.jsonl", "-o", "cases.parquet", "-q")
	mustIbid(t, dir, "run", "cases.parquet", "--judge", "none", "--id", "x", "-q", "--set", "offset_base=page",
		"--set", "span_matching.tolerance_chars="+strconv.FormatInt(tolerance, 10))
	run := filepath.Join(dir, "runs", "x")
	rows := readRows(t, filepath.Join(run, runs.RowsFile))
	if len(rows) != len(cases) {
		t.Fatalf("%d rows, want %d", len(rows), len(cases))
	}
	statuses := statusesByRow(t, filepath.Join(run, runs.CitationsFile))
	for i, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			if got := rows[i]["id"].Text; got != c.ID {
				t.Fatalf("row %d is %s, want %s", i, got, c.ID)
			}
			checkCase(t, &c, rows[i])
			checkDropped(t, &c, statuses[int64(i)])
		})
	}
}

func spanRecords(spans [][4]any) []map[string]any {
	records := []map[string]any{}
	for _, s := range spans {
		records = append(records, map[string]any{"doc": s[0], "page": s[1], "start": s[2], "end": s[3]})
	}
	return records
}

// checkCase compares a row with what is expected of it: counts exactly, numbers
// to 1e-12, undefined as null.
func checkCase(t *testing.T, c *spanCase, row map[string]cell) {
	e := &c.Expected
	for name, want := range map[string]int64{
		"truth_spans": e.ValidTruth, "pred_spans": e.ValidPred, "truth_chars": e.TruthChars, "pred_chars": e.PredChars,
		"overlap_chars":   e.Intersection,
		"perfect_matches": e.PerfectMatches, "good_matches": e.GoodMatches,
		"citations": int64(len(c.Pred)),
	} {
		if got, ok := row[name]; !ok || got.Null || got.Int != want {
			t.Errorf("%s = %+v, want %d", name, got, want)
		}
	}
	for name, want := range map[string]*float64{
		"char_precision": e.Precision, "char_recall": e.Recall, "char_f1": e.F1, "char_jaccard": e.Jaccard,
		"mean_exact_jaccard": e.MeanExact, "mean_tolerance_jaccard": e.MeanTolerance,
	} {
		got, ok := row[name]
		switch {
		case !ok || got.Null != (want == nil):
			t.Errorf("%s = %+v, want null: %t", name, got, want == nil)
		case want != nil && math.Abs(got.Double-*want) > 1e-12:
			t.Errorf("%s = %v, want %v", name, got.Double, *want)
		}
	}
}

// checkDropped wants exactly the citations that are no spans to have a status
// that says so.
func checkDropped(t *testing.T, c *spanCase, statuses []string) {
	if c.Expected.DroppedPred == nil {
		return // the case does not say
	}
	dropped := []int{}
	for i, status := range statuses {
		if status == "span_empty" || status == "span_inverted" || status == "span_negative" {
			dropped = append(dropped, i)
		}
	}
	if !slices.Equal(dropped, c.Expected.DroppedPred) {
		t.Errorf("dropped citations %v (%v), want %v", dropped, statuses, c.Expected.DroppedPred)
	}
}

// A cell is one number or text of a row.
type cell struct {
	Null   bool
	Int    int64
	Double float64
	Text   string
}

// readRows reads a table of results whole, and the metrics that are derived from its columns.
func readRows(t *testing.T, path string) (rows []map[string]cell) {
	t.Helper()
	f, err := runs.OpenFrame(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for _, field := range f.Fields() {
		names = append(names, field.Name)
	}
	for _, d := range metrics.Definitions() {
		if d.Derived && f.Has(d.Name) {
			names = append(names, d.Name)
		}
	}
	err = f.Each(func(b *runs.Block) error {
		for range b.Len() {
			rows = append(rows, make(map[string]cell))
		}
		for _, name := range names {
			column := b.Column(name)
			for i, valid := range column.Valid {
				c := cell{Null: !valid}
				switch column.Kind {
				case parquet.Int32, parquet.Int64, parquet.Bool:
					c.Int = column.Ints[i]
				case parquet.Double:
					c.Double = column.Doubles[i]
				case parquet.String:
					c.Text = column.Strings[i]
				}
				rows[b.First+int64(i)][name] = c
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// statusesByRow reads the statuses of the citations of each row, in order.
func statusesByRow(t *testing.T, path string) map[int64][]string {
	t.Helper()
	statuses := make(map[int64][]string)
	for _, c := range readRows(t, path) {
		row := c["row"].Int
		if got, want := c["citation"].Int, int64(len(statuses[row])); got != want {
			t.Errorf("row %d: citation %d where %d was due", row, got, want)
		}
		statuses[row] = append(statuses[row], c["status"].Text)
	}
	return statuses
}
