package annotations

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A RunNight is a finished run as a night of a history, still without a value: it
// has one for each metric and system.
type RunNight struct {
	Night
	Summary []runs.SummaryRow // the macro values over all rows
}

// ReadNights reads runs, which come in order.
func ReadNights(listed []runs.Listed, o HistoryOptions) ([]RunNight, error) {
	var out []RunNight
	for _, run := range listed {
		n, err := ReadNight(run, o)
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
	all, err := runs.ReadSummary(dir)
	return slices.Clone(slices.DeleteFunc(all, func(r runs.SummaryRow) bool { return r.Slice != "" || r.Agg != runs.Macro })), err
}

// ReadNight reads a run as far as it says what begins a new baseline.
func ReadNight(run runs.Listed, o HistoryOptions) (Night, error) {
	n := nightOf(run, o)
	if o.AnyItems {
		return n, nil
	}
	questions, err := runs.ReadQuestions(run.Dir)
	n.Items = itemsOf(questions)
	return n, err
}

func itemsOf(q runs.Questions) string { return strconv.FormatUint(q.Digest(), 16) }

// unmoving are the groups of ingredients that move no score: the dataset, whose
// answers are other ones every night, the anchors of the judge, and how numbers are
// summarised.
var unmoving = []string{"anchors", "dataset", "slices", "statistics", "quality_control"}

// nightOf is what the manifest of a run says of its night.
func nightOf(run runs.Listed, o HistoryOptions) Night {
	m := run.Manifest
	basis := make(map[string]string, len(m.Ingredients))
	for _, key := range slices.Sorted(maps.Keys(m.Ingredients)) {
		value := m.Ingredients[key]
		group, _, _ := strings.Cut(key, ".")
		if slices.Contains(unmoving, group) || key == "documents" && o.AnyItems {
			continue
		}
		basis[group] += key + "=" + value + "\n"
	}
	return Night{Run: m.ID, Dir: run.Dir, At: m.Timings.Started, Basis: basis}
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

// SeriesOf watches the macro values of a metric over nights. It is false if the
// metric is undefined in all of them.
func SeriesOf(nights []RunNight, metric, system string, o HistoryOptions) (Series, bool) {
	d, _ := metrics.Lookup(metric)
	s := Series{Metric: metric, System: system, Lower: d.Direction == metrics.LowerIsBetter}
	values := Pooled(nights)
	some := false
	for i := range nights {
		n := &values[i]
		if system != "" {
			*n = nights[i].Night
		}
		if row := nights[i].Macro(metric, system); row != nil {
			n.Value, n.SE, some = stats.Of(*row.Estimate), standardError(row), true
		}
	}
	s.Segments = Watch(values, o)
	return s, some
}

// standardError is what the interval of a mean says of it: half its width over the
// quantile of t. It is a little too large where the interval has fewer degrees of
// freedom than clusters less one.
func standardError(r *runs.SummaryRow) stats.Number {
	if r.Low == nil || r.Clusters < 2 {
		return stats.Number{}
	}
	return stats.Of((*r.High - *r.Low) / 2 / stats.StudentQuantile(r.Level, r.Clusters-1))
}
