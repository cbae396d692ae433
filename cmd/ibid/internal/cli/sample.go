package cli

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"ibid/dataset/convert"
)

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
	sink, err := newFileSink("jsonl", answers, docs)
	if err != nil {
		return err
	}
	o := convert.Options{Docs: docs != "", Stdin: bytes.NewReader(records)}
	result, err := convert.Convert(ctx, "jsonl", []string{"-"}, o, sink)
	if err == nil && result.Failed > 0 {
		err = fmt.Errorf("sample: %w", result.Errors[0])
	}
	if err != nil {
		return errors.Join(err, sink.abort())
	}
	return sink.close()
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
