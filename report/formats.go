package report

import (
	"encoding/json"
	"io"

	"ibid/dataset/runs"
)

type summaryJSON struct {
	Schema     string                       `json:"schema"`
	Run        runJSON                      `json:"run"`
	Conclusion Conclusion                   `json:"conclusion"`
	Gates      runs.ListOf[runs.GateResult] `json:"gates"`
	Summary    []runs.SummaryRow            `json:"summary"`
	Signs      runs.ListOf[runs.Sign]       `json:"signs"`
	Warnings   runs.ListOf[string]          `json:"warnings"`
	Statuses   map[string]int64             `json:"citation_statuses"`
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

func (s *Summary) asJSON() any {
	m := s.Run
	return summaryJSON{
		Schema: "ibid.summary/v1", Run: runOf(m), Conclusion: s.conclusion(), Gates: s.Gates, Summary: s.rows, Signs: m.Signs, Warnings: m.Warnings, Statuses: m.Statuses,
	}
}

// WriteJSON writes a value as all JSON of ibid is written: indented by two spaces,
// with <, > and & as they are.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
