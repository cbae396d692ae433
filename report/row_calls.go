package report

import (
	"fmt"
	"strings"

	"ibid/dataset/runs"
)

// A CallView is one question to a model about the row.
type CallView struct {
	Model            string   `json:"model"`
	Provider         string   `json:"provider,omitempty"`
	Status           string   `json:"status"`
	Cached           bool     `json:"cached"`
	Repaired         bool     `json:"repaired"`
	Attempts         int64    `json:"attempts"`
	PromptTokens     *int64   `json:"prompt_tokens"`
	CompletionTokens *int64   `json:"completion_tokens"`
	CostUSD          *float64 `json:"cost_usd"`
	LatencyMillis    *int64   `json:"latency_ms"`
	GenerationID     string   `json:"generation_id,omitempty"`
}

// SetCalls takes over what was asked of models about the row.
func (v *RowView) SetCalls(calls []runs.Record) {
	for _, c := range calls {
		v.Calls = append(v.Calls, CallView{
			Model: c["model"].Text, Provider: c["provider"].Text, Status: c["status"].Text,
			Cached: c["cached"].Int != 0, Repaired: c["repaired"].Int != 0, Attempts: c["attempts"].Int,
			PromptTokens: integer(c["prompt_tokens"]), CompletionTokens: integer(c["completion_tokens"]),
			CostUSD: double(c["cost_usd"]), LatencyMillis: integer(c["latency_ms"]), GenerationID: c["generation_id"].Text,
		})
	}
}

// tamperingPlace says in words where an attempt to steer the judge was found.
func tamperingPlace(code string) string {
	return strings.ReplaceAll(strings.Replace(code, "in_", "in the ", 1), "_", " ")
}

func (v *RowView) writeCalls(b *strings.Builder, style Style) {
	if len(v.Calls) == 0 {
		return
	}
	t := &table{header: []string{"judge call", "provider", "status", "attempts", "tokens", "cost", "ms"}, right: 3}
	for i := range v.Calls {
		c := &v.Calls[i]
		status := c.Status
		if c.Cached {
			status += ", cached"
		}
		if c.Repaired {
			status += ", repaired"
		}
		t.rows = append(t.rows, []string{
			CleanLine(c.Model), CleanLine(c.Provider), CleanLine(status), fmt.Sprint(c.Attempts), tokensText(c), costText(c.CostUSD),
			integerText(c.LatencyMillis),
		})
	}
	b.WriteString("\n")
	t.write(b, style)
}

func tokensText(c *CallView) string {
	return integerText(c.PromptTokens) + " + " + integerText(c.CompletionTokens)
}

func integerText(n *int64) string {
	if n == nil {
		return "–"
	}
	return fmt.Sprint(*n)
}

func costText(usd *float64) string {
	if usd == nil {
		return "–"
	}
	return fmt.Sprintf("$%.6f", *usd)
}
