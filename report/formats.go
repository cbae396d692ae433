package report

import (
	"encoding/json"
	"io"

	"ibid/dataset/runs"
)

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
	return runJSON{m.ID, m.Status, m.Fingerprint, m.Rows, m.Citations, m.Errors, m.Coverage}
}

func (s *Summary) asJSON() any {
	m := s.Run
	return struct {
		Schema     string                       `json:"schema"`
		Run        runJSON                      `json:"run"`
		Conclusion Conclusion                   `json:"conclusion"`
		Gates      runs.ListOf[runs.GateResult] `json:"gates"`
		Summary    []runs.SummaryRow            `json:"summary"`
		Signs      runs.ListOf[runs.Sign]       `json:"signs"`
		Warnings   runs.ListOf[string]          `json:"warnings"`
		Statuses   map[string]int64             `json:"citation_statuses"`
	}{"ibid.summary/v1", runOf(m), s.conclusion(), s.Gates, s.rows, m.Signs, m.Warnings, m.Statuses}
}

// WriteJSON writes a value as all JSON of ibid is written: indented by two spaces,
// with <, > and & as they are.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
