package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
	"ibid/report/doc"
)

// showFlags say what of a run to show instead of its summary.
type showFlags struct {
	errorRows, failing bool
	limit              int // of failing rows
	prompt             bool
	by, table          string
	set                []string
	numbers            numberFlags
}

func (a *app) showCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show RUN [ID | ID/SYSTEM | #N]",
		Short: "the summary of a run, its worst rows, or one row with its spans marked in the text",
		Args:  cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, a.format, args); err != nil {
				return err
			}
			m, err := a.openRun(args[0])
			if err != nil {
				return err
			}
			switch {
			case cmd.Flags().Changed("table"):
				return a.showTable(args[0], f.table)
			case f.errorRows:
				return a.showErrors(args[0])
			case f.failing:
				return a.showFailing(args[0], m, f.limit)
			case f.prompt:
				return a.showPrompt(cmd, args[0], m, args[1])
			case len(args) > 1:
				return a.showRow(cmd, args[0], m, args[1], f.set)
			}
			return a.showSummary(args[0], m, f.by, &f.numbers)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.errorRows, "errors", false, "list the rows that could not be scored, or judged by a model, and why")
	flags.BoolVar(&f.failing, "failing", false, "list the rows that fail, worst first, and why")
	flags.IntVar(&f.limit, "limit", -1, "with --failing: list so many rows, the worst; 0 = all (default 20 in text and Markdown, all in JSON and CSV)")
	flags.Lookup("limit").DefValue = "0" // the text says it
	flags.StringVar(&f.by, "by", "", "group the summary by this field: system, or a slice of the run")
	flags.StringArrayVar(&f.set, "set", nil, "a report.citation_display setting as KEY=VALUE, for the view of a row (may be repeated)")
	flags.BoolVar(&f.prompt, "prompt", false, "of a row: what the models that judge were sent")
	f.numbers.register(cmd)
	flags.StringVar(&f.table, "table", "rows", "the table for --format csv or json: "+strings.Join(sortedKeys(shownTables), ", "))
	return cmd
}

// check refuses what does not go together.
func (f *showFlags) check(cmd *cobra.Command, format string, args []string) error {
	var asked []string
	for _, name := range []string{"errors", "failing", "by", "all"} {
		if cmd.Flags().Changed(name) {
			asked = append(asked, "--"+name)
		}
	}
	if len(args) > 1 {
		asked = append(asked, "a row")
	}
	if cmd.Flags().Changed("table") {
		asked = append(asked, "--table")
	}
	switch {
	case len(asked) > 1:
		return ibid.Usagef("%s and %s do not go together", asked[0], asked[1])
	case f.prompt && len(args) < 2:
		return ibid.Usagef("--prompt is about one row").With("name it: ibid show RUN ID --prompt; ibid help prompts has the texts without a row")
	case f.prompt && cmd.Flags().Changed("set"):
		return ibid.Usagef("--prompt and --set do not go together")
	case cmd.Flags().Changed("set") && len(args) < 2:
		return ibid.Usagef("--set is about the view of a row here").With("name one: ibid show RUN ID; ibid rescore RUN changes what a run says")
	case cmd.Flags().Changed("limit") && !f.failing:
		return ibid.Usagef("--limit needs --failing")
	case cmd.Flags().Changed("limit") && f.limit < 0:
		return ibid.Usagef("--limit cannot be negative")
	case cmd.Flags().Changed("table") && format != "csv" && format != "json":
		return ibid.Usagef("--table needs --format csv or json")
	}
	return nil
}

// openRun reads the manifest of a finished run, and says once where a run carries no
// digests.
func (a *app) openRun(dir string) (*runs.Manifest, error) {
	if err := runHere(dir); err != nil {
		return nil, err
	}
	m, err := runs.ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, ibid.Usagef("%s is no run directory", dir).With(nearestRun(dir))
	}
	if err != nil {
		return nil, err
	}
	if m.Status == runs.StatusRange {
		return nil, ibid.Usagef("%s has %s, and no summary", dir, m.Range.In()).With("ibid summary DIR... -o runs/NAME makes a run of all rows")
	}
	if !m.Complete() {
		return nil, ibid.Usagef("%s is unfinished", dir).With("go on with: " + commandOf(dir, m))
	}
	return m, nil
}

// nearestRun suggests a run beside the one that is not there.
func nearestRun(dir string) string {
	if in := filepath.Join(configs.FromValues(nil).Out, dir); exists(filepath.Join(in, runs.ManifestFile)) {
		return "did you mean " + in + "?"
	}
	found, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", runs.ManifestFile))
	var names []string
	for _, path := range found {
		names = append(names, filepath.Base(filepath.Dir(path)))
	}
	if near := ibid.Nearest(filepath.Base(dir), names); near != "" {
		return "did you mean " + filepath.Join(filepath.Dir(dir), near) + "?"
	}
	return "ibid run prints where it leaves its results"
}

