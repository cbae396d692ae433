package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/dataset/objects"
	"ibid/dataset/parquet"
)

const emptyFile = "an empty file"

// magics are how files of other formats begin.
var magics = []struct {
	start, kind string
	records     bool // it may hold records that can be imported
}{
	{"\x1f\x8b", "gzip", true},
	{"\x28\xb5\x2f\xfd", "zstd", true},
	{"%PDF", "PDF", false},
	{"PK\x03\x04", "a ZIP archive or an Office file", false},
	{"SQLite format 3\x00", "an SQLite database", false},
	{"ARROW1", "Arrow", false},
	{"Obj\x01", "Avro", false},
	{"ORC", "ORC", false},
	{"\xff\xfe", "text in UTF-16", false},
	{"\xfe\xff", "text in UTF-16", false},
}

// IsForeign reports whether a file holds records in another format than Parquet that
// package convert may know: JSON, JSON Lines, CSV or an event stream, gzip or zstd. A
// file whose name ends in .parquet is none, whatever it holds.
func IsForeign(path string) bool {
	_, records := kindOf(path)
	return records && filepath.Ext(path) != ".parquet"
}

// kindOf says what a file is that is not Parquet, "" if that is not known, and whether it may
// hold records that can be imported.
func kindOf(path string) (kind string, records bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	start, err := bufio.NewReader(io.LimitReader(f, 4096)).Peek(4096)
	if err != nil && err != io.EOF {
		return "", false
	}
	for _, m := range magics {
		if bytes.HasPrefix(start, []byte(m.start)) {
			return m.kind, m.records
		}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\ufeff")), " \t\r\n")
	name := strings.ToLower(path)
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	switch {
	case len(start) == 0:
		return emptyFile, false
	case bytes.HasPrefix(text, []byte{'{'}):
		if strings.Contains(name, ".jsonl") || strings.Contains(name, ".ndjson") || bytes.HasSuffix(bytes.TrimSpace(line), []byte{'}'}) {
			return "JSON Lines", true
		}
		return "JSON", true
	case bytes.HasPrefix(text, []byte{'['}):
		return "JSON", true
	case bytes.HasPrefix(text, []byte("event:")), bytes.HasPrefix(text, []byte("data:")), bytes.HasPrefix(text, []byte(": ")): // or a comment of one
		return "an event stream", true
	case strings.HasSuffix(name, ".csv"):
		return "CSV", true
	case bytes.HasPrefix(text, []byte{'<'}):
		return "HTML or XML", false
	case isText(start):
		return "text", false
	}
	return "", false
}

// isText reports whether the beginning of a file is text.
func isText(start []byte) bool {
	for cut := 0; cut < utf8.UTFMax && cut < len(start); cut++ { // the last code point may be cut
		if utf8.Valid(start[:len(start)-cut]) {
			return bytes.IndexByte(start, 0) < 0
		}
	}
	return false
}

// notParquet says of a file that is no Parquet what it is, and what to type. Other errors stay
// as they are.
func notParquet(path string, documents bool, err error) error {
	if objects.Is(path) && errors.Is(err, parquet.ErrNotParquet) {
		return &ibid.Error{File: path, Err: errors.New("not Parquet"), Hint: "of objects only Parquet is read: ibid import makes it of a file of this machine"}
	}
	kind, records := kindOf(path)
	if kind == "" || kind != emptyFile && !errors.Is(err, parquet.ErrNotParquet) {
		return err
	}
	e := &ibid.Error{File: path, Err: fmt.Errorf("%s, not Parquet", kind)}
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	switch {
	case records:
		e.Hint = fmt.Sprintf("ibid import auto %s -o %s.parquet --docs %s-docs.parquet", path, stem, stem)
	case kind == "Arrow" || kind == "Avro" || kind == "ORC":
		e.Hint = "write it as Parquet: DuckDB and pyarrow can"
	case documents:
		e.Hint = "documents come as Parquet, as JSON Lines, or as a folder of text, Markdown, HTML or PDF files: --documents FOLDER"
	default:
		e.Hint = "answers come as Parquet, JSON Lines, JSON or CSV"
	}
	return e
}
