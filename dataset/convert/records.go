package convert

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"unicode/utf8"

	"ibid/dataset"
)

// A shape is how a file holds its records.
type shape uint8

const (
	lineShape  shape = iota // one JSON text on each line
	wholeShape              // JSON texts that may take several lines, or a list of them
	eventShape              // server-sent events, or events one on each line
	tableShape              // CSV
)

// shapeOf finds the shape of a file: by the end of its name where that says it,
// else by how it begins.
func (r *run) shapeOf(path string) (shape, error) {
	in, err := r.open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	start, err := bufio.NewReaderSize(in, 1<<16).Peek(1 << 16)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return 0, pathError(path, err)
	}
	extension := filepath.Ext(unpackedName(path))
	start = bytes.TrimLeft(bytes.TrimPrefix(start, utf8Mark), " \t\r\n")
	switch {
	case extension == ".sse" || startsAsEvents(start):
		return eventShape, nil
	case (extension == ".jsonl" || extension == ".ndjson") && !bytes.HasPrefix(start, []byte{'['}):
		return lineShape, nil
	}
	if extension != ".json" && startsAsLines(start) {
		return lineShape, nil
	}
	return wholeShape, nil
}

// startsAsEvents reports whether a text begins with a field of a server-sent event, or with an event
// that is a line of JSON: it has the member event_type or messageStart, or a type that begins a
// message.
func startsAsEvents(text []byte) bool {
	for _, field := range []string{"event:", "data:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(text, []byte(field)) {
			return true
		}
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	o := new(jsonText).open(line)
	return o != nil && (o.peek("event_type") != "" || o.isObject("messageStart") || o.peek("type") == "message_start" || o.peek("type") == "response.created")
}

// startsAsLines reports whether a text begins as JSON Lines do: its first line
// is an object, or its second begins as one. Objects that take several lines begin
// with less than one, and go on indented.
func startsAsLines(text []byte) bool {
	line, rest, ended := bytes.Cut(text, []byte{'\n'})
	if !bytes.HasPrefix(line, []byte{'{'}) {
		return false
	}
	line = bytes.TrimRight(line, " \t\r")
	return !ended || line[len(line)-1] == '}' || bytes.HasPrefix(rest, []byte{'{'})
}

// A foreignRecord is one record of a file, not yet looked into.
type foreignRecord struct {
	file   string
	data   []byte
	at     position
	number int // from 1
	reason string
}

// open returns the object that the record is, or says what is wrong with it.
func (rec *foreignRecord) open(t *jsonText) (o *object, bad *RecordError) {
	if rec.reason != "" {
		e := rec.at.err(rec.file, rec.reason)
		return nil, &e
	}
	return t.open(rec.data), rec.mistake(t)
}

// mistake is what is wrong with the text of the record, nil if nothing is.
func (rec *foreignRecord) mistake(t *jsonText) *RecordError {
	if t.err == nil {
		return nil
	}
	e := t.err.in(rec.data, rec.at, rec.file)
	return &e
}

// emptyFile is the reason of the only record of a file that has none.
const emptyFile = "empty"

// eachRecord calls do with every record of a file of JSON. A record with a reason
// cannot be read.
func (r *run) eachRecord(ctx context.Context, path string, s shape, do func(*foreignRecord) error) error {
	rec := foreignRecord{file: path}
	if s == lineShape {
		return r.lines(ctx, path, func(line []byte, number int, bad error) error {
			rec = foreignRecord{file: path, data: line, at: position{number, 1}, number: number}
			if bad != nil {
				rec = foreignRecord{file: path, at: position{line: number}, number: number, reason: bad.Error()}
			}
			return do(&rec)
		})
	}
	data, reason, err := r.whole(path)
	if err != nil {
		return err
	}
	if reason != "" {
		return do(&foreignRecord{file: path, number: 1, reason: reason})
	}
	at, last := position{1, 1}, 0
	err = jsonRecords(data, func(start, end int, reason string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, last = at.after(data[last:start]), start
		rec = foreignRecord{file: path, data: data[start:end], at: at, number: rec.number + 1, reason: reason}
		return do(&rec)
	})
	if err == nil && rec.number == 0 {
		return do(&foreignRecord{file: path, at: at.after(data), number: 1, reason: emptyFile})
	}
	return err
}

// lines calls do with every line of a file and its number. bad says why a line
// could not be read, and then there is none.
func (r *run) lines(ctx context.Context, path string, do func(line []byte, number int, bad error) error) error {
	in, err := r.open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := dataset.NewLines(in, r.MaxRecord)
	lines.Stream = path == stdinPath
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, dataset.ErrLongRecord) {
			return pathError(r.named(path), err)
		} else if err != nil {
			err = fmt.Errorf("%w (--limits)", err)
		}
		if lines.Number == 1 {
			line = bytes.TrimPrefix(line, utf8Mark)
		}
		if err := do(line, lines.Number, err); err != nil {
			return err
		}
	}
}

