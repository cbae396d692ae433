package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/history"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/metrics"
	"ibid/report"
)

// historyFlags say what a history shows, or which run is accepted.
type historyFlags struct {
	metrics []string
	accept  string
}

func (a *app) historyCommand() *cobra.Command {
	f := &historyFlags{}
	cmd := &cobra.Command{
		Use:   "history [DIR]",
		Short: "the runs of a folder, series by series, and how each changed",
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
	flags.StringArrayVar(&f.metrics, "metric", nil, "a metric to show (may be repeated; default the one that leads, and what people say)")
	flags.StringVar(&f.accept, "accept", "", "make this run what later runs of its series are compared with")
	return cmd
}

func (a *app) history(f *historyFlags, dir string) error {
	names, err := metricNames(f.metrics)
	if err != nil {
		return err
	}
	if exists(filepath.Join(dir, runs.ManifestFile)) {
		return ibid.Usagef("%s is one run", dir).With("name the folder that it lies in: ibid history " + report.ShellWord(filepath.Dir(filepath.Clean(dir))))
	}
	folder, err := history.Open(dir)
	if err != nil {
		return noFolder(dir, err)
	}
	if len(folder.Unreadable) > 0 {
		return folder.Unreadable[0].Err
	}
	if f.accept != "" {
		s, err := folder.Accept(f.accept, time.Now())
		if err == nil {
			a.say("%s is accepted: later runs of its series, which began with %s, are compared with it", filepath.Base(f.accept), filepath.Base(s.Runs[0].Dir))
		}
		return err
	}
	view, err := historyOf(folder, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		known := slices.ContainsFunc(view.Series, func(s report.Series) bool {
			return slices.ContainsFunc(s.Lines(), func(r history.Record) bool { return r.Metric == name })
		})
		if !known {
			a.warn("%s is undefined in every run", name)
		}
	}
	return a.show(view)
}

// indexOf is the history of a folder for its index. Runs that cannot be read are left out, with a
// warning.
func (a *app) indexOf(dir string) (*report.History, error) {
	folder, err := history.Open(dir)
	if err != nil {
		return nil, noFolder(dir, err)
	}
	for _, r := range folder.Unreadable {
		a.warn("%s: the manifest of this run cannot be read", r.Name)
	}
	folder.Runs = slices.DeleteFunc(folder.Runs, func(r runs.Listed) bool {
		_, err := history.ReadNights([]runs.Listed{r})
		if err != nil {
			a.warn("%s: %v", r.Dir, err)
		}
		return err != nil
	})
	return historyOf(folder, nil)
}

// historyOf is the history of a folder in some metrics: without any, in the leading one and in
// what people say.
func historyOf(folder *history.Folder, names []string) (*report.History, error) {
	view := &report.History{Dir: folder.Dir, Runs: int64(len(folder.Runs))}
	for _, s := range folder.Series() {
		nights, err := history.ReadNights(s.Runs)
		if err != nil {
			return nil, err
		}
		shown := names
		if people, err := addPeople(nights); err != nil {
			return nil, err
		} else if len(names) == 0 {
			shown = people
		}
		account, err := s.Account(nights, shown, len(names) == 0, true)
		if err != nil {
			return nil, err
		}
		view.Series = append(view.Series, report.Series{Account: account, Nights: nights})
	}
	return view, nil
}

// ofPeople matches what a history calls agreement and calibration, as gates call agreement.
var ofPeople = regexp.MustCompile(`^(agreement|calibration)\(\w+\)$`)

// addPeople adds to the numbers of nights how far their annotators agreed, and the judge
// with them: the statistic that decides about each kind of data. It returns their names.
func addPeople(nights []history.Night) ([]string, error) {
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
		if c == nil || c.Of != "" && c.Of != n.Manifest.ID { // of another run's labels
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
	for i := range nights {
		slices.SortFunc(nights[i].Summary, runs.CompareSummary)
	}
	slices.Sort(names)
	return names, nil
}

// metricNames are the metrics asked for, under their first names.
func metricNames(asked []string) ([]string, error) {
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

// noFolder is the error for a folder of runs that is not there; others stay as they are.
func noFolder(dir string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return ibid.Usagef("%s: no such folder", dir).With("runs land in runs/ unless --out says otherwise")
	}
	return err
}
