package report

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// A callShown is one call of the judge in words.
type callShown struct {
	Model  string `json:"model,omitempty"`
	Facts  string `json:"facts"`
	Cached bool   `json:"cached,omitempty"`
}

// A judgeCall is one row of calls.parquet.
type judgeCall struct {
	row                       int64
	model, provider, status   string
	cached, repaired          bool
	attempts                  dataset.NullInt
	promptTokens, replyTokens dataset.NullInt
	cost, latency             dataset.NullFloat
}

// readCalls reads the judge's calls of a run.
func readCalls(dir string) ([]judgeCall, error) {
	var calls []judgeCall
	at := func(i int) *judgeCall { return &calls[i] }
	boolean := func(field func(i int) *bool) columnReader {
		return func(i int, v *dataset.ColumnValues, k int) { *field(i) = v.Valid[k] && v.Ints[k] != 0 }
	}
	err := readTable(filepath.Join(dir, runs.CallsFile), map[string]columnReader{
		"row":               func(i int, v *dataset.ColumnValues, k int) { at(i).row = v.Ints[k] },
		"model":             texts(func(i int) *string { return &at(i).model }),
		"provider":          texts(func(i int) *string { return &at(i).provider }),
		"status":            texts(func(i int) *string { return &at(i).status }),
		"cached":            boolean(func(i int) *bool { return &at(i).cached }),
		"repaired":          boolean(func(i int) *bool { return &at(i).repaired }),
		"attempts":          ints(func(i int) *dataset.NullInt { return &at(i).attempts }),
		"prompt_tokens":     ints(func(i int) *dataset.NullInt { return &at(i).promptTokens }),
		"completion_tokens": ints(func(i int) *dataset.NullInt { return &at(i).replyTokens }),
		"cost_usd":          numbers(func(i int) *dataset.NullFloat { return &at(i).cost }),
		"latency_ms":        numbers(func(i int) *dataset.NullFloat { return &at(i).latency }),
	}, func(n int) { calls = make([]judgeCall, n) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return calls, err
}

// callsByRow puts the calls of a run into words, by row.
func callsByRow(calls []judgeCall) map[int64][]callShown {
	out := make(map[int64][]callShown)
	for i := range calls {
		out[calls[i].row] = append(out[calls[i].row], calls[i].shown())
	}
	return out
}

func (c *judgeCall) shown() callShown {
	out := callShown{Model: line(c.model, 80), Cached: c.cached}
	add := func(format string, args ...any) {
		if out.Facts != "" {
			out.Facts += " · "
		}
		out.Facts += fmt.Sprintf(format, args...)
	}
	if c.cached {
		add("from the cache")
	}
	if c.status != "" && c.status != "ok" {
		add("%s", line(label(c.status), 80))
	}
	if c.cost.Valid {
		add("$%.5f", c.cost.Value)
	}
	if c.promptTokens.Valid && c.replyTokens.Valid {
		add("%s tokens asked, %s answered", Thousands(c.promptTokens.Value), Thousands(c.replyTokens.Value))
	}
	if c.latency.Valid && !c.cached {
		add("%.1f s", c.latency.Value/1000)
	}
	if c.attempts.Valid && c.attempts.Value > 1 {
		add("%s attempts", Thousands(c.attempts.Value))
	}
	if c.repaired {
		add("reply repaired")
	}
	return out
}
