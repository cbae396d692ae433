package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"ibid"
)

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	good := writeRows(t, everyRow())
	data := readFile(t, good)
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	footerLies := append([]byte{}, data...)
	copy(footerLies[len(data)-8:], []byte{0xff, 0xff, 0xff, 0x7f})
	encrypted := append([]byte{}, data...)
	copy(encrypted[len(data)-4:], "PARE")

	type missing struct {
		ID       string `parquet:"id"`
		Question string `parquet:"queri"`
		Answer   string `parquet:"answer"`
	}
	type number struct {
		ID     int64  `parquet:"id"`
		Query  string `parquet:"query"`
		Answer string `parquet:"answer"`
	}
	type date struct {
		layoutKeys
		Citations []struct {
			Start int32 `parquet:"start,date"`
		} `parquet:"citations,list"`
	}
	type texts struct {
		layoutKeys
		Citations []string `parquet:"citations,list"`
	}
	type tags struct {
		layoutKeys
		Tags struct {
			Lang string `parquet:"lang"`
		} `parquet:"tags"`
	}
	mixed := filepath.Join(dir, "mixed")
	w, err := NewWriter(put("mixed/a.parquet", nil), "document")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	put("mixed/b.parquet", readFile(t, writeFile(t, []storedRow{})))

	tests := []struct {
		name    string
		pattern string
		columns map[string]string
		want    string // after the pattern
		hint    string
	}{
		{"no such file", filepath.Join(dir, "none.parquet"), nil, ": no such file or directory", ""},
		{"no match", filepath.Join(dir, "none*"), nil, ": no file matches", ""},
		{"bad glob", filepath.Join(dir, "[x"), nil, ": syntax error in pattern", ""},
		{"directory without data", filepath.Dir(put("empty/x.csv", nil)), nil, ": no .parquet file in this directory", "give a glob"},
		{"not Parquet", put("a.csv", []byte("id,query,answer\n1,2,3\n")), nil, ": CSV, not Parquet", "a.csv -o a.parquet"},
		{"JSON Lines", put("a.jsonl", []byte(" {\"id\":\"1\"}\n")), nil, ": JSON Lines, not Parquet", "ibid import auto"},
		{"JSON", put("a.json", []byte("{\n \"id\":\"1\"}\n")), nil, ": JSON, not Parquet", "ibid import auto"},
		{"gzip", put("a.jsonl.gz", []byte("\x1f\x8b\x08")), nil, ": gzip, not Parquet", "ibid import auto"},
		{"Arrow", put("a.arrow", []byte("ARROW1\x00\x00")), nil, ": Arrow, not Parquet", "pyarrow"},
		{"text", put("notes.txt", []byte("Über")), nil, ": text, not Parquet", "answers come as"},
		{"nothing known", put("a.bin", []byte("\x01\x00\xfe\xfe")), nil, ": not a Parquet file", ""},
		{"empty file", put("empty.parquet", nil), nil, ": an empty file, not Parquet", "answers come as"},
		{"truncated", put("short.parquet", data[:len(data)-10]), nil, ": corrupt Parquet file: the end of the file is missing", ""},
		{"footer longer than the file", put("lies.parquet", footerLies), nil, ": corrupt Parquet file: footer of 2147483647 bytes", ""},
		{"encrypted", put("encrypted.parquet", encrypted), nil, ": encrypted Parquet files are not supported", ""},
		{
			"missing column", writeFile(t, []missing{{}}), nil, ": query: required column is missing",
			"the file has queri; map it with columns: {queri: query}",
		},
		{"wrong type", writeFile(t, []number{{}}), nil, ": id: INT64 instead of string", ""},
		{"wrong type in a list", writeFile(t, []date{{}}), nil, ": citations.start: DATE instead of integer", ""},
		{"list of strings", writeFile(t, []texts{{}}), nil, ": citations: list of STRING instead of a list of structs", ""},
		{"struct for a map", writeFile(t, []tags{{}}), nil, ": tags: struct instead of a list", "write tags as map<string,string>"},
		{"LZ4", writeFile(t, []layoutKeys{{}}, parquet.Compression(oldLZ4{&parquet.Uncompressed})), nil, ": id: compression LZ4 is not supported", "zstd"},
		{"mapped column is missing", good, map[string]string{"syste": "provider"}, ": syste: no such column, although it is mapped to provider", "did you mean system?"},
		{"unknown column of ours", good, map[string]string{"id": "ide"}, ": ide: unknown column: id is mapped to it", "did you mean id?"},
		{"mapped twice", good, map[string]string{"model": "query", "system": "query"}, ": query: mapped from both model and system", ""},
		{"one list from two", good, map[string]string{"truth.doc": "citations.doc", "claims.start": "citations.start"}, ": citations: mapped from both claims and truth", ""},
		{"member from a plain column", good, map[string]string{"model": "citations.doc"}, ": citations.doc: mapped from model: a member of a list and a column of its own", "citations.model"},
		{"conventions differ", mixed, nil, `/b.parquet: file metadata ibid.offset_unit is "", but "codepoint" in ` + mixed + "/a.parquet", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Open(tt.pattern, ReadOptions{Columns: tt.columns})
			var e *ibid.Error
			if !errors.As(err, &e) {
				t.Fatalf("Open: %v, want an *ibid.Error", err)
			}
			if want := tt.pattern + tt.want; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("Open: %v\nwant %s", err, want)
			}
			if !strings.Contains(e.Hint, tt.hint) || (e.Hint == "") != (tt.hint == "") {
				t.Errorf("hint %q, want %q", e.Hint, tt.hint)
			}
		})
	}
}

