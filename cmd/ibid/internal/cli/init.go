package cli

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"ibid/dataset"
	"ibid/dataset/convert"
)

// The sample: our own answers over our own documents, so that everything can be
// tried without a network, a key or any data.
//
//go:embed sample
var sample embed.FS

func (a *app) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "a run file and sample data that run with no network and no key",
		Long: `init writes a commented run file and a small dataset with its documents into
DIR (default: the current folder). It overwrites nothing unless --force.`,
		Example: `  ibid init demo
  ibid run demo/ibid.yaml`,
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
	sampleRunFile   = "ibid.yaml"
	sampleAnswers   = "answers.parquet"
	sampleDocuments = "documents.parquet"
)

func (a *app) writeSample(ctx context.Context, dir string, force bool) error {
	for _, name := range []string{sampleRunFile, sampleAnswers, sampleDocuments} {
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
	runFile, err := sample.ReadFile("sample/" + sampleRunFile)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, sampleRunFile)
	err = dataset.WriteFile(path, func(w io.Writer) error { _, err := w.Write(runFile); return err })
	if err != nil {
		return err
	}
	if !a.quiet {
		fmt.Fprintf(a.Stdout, "wrote %s, %s and %s\n", path, filepath.Join(dir, sampleAnswers), filepath.Join(dir, sampleDocuments))
		a.hint("ibid run " + path)
	}
	return nil
}

// writeSampleData makes the dataset from the embedded records, through the same
// import as everybody's.
func writeSampleData(ctx context.Context, dir string) error {
	records, err := sample.ReadFile("sample/answers.jsonl")
	if err != nil {
		return err
	}
	sink, err := newFileSink("jsonl", filepath.Join(dir, sampleAnswers), "")
	if err != nil {
		return err
	}
	result, err := convert.Convert(ctx, "jsonl", []string{"-"}, convert.Options{Stdin: bytes.NewReader(records)}, sink)
	if err == nil && result.Failed > 0 {
		err = fmt.Errorf("sample: %w", result.Errors[0])
	}
	if err != nil {
		return errors.Join(err, sink.abort())
	}
	if err := sink.close(); err != nil {
		return err
	}
	return writeSampleDocuments(filepath.Join(dir, sampleDocuments))
}

// writeSampleDocuments makes the documents from the embedded texts: the name of
// a file is the name of its document, its first line the title.
func writeSampleDocuments(path string) error {
	w, err := dataset.NewDocumentWriter(path)
	if err != nil {
		return err
	}
	texts, err := sample.ReadDir("sample/documents")
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	for _, entry := range texts {
		text, err := sample.ReadFile("sample/documents/" + entry.Name())
		if err == nil {
			title, _, _ := bytes.Cut(text, []byte("\n"))
			err = w.Write(&dataset.Document{Doc: entry.Name(), Title: string(title), Text: string(text), HasText: true})
		}
		if err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Close()
}
