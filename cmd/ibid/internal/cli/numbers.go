package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/annotations/history"
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

// comparisons are the systems of a run against each other, and the run against its base.
func (a *app) comparisons(dir string, view *report.Summary) (c report.Compared, err error) {
	m := view.Run
	base := m.Baseline
	if base != "" && !m.Given {
		base = filepath.Join(filepath.Dir(filepath.Clean(dir)), filepath.Base(base))
	}
	if base == "" && len(m.Places) == 1 { // of one system
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
	if err := changeSince(&c, base, run, view); err != nil { // nothing is less true without it
		a.warn("no change is shown: %v", err)
	}
	return c, nil
}

// metricsGone are the metrics that matter of which the base of a run has values and the run
// has none.
func metricsGone(base *compare.Run, view *report.Summary) ([]string, error) {
	rows, err := runs.ReadSummaryOf(base.Dir, runs.WholeSystems)
	if err != nil {
		return nil, err
	}
	return view.Gone(report.NewSummary(base.Manifest, rows, view.Gates)), nil
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
// for one: of a run whose systems are compared, or of a run and its base together.
const compareRows = 400_000

// changeSince says what changed since the base of a run, and since when.
func changeSince(c *report.Compared, base string, now *compare.Run, view *report.Summary) error {
	folder := filepath.Dir(filepath.Clean(now.Dir))
	if !exists(filepath.Join(base, runs.ManifestFile)) {
		c.NotSince = fmt.Sprintf("%s, which it is compared with, is gone: ibid history %s --accept RUN names another.", filepath.Base(base), report.ShellWord(folder))
		return nil
	}
	m, err := runs.ReadManifest(base)
	if err != nil {
		return err
	}
	quantities := view.Leading()
	if !now.Manifest.Given && m.Rows+now.Manifest.Rows > compareRows {
		return nil
	}
	before, err := compare.Open(base)
	if err != nil {
		return err
	}
	defer before.Close()
	if c.Gone, err = metricsGone(before, view); err != nil || len(quantities) == 0 {
		return err
	}
	r, err := compare.Runs(before, []*compare.Run{now}, compare.Options{More: quantities, Whole: true})
	if history.Incomparable(err) {
		why := err.Error()
		if refused, ok := errors.AsType[*compare.RefusedError](err); ok {
			if why = refused.Reasons[0]; len(refused.Reasons) > 1 {
				why += fmt.Sprintf("; %d more", len(refused.Reasons)-1)
			}
		}
		c.NotSince = fmt.Sprintf("Since %s: not comparable (%s).", m.ID, why)
		return nil
	}
	if err != nil || slices.ContainsFunc(r.Metrics, func(m compare.Metric) bool { return m.Reason == compare.NotPaired }) {
		return err
	}
	if len(compare.OtherJudge(m, now.Manifest)) > 0 {
		r.Failures = nil // another judge says of other answers that they fail
	}
	c.Since = r
	runsOf, err := history.Open(folder)
	if err != nil {
		return err
	}
	var better string
	c.FirstSeen, better, err = runsOf.Before(now.Manifest).Seen(runs.Listed{Dir: now.Dir, Manifest: now.Manifest}, base, r)
	if better != "" {
		c.BetterSince = fmt.Sprintf("Better since %s: ibid history %s --accept %s", better, report.ShellWord(folder), report.ShellWord(filepath.Base(now.Dir)))
	}
	return err
}
