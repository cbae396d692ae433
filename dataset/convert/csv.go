package convert

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid/dataset"
)

// A table reads the records of a CSV file (RFC 4180) whose first record names
// the columns.
type table struct {
	file    string
	r       *csv.Reader
	columns []string
	index   map[string]int
}

// A csvRecord is one record of a table.
type csvRecord struct {
	*table
	fields []string // nil if the record is no record of CSV at all
	line   int
}

// newTable reads the header. A missing or repeated column is a *[UsageError]:
// without it no record can be read.
func newTable(file string, in io.Reader, required ...string) (*table, error) {
	t := &table{file: file, r: csv.NewReader(in), index: map[string]int{}}
	header, err := t.r.Read()
	if err == io.EOF {
		return nil, &UsageError{Msg: file + ": empty, not even a header"}
	}
	if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
		return nil, &UsageError{Msg: fmt.Sprintf("%s:%d: header: %v", file, parse.Line, parse.Err)}
	}
	if err != nil {
		return nil, pathError(file, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	for i, name := range header {
		if _, twice := t.index[name]; twice {
			return nil, &UsageError{Msg: fmt.Sprintf("%s: column %s is there twice", file, quoted(name))}
		}
		t.index[name] = i
	}
	for _, name := range required {
		if _, ok := t.index[name]; ok {
			continue
		}
		e := &UsageError{Msg: fmt.Sprintf("%s: no column %s", file, quoted(name))}
		if near := dataset.Nearest(name, header); near != "" {
			e.Hint = "did you mean " + quoted(near) + "?"
		}
		return nil, e
	}
	t.columns = header
	return t, nil
}

// next returns the next record. bad says what is wrong with it, if anything;
// a record with another number of fields than the header has fields all the
// same. err is io.EOF after the last record, and otherwise the file's.
func (t *table) next() (rec csvRecord, bad *RecordError, err error) {
	fields, err := t.r.Read()
	parse := (*csv.ParseError)(nil)
	switch {
	case err == io.EOF:
		return rec, nil, io.EOF
	case errors.As(err, &parse) && parse.Err == csv.ErrFieldCount:
		rec = csvRecord{t, fields, parse.StartLine}
		return rec, rec.bad("%d fields, and the header has %d", len(fields), len(t.columns)), nil
	case parse != nil:
		return csvRecord{table: t, line: parse.StartLine},
			&RecordError{File: t.file, Line: parse.Line, Reason: parse.Err.Error()}, nil
	case err != nil:
		return rec, nil, pathError(t.file, err)
	}
	line, _ := t.r.FieldPos(0)
	rec = csvRecord{t, fields, line}
	for i, f := range fields {
		if !utf8.ValidString(f) {
			return rec, rec.bad("%s: invalid UTF-8", t.columns[i]), nil
		}
	}
	return rec, nil, nil
}

// bad is an error at the record.
func (c csvRecord) bad(format string, args ...any) *RecordError {
	return &RecordError{File: c.file, Line: c.line, Reason: fmt.Sprintf(format, args...)}
}

// get returns a field, "" if the record is too short for it.
func (c csvRecord) get(column string) string {
	i, ok := c.index[column]
	if !ok || i >= len(c.fields) {
		return ""
	}
	return c.fields[i]
}

// integer returns a field that holds an integer.
func (c csvRecord) integer(column string) (int64, *RecordError) {
	n, err := strconv.ParseInt(c.get(column), 10, 64)
	if err != nil {
		return 0, c.bad("%s: want an integer, got %s", column, quoted(c.get(column)))
	}
	return n, nil
}
