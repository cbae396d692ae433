package annotations

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"ibid/dataset/runs"
)

// A Past is the history of one run: the nights before it that belong to it, in
// order, and the run itself, the last.
type Past struct {
	Nights  []RunNight
	LeftOut []LeftOut // why earlier runs of the folder do not belong, the commonest reason first
	Older   int       // runs that were not looked at: there are more than [MaxPast], or they are too large
}

// MaxPast is how many earlier runs of a folder are looked at, the newest, and
// maxPastRows how many rows they may have together: this takes about a second.
const (
	MaxPast     = 400
	maxPastRows = 10_000_000
)

// LeftOut are the names of runs that do not belong to a history for the same
// reason, in the order of their dates.
type LeftOut struct {
	Why  string // one of the reasons below
	Runs []string
}

// Why earlier runs do not belong to the history of a run. Another model, prompt,
// document or setting does: it begins a new baseline.
const (
	Unreadable     = "cannot be read"
	OtherPart      = "another part of the data (--limit, --only)"
	OtherJudge     = "another kind of judge"
	OtherSystems   = "other systems"
	OtherQuestions = "other questions"
)

// PastOf finds the history of a finished run among the runs of a folder that were
// begun before it. Those belong that evaluate the same systems, over the same part
// of the data, with the same kind of judge, and ask mostly the same questions: half
// of those that either asks are asked by both. Runs that cannot be read are left
// out; only a folder that cannot be read is an error, and the run itself.
func PastOf(folder string, run runs.Listed, o HistoryOptions) (*Past, error) {
	listed, unreadable, err := runs.ListReadable(folder)
	if err != nil {
		return nil, err
	}
	started := run.Manifest.Timings.Started
	listed = slices.DeleteFunc(listed, func(l runs.Listed) bool { return !l.Manifest.Timings.Started.Before(started) })
	older := len(listed)
	for rows := int64(0); older > 0 && len(listed)-older < MaxPast; older-- {
		if rows += listed[older-1].Manifest.Rows; rows > maxPastRows {
			break
		}
	}
	this, questions, err := readNeighbour(run, o)
	if err != nil {
		return nil, err
	}
	why := make(map[string][]string)
	if len(unreadable) > 0 {
		why[Unreadable] = unreadable
	}
	p := &Past{Older: older}
	for _, l := range listed[older:] {
		n, reason := neighbour(run, this, questions, l, o)
		if reason != "" {
			why[reason] = append(why[reason], filepath.Base(l.Dir))
			continue
		}
		p.Nights = append(p.Nights, *n)
	}
	p.Nights = append(p.Nights, *this)
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		p.LeftOut = append(p.LeftOut, LeftOut{reason, why[reason]})
	}
	slices.SortStableFunc(p.LeftOut, func(a, b LeftOut) int { return cmp.Compare(len(b.Runs), len(a.Runs)) })
	return p, nil
}

// neighbour reads a run if it belongs to the history of this one, or says why it
// does not. What is cheap to know is asked first.
func neighbour(run runs.Listed, this *RunNight, questions runs.Questions, l runs.Listed, o HistoryOptions) (n *RunNight, why string) {
	a, b := run.Manifest, l.Manifest
	switch {
	case a.Limit != b.Limit || !maps.Equal(a.Only, b.Only):
		return nil, OtherPart
	case a.Judge.Kind != b.Judge.Kind:
		return nil, OtherJudge
	}
	n, theirs, err := readNeighbour(l, o)
	switch {
	case err != nil:
		return nil, Unreadable
	case !slices.Equal(this.systems(), n.systems()):
		return nil, OtherSystems
	case !mostlyShared(questions, theirs):
		return nil, OtherQuestions
	}
	return n, ""
}

func readNeighbour(l runs.Listed, o HistoryOptions) (*RunNight, runs.Questions, error) {
	n := &RunNight{Night: nightOf(l, o)}
	var err error
	if n.Summary, err = readMacro(l.Dir); err != nil {
		return nil, nil, err
	}
	questions, err := runs.ReadQuestions(l.Dir)
	if err != nil {
		return nil, nil, err
	}
	if !o.AnyItems {
		n.Items = itemsOf(questions)
	}
	return n, questions, nil
}

// mostlyShared reports whether both have at least half of what either has.
func mostlyShared(a, b runs.Questions) bool {
	shared := a.Shared(b)
	return 2*shared >= len(a)+len(b)-shared
}

// systems are the names of the systems of a run, sorted.
func (n *RunNight) systems() []string {
	var names []string
	for i := range n.Summary {
		if s := n.Summary[i].System; s != "" {
			names = append(names, s)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
