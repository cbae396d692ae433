package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/configs"
	"ibid/harness"
	"ibid/report"
)

func (a *app) summaryCommand() *cobra.Command {
	f := &jobFlags{}
	cmd := &cobra.Command{
		Use:   "summary DIR...|[RUN.yaml] ROWS... -o OUT/ID",
		Short: "makes a run of rows that are scored already, however they are partitioned",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.summary(cmd, f, args) },
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.settings.gates, "gate", nil, "a condition that the run must meet, such as 'char_f1 >= 0.7' (may be repeated)")
	flags.StringVar(&f.baseline, "baseline", "", baselineUsage)
	flags.IntVar(&f.workers, "workers", 0, "parts that are worked on side by side (default one for each processor)")
	return cmd
}

func (a *app) summary(cmd *cobra.Command, f *jobFlags, args []string) error {
	if a.output == "-" {
		return ibid.Usagef("summary needs the directory of the run").With("add -o runs/NAME")
	}
	dir := filepath.Clean(a.output)
	a.output = "-"
	if err := errors.Join(f.numbers.check(), f.ci.check()); err != nil {
		return err
	}
	if slices.ContainsFunc(args, harness.IsScored) {
		return a.join(cmd, f, dir, args)
	}
	file, patterns := "", args
	if isRunFile(args[0]) {
		file, patterns = args[0], args[1:]
	}
	if len(patterns) == 0 {
		return ibid.Usagef("summary needs files of rows").With("such as ibid summary " + report.ShellWord(file) + " 'lake/**/rows.parquet' -o runs/NAME")
	}
	tables, err := harness.FindTables(patterns)
	if err != nil {
		return err
	}
	config, err := a.summaryConfig(cmd, f, file, dir, tables)
	if err != nil {
		return err
	}
	return a.evaluate(cmd, &harness.Job{
		Config: config, Source: strings.Join(patterns, " "), ID: filepath.Base(dir), Workers: f.workers, Version: a.Version, Baseline: f.baseline, Tables: tables,
	}, f)
}

// join makes one run of the ranges of rows in directories.
func (a *app) join(cmd *cobra.Command, f *jobFlags, dir string, dirs []string) error {
	scored, err := harness.OpenScored(cmd.Context(), dirs)
	if err != nil {
		return err
	}
	m := scored.Manifest
	config, err := harness.SettingsOf(m, append(f.settings.set, "out="+filepath.Dir(dir)), f.settings.gates)
	if err != nil {
		return err
	}
	return a.evaluate(cmd, &harness.Job{Config: config, Source: m.Source, ID: filepath.Base(dir), Workers: f.workers, Version: a.Version, Baseline: f.baseline, Scored: scored}, f)
}

// summaryConfig are the settings of the run file, else of the runs that the rows are of.
func (a *app) summaryConfig(cmd *cobra.Command, f *jobFlags, file, dir string, tables *harness.Tables) (*configs.Config, error) {
	place := "out=" + filepath.Dir(dir)
	var c *configs.Config
	var err error
	switch {
	case file != "":
		f.settings.set = append(f.settings.set, place)
		c, err = f.settings.load(a, cmd, file)
	case tables.Manifest != nil:
		c, err = harness.SettingsOf(tables.Manifest, append(f.settings.set, place), f.settings.gates)
	default:
		err = &ibid.Error{Usage: true, Err: errors.New(tables.Files[0] + " has no manifest beside it, so that the settings are not known"), Hint: "name the run file: ibid summary RUN.yaml ROWS... -o " + report.ShellWord(dir)}
	}
	if err != nil {
		return nil, err
	}
	c.Dataset, c.Documents, c.Truth, c.Labels = "", "", "", "" // rows do not have their texts
	return c, nil
}
