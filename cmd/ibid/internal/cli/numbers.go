package cli

import (
	"errors"
	"io"
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
// asked for or brief is false. The page is that of the run, "" if it is not there yet.
func (a *app) writeNumbers(dir string, view *report.Summary, n *numberFlags, brief bool, page string) error {
	if err := n.check(); err != nil {
		return err
	}
	if len(n.metrics) > 0 {
		view = view.Only(n.metrics)
	}
	view.Open = n.all
	if !brief || a.format != "text" || n.all || a.detail || len(n.metrics) > 0 {
		return a.show(view)
	}
	first := &report.Brief{Summary: view, Dir: dir}
	failing, err := report.ReadFailing(dir, view.Run, 1)
	if err != nil {
		return err
	}
	first.Failing = failing
	if first.Change, err = changeSince(dir, view); err != nil {
		a.warn("no change is shown: %v", err)
	}
	if exists(page) {
		first.Page = page
	}
	return a.write(func(w io.Writer) error { return first.Write(w, a.style()) })
}

// compareRows is up to how many rows two runs have in all for a change to be shown that
// nobody asked for by --baseline.
const compareRows = 400_000

// changeSince compares a run with its baseline, or else with the last run of its folder
// that it can be compared with. The result is nil if there is none, or nothing that both
// answer.
func changeSince(dir string, view *report.Summary) (*compare.Result, error) {
	quantities := view.Leading()
	if len(quantities) == 0 {
		return nil, nil
	}
	base, asked := view.Run.Baseline, true
	if base == "" || !exists(filepath.Join(base, runs.ManifestFile)) {
		base, asked = lastRun(dir, view.Run), false
	}
	if base == "" {
		return nil, nil
	}
	before, err := compare.Open(base)
	if err != nil {
		return nil, err
	}
	defer before.Close()
	now, err := compare.Open(dir)
	if err != nil {
		return nil, err
	}
	defer now.Close()
	r, err := compare.Runs(before, []*compare.Run{now}, compare.Options{More: quantities, Whole: true})
	var refused *compare.RefusedError
	if !asked && (errors.Is(err, ibid.ErrUsage) || errors.As(err, &refused)) {
		return nil, nil // nobody said that it is the same thing again
	}
	if err == nil && !slices.ContainsFunc(r.Pairs, func(p compare.Pair) bool { return p.Paired }) {
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
