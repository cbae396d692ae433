package convert

import (
	"bytes"
	"unicode/utf8"
)

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
