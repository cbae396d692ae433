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
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/parquet"
)

// A FlatRow is one record of a plain table: its cells in the order asked for, as
// text. A cell that is null, missing or empty is "".
type FlatRow struct {
	Line  int64 // of the record in its file, from 1; in Parquet of the row
	Cells []string
}

// FlatFormats are the extensions of the files that [ReadFlat] reads.
var FlatFormats = []string{".csv", ".jsonl", ".ndjson", ".parquet"}

// mostRecord is how many bytes a record of a table of text may have: a quotation mark that
// does not end would take in the rest of the file.
const mostRecord = 64 << 20

var errLongRecord = fmt.Errorf("a record of more than %d bytes", mostRecord)

// A recordReader fails when more bytes are read than a record may have.
type recordReader struct {
	r    io.Reader
	read int // since the last record
}

func (r *recordReader) Read(p []byte) (int, error) {
	if r.read > mostRecord {
		return 0, errLongRecord
	}
	n, err := r.r.Read(p)
	r.read += n
	return n, err
}

// ReadFlat reads some columns of a table: a CSV file with a header, a file of JSON
// objects line by line, or a Parquet file with flat columns. A missing column is an
// [*ibid.Error], as is a record that cannot be read. An object may lack a column, but some
// object must have it.
func ReadFlat(path string, columns []string) ([]FlatRow, error) {
	var rows []FlatRow
	var have []string
	at, seen := make([]int, len(columns)), make([]bool, len(columns))
	err := eachRecord(path, func(names []string) ([]reading, error) {
		read := make([]reading, len(names))
		for i, column := range columns {
			if at[i] = slices.Index(names, column); at[i] >= 0 {
				seen[i], read[at[i]] = true, readScalar
			}
		}
		if have == nil {
			have = names
		}
		return read, nil
	}, func(line int64, _, cells []string) error {
		row := FlatRow{Line: line, Cells: make([]string, len(columns))}
		for i, k := range at {
			if k >= 0 {
				row.Cells[i] = cells[k]
			}
		}
		rows = append(rows, row)
		return nil
	})
	if i := slices.Index(seen, false); err == nil && i >= 0 {
		err = noColumn(columns[i], have)
	}
	if err != nil {
		return nil, parquet.FileError(path, err)
	}
	return rows, nil
}

