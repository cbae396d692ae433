package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"ibid"
)

// everyRow returns rows that hold every null, empty and present value that the
// format tells apart.
func everyRow() []ibid.Answer {
	n := func(v int64) ibid.Integer { return ibid.Some(v) }
	f := func(v float64) ibid.Number { return ibid.Some(v) }
	return []ibid.Answer{
		{ID: "null lists", Query: "q", Answer: "a", System: "default"},
		{
			ID: "empty lists", System: "s", Provider: "p", Model: "m",
			HasCitations: true, HasTruth: true, HasClaims: true, HasLabels: true, HasDocuments: true, HasMessages: true,
		},
		{
			ID: "values", Query: "Wer?", Answer: "Zoë 🙂", System: "default",
			HasCitations: true,
			Citations: []ibid.Citation{
				{
					Doc: "d1", Page: n(1), Start: n(0), End: n(5), Unit: "codepoint", CitedText: "Zoë", Title: "t",
					AnswerStart: n(0), AnswerEnd: n(3), CitationID: "c1", ClaimID: "k1", SourceType: "web", Method: "regex",
					Confidence: f(0), Relevance: f(0.5), TokenContribution: n(-7), SourceReference: `{"a":1}`,
				},
				{DocNull: true},
				{Doc: "", Start: n(1 << 40)},
			},
			HasTruth: true,
			Truth: []ibid.Mark{
				{Annotator: "x", Doc: "d1", Page: n(-1), Start: n(2), End: n(4), Unit: "page", CitedText: "q", ClaimID: "k2"},
				{Annotator: "y", DocNull: true},
			},
			HasClaims: true, Claims: []ibid.Claim{{ClaimID: "k1", Text: "t", Start: n(0), End: n(1)}, {}},
			HasLabels: true, Labels: []ibid.Label{{Annotator: "x", ClaimID: "k1", CitationID: "c1", Kind: "support", Value: f(1)}, {}},
			HasDocuments: true,
			Documents: []ibid.Document{
				{Doc: "d1", Title: "t", Text: "Zoë", HasText: true, SourceType: "pdf", HasPages: true, HasBlocks: true},
				{Doc: "d2", Text: "", HasText: true, HasPages: true, Pages: []string{"p1", "", "p3"}},
				{Doc: "d3", HasBlocks: true, Blocks: []string{"b"}},
			},
			HasMessages: true, Messages: []ibid.Message{{Role: "user", Content: "hi"}, {}},
			Tags: []ibid.Tag{{Key: "a", Value: ""}, {Key: "lang", Value: "de"}},
		},
		{IDNull: true, QueryNull: true, AnswerNull: true, System: "default"},
		{ID: "last", Query: "q", Answer: "a", System: "default", HasCitations: true, Citations: []ibid.Citation{{Doc: "d"}}},
	}
}

