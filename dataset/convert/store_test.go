package convert

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	"ibid/dataset"
)

// A parquetSink writes to files, as the import command does, and keeps copies.
type parquetSink struct {
	memory
	rows *dataset.Writer
	docs *dataset.DocumentWriter
}

func (s *parquetSink) WriteRow(r *ibid.Answer) error {
	if err := s.memory.WriteRow(r); err != nil {
		return err
	}
	return s.rows.Write(r)
}

func (s *parquetSink) WriteDocument(d *ibid.Document) error {
	if err := s.memory.WriteDocument(d); err != nil {
		return err
	}
	return s.docs.Write(d)
}

// TestStored writes what was imported and reads it back: null, empty and
// missing stay apart, and no row shows what an earlier one held.
func TestStored(t *testing.T) {
	const text = `{"id":"a","query":"q","answer":"","system":"s","citations":[{"doc":"d","start":1,"end":4,"page":2,"cited_text":"xyz","u":1}],"truth":[],"tags":{"k":"v"}}
{"id":"b","answer":"x","citations":[],"truth":[{"annotator":"n"},{"annotator":"m","doc":"","start":0,"end":9223372036854775807}]}
{"doc":"d","text":"wxyz","pages":[],"more":null}
{"id":"c","query":"","answer":"x","documents":[{"doc":"e","blocks":["1","2"]},{"doc":"f","text":""}],"claims":[{"claim_id":"k","start":0,"end":1}],"labels":[{"kind":"factual","value":0}],"messages":[{"role":"tool","content":"m"}]}
{"id":"d","query":"","answer":"x","truth":[{"doc":"d","start":3,"end":2,"unit":"byte"}]}
`
	path := filepath.Join(t.TempDir(), "rows.parquet")
	docs := filepath.Join(t.TempDir(), "docs.parquet")
	var s parquetSink
	var err error
	if s.rows, err = dataset.NewWriter(path, ""); err != nil {
		t.Fatal(err)
	}
	if s.docs, err = dataset.NewDocumentWriter(docs); err != nil {
		t.Fatal(err)
	}
	report, err := Convert(t.Context(), "jsonl", []string{"-"}, Options{Docs: true, Stdin: strings.NewReader(text)}, &s)
	if err != nil || report.Rows != 4 || report.Documents != 1 || report.Failed != 0 {
		t.Fatalf("%v; report: %+v", err, report)
	}
	if err := s.rows.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.docs.Close(); err != nil {
		t.Fatal(err)
	}

	var rows []ibid.Answer
	source, err := dataset.Open(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// No batch is released: the rows share their memory.
	err = source.Read(t.Context(), 0, 2, func(b *dataset.Batch) error {
		for i := range b.Len() {
			var r ibid.Answer
			b.Row(i, &r)
			rows = append(rows, copyRow(&r))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.memory.rows, rows, ignorePosition, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows (-imported +stored):\n%s", diff)
	}

	var documents []ibid.Document
	store, err := dataset.OpenDocuments(docs, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Read(t.Context(), func(d *ibid.Document) error {
		documents = append(documents, *d)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.documents, documents, cmpopts.IgnoreFields(ibid.Document{}, "File", "FileRow"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("documents (-imported +stored):\n%s", diff)
	}
}
