package convert

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
)

// A shape is how a file holds its records.
type shape uint8

const (
	lineShape  shape = iota // one JSON text on each line
	wholeShape              // JSON texts that may take several lines, or a list of them
	eventShape              // server-sent events, or events one on each line
)

// shapeOf finds the shape of a file: by the end of its name where that says it,
// else by how it begins.
func (r *run) shapeOf(path string) (shape, error) {
	in, err := r.open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	buffer := newLineReader(in, 0)
	defer buffer.close()
	start, err := buffer.r.Peek(1 << 16)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return 0, pathError(path, err)
	}
	extension := filepath.Ext(strings.TrimSuffix(path, ".gz"))
	start = bytes.TrimLeft(start, " \t\r\n")
	switch {
	case extension == ".sse" || startsAsEvents(start):
		return eventShape, nil
	case extension == ".jsonl" || extension == ".ndjson":
		return lineShape, nil
	}
	if extension != ".json" && startsAsLines(start) {
		return lineShape, nil
	}
	return wholeShape, nil
}

// startsAsEvents reports whether a text begins with a field of a server-sent
// event, or with an event that is a line of JSON: it has the member event_type.
func startsAsEvents(text []byte) bool {
	for _, field := range []string{"event:", "data:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(text, []byte(field)) {
			return true
		}
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	var t jsonText
	if !bytes.Contains(line, []byte(`"event_type"`)) {
		return false
	}
	o := t.open(line)
	return o != nil && o.peek("event_type") != ""
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
	data   []byte
	at     position
	number int  // from 1
	only   bool // there is no other in the file
	reason string
}

// eachRecord calls do with every record of a file of JSON. A record with a reason
// cannot be read.
func (r *run) eachRecord(ctx context.Context, path string, s shape, do func(*foreignRecord) error) error {
	var rec foreignRecord
	if s == lineShape {
		return r.lines(ctx, path, func(line []byte, number int, bad error) error {
			rec = foreignRecord{data: line, at: position{number, 1}, number: number}
			if bad != nil {
				rec = foreignRecord{at: position{line: number}, number: number, reason: bad.Error()}
			}
			return do(&rec)
		})
	}
	data, reason, err := r.whole(path)
	if err != nil {
		return err
	}
	if reason != "" {
		return do(&foreignRecord{number: 1, only: true, reason: reason})
	}
	records := jsonRecords{data: data}
	at, last := position{1, 1}, 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		start, end, reason := records.next()
		at, last = at.after(data[last:start]), start
		rec = foreignRecord{data: data[start:end], at: at, number: rec.number + 1, reason: reason}
		if start == end && reason == "" && rec.number > 1 {
			return nil
		}
		if reason == "" {
			ahead := records
			from, to, bad := ahead.next()
			rec.only = rec.number == 1 && from == to && bad == ""
		}
		if start == end && reason == "" {
			rec.reason = "empty"
		}
		if err := do(&rec); err != nil || rec.reason != "" {
			return err
		}
	}
}
