package harness

import (
	"cmp"
	"slices"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// countCalls adds up what the calls of a run took.
func countCalls(path string, j *runs.JudgeRecord) error {
	f, err := dataset.OpenResult(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c := callCounter{answerers: make(map[runs.Answerer]int64)}
	for g := range f.RowGroups() {
		if err := c.load(f, g); err != nil {
			return err
		}
		c.add(j)
	}
	j.CostUSD = &c.cost
	if c.sent > 0 {
		j.LatencyMillis = new(c.millis / float64(c.sent))
	}
	j.Answered = nil
	for who, n := range c.answerers {
		who.Calls = n
		j.Answered = append(j.Answered, who)
	}
	slices.SortFunc(j.Answered, func(a, b runs.Answerer) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Provider, b.Provider))
	})
	return nil
}

// A callCounter adds up calls, one row group after the other.
type callCounter struct {
	model, provider, status                                      dataset.ColumnValues
	cached, attempts, promptTokens, completionTokens, usd, waits dataset.ColumnValues

	answerers map[runs.Answerer]int64
	cost      float64 // US dollars
	millis    float64 // over the calls that were sent
	sent      int64
}

func (c *callCounter) load(f *dataset.ResultFile, group int) error {
	columns := map[string]*dataset.ColumnValues{
		"model": &c.model, "provider": &c.provider, "status": &c.status,
		"cached": &c.cached, "attempts": &c.attempts,
		"prompt_tokens": &c.promptTokens, "completion_tokens": &c.completionTokens,
		"cost_usd": &c.usd, "latency_ms": &c.waits,
	}
	for name, values := range columns {
		if err := f.ReadColumn(group, name, values); err != nil {
			return err
		}
	}
	return nil
}

func (c *callCounter) add(j *runs.JudgeRecord) {
	for i, status := range c.status.Strings {
		j.Calls++
		if status == callOK {
			c.answerers[runs.Answerer{Model: c.model.Strings[i], Provider: c.provider.Strings[i]}]++
		}
		if c.cached.Ints[i] == 1 {
			j.Cached++
			continue
		}
		c.sent++
		c.millis += float64(c.waits.Ints[i])
		c.cost += c.usd.Doubles[i]
		j.Retries += max(c.attempts.Ints[i]-1, 0)
		j.PromptTokens += c.promptTokens.Ints[i]
		j.CompletionTokens += c.completionTokens.Ints[i]
	}
}

// callOK is the status of a call that gave a verdict.
const callOK = "ok"
