package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ibid/dataset"
)

func (a *app) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "a run file and sample data that run with no network and no key",
		Long: `init writes a commented run file and a small dataset with its documents into
DIR (default: the current folder), and a second night's answers with their run
file to compare with. It overwrites nothing unless --force.`,
		Example: `  ibid init demo
  ibid run demo/ibid.yaml --id night-1
  ibid run demo/ibid-2.yaml --id night-2`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.formats("text"); err != nil {
				return err
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.writeSample(cmd.Context(), dir, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the files that init writes")
	return cmd
}

// The files that init writes.
const (
	sampleRunFile       = "ibid.yaml"
	sampleAnswers       = "answers.parquet"
	sampleDocuments     = "documents.parquet"
	secondSampleRunFile = "ibid-2.yaml"
	secondSampleAnswers = "answers-2.parquet"
)

var sampleFiles = []string{sampleRunFile, sampleAnswers, sampleDocuments, secondSampleRunFile, secondSampleAnswers}

func (a *app) writeSample(ctx context.Context, dir string, force bool) error {
	for _, name := range sampleFiles {
		if path := filepath.Join(dir, name); !force && exists(path) {
			return &usageError{err: fmt.Errorf("%s exists", path), hint: "choose another folder, or --force to overwrite"}
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := writeSampleData(ctx, dir); err != nil {
		return err
	}
	for _, name := range []string{sampleRunFile, secondSampleRunFile} {
		text, err := sample.ReadFile("sample/" + name)
		if err == nil {
			err = dataset.WriteFile(filepath.Join(dir, name), func(w io.Writer) error { _, err := w.Write(text); return err })
		}
		if err != nil {
			return err
		}
	}
	if !a.quiet {
		paths := make([]string, len(sampleFiles))
		for i, name := range sampleFiles {
			paths[i] = filepath.Join(dir, name)
		}
		fmt.Fprintf(a.Stdout, "wrote %s\n", strings.Join(paths, ", "))
		a.hint("ibid run " + quote(paths[0]))
	}
	return nil
}
