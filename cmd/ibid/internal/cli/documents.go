package cli

import (
	"github.com/spf13/cobra"

	"ibid"
	"ibid/dataset"
	"ibid/report"
)

func (a *app) documentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "documents index",
		Short: "documents in one file for the many processes of ibid score",
		Long: `documents index reads documents once, as a run reads them, and writes them as one file.
ibid score takes it as documents: it starts at once, and all processes of a machine share
its texts in memory.`,
		Example: `  ibid documents index docs.parquet -o docs.index
  ibid score ibid.yaml --documents docs.index < rows.arrow > scored.arrow`,
		Args: onlySubcommands("documents command"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var settings settingFlags
	index := &cobra.Command{
		Use:     "index DOCUMENTS -o FILE",
		Short:   "writes documents as one file",
		Long:    `index writes documents (a Parquet file, a directory or a glob) as one file for ibid score.`,
		Example: `  ibid documents index docs.parquet -o docs.index`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return asUsage(a.indexDocuments(cmd, &settings, args[0]))
		},
	}
	settings.register(index)
	cmd.AddCommand(index)
	return cmd
}

func (a *app) indexDocuments(cmd *cobra.Command, settings *settingFlags, path string) error {
	if a.output == "-" {
		return ibid.Usagef("documents index needs a file").With("add -o docs.index")
	}
	c, err := settings.without(a, cmd)
	if err != nil {
		return err
	}
	limits := dataset.Limits{Memory: int64(c.Limits.Memory), DocumentBytes: int64(c.Limits.DocumentBytes)}
	source, err := dataset.OpenDocuments(path, dataset.ReadOptions{Columns: c.Columns, Limits: limits})
	if err != nil {
		return err
	}
	docs, err := dataset.LoadDocuments(cmd.Context(), source, dataset.LoadOptions{})
	if err != nil {
		return err
	}
	defer docs.Close()
	for _, text := range docs.Problems() {
		a.warn("%s", text)
	}
	if err := docs.WriteIndex(a.output); err != nil {
		return err
	}
	if !a.quiet {
		a.say("%s: %s documents", a.output, report.Thousands(int64(docs.Len())))
	}
	return nil
}
