package convert

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"
)

// jsonl is our own columns, one row as one JSON object on each line.
//
// Missing and null members are null, [] is known to be empty. A line that has
// doc and no id is a document. The specification's names (file_name,
// start_char …) stand for ours. Offsets are written as they are: a row may state
// any unit, and so may the run file; quotes are tested against the row's own
// documents, and the report says which readings reproduce them.
var jsonl = Format{
	Name:    "jsonl",
	Summary: "our own columns, one JSON object on each line",
	Input:   "JSON Lines files (.jsonl, .ndjson) or a directory of them",
	streams: true,
	convert: convertJSONL,
}

func convertJSONL(ctx context.Context, r *run) error {
	paths, err := files(r.paths, []string{".jsonl", ".ndjson"})
	if err != nil {
		return err
	}
	for _, path := range paths {
		c := jsonlReader{run: r, file: path}
		if err := c.read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A jsonlReader reads one file.
type jsonlReader struct {
	*run
	file   string
	record jsonlRecord
	proof  rowProof
}

func (c *jsonlReader) read(ctx context.Context) error {
	in, err := c.open(c.file)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := newLineReader(in, c.MaxRecord)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.next()
		switch {
		case err == io.EOF:
			c.proof.settle(&c.report)
			return nil
		case errors.Is(err, errTooLong):
			c.report.Records++
			c.fail(RecordError{File: c.file, Line: lines.line, Reason: err.Error()})
			continue
		case err != nil:
			return pathError(c.file, err)
		}
		c.report.Records++
		if err := c.line(line, lines.line); err != nil {
			return err
		}
	}
}

// line converts one record.
func (c *jsonlReader) line(line []byte, number int) error {
	rec := &c.record
	if e := rec.decode(line); e != nil {
		c.fail(RecordError{File: c.file, Line: number, Column: column(line, e.offset), Reason: e.msg})
		return nil
	}
	if rec.isDocument && !c.Docs {
		c.fail(RecordError{File: c.file, Line: number, Column: 1, Reason: "a document, and no place for documents was given (--docs)"})
		return nil
	}
	for _, name := range rec.unknown {
		c.report.unknownField(name)
	}
	if rec.isDocument {
		return c.document(&rec.document)
	}
	rec.row.File = c.file
	c.proof.row(&rec.row)
	return c.row(&rec.row)
}

var (
	utf8Mark  = []byte("\xef\xbb\xbf")
	utf16Mark = [][]byte{{0xff, 0xfe}, {0xfe, 0xff}}
)

// mark names the byte order mark that begins a line, "" if none does.
func mark(line []byte) string {
	if bytes.HasPrefix(line, utf8Mark) {
		return "a byte order mark (U+FEFF): save the file as UTF-8 without one"
	}
	for _, m := range utf16Mark {
		if bytes.HasPrefix(line, m) {
			return "a UTF-16 byte order mark: save the file as UTF-8"
		}
	}
	return ""
}

// column is the 1-based column of a byte offset, in code points.
func column(line []byte, offset int) int {
	return utf8.RuneCount(line[:min(offset, len(line))]) + 1
}
