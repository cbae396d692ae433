package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/cmd/ibid/internal/term"
	"ibid/dataset/runs"
	"ibid/harness/verify"
	"ibid/report"
)

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify RUN",
		Short: "every number of a run again by another way; names each cell that differs",
		Long: `verify computes the results of a finished run a second time, from its data and its
verdicts. Its implementation shares nothing with the first but names and settings. It is
plain and slow: spans are sets of characters, and matchings are found by trying all.

It names each cell of rows, citations, claims and summary that differs, with what is
written and what it computed: the first 50 of each column, then counts. What it does not
compute is listed with the reason.

The data must still be where the run read it. The exit code is 0 if nothing differs and 1
if something does: then the files of the run were changed, or ibid is wrong.`,
		Example: `  ibid verify runs/sample
  ibid verify runs/sample --json -o verified.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.formats("text", "json"); err != nil {
				return err
			}
			return a.verify(cmd, args[0])
		},
	}
}

func (a *app) verify(cmd *cobra.Command, dir string) error {
	m, err := a.openRun(dir)
	if err != nil {
		return err
	}
	if m.OfRows() {
		return ibid.Usagef("%s was made of rows: there are no data to verify it by", dir).With("verify the runs that the rows are of")
	}
	progress := term.NewProgress(a.Stderr, a.quiet)
	defer progress.Close()
	r, err := verify.Run(cmd.Context(), dir, m, verify.Options{Progress: func(done int64) {
		progress.Update(func() string {
			return fmt.Sprintf("verifying %s/%s rows", report.Thousands(done), report.Thousands(m.Rows))
		})
	}})
	progress.Close()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if gone, ok := errors.AsType[*fs.PathError](err); ok && filepath.Dir(gone.Path) == filepath.Clean(dir) {
			return runs.Damaged(gone.Path, "is gone")
		}
		return &ibid.Error{Usage: true, Err: err, Hint: "verify reads the data where the run read it: call it from the folder in which the run was made"}
	case errors.Is(err, verify.ErrVersion):
		return &ibid.Error{Usage: true, Err: err, Hint: "run it again with this program, or verify it with the one that made it"}
	case err != nil:
		return err
	}
	if err := a.write(func(w io.Writer) error { return a.printVerified(w, r) }); err != nil {
		return err
	}
	if r.Different > 0 {
		a.say("%s of %s cells differ", report.Thousands(r.Different), report.Thousands(r.Cells))
		return exitError{ExitFailure}
	}
	return nil
}

// verifiedJSON is the JSON form of what verify found.
type verifiedJSON struct {
	Schema string `json:"schema"`
	*verify.Report
}

func (a *app) printVerified(w io.Writer, r *verify.Report) error {
	if a.format == "json" {
		r.Differences = append([]verify.Difference{}, r.Differences...)
		r.Counts = append([]verify.Count{}, r.Counts...)
		return report.WriteJSON(w, verifiedJSON{"ibid.verify/v1", r})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run %s: %s rows, %s cells, %s differ\n", report.CleanLine(r.Run), report.Thousands(r.Rows), report.Thousands(r.Cells), report.Thousands(r.Different))
	for _, c := range r.Counts {
		fmt.Fprintf(&b, "\n%s %s: %s differ\n", c.File, c.Column, report.Thousands(c.Cells))
		listed := int64(0)
		for _, d := range r.Differences {
			if d.File == c.File && d.Column == c.Column {
				listed++
				fmt.Fprintf(&b, "  %s: written %s, recomputed %s\n", report.CleanLine(d.Where), report.CleanLine(d.Written), report.CleanLine(d.Recomputed))
			}
		}
		if more := c.Cells - listed; more > 0 {
			fmt.Fprintf(&b, "  and %s more\n", report.Thousands(more))
		}
	}
	b.WriteString("\nnot recomputed:\n")
	for _, s := range r.Skipped {
		what := s.File
		if s.Column != "" {
			what += " " + s.Column
		}
		fmt.Fprintf(&b, "  %s: %s\n", what, s.Why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
