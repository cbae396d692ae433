package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ibid/harness"
	"ibid/judge/cache"
	"ibid/report"
)

func (c *cacheFlags) exportCommand() *cobra.Command {
	var attempts bool
	cmd := &cobra.Command{
		Use:   "export -o FILE",
		Short: "write the answers, or the calls, to a Parquet file",
		Long: `export writes one row per answer: what was asked is its key, then who answered, tokens,
cost, the verdict and the response as it came. With --attempts it writes one row per
call instead, failed ones too.`,
		Example: `  ibid cache export -o answers.parquet
  ibid cache export --attempts -o calls.parquet`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a := c.app
			if err := a.formats("text"); err != nil {
				return err
			}
			if a.output == "-" {
				return &usageError{err: errors.New("export needs a file to write to"), hint: "add -o answers.parquet"}
			}
			target, err := datasetTarget(a.output)
			if err != nil {
				return err
			}
			return c.with(func(path string, store *cache.SQLite) error {
				if store == nil {
					return &usageError{err: fmt.Errorf("%s: there is no judge cache", path)}
				}
				what, export := "answers", harness.ExportEntries
				if attempts {
					what, export = "calls", harness.ExportAttempts
				}
				n, err := export(cmd.Context(), target, store)
				if err != nil {
					return err
				}
				if !a.quiet {
					a.say("%s: %s %s", a.output, report.Thousands(n), what)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&attempts, "attempts", false, "the calls instead of the answers")
	return cmd
}
