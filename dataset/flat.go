package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
)

// A FlatTable is what [ReadFlat] has read.
type FlatTable struct {
	Columns []string // that the file has; of JSON objects the members that any of them has
	Rows    []FlatRow
}

// A FlatRow is one record of a plain table: its cells in the order asked for, as
// text. A cell that is null, missing or empty is "".
type FlatRow struct {
	Line  int64 // of the record in its file, from 1; in Parquet of the row
	Cells []string
}

// FlatFormats are the extensions of the files that [ReadFlat] reads.
var FlatFormats = []string{".csv", ".jsonl", ".ndjson", ".parquet"}

// mostRecord is how many bytes a record of a table of text may have: a quotation mark that does
// not end takes in the rest of the file.
const mostRecord = 64 << 20

// ReadFlat reads some columns of a table, those of them that it has: a CSV file with a header,
// a file of JSON objects line by line, or a Parquet file with flat columns. A record that
// cannot be read is an [*ibid.Error].
func ReadFlat(path string, columns []string) (*FlatTable, error) {
	t, found := new(FlatTable), false
	err := eachRecord(path, plainColumns, func(r *record) (err error) {
		found = true
		for _, name := range r.names {
			if !slices.Contains(t.Columns, name) {
				t.Columns = append(t.Columns, name)
			}
		}
		if r.line == 0 {
			return nil
		}
		row := FlatRow{Line: r.line, Cells: make([]string, len(columns))}
		for i, column := range columns {
			if row.Cells[i], err = r.cell(column, false); err != nil {
				return err
			}
		}
		t.Rows = append(t.Rows, row)
		return nil
	})
	if err == nil && !found {
		err = errors.New("empty, not even a line")
	}
	return t, parquet.FileError(path, err)
}

// Need returns an [*ibid.Error] for the first of some columns that the table does not have.
func (t *FlatTable) Need(path string, columns ...string) error {
	for _, name := range columns {
		if !slices.Contains(t.Columns, name) {
			return parquet.FileError(path, noColumn(name, t.Columns))
		}
	}
	return nil
}

// A record is one of a plain table.
type record struct {
	line  int64    // in its file, from 1; in Parquet of the row; 0 of the header, which has no cells
	names []string // of its columns

	// cell is the cell of a column: a text, a number as it is written, or a boolean; or as JSON,
	// which a cell of CSV has as its text. It is "" where there is none.
	cell func(column string, asJSON bool) (string, error)
}

