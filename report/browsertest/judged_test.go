package browsertest

import (
	"errors"
	"testing"

	"ibid/dataset/runs"
)

// judge gives a run without a judge the verdicts of one, so that every outcome
// occurs: each row gets one claim, its whole answer, linked to all its citations.
func judge(t testing.TB, dir, kind string) {
	t.Helper()
	outcomes := []string{"supported_by_cited", "contradicted", "supported_elsewhere", "unsupported", "unscored", "not_factual"}
	labels := map[string]string{"supported_by_cited": "full", "contradicted": "contradicts", "supported_elsewhere": "partial", "unsupported": "none"}
	citations, err := runs.Citations.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := runs.Rows().Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	byRow := make(map[int64][]int32)
	for i := range citations {
		c := &citations[i]
		byRow[c.Row] = append(byRow[c.Row], c.Number)
		outcome := outcomes[c.Row%6]
		c.Claims = []int32{0}
		if labels[outcome] != "" {
			c.Support, c.Label = new(map[string]float64{"full": 1, "partial": 0.5}[labels[outcome]]), labels[outcome]
		}
		if outcome == "contradicted" {
			c.Reason = "the source gives another number"
		}
		if outcome == "supported_by_cited" && c.Start != nil && *c.Start >= 0 {
			c.QuoteStart, c.QuoteEnd = new(*c.Start+4), c.End
		}
	}
	var claims []runs.Claim
	for i := range rows {
		c := runs.Claim{
			Key: rows[i].Key, Start: new(int64(0)), End: new(int64(30)), Text: "the first thirty characters of the answer",
			Citations: append([]int32{}, byRow[rows[i].Row]...), Outcome: outcomes[rows[i].Row%6],
		}
		if c.Outcome == "supported_elsewhere" {
			c.Elsewhere = &runs.Elsewhere{Doc: "tea.txt", Start: new(int64(5)), End: new(int64(25))}
		}
		claims = append(claims, c)
	}
	// What the judge of the first two rows was asked: the second answer was there
	// already.
	var calls []runs.Call
	for row := range int64(2) {
		calls = append(calls, runs.Call{
			Key: runs.Key{Row: row}, Number: 1200, Model: "some/model", Status: "ok", Cached: row == 1, Attempts: 1200,
			PromptTokens: new(int64(1200)), CompletionTokens: new(int64(1200)), LatencyMillis: new(int64(1200)), CostUSD: new([]float64{0.0012, 0}[row]),
		})
	}
	err = runs.Change(dir, []string{runs.CitationsFile, runs.ClaimsFile, runs.CallsFile}, func() error {
		return errors.Join(runs.Citations.Write(dir, citations), runs.Claims.Write(dir, claims), runs.Calls.Write(dir, calls))
	})
	if err != nil {
		t.Fatal(err)
	}
	setJudge(t, dir, kind)
}

// setJudge puts a judge into the manifest of a run.
func setJudge(t testing.TB, dir, kind string) {
	t.Helper()
	changeManifest(t, dir, func(m *runs.Manifest) { m.Judge.Kind = kind })
}
