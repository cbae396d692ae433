package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/history"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
	"ibid/report"
)

type historyFlags struct {
	metrics, systems []string
}

// watchedMetrics are the metrics of a history without --metric.
var watchedMetrics = []string{"overall_citation_accuracy", "char_f1", "citation_correctness", "hallucination_rate"}

func (a *app) historyCommand() *cobra.Command {
	f := &historyFlags{}
	cmd := &cobra.Command{
		Use:   "history [DIR]",
		Short: "the runs of a folder; each metric over time",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := configs.FromValues(nil).Out
			if len(args) > 0 {
				dir = args[0]
			}
			return a.history(f, dir)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metrics, "metric", nil, "a metric to show (may be repeated; default "+strings.Join(watchedMetrics, ", ")+")")
	flags.StringArrayVar(&f.systems, "system", nil, "a system to show (may be repeated; default all of them pooled)")
	return cmd
}

func (a *app) history(f *historyFlags, dir string) error {
	names, err := metricNames(f.metrics)
	if err != nil {
		return err
	}
	listed, err := runs.List(dir)
	if err != nil {
		return noFolder(dir, err)
	}
	list, err := a.runList(dir, listed)
	if err != nil {
		return err
	}
	nights, err := history.ReadNights(listed)
	if err != nil {
		return err
	}
	people, err := addPeople(nights)
	if err != nil {
		return err
	}
	if len(f.metrics) == 0 && len(f.systems) == 0 {
		names = append(slices.Clone(names), people...)
	}
	view := &report.History{Title: fmt.Sprintf("history of %s: %s", dir, report.Plural(int64(len(listed)), "run", "runs")), Runs: list, Nights: nights}
	systems := f.systems
	if len(systems) == 0 {
		systems = []string{""}
	}
	for _, system := range systems {
		for _, name := range names {
			series, some := history.SeriesOf(nights, name, system)
			if !some {
				if len(f.metrics) > 0 || len(f.systems) > 0 {
					of := ""
					if system != "" {
						of = " of " + system
					}
					a.warn("%s%s is undefined in every run", name, of)
				}
				continue
			}
			view.Series = append(view.Series, series)
		}
	}
	return a.show(view)
}

// ofPeople matches what a history calls agreement and calibration, as gates call agreement.
var ofPeople = regexp.MustCompile(`^(agreement|calibration)\(\w+\)$`)

// addPeople adds to the numbers of nights how far their annotators agreed, and the judge
// with them: the statistic that decides about each kind of data. It returns their names.
func addPeople(nights []history.RunNight) ([]string, error) {
	var names []string
	for i := range nights {
		n := &nights[i]
		add := func(name string, estimate, low, high *float64, level float64, clusters int64) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			n.Summary = append(n.Summary, runs.SummaryRow{Metric: name, Agg: runs.Macro, Estimate: estimate, Low: low, High: high, Level: level, Clusters: clusters})
		}
		rows, err := runs.Agreement.ReadIfAny(n.Dir)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if r.Verdict == "" || r.Annotators != runs.AllAnnotators || r.Estimate == nil {
				continue
			}
			if kind, of := strings.CutPrefix(r.Slice, "kind="); r.Kind == runs.LabelAgreement && of && !strings.Contains(kind, " ") {
				add("agreement("+kind+")", r.Estimate, r.Low, r.High, r.Level, r.Documents)
			} else if r.Kind == runs.SpanAgreement && r.Slice == "" {
				add("agreement(truth)", r.Estimate, r.Low, r.High, r.Level, r.Documents)
			}
		}
		c, err := report.ReadCalibration(n.Dir)
		if err != nil {
			return nil, err
		}
		if c == nil || c.Of != "" && c.Of != n.Run { // of another run's labels
			continue
		}
		for _, k := range c.Kinds {
			for _, r := range k.Statistics {
				if r.Verdict != "" && r.Estimate != nil {
					add("calibration("+strings.ReplaceAll(k.Kind, " ", "_")+")", r.Estimate, r.Low, r.High, k.Level, k.Documents)
				}
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// metricNames are the metrics asked for, under their first names.
func metricNames(asked []string) ([]string, error) {
	if len(asked) == 0 {
		return watchedMetrics, nil
	}
	var names []string
	for _, name := range asked {
		if ofPeople.MatchString(name) {
			names = append(names, name)
			continue
		}
		d, ok := metrics.Lookup(name)
		if !ok {
			return nil, ibid.Usagef("--metric: no metric is called %s", name).With(harness.NearestMetric(name))
		}
		names = append(names, d.Name)
	}
	return names, nil
}