// FlatColumns lists the columns of a table that [ReadFlat] can read. Of a file of JSON
// objects they are the members that any of them has.
func FlatColumns(path string) (columns []string, err error) {
	found := false
	err = eachRecord(path, func(names []string) ([]reading, error) {
		found = true
		for _, name := range names {
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
		return make([]reading, len(names)), nil
	}, func(int64, []string, []string) error { return nil })
	if err == nil && !found {
		err = errors.New("empty, not even a line")
	}
	if err != nil {
		return nil, parquet.FileError(path, err)
	}
	return columns, nil
}

// A reading says how a cell of a plain table is read.
type reading uint8

const (
	notRead    reading = iota // as ""
	readScalar                // a text, a number as it is written, or a boolean
	readJSON                  // JSON; a cell of CSV and Parquet has it as its text
)

// eachRecord calls yield with the records of a plain table, which [ReadFlat] describes, until
// an error. choose gets the names of its columns first, those of each object of JSON Lines,
// and says how they are read.
func eachRecord(path string, choose func(names []string) ([]reading, error), yield func(line int64, names, cells []string) error) error {
	ext := strings.ToLower(filepath.Ext(path))
	if ext != ".csv" && ext != ".jsonl" && ext != ".ndjson" {
		return eachFlatRow(path, choose, yield)
	}
	f, err := openText(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if ext == ".csv" {
		return eachLine(in, choose, yield)
	}
	return eachObject(in, choose, yield)
}

// noColumn is the error for a column that a table does not have.
func noColumn(name string, have []string) error {
	e := &ibid.Error{Err: fmt.Errorf("no column %q", name), Hint: "it has " + strings.Join(have, ", ")}
	if near := ibid.Nearest(name, have); near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// eachLine is [eachRecord] of CSV.
func eachLine(in io.Reader, choose func([]string) ([]reading, error), yield func(int64, []string, []string) error) error {
	limited := &recordReader{r: in}
	r := csv.NewReader(limited)
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("empty, not even a header")
	}
	if err == nil {
		header[0] = strings.TrimPrefix(header[0], "\ufeff")
		_, err = choose(header)
	}
	for err == nil {
		limited.read = 0
		var record []string
		record, err = r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil { // else it names the line
			line, _ := r.FieldPos(0)
			err = atLine(int64(line), yield(int64(line), header, record))
		}
	}
	return err
}

// eachObject is [eachRecord] of JSON Lines.
func eachObject(in io.Reader, choose func([]string) ([]reading, error), yield func(int64, []string, []string) error) error {
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, mostRecord)
	for line := int64(1); scan.Scan(); line++ {
		text := bytes.TrimSpace(bytes.TrimPrefix(scan.Bytes(), []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil {
			return atLine(line, err)
		}
		names := slices.Sorted(maps.Keys(object))
		read, err := choose(names)
		cells := make([]string, len(names))
		for i := 0; i < len(names) && err == nil; i++ {
			switch {
			case read[i] == readJSON:
				cells[i] = string(object[names[i]])
			case read[i] == readScalar:
				if cells[i], err = scalarText(object[names[i]]); err != nil {
					err = columnError(names[i], "", "%w", err)
				}
			}
		}
		if err == nil {
			err = yield(line, names, cells)
		}
		if err != nil {
			return atLine(line, err)
		}
	}
	if errors.Is(scan.Err(), bufio.ErrTooLong) {
		return errLongRecord
	}
	return scan.Err()
}

// scalarText is a JSON scalar as text, numbers as they are written.
func scalarText(raw json.RawMessage) (string, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case raw[0] == '{' || raw[0] == '[':
		return "", errors.New("not a text, a number or a boolean")
	}
	return string(raw), nil
}

// flatLeaves finds the flat columns of a Parquet file.
func flatLeaves(f *parquet.File) (leaves []*parquet.Node, names []string) {
	for _, n := range f.Root.Children {
		if n.IsLeaf() && !n.Repeated {
			leaves, names = append(leaves, n), append(names, n.Name)
		}
	}
	return leaves, names
}

// eachFlatRow is [eachRecord] of Parquet.
func eachFlatRow(path string, choose func([]string) ([]reading, error), yield func(int64, []string, []string) error) (err error) {
	f, err := parquet.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	leaves, names := flatLeaves(f)
	read, err := choose(names)
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = corrupt("%v", p)
		}
	}()
	budget := int64(parquet.MostMemory)
	columns := make([][]string, len(names))
	for c := range names {
		if read[c] == notRead {
			continue
		}
		if columns[c], err = readFlatColumn(f, leaves[c], &budget); err != nil {
			return &ibid.Error{Column: names[c], Err: err}
		}
	}
	for i := range f.Rows() {
		cells := make([]string, len(names))
		for c := range columns {
			if columns[c] != nil {
				cells[c] = columns[c][i]
			}
		}
		if err := yield(i+1, names, cells); err != nil {
			return atLine(i+1, err)
		}
	}
	return nil
}

// readFlatColumn returns the values of a column as text.
func readFlatColumn(f *parquet.File, n *parquet.Node, budget *int64) (cells []string, err error) {
	kind := parquet.Float
	for _, k := range []parquet.ValueKind{parquet.Text, parquet.Integer, parquet.Flag} {
		if _, ok := n.As(k); ok {
			kind = k
		}
	}
	leaf, ok := n.As(kind)
	if !ok {
		return nil, fmt.Errorf("%s is not a text, a number or a boolean", n.TypeName())
	}
	bits := 64
	if n.TypeName() == "FLOAT" {
		bits = 32
	}
	var reader parquet.Cursor
	var values parquet.Values
	reader.Start(f, 0, f.RowGroups(), leaf, budget)
	if err := reader.ReadEntries(int(f.Rows()), nil, &values, nil); err != nil {
		return nil, err
	}
	for i, level := range values.Levels {
		cell := ""
		switch {
		case int(level) != leaf.Def: // null
		case kind == parquet.Text:
			cell = values.Texts[i]
		case kind == parquet.Float:
			cell = strconv.FormatFloat(values.Floats[i], 'g', -1, bits)
		case kind == parquet.Flag:
			cell = strconv.FormatBool(values.Ints[i] != 0)
		case leaf.Unsigned:
			cell = strconv.FormatUint(uint64(values.Ints[i]), 10)
		default:
			cell = strconv.FormatInt(values.Ints[i], 10)
		}
		cells = append(cells, cell)
	}
	return cells, nil
}
