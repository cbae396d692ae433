package cli

import (
	"strings"
	"testing"
	"time"

	"ibid/dataset/runs"
)

// TestJudgedAnew: answers that a judge gave once and that were kept are no second
// judgment.
func TestJudgedAnew(t *testing.T) {
	night := func(id string, change func(*runs.Manifest)) *runs.Manifest {
		m := &runs.Manifest{ID: id, Ingredients: map[string]string{"judge": "x", "dataset": "d"}, Judge: runs.JudgeRecord{Calls: 5}}
		m.Timings.Started = time.Date(2026, 1, 1, 0, 0, len(id), 0, time.UTC)
		if change != nil {
			change(m)
		}
		return m
	}
	first := night("first", nil)
	for _, tt := range []struct {
		name, want string
		again      *runs.Manifest
	}{
		{"asked anew", "", night("second", nil)},
		{"from the store", "took 3 of 5 answers from the store", night("second", func(m *runs.Manifest) { m.Judge.Cached = 3 })},
		{"its own, after an interruption", "", night("second", func(m *runs.Manifest) {
			m.Judge.Cached, m.Settings = 3, []runs.Setting{{Key: "judge.cache_results", Value: "false"}}
		})},
		{"other data", "dataset differs", night("second", func(m *runs.Manifest) { m.Ingredients["dataset"] = "e" })},
		{"another judge", "the judges differ", night("second", func(m *runs.Manifest) { m.Ingredients["judge"] = "y" })},
		{"itself", "is the run itself", night("first", nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := judgedAnew(first, tt.again)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
