package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
	"ibid/report"
)

// historyFlags are the flags of ibid history.
type historyFlags struct {
	metrics, systems []string
	baseline         int
	anyItems, dry    bool
	keep             string
}

// watchedMetrics are those that a history shows unless it is told otherwise.
var watchedMetrics = []string{"overall_citation_accuracy", "char_f1", "citation_correctness", "hallucination_rate"}

func (a *app) historyCommand() *cobra.Command {
	f := &historyFlags{}
	cmd := &cobra.Command{
		Use:   "history DIR",
		Short: "runs over time: trend, control charts, change points; retention",
		Long: `history shows the runs of a folder in the order of their dates: each metric with an
EWMA and a CUSUM chart against the mean of the first nights, and the night from which
on it changed. Other questions, another judge, prompt or setting that moves scores
begin a new baseline, and so does a judge that moved on its anchors; with --any-items
other questions and documents do not, and the limits then hold each night's own
sampling error.

A control chart says whether the process is what it was. Whether two runs differ over
the same questions is for ibid compare. The page of a run shows its history, too.

--keep AGE removes the runs that are older, but never the last run of a baseline, nor
one that a run that stays was compared with (--baseline).`,
		Example: `  ibid history runs
  ibid history runs --metric char_f1 --system careful
  ibid history runs --format svg -o history.svg
  ibid history runs --keep 30d --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.history(f, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.metrics, "metric", nil, "a metric to show (may be repeated; default "+strings.Join(watchedMetrics, ", ")+")")
	flags.StringArrayVar(&f.systems, "system", nil, "a system to show (may be repeated; default all of them pooled)")
	flags.IntVar(&f.baseline, "baseline", annotations.BaselineNights, "nights that a baseline is made of")
	flags.BoolVar(&f.anyItems, "any-items", false, "other questions and documents begin no new baseline")
	flags.StringVar(&f.keep, "keep", "", "remove runs older than this, such as 30d, but for the last of each baseline")
	flags.BoolVar(&f.dry, "dry-run", false, "say what --keep would remove")
	return cmd
}

func (a *app) history(f *historyFlags, dir string) error {
	if err := a.formats(append([]string{"svg"}, tableFormats...)...); err != nil {
		return err
	}
	if f.baseline < 2 {
		return &usageError{err: errors.New("--baseline must be at least 2 nights")}
	}
	names, err := metricNames(f.metrics)
	if err != nil {
		return err
	}
	listed, err := runs.List(dir)
	if errors.Is(err, os.ErrNotExist) {
		return &usageError{err: fmt.Errorf("%s: no such folder", dir), hint: "runs land in runs/ unless --out says otherwise"}
	}
	if err != nil {
		return err
	}
	if len(listed) == 0 {
		return &usageError{err: fmt.Errorf("%s holds no finished run", dir)}
	}
	if f.keep != "" {
		return a.keep(f, listed)
	}
	nights, err := annotations.ReadNights(listed, f.options())
	if err != nil {
		return err
	}
	if err := markNights(nights); err != nil {
		return err
	}
	view := &report.History{Title: fmt.Sprintf("history of %s: %s", dir, plural(int64(len(listed)), "run", "runs"))}
	systems := f.systems
	if len(systems) == 0 {
		systems = []string{""}
	}
	for _, system := range systems {
		for _, name := range names {
			series, some := annotations.SeriesOf(nights, name, system, f.options())
			if !some {
				if len(f.metrics) > 0 || len(f.systems) > 0 {
					a.warn("%s of %s is undefined in every run", name, system)
				}
				continue
			}
			view.Series = append(view.Series, series)
		}
	}
	return a.write(func(w io.Writer) error { return view.Write(w, a.format, a.style()) })
}

// metricNames are the metrics asked for, under their first names.
func metricNames(asked []string) ([]string, error) {
	if len(asked) == 0 {
		return watchedMetrics, nil
	}
	var names []string
	for _, name := range asked {
		d, ok := metrics.Lookup(name)
		if !ok {
			return nil, &usageError{err: fmt.Errorf("--metric: no metric is called %s", name), hint: harness.NearestMetric(name)}
		}
		names = append(names, d.Name)
	}
	return names, nil
}

func (f *historyFlags) options() annotations.HistoryOptions {
	return annotations.HistoryOptions{Baseline: f.baseline, AnyItems: f.anyItems}
}

// keep removes runs that are too old.
func (a *app) keep(f *historyFlags, listed []runs.Listed) error {
	age, err := annotations.ParseAge(f.keep)
	if err != nil {
		return &usageError{err: fmt.Errorf("--keep: %w", err)}
	}
	if err := a.formats("text"); err != nil {
		return err
	}
	nights, err := annotations.ReadNights(listed, f.options())
	if err != nil {
		return err
	}
	if err := markNights(nights); err != nil {
		return err
	}
	gone := annotations.Expired(annotations.Watch(annotations.Pooled(nights), f.options()), time.Now(), age)
	gone = withoutBaselines(gone, listed)
	for _, n := range gone {
		verb := "removed"
		if f.dry {
			verb = "would remove"
		} else if err := os.RemoveAll(n.Dir); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.Stdout, "%s %s of %s\n", verb, n.Dir, n.At.UTC().Format("2006-01-02")); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.Stdout, "%s kept\n", plural(int64(len(nights)-len(gone)), "run", "runs"))
	if f.dry && err == nil {
		_, err = fmt.Fprintf(a.Stdout, "nothing was removed: --dry-run\n")
	}
	return err
}

// withoutBaselines leaves out of what is to go the runs that the gates of a run
// that stays compare with, and those that these were compared with.
func withoutBaselines(gone []annotations.Night, listed []runs.Listed) []annotations.Night {
	goes := func(dir string) bool {
		return slices.ContainsFunc(gone, func(n annotations.Night) bool { return sameDir(n.Dir, dir) })
	}
	for again := true; again; {
		again = false
		for _, run := range listed {
			base := run.Manifest.Baseline
			if base == "" || goes(run.Dir) || !goes(base) {
				continue
			}
			gone = slices.DeleteFunc(gone, func(n annotations.Night) bool { return sameDir(n.Dir, base) })
			again = true
		}
	}
	return gone
}

// sameDir reports whether two paths lead to one folder.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
