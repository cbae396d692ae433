package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/annotations/history"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
	"ibid/report/doc"
)

type reportFlags struct {
	set       []string
	history   string
	noHistory bool

	links    []doc.Link       // to other pages of a site
	compared *report.Compared // of one run; nil if that is not known yet
}

func (a *app) reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report RUN... -o F.html",
		Short: "one self-contained HTML file; several runs side by side; a folder of runs as a site",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.output == "-" {
				return ibid.Usagef("report needs a file").With("name it: -o report.html")
			}
			if f.history != "" && (f.noHistory || len(args) > 1) {
				return ibid.Usagef("--history is for the page of one run, and without --no-history")
			}
			if len(args) == 1 && !exists(filepath.Join(args[0], runs.ManifestFile)) && isFolder(args[0]) {
				if f.history != "" {
					return ibid.Usagef("--history is for the page of one run").With("each page of a folder shows the earlier runs of the folder")
				}
				return a.writeSite(cmd.Context(), args[0], a.output, f)
			}
			return a.writeReport(cmd.Context(), a.output, f, args...)
		},
	}
	cmd.Flags().StringVar(&f.history, "history", "", "show the run after the earlier runs of this folder (default the folder it lies in)")
	cmd.Flags().BoolVar(&f.noHistory, "no-history", false, "show no earlier runs")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "a report.citation_display setting as KEY=VALUE (may be repeated)")
	return cmd
}

// writeReport makes the page of finished runs and writes it to a file.
func (a *app) writeReport(ctx context.Context, path string, f reportFlags, dirs ...string) error {
	data, err := a.dataOf(ctx, f.set, dirs...)
	if err != nil {
		return err
	}
	return a.writePage(ctx, path, f, data...)
}

// writePage writes the page of runs to a file.
func (a *app) writePage(ctx context.Context, path string, f reportFlags, data ...report.RunData) error {
	return dataset.WriteFile(path, func(w io.Writer) error { return a.renderPage(ctx, w, f, data...) })
}

// renderPage adds the comparison and the history to the data of runs and writes their page.
func (a *app) renderPage(ctx context.Context, w io.Writer, f reportFlags, data ...report.RunData) error {
	o := report.PageOptions{Version: a.Version, Links: f.links}
	if f.compared != nil {
		o.Compared = *f.compared
	} else if err := a.addComparisons(&o, data); err != nil {
		return err
	}
	if len(data) == 1 && !f.noHistory {
		if err := a.addHistory(&o, &data[0], f.history); err != nil {
			return err
		}
	}
	return report.WritePage(ctx, w, o, data...)
}

// dataOf reads what the page shows of finished runs.
func (a *app) dataOf(ctx context.Context, set []string, dirs ...string) (data []report.RunData, err error) {
	for _, dir := range dirs {
		d, err := a.runData(ctx, dir, set)
		if err != nil {
			return nil, err
		}
		data = append(data, *d)
	}
	return data, nil
}

// runData reads what the page shows of a run. Without its texts it still shows
// the results.
func (a *app) runData(ctx context.Context, dir string, set []string) (*report.RunData, error) {
	m, err := a.openRun(dir)
	if err != nil {
		return nil, err
	}
	d := &report.RunData{Dir: dir, Manifest: m}
	if err = d.ReadSummary(); err != nil {
		return nil, err
	}
	config, err := shownAs(m, set)
	if err != nil {
		return nil, err
	}
	d.Display = displayOf(config)
	d.Parts = report.Parts{NoSpans: !config.Reporting.DetailedSpanAnalysis, NoHallucinations: !config.Reporting.HallucinationDetails}
	if d.Gates, err = harness.SavedGates(dir, m, config); err != nil {
		return nil, err
	}
	texts, err := harness.OpenTexts(ctx, dir, m)
	if err != nil {
		d.NoTexts = err.Error()
		a.warn("%s: only the results can be shown, not the texts: %v", dir, err)
		return d, nil
	}
	if texts.Kept != nil {
		a.warn("%s: %v: the texts shown are those that the run kept", dir, texts.Kept)
	}
	d.Texts = texts
	return d, nil
}

