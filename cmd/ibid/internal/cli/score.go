package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/dataset"
	"ibid/harness"
)

type scoreFlags struct {
	settings settingFlags
	filter   harness.Filter
	pass     []string
	schema   string
	workers  int
}

// The schemas that score prints.
const (
	arrowSchema = "arrow"
	sparkSchema = "spark"
)

func (a *app) scoreCommand() *cobra.Command {
	f := &scoreFlags{}
	cmd := &cobra.Command{
		Use:   "score RUN.yaml",
		Short: "scores the rows on standard input, for engines: Arrow in, Arrow out",
		Long: `score reads rows on standard input and writes what becomes of them on standard output,
as an Arrow IPC stream: the table rows, citations or verdicts of a run. Each row is scored
as a run scores it, and by itself: rows may be split among processes in any way. What is
of all rows (the summary, gates, questions that occur twice, signs that the input is
wrong) is of ibid summary.

The schema depends on the run file alone and is written before anything is read; --schema
prints it. The table rows has a row for each of the input, batch for batch. Its column row
is that of the input if it has one, else null; other columns pass through if --pass names
them. A row that cannot be scored, or has no id, has the status error.

Rows are an Arrow IPC stream, JSON Lines as ibid import jsonl reads them, or Parquet, which
is copied to a temporary file first: as they look, or as --format arrow, jsonl or parquet
says. Of Parquet the column row is not read. The dataset of RUN.yaml is not read; its
documents, truth and labels are, by every process.

A run knows whether any row has truth, or documents of its own; here the columns say so,
and of JSON Lines and Parquet that ibid wrote nothing does. Where such a column is empty in
all rows, --without truth and --without documents give the scores of a run; without
--without truth the overall score then is undefined.

With a judge that asks models, rows of a few batches wait for their answers at a time.
There is no budget (judge.max_cost_usd), which no process can hold for all: set a limit of
the key at its provider. Processes of one machine share the answers in judge.cache.

The exit code is 0, also if rows have errors; 2 if the run file, the stream or its columns
are wrong; 1 if reading or writing fails.`,
		Example: `  ibid score ibid.yaml < rows.arrow > scored.arrow
  ibid score ibid.yaml --table citations < answers.jsonl > citations.arrow
  ibid score ibid.yaml --pass day --pass shard:int32 < rows.arrow > scored.arrow
  ibid score ibid.yaml --schema spark`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.score(cmd, f, args[0]) },
	}
	s := &f.settings
	s.register(cmd)
	s.add(cmd, "documents", "documents", documentsUsage)
	s.addGold(cmd)
	s.add(cmd, "judge", "judge.kind", judgeUsage)
	flags := cmd.Flags()
	flags.StringVar(&f.filter.Table, "table", harness.FilterTables[0], "the table to write: rows, citations, verdicts")
	flags.StringArrayVar(&f.pass, "pass", nil, "a column of the input that the rows have, too, as NAME or NAME:TYPE, where TYPE is utf8, int32, int64, double, bool (may be repeated)")
	flags.StringSliceVar(&f.filter.Without, "without", nil, "columns that are empty in all rows: truth, documents")
	flags.StringVar(&f.schema, "schema", "", "print the schema of the table and end: arrow (the JSON of Arrow's integration tests), spark (DDL)")
	flags.IntVar(&f.workers, "workers", 0, "rows that are scored side by side (default one for each processor)")
	return cmd
}

func (a *app) score(cmd *cobra.Command, f *scoreFlags, file string) error {
	if !isRunFile(file) {
		return ibid.Usagef("%s is no run file", file).With("rows come on standard input: ibid score RUN.yaml < ROWS")
	}
	if f.workers < 0 {
		return ibid.Usagef("--workers cannot be negative")
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
	for _, text := range f.pass {
		p, err := dataset.ParsePassed(text)
		if err != nil {
			return ibid.Usagef("--pass %s: %w", text, err)
		}
		f.filter.Pass = append(f.filter.Pass, p)
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
	if job.EmbeddingKey, err = config.EmbeddingKey(a.Getenv); err != nil {
		return err
	}
	if job.Headers, err = config.RequestHeaders(a.Getenv); err != nil {
		return err
	}
	if job.APIKey, err = config.APIKey(a.Getenv); err != nil {
		return err
	}
	return a.write(func(w io.Writer) error {
		return job.Score(cmd.Context(), interruptible(cmd.Context(), a.Stdin), w, &f.filter)
	})
}

func (a *app) printSchema(f *scoreFlags) error {
	if err := oneOf("--schema", f.schema, arrowSchema, sparkSchema); err != nil {
		return err
	}
	table, err := f.filter.Form()
	if err != nil {
		return err
	}
	text := []byte(table.SparkDDL())
	if f.schema == arrowSchema {
		if text, err = table.JSON(); err != nil {
			return err
		}
	}
	return a.write(func(w io.Writer) error {
		_, err := w.Write(slices.Concat(text, []byte{'\n'}))
		return err
	})
}