// eachRecord calls yield with the header of a plain table, which [ReadFlat] describes, and with
// its records, until an error. Objects of JSON Lines have names of their own, and no header. Of
// Parquet it reads the chosen columns.
func eachRecord(path string, choose func(*parquet.File) []*parquet.Node, yield func(*record) error) error {
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".csv" && ext != ".jsonl" && ext != ".ndjson" {
		r, err := openRecords(path, choose)
		if err != nil {
			return err
		}
		defer r.Close()
		header := new(record)
		for _, n := range r.columns {
			header.names = append(header.names, n.Name)
		}
		if err := yield(header); err != nil {
			return err
		}
		return eachObject(r, yield)
	}
	f, err := openText(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text := AsUTF8(bufio.NewReader(f))
	if ext == ".csv" {
		return eachLine(text, yield)
	}
	return eachObject(text, yield)
}

// noColumn is the error for a column that a table does not have.
func noColumn(name string, have []string) error {
	e := &ibid.Error{Err: fmt.Errorf("no column %q", name), Hint: "it has " + strings.Join(have, ", ")}
	if near := ibid.Nearest(name, have); near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// A CSV reads the records of a CSV file (RFC 4180) whose first record names the columns. Cells
// are separated by the one of , ; tab and | that gives the first lines the same number of
// cells, the most if several do; by , if none does.
type CSV struct {
	Columns []string

	r    *csv.Reader
	in   io.Reader
	most int // bytes of a record
	read int // since the last one
}

// NewCSV reads the header. most is how many bytes a record may have. A file without a header is an
// error.
func NewCSV(in io.Reader, most int) (c *CSV, err error) {
	begin := bufio.NewReaderSize(in, separatorBytes)
	c = &CSV{in: begin, most: most}
	c.r = csv.NewReader(c)
	c.r.Comma = separator(begin)
	c.r.LazyQuotes = c.r.Comma == '\t' // such tables are mostly written without quoting
	if c.Columns, err = c.r.Read(); errors.Is(err, io.EOF) {
		return nil, errors.New("empty, not even a header")
	}
	if err == nil {
		c.Columns[0] = strings.TrimPrefix(c.Columns[0], "\ufeff")
	}
	return c, err
}

// What the separator is told from: so many lines at most, of so many bytes.
const (
	separatorLines = 20
	separatorBytes = 64 << 10
)

// separator is what separates the cells of a CSV file, see [CSV].
func separator(in *bufio.Reader) rune {
	text, err := in.Peek(separatorBytes)
	if err == nil { // the last line goes on
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	best, most := ',', 1
	for _, comma := range []rune{',', ';', '\t', '|'} {
		r := csv.NewReader(bytes.NewReader(text)) // which wants as many cells in each record as in the first
		r.Comma, r.LazyQuotes = comma, comma == '\t'
		cells := 0
		for range separatorLines {
			record, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				cells = 0
				break
			}
			cells = len(record)
		}
		if cells > most {
			best, most = comma, cells
		}
	}
	return best
}

// Next returns the cells of the next record, and the line that it begins on. The error is io.EOF
// behind the last, [ErrLongRecord], a [*csv.ParseError] of a record behind which the next can be
// read, or that of the file.
func (c *CSV) Next() (cells []string, line int64, err error) {
	c.read = 0
	if cells, err = c.r.Read(); len(cells) > 0 {
		at, _ := c.r.FieldPos(0)
		line = int64(at)
	}
	return cells, line, err
}

// Read reads the bytes of the file.
func (c *CSV) Read(p []byte) (int, error) {
	if c.read > c.most {
		return 0, fmt.Errorf("%w: over %d bytes", ErrLongRecord, c.most)
	}
	n, err := c.in.Read(p)
	c.read += n
	return n, err
}

// eachLine is [eachRecord] of CSV.
func eachLine(in io.Reader, yield func(*record) error) error {
	c, err := NewCSV(in, mostRecord)
	if err != nil {
		return err
	}
	var cells []string
	index := make(map[string]int)
	for i, name := range slices.Backward(c.Columns) { // of two the first
		index[name] = i
	}
	rec := &record{names: c.Columns, cell: func(column string, _ bool) (string, error) {
		if i, has := index[column]; has {
			return cells[i], nil
		}
		return "", nil
	}}
	err = yield(rec)
	for err == nil {
		cells, rec.line, err = c.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil { // else it names the line
			err = atLine(rec.line, yield(rec))
		}
	}
	return err
}

// eachObject is [eachRecord] of JSON Lines.
func eachObject(in io.Reader, yield func(*record) error) error {
	lines := NewLines(in, mostRecord)
	for {
		text, err := lines.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		line := int64(lines.Number)
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		var object map[string]json.RawMessage
		if err = json.Unmarshal(text, &object); err == nil {
			err = yield(&record{line, slices.Sorted(maps.Keys(object)), func(column string, asJSON bool) (string, error) {
				if asJSON {
					return string(object[column]), nil
				}
				return scalarText(column, object[column])
			}})
		}
		if err != nil {
			return atLine(line, err)
		}
	}
}

// scalarText is a JSON scalar as text, numbers as they are written.
func scalarText(name string, raw json.RawMessage) (text string, err error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", columnError(name, "", "%w", err)
		}
		return text, nil
	case raw[0] == '{' || raw[0] == '[':
		return "", columnError(name, "", "%.80s is not a text, a number or a boolean", raw)
	}
	return string(raw), nil
}

// plainColumns are those that are neither lists nor structs.
func plainColumns(f *parquet.File) []*parquet.Node {
	return slices.DeleteFunc(slices.Clone(f.Root.Children), func(n *parquet.Node) bool { return !n.IsLeaf() || n.Repeated })
}