// eachEvent calls do with the data of every server-sent event of a file and where
// it begins. Names, ids, comments and the final [DONE] are passed over: the data
// says what it is. A line that is an object is an event by itself.
//
// Source: WHATWG HTML, Server-sent events.
func (r *run) eachEvent(ctx context.Context, path string, do func(*foreignRecord) error) error {
	var data []byte
	var at position
	pending := false
	dispatch := func() error {
		if !pending {
			return nil
		}
		pending = false
		if bytes.Equal(data, []byte("[DONE]")) {
			return nil
		}
		return do(&foreignRecord{file: path, data: data, at: at})
	}
	err := r.lines(ctx, path, func(line []byte, number int, bad error) error {
		if bad != nil {
			return do(&foreignRecord{file: path, at: position{line: number}, reason: bad.Error()})
		}
		if len(line) == 0 {
			return dispatch()
		}
		if line[0] == '{' {
			if err := dispatch(); err != nil {
				return err
			}
			return do(&foreignRecord{file: path, data: line, at: position{number, 1}})
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		if string(field) != "data" {
			return nil
		}
		column := len(field) + 2
		if len(value) > 0 && value[0] == ' ' {
			value, column = value[1:], column+1
		}
		if !pending {
			data, at, pending = data[:0], position{number, column}, true
		} else {
			data = append(data, '\n')
		}
		if len(data)+len(value) > r.MaxRecord {
			data, pending = data[:0], false
			return do(&foreignRecord{file: path, at: position{line: number}, reason: dataset.ErrLongRecord.Error()})
		}
		data = append(data, value...)
		return nil
	})
	if err != nil {
		return err
	}
	return dispatch() // a last event without an empty line behind it
}

// jsonRecords divides a JSON text into its records: the elements of a list, or the values that
// follow each other. It calls do with the extent of each and then, with a reason, where the text
// cannot be divided any further. It finds their extent only, so that one bad record does not take
// the others along; what they hold is for a jsonText to check.
func jsonRecords(data []byte, do func(start, end int, reason string) error) error {
	at := skipSpace(data, 0)
	inList := at < len(data) && data[at] == '['
	if inList {
		at = skipSpace(data, at+1)
	}
	for first := true; ; first = false {
		switch {
		case !inList || at == len(data):
		case data[at] == ']':
			if at = skipSpace(data, at+1); at < len(data) {
				return do(at, at, "something follows the list of records")
			}
			return nil
		case first:
		case data[at] != ',':
			return do(at, at, "want ',' or ']' after a record")
		default:
			at = skipSpace(data, at+1)
		}
		end := valueEnd(data, at)
		switch {
		case end > at:
		case at < len(data):
			return do(at, at, "want a record")
		case inList:
			return do(at, at, "truncated: the list of records does not end")
		default:
			return nil
		}
		if err := do(at, end, ""); err != nil {
			return err
		}
		at = skipSpace(data, end)
	}
}

// skipSpace returns the index of the next byte that is not white space, or the
// length of the data.
func skipSpace(data []byte, at int) int {
	for at < len(data) && isJSONSpace(data[at]) {
		at++
	}
	return at
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// valueEnd returns where the value that begins at start ends, if it is one:
// behind the bracket that closes its first, or before the next punctuation.
func valueEnd(data []byte, start int) int {
	depth := 0
	for i := start; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			if i = stringEnd(data, i); depth == 0 {
				return min(i+1, len(data))
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || isJSONSpace(c)):
			return i
		}
	}
	return len(data)
}

// stringEnd returns the index of the quotation mark that closes the string at
// start, or the length of the data.
func stringEnd(data []byte, start int) int {
	for i := start + 1; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data)
		}
		i += n
		escapes := 0
		for data[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

// A position is a place in a file; line and column count from 1, the column in
// code points.
type position struct{ line, column int }

// after returns the position behind text that begins at p.
func (p position) after(text []byte) position {
	if last := bytes.LastIndexByte(text, '\n'); last >= 0 {
		p.line += bytes.Count(text, []byte{'\n'})
		p.column = 1
		text = text[last+1:]
	}
	p.column += utf8.RuneCount(text)
	return p
}

// err is an error at p.
func (p position) err(file, reason string) RecordError {
	return RecordError{File: file, Line: p.line, Column: p.column, Reason: reason}
}

var utf8Mark = []byte("\xef\xbb\xbf")

// mark names the byte order mark that begins a line, "" if none does.
func mark(line []byte) string {
	if bytes.HasPrefix(line, utf8Mark) {
		return "a byte order mark (U+FEFF): save the file as UTF-8 without one"
	}
	return ""
}
