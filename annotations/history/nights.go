package history

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A RunNight is a finished run as a night of a history, still without a value: it
// has one for each metric and system.
type RunNight struct {
	Night
	Summary []runs.SummaryRow // the macro values over all rows
}

// ReadNights reads runs, which come in order.
func ReadNights(listed []runs.Listed) ([]RunNight, error) {
	var out []RunNight
	for _, run := range listed {
		n, err := ReadNight(run)
		if err != nil {
			return nil, err
		}
		summary, err := readMacro(run.Dir)
		if err != nil {
			return nil, err
		}
		out = append(out, RunNight{n, summary})
	}
	return out, nil
}

// readMacro reads the macro values over all rows of the run in dir.
func readMacro(dir string) ([]runs.SummaryRow, error) {
	return runs.ReadSummaryOf(dir, func(k runs.SummaryKey) bool { return k.Slice == "" && k.Agg == runs.Macro })
}

// ReadNight reads a run as far as it says what begins a new segment.
func ReadNight(run runs.Listed) (Night, error) {
	n := nightOf(run)
	questions, err := run.QuestionSet()
	n.Items = questions.Digest
	return n, err
}

// unmoving are the groups of ingredients that move no score: the dataset, whose
// answers are other ones every night, and how numbers are summarised and written. Runs of earlier versions have more of them.
var unmoving = []string{"dataset", "results", "slices", "statistics", "quality_control"}

// nightOf is what the manifest of a run says of its night.
func nightOf(run runs.Listed) Night {
	m := run.Manifest
	basis := make(map[string]string, len(m.Ingredients))
	for _, key := range slices.Sorted(maps.Keys(m.Ingredients)) {
		value := m.Ingredients[key]
		group, _, _ := strings.Cut(key, ".")
		if slices.Contains(unmoving, group) || key == "metrics.names" {
			continue
		}
		basis[group] += key + "=" + value + "\n"
	}
	return Night{Run: m.ID, Dir: run.Dir, At: m.Timings.Started.UTC(), Basis: basis}
}

// Macro is the macro value of a metric over all rows of a system, or of all
// systems pooled if it is ""; nil if there is none or it is undefined.
func (n *RunNight) Macro(metric, system string) *runs.SummaryRow {
	i := slices.IndexFunc(n.Summary, func(r runs.SummaryRow) bool {
		return r.Metric == metric && r.System == system && r.Slice == "" && r.Agg == runs.Macro
	})
	if i < 0 || n.Summary[i].Estimate == nil {
		return nil
	}
	return &n.Summary[i]
}

// Pooled are the nights over all systems, still without values. Numbers over other
// systems are other numbers, whatever the questions are; a night without numbers
// has the systems of the night before, or else of the first that has some.
func Pooled(nights []RunNight) []Night {
	var systems []string
	for i := 0; i < len(nights) && systems == nil; i++ {
		systems = nights[i].systems()
	}
	out := make([]Night, len(nights))
	for i := range nights {
		if own := nights[i].systems(); len(own) > 0 {
			systems = own
		}
		out[i] = nights[i].Night
		out[i].Basis = make(map[string]string)
		maps.Copy(out[i].Basis, nights[i].Basis)
		out[i].Basis["systems"] = fmt.Sprintf("%q", systems)
	}
	return out
}

// SeriesOf are the macro values of a metric over nights. It is false if the
// metric is undefined in all of them.
func SeriesOf(nights []RunNight, metric, system string) (Series, bool) {
	s := Series{Metric: metric, System: system}
	values := Pooled(nights)
	some := false
	for i := range nights {
		n := &values[i]
		if system != "" {
			*n = nights[i].Night
		}
		if row := nights[i].Macro(metric, system); row != nil {
			n.Value, some = stats.Of(*row.Estimate), true
			if row.SE != nil {
				n.SE = stats.Of(*row.SE)
			}
		}
	}
	s.Segments = Divide(values)
	return s, some
}

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
// document or setting does: it begins a new segment.
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
func PastOf(folder string, run runs.Listed) (*Past, error) {
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
	this, asked, err := readNeighbour(run)
	if err != nil {
		return nil, err
	}
	questions := sync.OnceValues(func() (runs.Questions, error) { return runs.ReadQuestions(run.Dir) })
	why := make(map[string][]string)
	if len(unreadable) > 0 {
		why[Unreadable] = unreadable
	}
	p := &Past{Older: older}
	for _, l := range listed[older:] {
		n, theirs, reason := neighbour(run, this, l)
		if reason == "" && theirs != asked {
			reason = otherQuestions(asked, theirs, questions, l)
		}
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

// neighbour reads a run if it belongs to the history of this one, unless it asks other
// questions, or says why it does not. What is cheap to know is asked first.
func neighbour(run runs.Listed, this *RunNight, l runs.Listed) (n *RunNight, asked runs.QuestionSet, why string) {
	a, b := run.Manifest, l.Manifest
	switch {
	case a.Limit != b.Limit || !maps.Equal(a.Only, b.Only):
		return nil, asked, OtherPart
	case a.Judge.Kind != b.Judge.Kind:
		return nil, asked, OtherJudge
	}
	n, asked, err := readNeighbour(l)
	switch {
	case err != nil:
		return nil, asked, Unreadable
	case !slices.Equal(this.systems(), n.systems()):
		return nil, asked, OtherSystems
	}
	return n, asked, ""
}

func readNeighbour(l runs.Listed) (n *RunNight, asked runs.QuestionSet, err error) {
	n = &RunNight{Night: nightOf(l)}
	if n.Summary, err = readMacro(l.Dir); err != nil {
		return nil, asked, err
	}
	if asked, err = l.QuestionSet(); err != nil {
		return nil, asked, err
	}
	n.Items = asked.Digest
	return n, asked, nil
}

// otherQuestions says why a run does not belong that asks other questions than this one.
// The questions themselves are read only where their numbers do not tell.
func otherQuestions(asked, theirs runs.QuestionSet, questions func() (runs.Questions, error), l runs.Listed) string {
	if !mostlyShared(min(asked.Count, theirs.Count), asked.Count, theirs.Count) {
		return OtherQuestions
	}
	a, err := questions()
	b, failed := runs.ReadQuestions(l.Dir)
	switch {
	case err != nil || failed != nil:
		return Unreadable
	case !mostlyShared(int64(a.Shared(b)), asked.Count, theirs.Count):
		return OtherQuestions
	}
	return ""
}

// mostlyShared reports whether sets of a and b questions share at least half of what
// either has.
func mostlyShared(shared, a, b int64) bool { return 2*shared >= a+b-shared }

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
