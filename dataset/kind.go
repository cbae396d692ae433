package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"ibid"
	"ibid/dataset/objects"
	"ibid/dataset/parquet"
)

const emptyFile = "an empty file"

// magics are how files of other formats begin.
var magics = []struct {
	start, kind string
	hint        string // what to do with it; "" if it may hold records that can be imported
}{
	{"\x1f\x8b", "gzip", ""},
	{"\x28\xb5\x2f\xfd", "zstd", ""},
	{"%PDF", "a PDF", "a PDF is a document, not answers: --documents FOLDER reads those of a folder"},
	{"PK\x03\x04", "a ZIP archive", "unpack it, and give the files or their folder"},
	{"SQLite format 3\x00", "an SQLite database", asParquet},
	{"ARROW1\x00\x00", "Arrow", asParquet},
	{"Obj\x01", "Avro", asParquet},
	{"ORC", "ORC", asParquet},
}

const asParquet = "write it as Parquet: DuckDB and pyarrow can"

// startBytes is how much of a file tells what it is.
const startBytes = 4096

// NoRecords says what a file is that begins so and cannot hold records in any format that is
// imported, and what to do with it; "" if it may.
func NoRecords(start []byte) (kind, hint string) {
	for _, m := range magics {
		if !bytes.HasPrefix(start, []byte(m.start)) || m.hint == "" {
			continue
		}
		if m.kind == "ORC" && bytes.IndexByte(start, 0) < 0 {
			continue // a table with the column ORCID
		}
		if m.kind == "a ZIP archive" && bytes.Contains(start, []byte("xl/")) {
			return "an Excel workbook", "save it as CSV"
		}
		return m.kind, m.hint
	}
	if len(start) > tarMagic && bytes.HasPrefix(start[tarMagic:], []byte("ustar")) {
		return "a tar archive", "unpack it, and give the files or their folder"
	}
	return "", ""
}

// tarMagic is where a tar archive says what it is.
const tarMagic = 257

// AsUTF8 is a text that may be in UTF-16: a byte order mark says so, or zero bytes beside the first
// two characters, which no text in UTF-8 has. Half a character is an error.
func AsUTF8(in *bufio.Reader) io.Reader {
	start, _ := in.Peek(utf16Bytes)
	order, is := utf16Order(start)
	if !is {
		return in
	}
	whole := &wholePairs{order: binary.BigEndian}
	if order == unicode.LittleEndian {
		whole.order = binary.LittleEndian
	}
	return transform.NewReader(in, transform.Chain(whole, unicode.UTF16(order, unicode.UseBOM).NewDecoder()))
}

var errHalfCharacter = ibid.Usagef("half a character of UTF-16: the text is damaged").With("write the file again, as UTF-8")

// wholePairs passes on UTF-16 and fails at half a character.
type wholePairs struct {
	order binary.ByteOrder
	high  bool // the first half of a pair was the last unit
}

func (w *wholePairs) Reset() { w.high = false }

func (w *wholePairs) Transform(dst, src []byte, atEOF bool) (n, _ int, err error) {
	for ; n+2 <= min(len(dst), len(src)); n += copy(dst[n:], src[n:n+2]) {
		unit := w.order.Uint16(src[n:])
		if low := unit&0xfc00 == 0xdc00; low != w.high {
			return n, n, errHalfCharacter
		}
		w.high = unit&0xfc00 == 0xd800
	}
	switch {
	case n+2 <= len(src):
		err = transform.ErrShortDst
	case atEOF && (n < len(src) || w.high):
		err = errHalfCharacter
	case n < len(src):
		err = transform.ErrShortSrc
	}
	return n, n, err
}

// utf16Bytes is how many bytes tell that a text is in UTF-16.
const utf16Bytes = 4