func (a *app) showSummary(dir string, m *runs.Manifest, by string, numbers *numberFlags) error {
	config, err := harness.SettingsOf(m, nil, nil)
	if err != nil {
		return err
	}
	gates, err := compare.AskGates(dir, m, config, m.Baseline, "")
	if err != nil {
		return err
	}
	view, err := a.summaryView(dir, m, gates, by)
	if err != nil {
		return err
	}
	if view.Calibration, err = report.ReadCalibration(dir); err != nil {
		return err
	}
	if by != "" {
		narrow, ok := view.By(by)
		if !ok {
			fields, err := runs.SummaryFields(dir)
			return cmp.Or(err, noField(dir, by, fields))
		}
		view = narrow
	}
	if by == "system" {
		run, err := compare.Open(dir)
		if err != nil {
			return err
		}
		defer run.Close()
		if view.Took, err = run.TookBySystem(); err != nil {
			return err
		}
	}
	if by == "" && m.Rows <= compareRows && a.format != "csv" {
		if view.Compared, err = a.comparisons(dir, view); err != nil {
			return err
		}
	}
	if page := filepath.Join(dir, reportFile); exists(page) {
		view.Page = page
	}
	return a.writeNumbers(dir, view, numbers)
}

// summaryView reads as much of the summary of a run as is printed: a run of many slices
// has millions of numbers, of which text has those of systems.
func (a *app) summaryView(dir string, m *runs.Manifest, gates []runs.GateResult, by string) (*report.Summary, error) {
	fits := func(k runs.SummaryKey) bool { return true }
	switch {
	case by == "system" || by == "" && a.format == "text" && !a.detail:
		fits = runs.WholeSystems
	case by != "":
		fits = func(k runs.SummaryKey) bool { return strings.HasPrefix(k.Slice, by+"=") }
	}
	summary, err := runs.ReadSummaryOf(dir, fits)
	if err != nil {
		return nil, err
	}
	return report.NewSummary(m, summary, gates), nil
}

// noField is the error for a field that the summary is not grouped by.
func noField(dir, field string, have []string) error {
	all := "it has " + strings.Join(have, ", ") + "; a run file makes others with slices: [" + field + "]"
	return ibid.Usagef("the summary of %s is not by %s", dir, field).With(didYouMean(field, have, all))
}

// failingRead is how many failing rows are listed in text and Markdown unless --limit says
// otherwise; forms that programs read have all.
const failingRead = 20

// showFailing lists the rows that fail, the worst limit of them (0 = all, -1 = as many as the
// format has).
func (a *app) showFailing(dir string, m *runs.Manifest, limit int) error {
	if limit < 0 && (a.format == "text" || a.format == "markdown") {
		limit = failingRead
	}
	failing, err := report.ReadFailing(dir, m, max(limit, 0))
	if err != nil {
		return err
	}
	return a.show(failing)
}

// errorRow is an error row in JSON.
type errorRow struct {
	Row    int64  `json:"row"`
	ID     string `json:"id"`
	System string `json:"system"`
	Error  string `json:"error"`
}

func (a *app) showErrors(dir string) error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	rows := []errorRow{}
	err := runs.Rows().Scan(dir, []string{"id", "system", "row", "error"}, func(_ int64, r *runs.Row) error {
		if r.Error != "" {
			rows = append(rows, errorRow{r.Row, r.ID, r.System, r.Error})
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = runs.Calls.Scan(dir, nil, func(_ int64, c *runs.Call) error {
		if c.Error != "" {
			rows = append(rows, errorRow{c.Row, c.ID, c.System, "no verdict: " + c.Error})
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			return report.WriteJSON(w, map[string]any{"schema": "ibid.errors/v1", "errors": rows})
		}
		for _, r := range rows {
			if _, err := fmt.Fprintf(w, "%s\n", doc.Clean(fmt.Sprintf("#%d %s/%s: %s", r.Row, r.ID, r.System, r.Error))); err != nil {
				return err
			}
		}
		return nil
	})
}

// shownTables are the tables of results that can be written whole, by the names that --table
// has for them.
var shownTables = map[string]interface {
	Copy(w io.Writer, dir string, asJSON bool) error
}{"rows": runs.Rows(), "citations": runs.Citations, "claims": runs.Claims, "verdicts": runs.Verdicts, "quotes": runs.Quotations, "summary": runs.Summary}

// showTable writes a table of results as CSV or JSON.
func (a *app) showTable(dir, name string) error {
	if err := oneOf("--table", name, sortedKeys(shownTables)...); err != nil {
		return err
	}
	err := a.write(func(w io.Writer) error { return shownTables[name].Copy(w, dir, a.format == "json") })
	if errors.Is(err, fs.ErrNotExist) {
		return ibid.Usagef("%s has no %s", dir, name).With("only a run with a judge has claims and verdicts, only one with texts of sources quotes")
	}
	return err
}
