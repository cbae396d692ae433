package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"ibid/dataset/runs"
)

// summaryJSON is the JSON form of a summary.
type summaryJSON struct {
	Schema   string            `json:"schema"`
	Run      runJSON           `json:"run"`
	Gates    []runs.GateResult `json:"gates"`
	Summary  []summaryRowJSON  `json:"summary"`
	Warnings []string          `json:"warnings"`
	Statuses map[string]int64  `json:"citation_statuses"`
}

type runJSON struct {
	ID          string   `json:"id"`
	Status      string   `json:"status"`
	Fingerprint string   `json:"fingerprint"`
	Rows        int64    `json:"rows"`
	Citations   int64    `json:"citations"`
	Errors      int64    `json:"error_rows"`
	Coverage    *float64 `json:"coverage"`
}

func runOf(m *runs.Manifest) runJSON {
	return runJSON{
		ID: m.ID, Status: m.Status, Fingerprint: m.Fingerprint, Rows: m.Rows, Citations: m.Citations,
		Errors: m.Errors, Coverage: m.Coverage,
	}
}

type summaryRowJSON struct {
	System    string   `json:"system"`
	Slice     string   `json:"slice"`
	Metric    string   `json:"metric"`
	Agg       string   `json:"agg"`
	N         int64    `json:"n"`
	Num       *float64 `json:"num"`
	Den       *float64 `json:"den"`
	Undefined int64    `json:"undefined"`
	Unscored  int64    `json:"unscored"`
	Coverage  *float64 `json:"coverage"`
	Estimate  *float64 `json:"estimate"`
	Low       *float64 `json:"ci_low"`
	High      *float64 `json:"ci_high"`
	Level     float64  `json:"level"`
	Method    string   `json:"method"`
	Clusters  int64    `json:"clusters"`
	BoundLow  *float64 `json:"bound_low"`
	BoundHigh *float64 `json:"bound_high"`
	Corrected *float64 `json:"corrected"`
	CorrLow   *float64 `json:"corrected_low"`
	CorrHigh  *float64 `json:"corrected_high"`
	CorrBy    string   `json:"corrected_method"`
	Warnings  []string `json:"warnings"`
}

func (s *Summary) writeJSON(w io.Writer) error {
	m := s.Run
	out := summaryJSON{
		Schema: "ibid.summary/v1",
		Run:    runOf(m),
		Gates:  append([]runs.GateResult{}, s.Gates...), Warnings: append([]string{}, m.Warnings...), Statuses: m.Statuses,
	}
	for _, r := range s.rows {
		out.Summary = append(out.Summary, summaryRowJSON{
			r.System, r.Slice, r.Metric, r.Agg, r.N, r.Num, r.Den, r.Undefined, r.Unscored, r.Coverage,
			r.Estimate, r.Low, r.High, r.Level, r.Method, r.Clusters, r.BoundLow, r.BoundHigh,
			r.Corrected, r.CorrectedLow, r.CorrectedHigh, r.CorrectedMethod, append([]string{}, r.Warnings...),
		})
	}
	return encodeJSON(w, out)
}

func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// writeCSV writes every row of the summary, with the columns of summary.parquet
// that can be filled; what is undefined is empty.
func (s *Summary) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{
		"system", "slice", "metric", "agg", "n", "num", "den", "undefined", "unscored", "coverage",
		"estimate", "ci_low", "ci_high", "level", "method", "clusters", "bound_low", "bound_high",
		"corrected", "corrected_low", "corrected_high", "corrected_method", "warnings",
	}}
	for _, r := range s.rows {
		rows = append(rows, []string{
			r.System, r.Slice, r.Metric, r.Agg, count(r.N), exact(r.Num), exact(r.Den),
			count(r.Undefined), count(r.Unscored), exact(r.Coverage), exact(r.Estimate), exact(r.Low), exact(r.High),
			exact(&r.Level), r.Method, count(r.Clusters), exact(r.BoundLow), exact(r.BoundHigh),
			exact(r.Corrected), exact(r.CorrectedLow), exact(r.CorrectedHigh), r.CorrectedMethod, strings.Join(r.Warnings, "; "),
		})
	}
	return c.WriteAll(rows)
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// exact prints a number so that it reads back as the same.
func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// markdownText keeps a user's text from being read as markup.
func markdownText(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "\n", " ").Replace(s)
}
