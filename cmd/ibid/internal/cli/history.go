package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
	"ibid/metrics/stats"
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
begin a new baseline; with --any-items other questions and documents do not, and the
limits then hold each night's own sampling error.

A control chart says whether the process is what it was. Whether two runs differ over
the same questions is for ibid compare.

--keep AGE removes the runs that are older, but never the last run of a baseline.`,
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
	flags.IntVar(&f.baseline, "baseline", 8, "nights that a baseline is made of")
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
	view := &report.History{Title: fmt.Sprintf("history of %s: %s", dir, plural(int64(len(listed)), "run", "runs"))}
	systems := f.systems
	if len(systems) == 0 {
		systems = []string{""}
	}
	for _, system := range systems {
		for _, name := range names {
			nights, some, err := f.nights(listed, name, system)
			if err != nil {
				return err
			}
			if !some {
				if len(f.metrics) > 0 || len(f.systems) > 0 {
					a.warn("%s of %s is undefined in every run", name, system)
				}
				continue
			}
			d, _ := metrics.Lookup(name)
			view.Series = append(view.Series, annotations.Series{
				Metric: name, System: system, Lower: d.Direction == metrics.LowerIsBetter, Segments: annotations.Watch(nights, f.options()),
			})
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

// nights are the runs with the macro value of a metric; some tells whether any has
// one.
func (f *historyFlags) nights(listed []runs.Listed, metric, system string) (nights []annotations.Night, some bool, err error) {
	for _, run := range listed {
		n, err := f.night(run)
		if err != nil {
			return nil, false, err
		}
		summary, err := runs.ReadSummary(run.Dir)
		if err != nil {
			return nil, false, err
		}
		i := slices.IndexFunc(summary, func(r runs.SummaryRow) bool {
			return r.Metric == metric && r.System == system && r.Slice == "" && r.Agg == runs.Macro
		})
		if i >= 0 && summary[i].Estimate != nil {
			n.Value, n.SE, some = stats.Of(*summary[i].Estimate), standardError(&summary[i]), true
		}
		nights = append(nights, n)
	}
	return nights, some, nil
}

// unmoving are the groups of ingredients that move no score: the dataset, whose
// answers are other ones every night, the anchors of the judge, and how numbers are
// summarised.
var unmoving = []string{"anchors", "dataset", "slices", "statistics", "quality_control"}

// night is a run without a value.
func (f *historyFlags) night(run runs.Listed) (annotations.Night, error) {
	m := run.Manifest
	basis := make(map[string]string, len(m.Ingredients))
	for _, key := range sortedKeys(m.Ingredients) {
		value := m.Ingredients[key]
		group, _, _ := strings.Cut(key, ".")
		if slices.Contains(unmoving, group) || key == "documents" && f.anyItems {
			continue
		}
		basis[group] += key + "=" + value + "\n"
	}
	n := annotations.Night{Run: m.ID, Dir: run.Dir, At: m.Timings.Started, Basis: basis}
	if f.anyItems {
		return n, nil
	}
	items, err := runs.Questions(run.Dir, stats.Key)
	n.Items = strconv.FormatUint(items, 16)
	return n, err
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

// keep removes runs that are too old.
func (a *app) keep(f *historyFlags, listed []runs.Listed) error {
	age, err := annotations.ParseAge(f.keep)
	if err != nil {
		return &usageError{err: fmt.Errorf("--keep: %w", err)}
	}
	if err := a.formats("text"); err != nil {
		return err
	}
	var nights []annotations.Night
	for _, run := range listed {
		n, err := f.night(run)
		if err != nil {
			return err
		}
		nights = append(nights, n)
	}
	gone := annotations.Expired(annotations.Watch(nights, f.options()), time.Now(), age)
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
