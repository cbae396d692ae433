package report

import (
	"bytes"
	"io"
	"strconv"
)

// A Spreadsheet passes CSV on and puts an apostrophe before each cell that a spreadsheet
// would run as a formula: one that begins with =, +, -, @, a tab or a carriage return and
// is no number. Close writes the last cell; it does not close the writer below.
//
// Source: OWASP, "CSV Injection".
type Spreadsheet struct {
	w      io.Writer
	cell   []byte // what has come of a cell
	quoted bool   // within quotation marks
	out    []byte
}

// NewSpreadsheet returns one that writes to w.
func NewSpreadsheet(w io.Writer) *Spreadsheet { return &Spreadsheet{w: w} }

// Write takes any part of CSV, as encoding/csv writes it.
func (s *Spreadsheet) Write(p []byte) (int, error) {
	s.out = s.out[:0]
	for _, c := range p {
		switch {
		case c == '"':
			s.quoted = !s.quoted
		case !s.quoted && (c == ',' || c == '\n'):
			s.end()
			s.out = append(s.out, c)
			continue
		}
		s.cell = append(s.cell, c)
	}
	if _, err := s.w.Write(s.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes a cell that no line end follows.
func (s *Spreadsheet) Close() error {
	s.out = s.out[:0]
	s.end()
	_, err := s.w.Write(s.out)
	return err
}

// end passes the cell on.
func (s *Spreadsheet) end() {
	text := bytes.TrimPrefix(s.cell, []byte{'"'})
	if len(text) > 0 && bytes.IndexByte([]byte("=+-@\t\r"), text[0]) >= 0 {
		if _, err := strconv.ParseFloat(string(text), 64); err != nil {
			s.out = append(s.out, s.cell[:len(s.cell)-len(text)]...)
			s.out = append(append(s.out, '\''), text...)
			s.cell = s.cell[:0]
			return
		}
	}
	s.out = append(s.out, s.cell...)
	s.cell = s.cell[:0]
}
