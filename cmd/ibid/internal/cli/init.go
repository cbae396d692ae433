package cli

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/convert"
	"ibid/report"
)

func (a *app) initCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "a run file and sample data that run with no network and no key",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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

func writeSchema(w io.Writer) error {
	_, err := w.Write(configs.Schema())
	return err
}

// The files that init writes.
const (
	sampleSchema        = "ibid.schema.json"
	sampleRunFile       = "ibid.yaml"
	sampleAnswers       = "answers.parquet"
	sampleDocuments     = "documents.parquet"
	secondSampleRunFile = "ibid-2.yaml"
	secondSampleAnswers = "answers-2.parquet"
)

var sampleFiles = []string{sampleRunFile, sampleAnswers, sampleDocuments, secondSampleRunFile, secondSampleAnswers, sampleSchema}

func (a *app) writeSample(ctx context.Context, dir string, force bool) error {
	for _, name := range sampleFiles {
		if path := filepath.Join(dir, name); !force && exists(path) {
			return ibid.Usagef("%s exists", path).With("choose another folder, or --force to overwrite")
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
	if err := dataset.WriteFile(filepath.Join(dir, sampleSchema), writeSchema); err != nil {
		return err
	}
	if !a.quiet {
		paths := make([]string, len(sampleFiles))
		for i, name := range sampleFiles {
			paths[i] = filepath.Join(dir, name)
		}
		fmt.Fprintf(a.Stdout, "wrote %s\n", strings.Join(paths, ", "))
		a.hint("ibid run " + report.ShellWord(paths[0]))
	}
	return nil
}

// The sample: our own answers over our own documents, so that everything can be
// tried without a network, a key or any data.
//
// answers.jsonl are the answers of a first night, answers-2.jsonl those that
// were different on a second one, documents.jsonl what they cite.
//
//go:embed sample
var sample embed.FS

// writeSampleData makes datasets and documents from the embedded records, through
// the same import as everybody's.
func writeSampleData(ctx context.Context, dir string) error {
	var texts [3][]byte
	for i, name := range []string{"answers.jsonl", "answers-2.jsonl", "documents.jsonl"} {
		text, err := sample.ReadFile("sample/" + name)
		if err != nil {
			return err
		}
		texts[i] = text
	}
	first, changed, documents := texts[0], texts[1], texts[2]
	second, err := secondNight(first, changed)
	if err != nil {
		return err
	}
	err = importSample(ctx, append(documents, first...), filepath.Join(dir, sampleAnswers), filepath.Join(dir, sampleDocuments))
	if err != nil {
		return err
	}
	return importSample(ctx, second, filepath.Join(dir, secondSampleAnswers), "")
}

// importSample writes records to a dataset and, unless docs is "", documents.
func importSample(ctx context.Context, records []byte, answers, docs string) error {
	_, err := convert.ToFiles(ctx, "jsonl", []string{"-"}, convert.Options{Stdin: bytes.NewReader(records)}, answers, docs, func(r *convert.Report) error {
		if r.Failed > 0 {
			return fmt.Errorf("sample: %w", r.Errors[0])
		}
		return nil
	})
	return err
}

// sampleKey is what makes an answer another one.
type sampleKey struct{ ID, System string }

// secondNight is the answers of the first night with those that changed in their
// place. Each of these must replace one.
func secondNight(first, changed []byte) ([]byte, error) {
	instead := make(map[sampleKey][]byte)
	for line := range bytes.Lines(changed) {
		var key sampleKey
		if err := json.Unmarshal(line, &key); err != nil {
			return nil, fmt.Errorf("sample: %w", err)
		}
		instead[key] = line
	}
	var all []byte
	for line := range bytes.Lines(first) {
		var key sampleKey
		if err := json.Unmarshal(line, &key); err != nil {
			return nil, fmt.Errorf("sample: %w", err)
		}
		if other, ok := instead[key]; ok {
			delete(instead, key)
			line = other
		}
		all = append(all, line...)
	}
	for key := range instead {
		return nil, fmt.Errorf("sample: no first answer %s/%s to replace", key.ID, key.System)
	}
	return all, nil
}
