package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type recordPart struct {
	Name *string           `json:"name" parquet:"name,optional"`
	Tags []string          `json:"tags" parquet:"tags,list"`
	More []recordLeafOf    `json:"more" parquet:"more"`
	Meta map[string]string `json:"meta" parquet:"meta"`
}

type recordLeafOf struct {
	Score *float64 `json:"score" parquet:"score,optional"`
	Flag  bool     `json:"flag" parquet:"flag"`
}

type recordOf struct {
	ID    string       `json:"id" parquet:"id"`
	Big   uint64       `json:"big" parquet:"big"`
	Count *int64       `json:"count" parquet:"count,optional"`
	Parts []recordPart `json:"parts" parquet:"parts,list"`
	One   *recordPart  `json:"one" parquet:"one,optional"`
}

// TestParquetRecords: rows of nested lists, structs and maps are the JSON of the same values.
func TestParquetRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	some := func() bool { return random.IntN(3) > 0 }
	text := func() string {
		return []string{"", "a", "\"q\"\\\n\x01", "🚢 ü", strings.Repeat("long ", 300)}[random.IntN(5)]
	}
	part := func() (p recordPart) {
		if some() {
			name := text()
			p.Name = &name
		}
		p.Tags, p.More, p.Meta = []string{}, []recordLeafOf{}, map[string]string{}
		for range random.IntN(4) {
			p.Tags = append(p.Tags, text())
			more := recordLeafOf{Flag: some()}
			if some() {
				score := random.NormFloat64()
				more.Score = &score
			}
			p.More = append(p.More, more)
		}
		for range random.IntN(3) {
			p.Meta[string(rune('a'+random.IntN(5)))] = text()
		}
		return p
	}
	var rows []recordOf
	for range 500 {
		r := recordOf{ID: text(), Big: random.Uint64(), Parts: []recordPart{}}
		if some() {
			n := int64(random.Uint64())
			r.Count = &n
		}
		for range random.IntN(4) {
			r.Parts = append(r.Parts, part())
		}
		if some() {
			one := part()
			r.One = &one
		}
		rows = append(rows, r)
	}
	path := filepath.Join(t.TempDir(), "records.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[recordOf](f, parquet.MaxRowsPerRowGroup(130), parquet.PageBufferSize(2000))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := ParquetRecords(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewReader(in)
	for i, want := range rows {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(i, err)
		}
		var got recordOf
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("row %d: %v\n%s", i, err, line)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("row %d:\n%s\nwant\n%+v", i, line, want)
		}
	}
	if _, err := lines.ReadByte(); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}

// TestParquetRecordsDamaged: a damaged file is an error, or other lines; it is never a panic or
// without an end.
func TestParquetRecordsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.parquet")
	name := "name"
	rows := make([]recordOf, 40)
	for i := range rows {
		part := recordPart{Name: &name, Tags: []string{"a", "b"}, More: make([]recordLeafOf, i%3), Meta: map[string]string{"k": "v"}}
		rows[i] = recordOf{ID: strings.Repeat("x", i), Parts: []recordPart{part, {}}, One: &part}
	}
	if err := parquet.WriteFile(path, rows, parquet.PageBufferSize(500)); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random, failed := rand.New(rand.NewPCG(5, 6)), 0
	for n := range 2_000 {
		damaged := bytes.Clone(whole)
		for range 1 + random.IntN(3) {
			damaged[random.IntN(len(damaged))] = byte(random.IntN(256))
		}
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := ParquetRecords(path)
		if err == nil {
			var size int64
			if size, err = io.Copy(io.Discard, in); size > 10<<20 {
				t.Errorf("copy %d: %d bytes", n, size)
			}
			in.Close()
		}
		if err != nil {
			failed++
		}
	}
	if failed < 500 {
		t.Errorf("%d of 2,000 damaged copies are errors", failed)
	}
}
