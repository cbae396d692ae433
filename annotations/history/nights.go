package history

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// A Night is a run of a history.
type Night struct {
	runs.Listed
	Summary []runs.SummaryRow // the macro values over all rows, in the order of a summary
	Changed []string          // what it does not share with the night before: questions, systems, a judge, settings
}

// ReadNights reads runs, which come in order.
func ReadNights(listed []runs.Listed) ([]Night, error) {
	nights := make([]Night, len(listed))
	var before map[string]string
	for i, run := range listed {
		summary, err := runs.ReadSummaryOf(run.Dir, func(k runs.SummaryKey) bool { return k.Slice == "" && k.Agg == runs.Macro })
		if err != nil {
			return nil, err
		}
		nights[i] = Night{Listed: run, Summary: summary}
		now := basis(&nights[i])
		if now["systems"] == "" { // a night without numbers
			now["systems"] = before["systems"]
		}
		if i > 0 {
			nights[i].Changed = changed(before, now)
		}
		before = now
	}
	return nights, nil
}

// Name is that of the run's folder.
func (n *Night) Name() string { return filepath.Base(n.Dir) }

// Macro is the macro value of a metric over all rows of a system, or of all systems pooled if
// it is ""; nil if there is none or it is undefined.
func (n *Night) Macro(metric, system string) *runs.SummaryRow {
	i, found := slices.BinarySearchFunc(n.Summary, runs.SummaryRow{System: system, Metric: metric, Agg: runs.Macro}, runs.CompareSummary)
	if !found || n.Summary[i].Estimate == nil {
		return nil
	}
	return &n.Summary[i]
}

// Systems are the names of the systems of the run, sorted.
func (n *Night) Systems() []string {
	var names []string
	for i := range n.Summary {
		if s := n.Summary[i].System; s != "" {
			names = append(names, s)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unmoving are the groups of ingredients that move no score: the dataset, whose answers are
// other ones every night, and how numbers are summarised and written. Runs of earlier versions
// have more of them.
var unmoving = []string{"dataset", "results", "slices", "statistics", "quality_control"}

// basis is what a night must share with others for its numbers to mean the same.
func basis(n *Night) map[string]string {
	m := n.Manifest
	out := map[string]string{"questions": fmt.Sprint(m.Questions)}
	if names := n.Systems(); len(names) > 0 {
		out["systems"] = fmt.Sprintf("%q", names)
	}
	for _, key := range slices.Sorted(maps.Keys(m.Ingredients)) {
		group, _, _ := strings.Cut(key, ".")
		if !slices.Contains(unmoving, group) && key != "metrics.names" {
			out[group] += key + "=" + m.Ingredients[key] + "\n"
		}
	}
	return out
}

// changed says what a night does not share with the one before, other questions first.
func changed(before, now map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, now)
	var why []string
	for key := range all {
		if before[key] != now[key] {
			why = append(why, key)
		}
	}
	slices.Sort(why)
	if i := slices.Index(why, "questions"); i > 0 {
		why = slices.Insert(slices.Delete(why, i, i+1), 0, "questions")
	}
	return why
}

// maxPast is how many earlier runs of a series are looked at, the newest, and maxPastRows how
// many rows they may have together: this takes about a second.
const (
	maxPast     = 400
	maxPastRows = 10_000_000
)

// PastOf is the account of the series of a finished run up to it, and its nights, among the
// runs of a folder: of the leading metric, without differences. Only a folder that cannot be
// read is an error, and a run of the series. A run without earlier ones has neither.
func PastOf(folder string, run runs.Listed) (*Account, []Night, error) {
	f, err := Open(folder)
	if err != nil {
		return nil, nil, err
	}
	s := f.Before(run.Manifest)
	older := len(s.Runs)
	for rows := int64(0); older > 0 && len(s.Runs)-older < maxPast; older-- {
		if rows += s.Runs[older-1].Manifest.Rows; rows > maxPastRows {
			break
		}
	}
	if older == len(s.Runs) {
		return nil, nil, nil
	}
	nights, err := ReadNights(append(s.Runs[older:], run))
	if err != nil {
		return nil, nil, err
	}
	a, err := s.Account(nights, nil, true, false)
	return a, nights, err
}
