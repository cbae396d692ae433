package convert

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ibid"
)

// proofCase is rows whose offsets are bytes, and the documents that they cite.
func proofCase() (documents, rows []map[string]any) {
	texts := map[string]string{
		"a.txt": "Ägypten liegt am Nil. Der Nil ist lang, sagt man.",
		"b.txt": "Nothing but ASCII here, and a second sentence of it.",
		"c.txt": "数据 stehen am Anfang; danach steht ein Satz über sie.",
	}
	cite := func(doc, quote string) map[string]any {
		at := strings.Index(texts[doc], quote)
		return map[string]any{"doc": doc, "start": at, "end": at + len(quote), "cited_text": quote}
	}
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		documents = append(documents, map[string]any{"doc": name, "text": texts[name]})
	}
	documents = append(documents, map[string]any{"doc": "p.pdf", "pages": []string{"Ünnumbered first page.", "Zweite Seite: größer."}})
	add := func(citations ...map[string]any) {
		rows = append(rows, map[string]any{"id": fmt.Sprint(len(rows)), "query": "q", "answer": "a", "citations": citations})
	}
	add(cite("a.txt", "Der Nil ist lang"), cite("b.txt", "a second sentence"))
	add(cite("c.txt", "danach steht ein Satz über sie"), cite("a.txt", "sagt man"))
	add(map[string]any{"doc": "a.txt", "start": 3, "end": 9, "cited_text": "am Nil"})       // elsewhere, once
	add(map[string]any{"doc": "b.txt", "start": 3, "end": 9, "cited_text": "is not there"}) // nowhere
	add(map[string]any{"doc": "p.pdf", "page": 2, "start": 14, "end": 22, "cited_text": "größer"})
	add(map[string]any{"doc": "gone.txt", "start": 3, "end": 9, "cited_text": "of no document"})
	// Nothing but a shift explains these.
	first, second := cite("b.txt", "but ASCII h"), cite("b.txt", "a second")
	for _, c := range []map[string]any{first, second} {
		c["start"], c["end"] = c["start"].(int)+100, c["end"].(int)+100
	}
	add(first, second)
	rows = append(rows, map[string]any{
		"id": "marked", "query": "q", "answer": "a",
		"truth": []map[string]any{cite("c.txt", "ein Satz über"), {"doc": "a.txt", "start": 0, "end": 4}},
	})
	return documents, rows
}

func jsonLines(t *testing.T, records []map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// Where documents stand in the input makes no difference to what is proved.
func TestProofOverDocumentSet(t *testing.T) {
	documents, rows := proofCase()
	docLines, rowLines := jsonLines(t, documents), jsonLines(t, rows)
	for _, r := range rows {
		r["documents"] = documents
	}
	_, want := importText(t, "jsonl", jsonLines(t, rows), Options{Docs: true})
	if want.Proved != 8 || want.Repaired != 1 || want.Mismatched != 1 || want.Unproved != 1 || want.WithoutQuote != 1 {
		t.Fatalf("documents in the rows: %+v", want)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rowFile, docFile := write("rows.jsonl", rowLines), write("docs.jsonl", docLines)
	tests := []struct {
		name   string
		format string
		paths  []string
	}{
		{"before", "jsonl", []string{write("before.jsonl", docLines+rowLines)}},
		{"after", "jsonl", []string{write("after.jsonl", rowLines+docLines)}},
		{"between", "jsonl", []string{write("between.jsonl", jsonLines(t, documents[:2])+rowLines+jsonLines(t, documents[2:]))}},
		{"a file before", "jsonl", []string{docFile, rowFile}},
		{"a file after", "jsonl", []string{rowFile, docFile}},
		{"recognised", "auto", []string{rowFile, docFile}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m memory
			got, err := Convert(t.Context(), tt.format, tt.paths, Options{Docs: true}, &m)
			if err != nil {
				t.Fatal(err)
			}
			type counts struct {
				Spans, Proved, Repaired, Mismatched, Degenerate, WithoutQuote, Unproved int64
				Readings, Aligned                                                       map[string]int64
			}
			of := func(r *Report) counts {
				return counts{r.Spans, r.Proved, r.Repaired, r.Mismatched, r.Degenerate, r.WithoutQuote, r.Unproved, r.Readings, r.Aligned}
			}
			if g, w := of(&got), of(&want); !reflect.DeepEqual(g, w) {
				t.Errorf("got  %+v\nwant %+v", g, w)
			}
			if len(m.documents) != len(documents) || len(m.rows) != len(rows) {
				t.Errorf("%d documents and %d rows, want %d and %d", len(m.documents), len(m.rows), len(documents), len(rows))
			}
			if len(got.Files) != 1 || got.Files[0].Source.Proved != want.Proved || got.Files[0].Format != "jsonl" {
				t.Errorf("files: %+v", got.Files)
			}
		})
	}
}

// What does not fit into memory goes to a file without a name: it is gone when the
// conversion ends, and when it is killed. The file is no larger than the input.
func TestDocumentSetOnDisk(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	text := strings.Repeat("Über den Nil. ", 20_000) + "Das Ende."
	var lines strings.Builder
	const documents = 12
	for i := range documents {
		row := map[string]any{"id": fmt.Sprint(i), "query": "q", "answer": "a", "citations": []map[string]any{
			{"doc": fmt.Sprint("d", i), "start": len(text) - 9, "end": len(text), "cited_text": "Das Ende."},
		}}
		lines.WriteString(jsonLines(t, []map[string]any{row, {"doc": fmt.Sprint("d", i), "text": text}}))
	}
	var spooled int64
	sink := &watchingSink{watch: func(r *run) { spooled = max(spooled, r.documents.spool.size) }}
	r := &run{Options: Options{Docs: true, Stdin: strings.NewReader(lines.String()), MaxRecord: mostRecordBytes}, paths: []string{"-"}, sink: sink, report: newReport("jsonl"), format: "jsonl"}
	sink.run = r
	if err := r.convert(t.Context(), jsonl); err != nil {
		t.Fatal(err)
	}
	if r.report.Proved != documents {
		t.Errorf("proved %d, want %d: %+v", r.report.Proved, documents, r.report)
	}
	if spooled < int64(len(text)) || spooled > int64(lines.Len()) {
		t.Errorf("%d bytes on disk, want some, and no more than the %d of the input", spooled, lines.Len())
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 || sink.seen > 0 {
		t.Errorf("left: %v, %v; seen with a name: %d", left, err, sink.seen)
	}
}

// A watchingSink looks at the conversion while it is under way.
type watchingSink struct {
	run   *run
	watch func(*run)
	seen  int // files with a name in the temporary directory
}

func (s *watchingSink) WriteRow(*ibid.Answer) error { return nil }

func (s *watchingSink) WriteDocument(*ibid.Document) error {
	s.watch(s.run)
	entries, err := os.ReadDir(os.TempDir())
	s.seen += len(entries)
	return err
}

func TestDocumentSetStops(t *testing.T) {
	documents, rows := proofCase()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Convert(ctx, "jsonl", []string{"-"}, Options{Docs: true, Stdin: strings.NewReader(jsonLines(t, documents) + jsonLines(t, rows))}, &memory{})
	if err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
