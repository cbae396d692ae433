package cli

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
	"ibid/report"
)

// numberFlags say which numbers of a run are printed.
type numberFlags struct {
	all     bool
	metrics []string
}

func (n *numberFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&n.all, "all", false, "print every metric, and not only what matters")
	cmd.Flags().StringArrayVar(&n.metrics, "metric", nil, "print this metric only, such as char_f1 (may be repeated)")
}

// check refuses metrics that do not exist.
func (n *numberFlags) check() error {
	for _, name := range n.metrics {
		if _, ok := metrics.Lookup(name); !ok {
			return ibid.Usagef("--metric: no metric is called %s", name).With(harness.NearestMetric(name))
		}
	}
	return nil
}

// writeNumbers prints the numbers of a run: in text those that matter, unless more was
// asked for.
func (a *app) writeNumbers(dir string, view *report.Summary, n *numberFlags) error {
	if err := n.check(); err != nil {
		return err
	}
	if a.format != "csv" { // which has numbers alone
		failing, err := report.ReadFailing(dir, view.Run, 1)
		if err != nil {
			return err
		}
		view.Failing = failing
	}
	if len(n.metrics) > 0 {
		view = view.Only(n.metrics)
	}
	view.Open = n.all
	if a.format == "text" {
		view.Dir = dir
	}
	return a.show(view)
}

// comparisons are the systems of a run against each other, and the run against an earlier one.
func (a *app) comparisons(dir string, view *report.Summary) (c report.Compared, err error) {
	base, asked := view.Run.Baseline, true
	if base == "" || !exists(filepath.Join(base, runs.ManifestFile)) {
		base, asked = lastRun(dir, view.Run), false
	}
	if base == "" && len(view.Run.Places) == 1 { // of one system
		return c, nil
	}
	run, err := compare.Open(dir)
	if err != nil {
		return c, err
	}
	defer run.Close()
	if len(run.Systems()) > 1 {
		c.Comparison, err = compare.By(run, "system", compare.Options{})
		if c.NotCompared, err = refusal(err); err != nil {
			return c, err
		}
	}
	if base == "" {
		return c, nil
	}
	c.Gone, err = metricsGone(base, dir, view)
	if err == nil {
		c.Since, err = changeSince(base, asked, run, view)
	}
	if err != nil { // nothing is less true without it
		a.warn("no change is shown: %v", err)
	}
	return c, nil
}

// metricsGone are the metrics that matter of which an earlier run has values and the run in dir
// has none, if it asks at least half of the same questions.
func metricsGone(base, dir string, view *report.Summary) ([]string, error) {
	m, err := runs.ReadManifest(base)
	if err != nil {
		return nil, err
	}
	rows, err := runs.ReadSummaryOf(base, runs.WholeSystems)
	if err != nil {
		return nil, err
	}
	gone := view.Gone(report.NewSummary(m, rows, view.Gates))
	if len(gone) == 0 {
		return nil, nil
	}
	then, err := runs.ReadQuestions(base)
	if err != nil {
		return nil, err
	}
	now, err := runs.ReadQuestions(dir)
	if 2*then.Shared(now) < len(then) {
		return nil, err
	}
	return gone, err
}

// refusal is why runs or systems cannot be compared; other errors stay as they are.
func refusal(err error) (string, error) {
	var refused *compare.RefusedError
	if errors.As(err, &refused) || errors.Is(err, ibid.ErrUsage) {
		return err.Error(), nil
	}
	return "", err
}

// compareRows is the most rows of a comparison that the first screen makes without being asked
// for one: of a run whose systems are compared, or of two runs together.
const compareRows = 400_000

// changeSince compares a run with an earlier one. The result is nil if there is nothing that both
// answer, or if no baseline is set and the two runs are not comparable.
func changeSince(base string, asked bool, now *compare.Run, view *report.Summary) (*compare.Result, error) {
	quantities := view.Leading()
	if len(quantities) == 0 {
		return nil, nil
	}
	before, err := compare.Open(base)
	if err != nil {
		return nil, err
	}
	defer before.Close()
	r, err := compare.Runs(before, []*compare.Run{now}, compare.Options{More: quantities, Whole: true})
	var refused *compare.RefusedError
	if !asked && (errors.Is(err, ibid.ErrUsage) || errors.As(err, &refused)) {
		return nil, nil // nobody said that it is the same thing again
	}
	if err == nil && slices.ContainsFunc(r.Metrics, func(m compare.Metric) bool { return m.Reason == compare.NotPaired }) {
		return nil, nil
	}
	return r, err
}

// lastRun is the last run of the folder that a run lies in whose numbers mean the same, ""
// if there is none or both are too large to be compared beside the numbers.
func lastRun(dir string, m *runs.Manifest) string {
	folder, _, err := runs.ListReadable(filepath.Dir(filepath.Clean(dir)))
	if err != nil {
		return ""
	}
	last, found := compare.LastRun(folder, m)
	if !found || last.Manifest.Rows+m.Rows > compareRows {
		return ""
	}
	return last.Dir
}
