package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/cmd/ibid/internal/term"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

// jobFlags are the flags of the commands that make a run.
type jobFlags struct {
	settings settingFlags
	id       string
	workers  int
	baseline string
	page     string
	numbers  numberFlags
	ci       ciFlags
}

// register adds the flags that all of these commands have.
func (f *jobFlags) register(cmd *cobra.Command) {
	f.settings.register(cmd)
	f.numbers.register(cmd)
	f.ci.register(cmd)
}

// runFlags are the flags of ibid run that are no settings.
type runFlags struct {
	jobFlags
	limit    int64
	only     []string
	fresh    bool
	dryRun   bool
	resubmit bool
}

// What flags say that several commands have.
const (
	judgeUsage     = "who judges support: lexical, openrouter, openai, human, recorded or none"
	documentsUsage = "the documents that are cited: a Parquet file, directory or glob"
	baselineUsage  = "compare with this run in place of the base of the series (ibid help history); none compares with nothing"
)

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run RUN.yaml|DATASET",
		Short: "evaluate; resumes",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.run(cmd, f, args[0]) },
	}
	f.register(cmd)
	s := &f.settings
	s.add(cmd, "documents", "documents", documentsUsage)
	s.addGold(cmd)
	s.add(cmd, "columns", "columns", "other names of columns or members, THEIRS=OURS,…, such as citations.file=citations.doc; THEIRS= alone says that it is none of ours")
	s.add(cmd, "judge", "judge.kind", judgeUsage)
	s.add(cmd, "model", "judge.model", "model that judges, such as VENDOR/MODEL at OpenRouter")
	s.add(cmd, "replay", "judge.file", "with --judge recorded a file of verdicts (Parquet, JSON Lines, CSV)")
	s.add(cmd, "max-cost", "judge.max_cost_usd", "stop when the judge has cost this many US dollars; 0 = no limit")
	s.add(cmd, "rpm", "judge.rpm", "most calls to the judge a minute; 0 = no limit")
	s.add(cmd, "cache", "judge.cache", "file of the judge's answers (default: in the user's cache directory); off uses no answers of earlier runs, and keeps those of this one only until it is complete")
	s.add(cmd, "out", "out", "folder of runs (default runs)")
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "name of the run (default from dataset and fingerprint)")
	flags.StringArrayVar(&s.gates, "gate", nil, "a condition that the run must meet, such as 'char_f1 >= 0.7' (may be repeated)")
	flags.Int64Var(&f.limit, "limit", 0, "evaluate only the first N rows")
	flags.StringArrayVar(&f.only, "only", nil, "evaluate only rows with this tag, TAG=VALUE (may be repeated)")
	flags.IntVar(&f.workers, "workers", 0, "rows that are scored side by side (default one for each processor)")
	flags.BoolVar(&f.fresh, "fresh", false, "run again under a new id that carries the date")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what is wrong with the input, what the judge would be asked and what it costs, and which settings are no defaults (-v: all); ask and write nothing")
	flags.BoolVar(&f.resubmit, "resubmit", false, "with judge.batch: ask again what a batch was to answer of which nobody can tell what became; it may be paid twice")
	flags.StringVar(&f.baseline, "baseline", "", baselineUsage)
	flags.StringVar(&f.page, "report", "", "write the page to this file (default report.html in the run directory, of up to 1,000,000 rows)")
	return cmd
}

func (a *app) run(cmd *cobra.Command, f *runFlags, argument string) error {
	if f.limit < 0 || f.workers < 0 {
		return ibid.Usagef("--limit and --workers cannot be negative")
	}
	if err := f.ci.check(); err != nil {
		return err
	}
	only, err := parseTags(f.only)
	if err != nil {
		return err
	}
	config, err := f.settings.load(a, cmd, argument)
	if err != nil {
		return err
	}
	if !config.Enabled {
		a.say("citation_accuracy.enabled is false: nothing to do")
		return nil
	}
	if f.resubmit && !config.Judge.Batch {
		return ibid.Usagef("--resubmit is given without judge.batch").With("add --set judge.batch=true, or leave it out")
	}
	job := &harness.Job{
		Config: config, Source: argument, ID: f.id, Workers: f.workers, Limit: f.limit, Only: only, Fresh: f.fresh, Version: a.Version,
		Baseline: f.baseline, Import: harness.ImportForRun, Resubmit: f.resubmit,
	}
	err = a.keys(job)
	if f.dryRun {
		return a.dryRun(cmd, job) // prices are told without a key
	}
	if err != nil {
		return err
	}
	return a.evaluate(cmd, job, &f.jobFlags)
}

// evaluate does a job and prints its results.
func (a *app) evaluate(cmd *cobra.Command, job *harness.Job, f *jobFlags) error {
	if err := errors.Join(f.numbers.check(), onlyHere(f.page), runHere(job.Baseline)); err != nil {
		return err
	}
	return a.do(cmd, job, func(out *harness.Outcome) error {
		return a.afterRun(cmd.Context(), job.Config, out, f)
	})
}

// do does a job, and then with its outcome what follows while its inputs are open: whoever reads
// them again fetches nothing again.
func (a *app) do(cmd *cobra.Command, job *harness.Job, then func(*harness.Outcome) error) error {
	plan, progress, err := a.plan(cmd, job)
	if err != nil {
		return a.interrupted(err, "")
	}
	defer progress.Close()
	defer plan.Close()
	out, err := plan.Run(cmd.Context())
	progress.Close()
	if err != nil {
		return a.interrupted(err, plan.ID)
	}
	return then(out)
}

