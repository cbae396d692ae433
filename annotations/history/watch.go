package history

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A Watch compares runs with others in one metric, each two once. It is not safe for
// concurrent use.
type Watch struct {
	metric metrics.Definition
	base   *compare.Run                                // that is open
	known  map[[2]string]map[string]compare.Difference // by the directories of base and run, by system
	rows   int64                                       // that were compared
}

// NewWatch watches a metric. The caller closes it.
func NewWatch(metric metrics.Definition) *Watch {
	return &Watch{metric: metric, known: make(map[[2]string]map[string]compare.Difference)}
}

// Close closes the run that is open.
func (w *Watch) Close() error {
	if w.base == nil {
		return nil
	}
	return w.base.Close()
}

// Changes are the differences of a run from a base, by system: "" if each has one of another
// name. There are none if the two cannot be compared.
func (w *Watch) Changes(base string, run runs.Listed) (map[string]compare.Difference, error) {
	pair := [2]string{base, run.Dir}
	if all, ok := w.known[pair]; ok {
		return all, nil
	}
	all := make(map[string]compare.Difference)
	w.known[pair] = all
	if w.base == nil || w.base.Dir != base {
		err := w.Close()
		w.base = nil
		if err != nil {
			return nil, err
		}
		if w.base, err = compare.Open(base); err != nil {
			return nil, err
		}
	}
	now, err := compare.Open(run.Dir)
	if err != nil {
		return nil, err
	}
	defer now.Close()
	w.rows += run.Manifest.Rows
	r, err := compare.Runs(w.base, []*compare.Run{now}, compare.Options{Metrics: []compare.Quantity{{Metric: w.metric}}, Whole: true})
	if Incomparable(err) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for _, m := range r.Metrics {
		for _, d := range m.Differences {
			all[m.System] = d
		}
	}
	return all, nil
}

// Incomparable reports whether an error says that two runs cannot be compared.
func Incomparable(err error) bool {
	_, refused := errors.AsType[*compare.RefusedError](err)
	return refused || errors.Is(err, ibid.ErrUsage)
}

// Since is the place of the first run of those in a row, up to place i, of which a system has
// the same word against a base: better or worse. Runs before the base do not count, nor those
// that would have to be read beyond maxPastRows.
func (w *Watch) Since(base string, all []runs.Listed, i int, system string) (first int, err error) {
	now, err := w.Changes(base, all[i])
	if err != nil {
		return i, err
	}
	for first = i; first > 0 && all[first-1].Dir != base; first-- {
		if _, read := w.known[[2]string{base, all[first-1].Dir}]; !read && w.rows >= maxPastRows {
			break
		}
		before, err := w.Changes(base, all[first-1])
		if err != nil {
			return first, err
		}
		if before[system].Word != now[system].Word {
			break
		}
	}
	return first, nil
}

// Seen says since when a run has been worse than its base by the metric that decides in their
// comparison: "first seen tonight", "first seen in NAME"; "" if it is not. If it is better, and
// was so before, better is the first run in a row that was. s has the runs of the series before
// it.
func (s *Series) Seen(run runs.Listed, base string, r *compare.Result) (worse, better string, err error) {
	i := slices.IndexFunc(r.Metrics, func(m compare.Metric) bool { return m.Deciding })
	if i < 0 {
		return "", "", nil
	}
	d, _ := metrics.Lookup(r.Metrics[i].Metric)
	w := NewWatch(d)
	defer func() { err = errors.Join(err, w.Close()) }()
	all := append(slices.Clone(s.Runs), run)
	first := make(map[compare.Word][]int) // by system
	var names []string
	for _, m := range r.Metrics {
		if !m.Deciding || len(m.Differences) == 0 {
			continue
		}
		word := m.Differences[0].Word
		if word != compare.Better && word != compare.Worse {
			continue
		}
		since, err := w.Since(base, all, len(all)-1, m.System)
		if err != nil {
			return "", "", err
		}
		first[word] = append(first[word], since)
		if word == compare.Worse {
			names = append(names, m.System)
		}
	}
	if places := first[compare.Worse]; len(places) > 0 {
		of := make(map[int][]string)
		for k, place := range places {
			of[place] = append(of[place], names[k])
		}
		var parts []string
		for _, place := range slices.Sorted(maps.Keys(of)) {
			when := "in " + filepath.Base(all[place].Dir)
			if place == len(all)-1 {
				when = "tonight"
			}
			if len(of) > 1 {
				when += " (" + strings.Join(of[place], ", ") + ")"
			}
			parts = append(parts, when)
		}
		return "first seen " + strings.Join(parts, ", "), "", nil
	}
	if places := first[compare.Better]; len(places) > 0 && slices.Min(places) < len(all)-1 {
		better = filepath.Base(all[slices.Min(places)].Dir)
	}
	return "", better, nil
}
