package cli

import (
	"context"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/annotations/history"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

type reportFlags struct {
	set   []string
	serve bool
	port  int
}

func (a *app) reportCommand() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report RUN...|DIR",
		Short: "one self-contained HTML file; several runs side by side; a folder of runs as a site, or served",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			switch {
			case f.serve:
				return a.serve(ctx, &f, args)
			case cmd.Flags().Changed("port"):
				return ibid.Usagef("--port needs --serve")
			case len(args) == 0:
				return ibid.Usagef("report needs a run, or a folder of runs").With("ibid report runs/NAME; ibid report --serve")
			case len(args) == 1 && isFolderOfRuns(args[0]):
				return a.writeSite(ctx, args[0], f.set)
			}
			path := a.output
			if path == "-" {
				path = filepath.Join(args[len(args)-1], reportFile)
			}
			return a.writeReport(ctx, path, f.set, args...)
		},
	}
	cmd.Flags().BoolVar(&f.serve, "serve", false, "serve the pages of a folder of runs to the browser at this machine, and write nothing")
	cmd.Flags().IntVar(&f.port, "port", 0, "with --serve, the port on 127.0.0.1; 0 is a free one")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "a report.citation_display setting as KEY=VALUE (may be repeated)")
	return cmd
}

// writeReport makes the page of finished runs, writes it to a file and says where it is.
func (a *app) writeReport(ctx context.Context, path string, set []string, dirs ...string) error {
	var data []report.RunData
	for _, dir := range dirs {
		d, err := a.runData(ctx, dir, set)
		if err != nil {
			return err
		}
		data = append(data, *d)
	}
	return a.writePage(ctx, path, report.PageOptions{}, nil, data...)
}

// writePage writes the page of runs to a file and says where it is.
func (a *app) writePage(ctx context.Context, path string, o report.PageOptions, compared *report.Compared, data ...report.RunData) error {
	err := dataset.WriteFile(path, func(w io.Writer) error { return a.renderPage(ctx, w, o, compared, data...) })
	if err == nil && !a.quiet {
		a.hint("look at it: " + path)
	}
	return err
}

// renderPage adds the comparison, unless it is there, and the history to the data of runs and
// writes their page.
func (a *app) renderPage(ctx context.Context, w io.Writer, o report.PageOptions, compared *report.Compared, data ...report.RunData) error {
	o.Version = a.Version
	if compared != nil {
		o.Compared = *compared
	} else if err := a.addComparisons(&o, data); err != nil {
		return err
	}
	if len(data) == 1 {
		if err := a.addHistory(&o, &data[0]); err != nil {
			return err
		}
	}
	return report.WritePage(ctx, w, o, data...)
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
	d.Display = config.Report.CitationDisplay
	d.Parts = report.Parts{NoSpans: !config.Reporting.DetailedSpanAnalysis, NoHallucinations: !config.Reporting.HallucinationDetails}
	if d.Gates, err = compare.AskGates(dir, m, config, m.Baseline, ""); err != nil {
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
	switch path := filepath.Join(dir, reportFile); {
	case !exists(path):
		return nil
	case m.Rows > pageRows:
		a.hintLargePage(dir)
		return nil
	default:
		return a.writeReport(ctx, path, nil, dir)
	}
}

func (a *app) hintLargePage(dir string) {
	if !a.quiet {
		a.hint("ibid report " + report.ShellWord(dir) + " makes the page of this large run")
	}
}

// writeRunReport writes the page of a run to path, or if that is "" into the run
// directory, unless it is there or the run has more than [pageRows] rows.
func (a *app) writeRunReport(ctx context.Context, out *harness.Outcome, path string, compared *report.Compared) error {
	if path == "" {
		path = filepath.Join(out.Dir, reportFile)
		if out.Existed && exists(path) {
			return nil
		}
		if out.Manifest.Rows > pageRows {
			a.hintLargePage(out.Dir)
			return nil
		}
	}
	d, err := a.runData(ctx, out.Dir, nil)
	if err != nil {
		return err
	}
	d.Gates = out.Gates
	return a.writePage(ctx, path, report.PageOptions{}, compared, *d)
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

// addHistory adds the earlier runs in the folder of a run. A problem with them is only a
// warning.
func (a *app) addHistory(o *report.PageOptions, d *report.RunData) error {
	dir, err := filepath.Abs(d.Dir)
	if err != nil {
		return err
	}
	account, nights, err := history.PastOf(filepath.Dir(dir), runs.Listed{Dir: d.Dir, Manifest: d.Manifest})
	if err != nil {
		a.warn("the page has no history: %v", err)
		return nil
	}
	if account != nil {
		o.Past = &report.Series{Account: account, Nights: nights}
	}
	return nil
}