// oldLZ4 claims the codec that LZ4_RAW has replaced.
type oldLZ4 struct{ compress.Codec }

func (oldLZ4) CompressionCodec() format.CompressionCodec { return format.Lz4 }

func TestForeignNames(t *testing.T) {
	type citation struct {
		FileName   string  `parquet:"file_name"`
		PageNumber int32   `parquet:"page_number"`
		StartChar  int32   `parquet:"start_char"`
		EndChar    int32   `parquet:"end_char"`
		Score      float32 `parquet:"confidence_score"`
		Method     string  `parquet:"extraction_method"`
		Context    string  `parquet:"context_text"`
		Relevance  float64 `parquet:"relevance_score"`
	}
	type specified struct {
		layoutKeys
		Citations []citation `parquet:"citations,list"`
	}
	type cite struct {
		Source string `parquet:"source"`
		From   int64  `parquet:"from"`
		Doc    string `parquet:"doc"`
	}
	type foreign struct {
		Key      string `parquet:"key"`
		ID       string `parquet:"id"`
		Question string `parquet:"question"`
		Reply    string `parquet:"reply"`
		Cites    []cite `parquet:"cites,list"`
	}
	t.Run("of the specification", func(t *testing.T) {
		path := writeFile(t, []specified{{keys(0), []citation{{"d", 2, 3, 4, 0.5, "llm", "c", 0.25}}}})
		got := readRows(t, open(t, path, ReadOptions{}), 1)[0].Citations[0]
		want := ibid.Citation{
			Doc: "d", Page: ibid.Some[int64](2), Start: ibid.Some[int64](3), End: ibid.Some[int64](4),
			Method: "llm", Confidence: ibid.Some[float64](0.5), Relevance: ibid.Some[float64](0.25),
		}
		if !cmp.Equal(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
	t.Run("mapped", func(t *testing.T) {
		path := writeFile(t, []foreign{{"k", "model-1", "q", "a", []cite{{"s", 5, "mine"}}}})
		columns := map[string]string{
			"key": "id", "id": "model", "question": "query", "reply": "answer",
			"cites.source": "citations.doc", "cites.from": "citations.start", "text": "text",
		}
		r := readRows(t, open(t, path, ReadOptions{Columns: columns}), 1)[0]
		c := r.Citations[0]
		if r.ID != "k" || r.Model != "model-1" || r.Query != "q" || r.Answer != "a" || c.Doc != "s" || c.Start.Value != 5 {
			t.Errorf("read %+v", r)
		}
	})
	t.Run("mapped away", func(t *testing.T) {
		path := writeFile(t, []foreign{{"k", "i", "q", "a", []cite{{"s", 5, "mine"}}}})
		columns := map[string]string{"key": "id", "id": "model", "question": "query", "reply": "answer", "cites.doc": "citations.title"}
		c := readRows(t, open(t, path, ReadOptions{Columns: columns}), 1)[0].Citations[0]
		if c.Title != "mine" || !c.DocNull {
			t.Errorf("read %+v", c)
		}
	})
}

func TestColumnsAndIgnored(t *testing.T) {
	type cite struct {
		Doc   string `parquet:"file_name"`
		Score int64  `parquet:"score"`
	}
	type row struct {
		layoutKeys
		Citation []cite `parquet:"citation,list"`
		Truth    []cite `parquet:"truth,list"`
		Extra    int64  `parquet:"extra"`
	}
	s := open(t, writeFile(t, []row{{}}), ReadOptions{Columns: map[string]string{"query": "answer", "answer": "query"}})
	if diff := cmp.Diff([]string{"id", "query", "answer", "truth.doc"}, s.Columns()); diff != "" {
		t.Errorf("Columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"citation", "truth.score", "extra"}, s.Ignored()); diff != "" {
		t.Errorf("Ignored (-want +got):\n%s", diff)
	}
}

// Files of one dataset may have different optional columns and layouts.
func TestFilesDiffer(t *testing.T) {
	dir := t.TempDir()
	full := layoutCitation{Doc: ptr("d"), Start: ptr(int64(0)), Page: ptr(int32(3))}
	if err := parquet.WriteFile(filepath.Join(dir, "a.parquet"), []layoutKeys{keys(0), keys(1)}); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(filepath.Join(dir, "b.parquet"), []repeatedLayout{{keys(2), []layoutCitation{full, full}}}); err != nil {
		t.Fatal(err)
	}
	rows := randomRows(1, 1)
	stored, _ := storeRow(&rows[0])
	stored.Documents = []storedInline{{Doc: ptr("x"), Pages: []string{"p"}}}
	if err := parquet.WriteFile(filepath.Join(dir, "c.parquet"), []storedRow{stored}); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(filepath.Join(dir, "d.parquet"), []standardLayout{{keys(3), []*layoutCitation{&full}}}); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 10} {
		got := readRows(t, open(t, dir, ReadOptions{}), size)
		for i, want := range []string{"null", "null", "[{d 0 3} {d 0 3}]", "", "[{d 0 3}]"} {
			if text := citationText(&got[i]); i != 3 && text != want {
				t.Errorf("batches of %d, row %d: %s, want %s", size, i, text, want)
			}
		}
		if d := got[3].Documents; len(d) != 1 || len(d[0].Pages) != 1 || got[2].HasDocuments || got[4].HasDocuments {
			t.Errorf("documents %+v", d)
		}
	}
}

func TestReadStops(t *testing.T) {
	path := writeRows(t, randomRows(1, 50))
	s := open(t, path, ReadOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	batches := 0
	err := s.Read(ctx, 0, 10, func(b *Batch) error {
		batches++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || batches != 1 {
		t.Errorf("cancelled: %v after %d batches", err, batches)
	}
	stop := errors.New("stop")
	if err := s.Read(t.Context(), 0, 10, func(b *Batch) error { return stop }); err != stop {
		t.Errorf("yield's error comes back as %v", err)
	}
	if err := s.Read(t.Context(), 0, 0, nil); err == nil {
		t.Error("batches of 0 rows are accepted")
	}
	if err := os.WriteFile(path, readFile(t, writeRows(t, randomRows(2, 51))), 0o644); err != nil {
		t.Fatal(err)
	}
	err = s.Read(t.Context(), 0, 10, func(b *Batch) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("reading a file that was replaced: %v", err)
	}
}

func TestDigest(t *testing.T) {
	path := writeRows(t, randomRows(1, 50))
	sum := sha256.Sum256(readFile(t, path))
	s := open(t, path, ReadOptions{})
	var last int64
	got, err := s.Digest(t.Context(), func(done, total int64) {
		if last = done; total != s.Files()[0].Size {
			t.Errorf("total %d", total)
		}
	})
	want := FileDigest{FileInfo: s.Files()[0], SHA256: hex.EncodeToString(sum[:])}
	if err != nil || len(got) != 1 || got[0] != want || last != want.Size {
		t.Errorf("Digest = %v, %v, done %d, want %v", got, err, last, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Digest(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDocumentsNeedNames(t *testing.T) {
	type document struct {
		Doc  *string `parquet:"doc,optional"`
		Text string  `parquet:"text"`
	}
	path := writeFile(t, []document{{ptr("a"), "x"}, {nil, "y"}})
	s, err := OpenDocuments(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Read(t.Context(), func(*ibid.Document) error { return nil })
	if want := path + ": row 1: doc: a document needs a name"; err == nil || err.Error() != want {
		t.Errorf("Read = %v, want %s", err, want)
	}
	bad := writeFile(t, []document{{ptr("a"), "\xff"}})
	if s, err = OpenDocuments(bad, ReadOptions{}); err != nil {
		t.Fatal(err)
	}
	err = s.Read(t.Context(), func(d *ibid.Document) error {
		if d.Err == nil || d.HasText || d.Err.Error() != "text: text is not UTF-8" {
			t.Errorf("document %+v", d)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := OpenDocuments(writeFile(t, []layoutKeys{keys(0)}), ReadOptions{}); err == nil || !strings.Contains(err.Error(), "doc: required column is missing") {
		t.Errorf("a file without doc: %v", err)
	}
}

func TestReadingDoesNotAllocatePerRow(t *testing.T) {
	const rows = 4000
	s := open(t, benchmarkFile(t, rows, &parquet.Snappy), ReadOptions{Want: WantKeys | WantSpans})
	var r ibid.Answer
	read := func() {
		err := s.Read(t.Context(), 0, 500, func(b *Batch) error {
			for i := range b.Len() {
				b.Row(i, &r)
			}
			b.Release()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if got := testing.AllocsPerRun(5, read); got > rows/4 {
		t.Errorf("%.0f allocations for %d rows", got, rows)
	}
	err := s.Read(t.Context(), 0, rows, func(b *Batch) error {
		if got := testing.AllocsPerRun(5, func() {
			for i := range b.Len() {
				b.Row(i, &r)
			}
		}); got != 0 {
			t.Errorf("filling rows allocates %.0f times", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNoneOfOurs: a column that is mapped to "" is not the column of ours that it is called like.
func TestNoneOfOurs(t *testing.T) {
	for name, want := range map[string]bool{"id": true, "citations": true, "citations.doc": true} {
		names, err := rowSpec.foreignNames(map[string]string{"model": "", "truth.doc": ""})
		if err != nil || names.owner(name, name[strings.LastIndexByte(name, '.')+1:]) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, _ := rowSpec.foreignNames(map[string]string{"model": "", "truth.doc": ""})
	if names.owner("model", "model") || names.owner("truth.doc", "doc") {
		t.Error("model and truth.doc are ours")
	}
}
