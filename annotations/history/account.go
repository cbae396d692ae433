package history

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"ibid/annotations/compare"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// An Account is what a history says of a series.
type Account struct {
	Name     string    `json:"name"`      // of its first run
	Accepted *Accepted `json:"accepted"`  // nil if no run of the series was accepted
	Base     string    `json:"base"`      // the run that its next one is compared with; "" if there is none
	Gone     bool      `json:"base_gone"` // it is not there any more
	Runs     []Line    `json:"runs"`
}

// A Line is one run of a series.
type Line struct {
	Run    string              `json:"run" doc:"name of the run's folder"`
	At     time.Time           `json:"at" doc:"when the run began, RFC 3339 in UTC"`
	Gates  runs.Verdict        `json:"gates" doc:"how the gates ended that it was begun with: pass, fail or no verdict; empty without gates"`
	Base   string              `json:"base" doc:"the run that it is compared with; empty if there is none"`
	Marks  runs.ListOf[string] `json:"marks" doc:"what it does not share with the run before: questions, systems, a judge, settings; accepted if somebody accepted it"`
	Values runs.ListOf[Value]  `json:"values"`
}

// A Value is one metric of a system in a run. What is not defined is nil.
type Value struct {
	Metric   string       `json:"metric" doc:"name of the metric"`
	System   string       `json:"system" doc:"the system; empty for what is of no system"`
	Estimate *float64     `json:"estimate" doc:"the metric" null:"undefined"`
	Diff     *float64     `json:"diff" doc:"the run less its base, over the questions that both have" null:"undefined"`
	Low      *float64     `json:"ci_low" doc:"lower end of the interval of the difference" null:"no interval"`
	High     *float64     `json:"ci_high" doc:"upper end of the interval of the difference" null:"no interval"`
	P        *float64     `json:"p" range:"[0, 1]" doc:"two-sided p-value of no difference, times the systems that are compared" null:"there is no test"`
	Word     compare.Word `json:"word" doc:"better, worse, different, same or tied" null:"nothing was compared"`
	Since    string       `json:"since" doc:"the first run of those in a row that are better, or worse, than the base" null:"neither better nor worse"`
}

// A Record is a value with what it is of: a line of the table.
type Record struct {
	Series string    `col:"series" doc:"name of the first run of the series: runs that ask mostly the same questions"`
	Run    string    `col:"run" doc:"name of the run's folder"`
	At     time.Time `col:"at" doc:"when the run began, RFC 3339 in UTC"`
	Base   string    `col:"base" doc:"the run that it is compared with; empty if there is none"`
	Value
}

// Lines is the table of a history, in CSV.
var Lines = runs.NewTable[Record]("ibid history", "one metric of a system in a run")

// Lines are the values of the series, for [Lines].
func (a *Account) Lines() (all []Record) {
	for i := range a.Runs {
		for _, v := range a.Runs[i].Values {
			all = append(all, Record{a.Name, a.Runs[i].Run, a.Runs[i].At, a.Runs[i].Base, v})
		}
	}
	return all
}

// Account makes the account of the series, whose nights are its runs, in some metrics, and if
// wanted first in the leading one of its last run. Without compared, and of what is no metric,
// there are no differences.
func (s *Series) Account(nights []Night, names []string, lead, compared bool) (*Account, error) {
	a := &Account{Name: nights[0].Name(), Accepted: s.Accepted()}
	if base := s.Base(); base != "" {
		a.Base = filepath.Base(base)
		a.Gone = !slices.ContainsFunc(s.Runs, func(r runs.Listed) bool { return r.Dir == base })
	}
	for i := range nights {
		n := &nights[i]
		l := Line{Run: n.Name(), At: n.Manifest.Timings.Started.UTC(), Gates: n.Manifest.Gates, Marks: n.Changed}
		if base := s.baseOf(n.Manifest); base != "" {
			l.Base = filepath.Base(base)
		}
		if a.Accepted != nil && a.Accepted.Run == l.Run {
			l.Marks = append(slices.Clone(l.Marks), "accepted")
		}
		a.Runs = append(a.Runs, l)
	}
	if first := nights[len(nights)-1].leading(); lead && first != "" {
		names = append([]string{first}, names...)
	}
	for _, name := range names {
		d, isMetric := metrics.Lookup(name)
		w := NewWatch(d)
		for i := range nights {
			if err := s.addValues(&a.Runs[i], nights, i, name, isMetric && compared, isMetric, w); err != nil {
				return nil, errors.Join(err, w.Close())
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// addValues adds a metric of night i to its line, compared with the base if it can be.
func (s *Series) addValues(l *Line, nights []Night, i int, name string, compared, isMetric bool, w *Watch) error {
	n, base := &nights[i], ""
	if compared {
		base = s.baseOf(n.Manifest)
	}
	var changes map[string]compare.Difference
	if base != "" {
		if _, err := disk.Stat(filepath.Join(base, runs.ManifestFile)); err == nil {
			if changes, err = w.Changes(base, n.Listed); err != nil {
				return err
			}
		}
	}
	systems := n.Systems()
	if !isMetric {
		systems = []string{""}
	}
	for _, system := range systems {
		v := Value{Metric: name, System: system}
		if row := n.Macro(name, system); row != nil {
			v.Estimate = row.Estimate
		}
		key := system
		if _, known := changes[key]; !known && len(systems) == 1 {
			key = "" // the base has one system, too, of another name
		}
		if d, known := changes[key]; known {
			v.Diff, v.Low, v.High, v.P, v.Word = d.Diff, d.Low, d.High, d.P, d.Word
		}
		if v.Word == compare.Better || v.Word == compare.Worse {
			first, err := w.Since(base, s.Runs, i, key)
			if err != nil {
				return err
			}
			v.Since = nights[first].Name()
		}
		if v.Estimate != nil || v.Diff != nil {
			l.Values = append(l.Values, v)
		}
	}
	return nil
}

// baseOf is the directory of what a run of the series is compared with; "" if there is none.
func (s *Series) baseOf(m *runs.Manifest) string {
	if m.Given || m.Baseline == "" {
		return m.Baseline
	}
	return filepath.Join(s.folder.Dir, filepath.Base(m.Baseline))
}

// leading is the leading metric of the night: the first that is known of all systems.
func (n *Night) leading() string {
	return compare.Leading(n.Manifest.Components, func(name string) bool {
		systems := n.Systems()
		return len(systems) > 0 && !slices.ContainsFunc(systems, func(s string) bool { return n.Macro(name, s) == nil })
	})
}
