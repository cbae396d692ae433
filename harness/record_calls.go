package harness

import (
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
)

// callsOf records what was asked of a model about one row, in vain or not.
func (r *recorder) callsOf(in *dataset.Row, j *judging) {
	var calls []judge.Call
	switch {
	case j.verdict != nil:
		calls = j.verdict.Calls
	case j.failure != nil:
		calls = j.failure.Calls
	}
	t := r.calls
	for i := range calls {
		c := &calls[i]
		t.AppendText(runs.CallID, in.ID)
		t.AppendText(runs.CallSystem, in.System)
		t.AppendInt(runs.CallRow, in.Pos)
		t.AppendInt(runs.CallCall, int64(i))
		appendOptional(t, runs.CallModel, c.Model)
		appendOptional(t, runs.CallProvider, c.Provider)
		t.AppendBool(runs.CallCached, c.Cached)
		t.AppendBool(runs.CallRepaired, c.Repaired)
		t.AppendInt(runs.CallAttempts, int64(c.Attempts))
		t.AppendInt(runs.CallPromptTokens, c.PromptTokens)
		t.AppendInt(runs.CallCompletionTokens, c.CompletionTokens)
		t.AppendDouble(runs.CallCostUSD, float64(c.CostNanoUSD)/1e9)
		t.AppendInt(runs.CallLatencyMillis, c.LatencyMillis)
		appendOptional(t, runs.CallGenerationID, c.GenerationID)
		t.AppendText(runs.CallStatus, c.Status)
		t.EndRow()
	}
}