func writeRows(t testing.TB, rows []ibid.Answer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	w, err := NewWriter(path, "document")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for i := range rows {
		if err := w.Write(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// readRows reads all rows of a source into memory of their own.
func readRows(t testing.TB, s *Source, batch int) []ibid.Answer {
	t.Helper()
	var rows []ibid.Answer
	err := s.Read(context.Background(), 0, batch, func(b *Batch) error {
		for i := range b.Len() {
			var r ibid.Answer
			b.Row(i, &r)
			rows = append(rows, r)
		}
		return nil // the batch is kept: rows share its memory
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func open(t testing.TB, pattern string, o ReadOptions) *Source {
	t.Helper()
	s, err := Open(pattern, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// diffRows treats nil and empty slices alike: null and empty are told apart by
// the Has fields.
func diffRows(got, want []ibid.Answer) string {
	got, want = withoutEmpty(got), withoutEmpty(want)
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return cmp.Diff(want, got)
}

func withoutEmpty(rows []ibid.Answer) []ibid.Answer {
	rows = append(make([]ibid.Answer, 0, len(rows)), rows...)
	for i := range rows {
		r := &rows[i]
		r.Citations, r.Truth, r.Claims, r.Labels = orNil(r.Citations), orNil(r.Truth), orNil(r.Claims), orNil(r.Labels)
		r.Documents, r.Messages, r.Tags = orNil(slices.Clone(r.Documents)), orNil(r.Messages), orNil(r.Tags)
		for k := range r.Documents {
			r.Documents[k].Pages, r.Documents[k].Blocks = orNil(r.Documents[k].Pages), orNil(r.Documents[k].Blocks)
		}
	}
	return rows
}

func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

func TestWriterRoundTrip(t *testing.T) {
	want := everyRow()
	path := writeRows(t, want)
	for i := range want {
		want[i].Pos, want[i].FileRow, want[i].File = int64(i), int64(i), path
	}
	for _, batch := range []int{1, 2, 100} {
		s := open(t, path, ReadOptions{})
		if diff := diffRows(readRows(t, s, batch), want); diff != "" {
			t.Errorf("batches of %d rows (-want +got):\n%s", batch, diff)
		}
		if got, want := s.Conventions(), (FileConventions{"codepoint", "exclusive", "document"}); got != want {
			t.Errorf("Conventions() = %v, want %v", got, want)
		}
	}
}

// TestWriterReadByParquetGo reads a file of several row groups and pages with another
// reader.
func TestWriterReadByParquetGo(t *testing.T) {
	rows := append(everyRow(), randomRows(5, 3000)...)
	long := strings.Repeat("0123456789 Zoë ", 1<<16)
	for i := range 40 { // a megabyte each
		rows = append(rows, ibid.Answer{ID: fmt.Sprint(i), Answer: fmt.Sprint(i, long), HasDocuments: true, Documents: []ibid.Document{{Doc: "d", HasPages: true, Pages: []string{"p", long + "p"}}}})
	}
	path := writeRows(t, rows)
	got, err := parquet.ReadFile[storedRow](path)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]storedRow, len(rows))
	for i := range rows {
		if want[i], err = storeRow(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	empty := func(a, b any) bool { return reflect.ValueOf(a).Len()+reflect.ValueOf(b).Len() == 0 }
	isList := func(p cmp.Path) bool { k := p.Last().Type().Kind(); return k == reflect.Slice || k == reflect.Map }
	if diff := cmp.Diff(want, got, cmp.FilterPath(isList, cmp.FilterValues(empty, cmp.Ignore()))); diff != "" {
		t.Errorf("-want +got:\n%.2000s", diff)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n < 2 {
		t.Errorf("%d row groups", n)
	}
}

// The caller may use the memory of a row again.
func TestWriterCopiesText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.parquet")
	w, err := NewWriter(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	memory := []byte("aaaa")
	text := unsafe.String(&memory[0], len(memory))
	for i := range 4 {
		copy(memory, strings.Repeat(string(rune('a'+i)), 4))
		row := ibid.Answer{
			ID: text, Tags: []ibid.Tag{{Key: text, Value: text}},
			HasDocuments: true, Documents: []ibid.Document{{Doc: text, HasPages: true, Pages: []string{text}}},
		}
		if err := w.Write(&row); err != nil {
			t.Fatal(err)
		}
	}
	copy(memory, "\xff\xff\xff\xff")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for i, r := range readRows(t, open(t, path, ReadOptions{}), 9) {
		want := strings.Repeat(string(rune('a'+i)), 4)
		if r.ID != want || r.Tags[0] != (ibid.Tag{Key: want, Value: want}) || r.Documents[0].Doc != want || r.Documents[0].Pages[0] != want {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}

func TestWriterIsDeterministic(t *testing.T) {
	rows := randomRows(4, 100)
	for i := range rows {
		for k := range 9 {
			rows[i].Tags = append(rows[i].Tags, ibid.Tag{Key: string(rune('z' - k)), Value: "v"})
		}
	}
	first := readFile(t, writeRows(t, rows))
	for range 5 {
		if !bytes.Equal(readFile(t, writeRows(t, rows)), first) {
			t.Fatal("the same rows make different files")
		}
	}
}

func TestWriterLeavesNothingUnlessClosed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(path, "page")
	if err != nil {
		t.Fatal(err)
	}
	row := ibid.Answer{Citations: []ibid.Citation{{Page: ibid.Some[int64](1 << 31)}}, HasCitations: true}
	var e *ibid.Error
	if err := w.Write(&row); !errors.As(err, &e) || e.Row != ibid.Some[int64](0) || e.Column != "citations.page" {
		t.Errorf("Write(page 2^31) = %v, want an error of citations.page in row 0", err)
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("second Abort() = %v", err)
	}
	if err := w.Write(&ibid.Answer{}); !errors.Is(err, errClosed) {
		t.Errorf("Write after Abort = %v, want errClosed", err)
	}
	if got, err := os.ReadFile(path); string(got) != "before" {
		t.Errorf("after Abort the file holds %q, %v", got, err)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("after Abort the directory holds %v", names)
	}
	if _, err := NewWriter(filepath.Join(dir, "none", "a.parquet"), "page"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("NewWriter in a missing directory = %v", err)
	}
	if _, err := NewWriter(path, "line"); err == nil {
		t.Error("NewWriter with offset base line succeeded")
	}
}

func TestDocumentWriterRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.parquet")
	want := []ibid.Document{
		{Doc: "a", Title: "A", Text: "Zoë", HasText: true, SourceType: "pdf", Metadata: `{}`},
		{Doc: "b", HasPages: true, Pages: []string{"one", "two"}, HasBlocks: true},
		{Doc: "c", Text: "", HasText: true, HasPages: true, HasBlocks: true, Blocks: []string{""}},
		{Doc: "d"},
	}
	w, err := NewDocumentWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if err := w.Write(&want[i]); err != nil {
			t.Fatal(err)
		}
		want[i].File, want[i].FileRow = path, int64(i)
	}
	if got := w.Rows(); got != 4 {
		t.Errorf("Rows() = %d", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := OpenDocuments(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	err = s.Read(t.Context(), func(d *ibid.Document) error {
		if diff := cmp.Diff(want[i], *d, cmp.FilterValues(func(a, b []string) bool { return len(a)+len(b) == 0 }, cmp.Ignore())); diff != "" {
			t.Errorf("document %d (-want +got):\n%s", i, diff)
		}
		i++
		return nil
	})
	if err != nil || i != len(want) {
		t.Errorf("Read yielded %d documents, %v", i, err)
	}
}

// TestColumnsNullInSomeFiles: of a column that is null in a whole file a batch has no
// values; those of the files before and after it stay in their rows.
func TestColumnsNullInSomeFiles(t *testing.T) {
	n := func(v int64) ibid.Integer { return ibid.Some(v) }
	all := func(id string) ibid.Answer {
		return ibid.Answer{
			ID: id, Query: "q", Answer: "a", System: "s", Provider: "p", CostUSD: ibid.Some(0.5), Tokens: n(3), HasCitations: true,
			Citations:    []ibid.Citation{{Doc: "d", Page: n(2), CitedText: id, Relevance: ibid.Some(0.25)}, {Doc: "d"}},
			HasDocuments: true, Documents: []ibid.Document{{Doc: "d", HasPages: true, Pages: []string{"p", id}}},
		}
	}
	none := func(id string) ibid.Answer {
		return ibid.Answer{ID: id, Query: "q", Answer: "a", System: "s", HasCitations: true, Citations: []ibid.Citation{{Doc: "d"}}}
	}
	dir := t.TempDir()
	var want []ibid.Answer
	for i, file := range [][]ibid.Answer{{none("1"), none("2")}, {all("3")}, {none("4")}, {none("5"), all("6")}, {none("7")}} {
		if err := os.Rename(writeRows(t, file), filepath.Join(dir, fmt.Sprintf("%d.parquet", i))); err != nil {
			t.Fatal(err)
		}
		want = append(want, file...)
	}
	for _, batch := range []int{1, 2, 3, 100} {
		got := readRows(t, open(t, dir, ReadOptions{}), batch)
		for i := range got {
			got[i].Pos, got[i].File, got[i].FileRow = 0, "", 0
		}
		if diff := diffRows(withoutEmpty(got), withoutEmpty(want)); diff != "" {
			t.Errorf("in batches of %d: %s", batch, diff)
		}
	}
}