// plan plans a job that shows its progress and its warnings on standard error.
// Close the progress line before anything else is said; after an error it is
// closed already.
func (a *app) plan(cmd *cobra.Command, job *harness.Job) (*harness.Plan, *term.Progress, error) {
	progress := term.NewProgress(a.Stderr, a.quiet)
	job.Progress = func(p harness.Progress) {
		progress.Update(func() string { return progressLine(p, time.Now()) })
	}
	job.Warn = func(text string) { progress.Clear(); a.warn("%s", text) }
	if !a.quiet {
		job.Say = func(text string) { progress.Clear(); a.say("%s", text) }
	}
	if job.Config.Dataset == "-" {
		job.Stdin = a.Stdin
	}
	plan, err := job.Plan(cmd.Context())
	if err != nil {
		progress.Close()
	}
	return plan, progress, err
}

// afterRun prints the results of a run, decides about the exit code, and then leaves
// the run's page: a pipeline that waits for gates does not wait for it. A page that
// cannot be made is a warning where the exit code has something else to say.
func (a *app) afterRun(ctx context.Context, config *configs.Config, out *harness.Outcome, f *jobFlags) error {
	view, err := a.summaryView(out.Dir, out.Manifest, out.Gates, "")
	if err != nil {
		return err
	}
	var compared *report.Compared // nil leaves it to the page
	if out.Manifest.Rows <= compareRows {
		if view.Compared, err = a.comparisons(out.Dir, view); err != nil {
			return err
		}
		compared = &view.Compared
	}
	if err := a.writeNumbers(out.Dir, view, &f.numbers); err != nil {
		return err
	}
	if out.Existed && !a.quiet {
		a.say("%s is complete already; nothing was done", out.Dir)
		a.hint("--fresh runs again under a new id")
	}
	concluded := a.conclude(config, out, &f.ci)
	if err := a.writeRunReport(ctx, out, f.page, compared); err != nil {
		if concluded == nil {
			return err
		}
		a.warn("no page: %v", err)
	}
	return concluded
}

// progressLine says how far a run is, in one line.
func progressLine(p harness.Progress, now time.Time) string {
	line := p.Stage
	if p.Of > 0 {
		line += fmt.Sprintf(" %s/%s (%d %%)", quantity(p.Done, p.UnitsBytes), quantity(p.Of, p.UnitsBytes), p.Done*100/p.Of)
	}
	if rate := p.Rate(now); rate >= 1 {
		line += fmt.Sprintf(", %s/s", quantity(int64(rate), p.UnitsBytes))
	}
	if p.Errors > 0 {
		line += fmt.Sprintf(", %d error rows", p.Errors)
	}
	if u := p.Judge; u != nil {
		line += fmt.Sprintf(", %s asked, %s cached, %s retries, %s failed, $%.2f",
			report.Thousands(u.Asked), report.Thousands(u.Cached), report.Thousands(u.Retries), report.Thousands(u.Failed), usd(u.CostNanoUSD))
	}
	if left, ok := p.Left(now); ok && p.Done < p.Of {
		line += ", " + left.Round(time.Second).String() + " left"
	}
	return line
}

// quantity prints rows with separators, or bytes in binary units.
func quantity(n int64, isBytes bool) string {
	if !isBytes {
		return report.Thousands(n)
	}
	const unit = 1 << 20
	return fmt.Sprintf("%.0f MiB", float64(n)/unit)
}

// errInterrupted is the error of work that was stopped before it wrote anything.
var errInterrupted = errors.New("interrupted")

// interrupted gives a run that was stopped, on purpose or by its judge, the command
// that goes on; other errors stay as they are. The id may be "" if the run has none yet.
func (a *app) interrupted(err error, id string) error {
	again := "go on with: " + commandAgain(a.Args, id)
	var interrupted *harness.InterruptedError
	var stopped *harness.StoppedError
	switch {
	case errors.As(err, &interrupted):
	case errors.As(err, &stopped):
		if first := stopped.Stop.Hint; first != "" {
			again = first + "; then " + again
		}
	case errors.Is(err, context.Canceled):
		err = errInterrupted
	default:
		return err
	}
	return &ibid.Error{Err: err, Hint: again}
}

// commandAgain is the command line that was given, so that a run goes on with the
// same settings. What --fresh started has an id of its own by now.
func commandAgain(args []string, id string) string {
	words := []string{"ibid"}
	for _, arg := range args {
		switch {
		case id != "" && (arg == "--fresh" || arg == "--fresh=true"):
			words = append(words, "--id", report.ShellWord(id))
		case arg == "--resubmit" || arg == "--resubmit=true":
			// What was asked again must not be asked once more.
		default:
			words = append(words, report.ShellWord(arg))
		}
	}
	return strings.Join(words, " ")
}

// commandOf is a command that goes on with the run of a manifest: what the run
// file says is there already, the rest is spelled out.
func commandOf(dir string, m *runs.Manifest) string {
	words := []string{"ibid", "run", report.ShellWord(m.Source), "--out", report.ShellWord(filepath.Dir(dir)), "--id", report.ShellWord(m.ID)}
	for _, s := range m.Settings {
		given := strings.HasPrefix(s.Source, "--") || strings.HasPrefix(s.Source, "environment ")
		if given && s.Key != "out" {
			words = append(words, "--set", report.ShellWord(s.Key+"="+s.Value))
		}
	}
	for _, name := range sortedKeys(m.Ingredients) {
		if tag, ok := strings.CutPrefix(name, "--only "); ok {
			words = append(words, "--only", report.ShellWord(tag+"="+m.Ingredients[name]))
		} else if name == "--limit" {
			words = append(words, name, report.ShellWord(m.Ingredients[name]))
		}
	}
	return strings.Join(words, " ")
}