// utf16Order is the order of bytes of a text in UTF-16 that begins so.
func utf16Order(start []byte) (order unicode.Endianness, is bool) {
	switch {
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}):
		return unicode.LittleEndian, true
	case bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		return unicode.BigEndian, true
	case len(start) < utf16Bytes:
		return order, false
	}
	switch [utf16Bytes]bool{start[0] == 0, start[1] == 0, start[2] == 0, start[3] == 0} {
	case [utf16Bytes]bool{1: true, 3: true}:
		return unicode.LittleEndian, true
	case [utf16Bytes]bool{0: true, 2: true}:
		return unicode.BigEndian, true
	}
	return order, false
}

// IsBinaryEvents reports whether a file that begins so holds messages of
// application/vnd.amazon.eventstream: their first 8 bytes are followed by the checksum of these.
func IsBinaryEvents(start []byte) bool {
	return len(start) >= 12 && crc32.ChecksumIEEE(start[:8]) == binary.BigEndian.Uint32(start[8:])
}

// IsParquet reports whether a file begins as Parquet does.
func IsParquet(f io.ReaderAt) bool {
	start := make([]byte, 4)
	n, _ := f.ReadAt(start, 0)
	return string(start[:n]) == "PAR1"
}

// IsForeign reports whether a file holds records in another format than Parquet that
// package convert may know: JSON, JSON Lines, CSV or an event stream, gzip or zstd. A
// file whose name ends in .parquet is none, whatever it holds.
func IsForeign(path string) bool {
	_, _, records := kindOf(path)
	return records && filepath.Ext(path) != ".parquet"
}

// kindOf says what a file is that is not Parquet, "" if that is not known, and whether it may
// hold records that can be imported or what to do with it.
func kindOf(path string) (kind, hint string, records bool) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", "", false
	}
	start, err := bufio.NewReaderSize(f, startBytes).Peek(startBytes)
	if err != nil && err != io.EOF {
		return "", "", false
	}
	if kind, hint := NoRecords(start); kind != "" {
		return kind, hint, false
	}
	for _, m := range magics {
		if m.hint == "" && bytes.HasPrefix(start, []byte(m.start)) {
			return m.kind, "", true
		}
	}
	if IsBinaryEvents(start) {
		return "a binary event stream", "", true
	}
	if _, is := utf16Order(start); is && filepath.Ext(path) != ".parquet" {
		return "text in UTF-16", "", true
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\ufeff")), " \t\r\n")
	name := strings.ToLower(path)
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	switch {
	case len(start) == 0:
		return emptyFile, "", false
	case bytes.HasPrefix(text, []byte{'{'}):
		if strings.Contains(name, ".jsonl") || strings.Contains(name, ".ndjson") || bytes.HasSuffix(bytes.TrimSpace(line), []byte{'}'}) {
			return "JSON Lines", "", true
		}
		return "JSON", "", true
	case bytes.HasPrefix(text, []byte{'['}):
		return "JSON", "", true
	case bytes.HasPrefix(text, []byte("event:")), bytes.HasPrefix(text, []byte("data:")), bytes.HasPrefix(text, []byte(": ")): // or a comment of one
		return "an event stream", "", true
	case strings.HasSuffix(name, ".csv"), strings.HasSuffix(name, ".tsv"):
		return "CSV", "", true
	case bytes.HasPrefix(text, []byte{'<'}):
		return "HTML or XML", "", false
	case isText(start):
		return "text", "", false
	}
	return "", "", false
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
	kind, hint, records := kindOf(path)
	if kind == "" || kind != emptyFile && !errors.Is(err, parquet.ErrNotParquet) {
		return err
	}
	e := &ibid.Error{File: path, Err: fmt.Errorf("%s, not Parquet", kind)}
	stem, _, _ := strings.Cut(filepath.Base(path), ".")
	switch {
	case records:
		e.Hint = fmt.Sprintf("ibid import auto %s -o %s.parquet --docs %s-docs.parquet", path, stem, stem)
	case documents && hint != asParquet:
		e.Hint = "documents come as Parquet, as JSON Lines, or as a folder of text, Markdown, HTML or PDF files: --documents FOLDER"
	case hint != "":
		e.Hint = hint
	default:
		e.Hint = "answers come as Parquet, JSON Lines, JSON or CSV"
	}
	return e
}