// reportFile is the page in a run directory.
const reportFile = "report.html"

// pageRows is the largest number of rows for which a run writes its page without
// being asked. A page lists a bounded number of rows, but counts all.
const pageRows = 1_000_000

// refreshReport makes the page in a run directory again, if there is one, after
// something was added to the run.
func (a *app) refreshReport(ctx context.Context, dir string, m *runs.Manifest) error {
	path := filepath.Join(dir, reportFile)
	switch {
	case !exists(path):
		return nil
	case m.Rows > pageRows:
		if !a.quiet {
			a.hint("ibid report " + quote(dir) + " -o " + quote(path) + " shows it on the page of this large run")
		}
		return nil
	}
	err := a.writeReport(ctx, path, reportFlags{}, dir)
	if err == nil && !a.quiet {
		a.hint("look at it: " + path)
	}
	return err
}

// writeRunReport writes the page of a run to path, or if that is "" into the run
// directory, unless it is there or the run has more than [pageRows] rows.
func (a *app) writeRunReport(ctx context.Context, out *harness.Outcome, path string, compared *report.Compared) error {
	asked := path != ""
	if !asked {
		path = filepath.Join(out.Dir, reportFile)
	}
	switch {
	case asked:
	case out.Existed && exists(path):
		return nil
	case out.Manifest.Rows > pageRows:
		if !a.quiet {
			a.hint("ibid report " + quote(out.Dir) + " -o " + quote(path) + " makes the page of this large run")
		}
		return nil
	}
	d, err := a.runData(ctx, out.Dir, nil)
	if err != nil {
		return err
	}
	d.Gates = out.Gates
	err = a.writePage(ctx, path, reportFlags{compared: compared}, *d)
	if err == nil && !a.quiet {
		a.hint("look at it: " + path)
	}
	return err
}

// addComparisons compares what a page shows: the systems of one run, or several runs with the
// first. Where that cannot be, the page says why.
func (a *app) addComparisons(o *report.PageOptions, data []report.RunData) (err error) {
	last := &data[len(data)-1]
	view := report.NewSummary(last.Manifest, last.Summary, last.Gates)
	if len(data) == 1 {
		o.Compared, err = a.comparisons(last.Dir, view)
		return err
	}
	var all []*compare.Run
	for i := range data {
		r, err := compare.Open(data[i].Dir)
		if err != nil {
			return err
		}
		defer r.Close()
		all = append(all, r)
	}
	o.Comparison, err = compare.Runs(all[0], all[1:], compare.Options{})
	if o.NotCompared, err = refusal(err); err != nil || o.NotCompared != "" {
		return err
	}
	o.Since, err = compare.Runs(all[0], all[1:], compare.Options{More: view.Leading(), Whole: true})
	return err
}

// addHistory adds the earlier runs in a folder, by default the folder of the run.
// With the default folder, a problem with other runs is only a warning.
func (a *app) addHistory(o *report.PageOptions, d *report.RunData, folder string) error {
	asked := folder != ""
	if !asked {
		dir, err := filepath.Abs(d.Dir)
		if err != nil {
			return err
		}
		folder = filepath.Dir(dir)
	}
	past, err := history.PastOf(folder, runs.Listed{Dir: d.Dir, Manifest: d.Manifest})
	switch {
	case asked && errors.Is(err, os.ErrNotExist):
		return ibid.Usagef("--history: %s: no such folder", folder)
	case asked && err != nil:
		return err
	case err != nil:
		a.warn("the page has no history: %v", err)
		return nil
	case asked && len(past.Nights) < report.LeastNights:
		a.warn("%s holds %s before this one, which is too few: the page has no history", folder, report.Plural(int64(len(past.Nights)-1), "run that belongs", "runs that belong"))
	}
	o.Past = past
	return nil
}
