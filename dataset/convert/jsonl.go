package convert

import (
	"bytes"
	"context"

	"ibid/dataset"
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
	fits: func(o *object) bool {
		return o.peek("id") != "" && o.has("answer") && !listsInline(o) || o.peek("doc") != "" && !o.has("id")
	},
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

// A jsonlReader reads one file of our own columns.
type jsonlReader struct {
	*run
	file   string
	record jsonlRecord
	proof  rowProof

	// amend, unless nil, is given each row before it is written. What it
	// returns is why the row cannot be, "" if it can.
	amend func(row *dataset.Row, at position) (reason string)
}

func (c *jsonlReader) read(ctx context.Context) error {
	err := c.eachLine(ctx, c.file, func(line []byte, number int) error {
		return c.value(line, position{number, 1})
	})
	if err != nil {
		return err
	}
	c.settle()
	return nil
}

// settle closes the proof of the file.
func (c *jsonlReader) settle() {
	c.proof.settle(&c.report)
	if o := c.proof.offsets(); o.pairs() > 0 {
		c.report.file(FileReport{File: c.file, Format: c.format, Source: &o})
	}
}

// value converts one record, which begins at a position of the file.
func (c *jsonlReader) value(data []byte, at position) error {
	rec := &c.record
	if e := rec.decode(data); e != nil {
		c.fail(at.after(data[:min(e.offset, len(data))]).err(c.file, e.msg))
		return nil
	}
	if rec.isDocument && !c.Docs {
		c.fail(at.err(c.file, "a document, and no place for documents was given (--docs)"))
		return nil
	}
	if c.amend != nil && !rec.isDocument {
		if reason := c.amend(&rec.row, at); reason != "" {
			c.fail(at.err(c.file, reason))
			return nil
		}
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
