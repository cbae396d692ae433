package cli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/configs"
	"ibid/harness"
)

type scoreFlags struct {
	settings settingFlags
	filter   harness.Filter
	schema   string
	rows     string
	workers  int
}

func (a *app) scoreCommand() *cobra.Command {
	f := &scoreFlags{}
	cmd := &cobra.Command{
		Use:   "score RUN.yaml [DATASET --rows A:B -o DIR]",
		Short: "scores the rows on standard input, for engines: Arrow in, Arrow out; or some rows of a dataset",
		Args:  cobra.RangeArgs(1, 2),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.score(cmd, f, args) },
	}
	s := &f.settings
	s.register(cmd)
	s.add(cmd, "documents", "documents", documentsUsage)
	s.addGold(cmd)
	s.add(cmd, "judge", "judge.kind", judgeUsage)
	flags := cmd.Flags()
	flags.StringVar(&f.filter.Table, "table", harness.FilterTables[0], "the table to write: rows, citations, verdicts, quotes")
	flags.StringSliceVar(&f.filter.Without, "without", nil, "columns that are empty in all rows: truth, documents")
	flags.StringVar(&f.schema, "schema", "", "print the schema of the table and end: spark (DDL)")
	flags.StringVar(&f.rows, "rows", "", "score the rows A to before B of a dataset, A:B, into the directory -o")
	flags.IntVar(&f.workers, "workers", 0, "rows that are scored side by side (default one for each processor)")
	return cmd
}

func (a *app) score(cmd *cobra.Command, f *scoreFlags, args []string) error {
	file := args[0]
	if !isRunFile(file) {
		return ibid.Usagef("%s is no run file", file).With("rows come on standard input: ibid score RUN.yaml < ROWS")
	}
	if f.workers < 0 {
		return ibid.Usagef("--workers cannot be negative")
	}
	if cmd.Flags().Changed("rows") {
		return a.scoreRows(cmd, f, args)
	}
	if len(args) > 1 {
		return ibid.Usagef("%s: rows come on standard input", args[1]).With("name the rows of the dataset to score, and a directory: --rows 0:16384 -o DIR")
	}
	if err := oneOf("--table", f.filter.Table, harness.FilterTables...); err != nil {
		return err
	}
	if a.format != "text" {
		if err := a.formats(harness.FilterFormats...); err != nil {
			return err
		}
		f.filter.Format, a.format = a.format, "text"
	}
	for _, column := range f.filter.Without {
		if err := oneOf("--without", column, harness.FilterWithout...); err != nil {
			return err
		}
	}
	config, err := f.settings.load(a, cmd, file)
	if err != nil {
		return err
	}
	if f.schema != "" {
		return a.printSchema(f)
	}
	job := &harness.Job{Config: config, Source: file, Workers: f.workers, Version: a.Version, Warn: func(text string) { a.warn("%s", text) }}
	if err := a.keys(job); err != nil {
		return err
	}
	return a.write(func(w io.Writer) error {
		return job.Score(cmd.Context(), a.Stdin, w, &f.filter)
	})
}

// keys reads from the environment what the services of a job want.
func (a *app) keys(job *harness.Job) (err error) {
	if job.EmbeddingKey, err = job.Config.EmbeddingKey(a.Getenv); err != nil {
		return err
	}
	if job.Headers, err = job.Config.RequestHeaders(a.Getenv); err != nil {
		return err
	}
	job.APIKey, err = job.Config.APIKey(a.Getenv)
	return err
}

// scoreRows scores a range of the rows of a dataset into a directory.
func (a *app) scoreRows(cmd *cobra.Command, f *scoreFlags, args []string) error {
	for _, name := range []string{"table", "without", "schema", "format"} {
		if cmd.Flags().Changed(name) {
			return ibid.Usagef("--%s is of rows on standard input", name).With("leave it out, or leave --rows out")
		}
	}
	rows, err := harness.ParseRowRange(f.rows)
	if err != nil {
		return err
	}
	if a.output == "-" {
		return ibid.Usagef("--rows needs a directory").With("add -o DIR")
	}
	dir := filepath.Clean(a.output)
	a.output = "-"
	f.settings.fixed = append(f.settings.fixed, configs.Flag{Name: "-o", Key: "out", Value: filepath.Dir(dir)})
	if len(args) > 1 {
		if err := notRun(args[1]); err != nil {
			return err
		}
		f.settings.fixed = append(f.settings.fixed, configs.Flag{Name: "DATASET", Key: "dataset", Value: args[1]})
	}
	config, err := f.settings.load(a, cmd, args[0])
	if err != nil {
		return err
	}
	job := &harness.Job{Config: config, Source: args[0], ID: filepath.Base(dir), Workers: f.workers, Version: a.Version, Rows: rows, Import: harness.ImportForRun}
	if err := a.keys(job); err != nil {
		return err
	}
	return a.do(cmd, job, func(out *harness.Outcome) error {
		switch {
		case a.quiet:
			return nil
		case out.Existed:
			a.say("%s is done already; nothing was done", out.Dir)
		default:
			a.say("%s has %s", out.Dir, out.Manifest.Range.In())
		}
		a.hint("when all rows are scored: ibid summary DIR... -o runs/NAME")
		return nil
	})
}

func (a *app) printSchema(f *scoreFlags) error {
	if err := oneOf("--schema", f.schema, "spark"); err != nil {
		return err
	}
	table, err := f.filter.Form()
	if err != nil {
		return err
	}
	return a.write(func(w io.Writer) error {
		_, err := fmt.Fprintln(w, table.SparkDDL())
		return err
	})
}
