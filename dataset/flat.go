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
// [*ibid.Error], as is a record that cannot be read.
func ReadFlat(path string, columns []string) ([]FlatRow, error) {
	read := map[string]func(io.Reader, []string) ([]FlatRow, error){".csv": readCSV, ".jsonl": readObjects, ".ndjson": readObjects}[strings.ToLower(filepath.Ext(path))]
	var rows []FlatRow
	var err error
	if read == nil {
		rows, err = readFlatParquet(path, columns)
	} else {
		rows, err = readText(path, columns, read)
	}
	if err != nil {
		return nil, parquet.FileError(path, err)
	}
	return rows, nil
}

// FlatColumns lists the columns of a table that [ReadFlat] can read. Of a file of
// JSON objects they are those of the first one.
func FlatColumns(path string) ([]string, error) {
	var columns []string
	var err error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		_, err = readText(path, nil, func(in io.Reader, _ []string) ([]FlatRow, error) {
			columns, err = csvHeader(csv.NewReader(&recordReader{r: in}))
			return nil, err
		})
	case ".jsonl", ".ndjson":
		_, err = readText(path, nil, func(in io.Reader, _ []string) ([]FlatRow, error) {
			err := eachObject(in, func(_ int64, object map[string]json.RawMessage) error {
				columns = slices.Sorted(maps.Keys(object))
				return io.EOF
			})
			switch {
			case errors.Is(err, io.EOF):
				return nil, nil
			case err == nil:
				err = errors.New("empty, not even a line")
			}
			return nil, err
		})
	default:
		columns, err = flatParquetColumns(path)
	}
	if err != nil {
		return nil, parquet.FileError(path, err)
	}
	return columns, nil
}

func readText(path string, columns []string, read func(io.Reader, []string) ([]FlatRow, error)) ([]FlatRow, error) {
	f, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(bufio.NewReaderSize(f, 1<<16), columns)
}

// noColumn is the error for a column that a table does not have.
func noColumn(name string, have []string) error {
	e := &ibid.Error{Err: fmt.Errorf("no column %q", name), Hint: "it has " + strings.Join(have, ", ")}
	if near := ibid.Nearest(name, have); near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// places finds columns in a header.
func places(columns, header []string) ([]int, error) {
	at := make([]int, len(columns))
	for i, name := range columns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, noColumn(name, header)
		}
	}
	return at, nil
}

func csvHeader(r *csv.Reader) ([]string, error) {
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("empty, not even a header")
	}
	if err == nil {
		header[0] = strings.TrimPrefix(header[0], "\ufeff")
	}
	return header, err
}

func readCSV(in io.Reader, columns []string) ([]FlatRow, error) {
	limited := &recordReader{r: in}
	r := csv.NewReader(limited)
	header, err := csvHeader(r)
	if err != nil {
		return nil, err
	}
	at, err := places(columns, header)
	if err != nil {
		return nil, err
	}
	var rows []FlatRow
	for {
		limited.read = 0
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err // it names the line
		}
		line, _ := r.FieldPos(0)
		row := FlatRow{Line: int64(line)}
		for _, i := range at {
			row.Cells = append(row.Cells, record[i])
		}
		rows = append(rows, row)
	}
}

// eachObject calls do with every object of JSON Lines.
func eachObject(in io.Reader, do func(line int64, object map[string]json.RawMessage) error) error {
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
		if err := do(line, object); err != nil {
			return err
		}
	}
	if errors.Is(scan.Err(), bufio.ErrTooLong) {
		return errLongRecord
	}
	return scan.Err()
}

// readObjects reads JSON Lines. An object may lack a column, but some object must
// have it.
func readObjects(in io.Reader, columns []string) ([]FlatRow, error) {
	var rows []FlatRow
	seen := make([]bool, len(columns))
	var have []string
	err := eachObject(in, func(line int64, object map[string]json.RawMessage) error {
		row := FlatRow{Line: line, Cells: make([]string, len(columns))}
		for i, name := range columns {
			raw, ok := object[name]
			seen[i] = seen[i] || ok
			var err error
			if row.Cells[i], err = scalarText(raw); err != nil {
				return fmt.Errorf("line %d: %s: %w", line, name, err)
			}
		}
		if have == nil {
			have = slices.Sorted(maps.Keys(object))
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if i := slices.Index(seen, false); i >= 0 {
		return nil, noColumn(columns[i], have)
	}
	return rows, nil
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

func flatParquetColumns(path string) ([]string, error) {
	f, err := parquet.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, names := flatLeaves(f)
	return names, nil
}

func readFlatParquet(path string, columns []string) (rows []FlatRow, err error) {
	f, err := parquet.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	leaves, names := flatLeaves(f)
	at, err := places(columns, names)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			rows, err = nil, corrupt("%v", p)
		}
	}()
	budget := f.Budget(0)
	for c, i := range at {
		cells, err := readFlatColumn(f, leaves[i], budget)
		if err != nil {
			return nil, &ibid.Error{Column: columns[c], Err: err}
		}
		for i, cell := range cells {
			if c == 0 {
				rows = append(rows, FlatRow{Line: int64(i + 1), Cells: make([]string, len(columns))})
			}
			rows[i].Cells[c] = cell
		}
	}
	return rows, nil
}

// readFlatColumn returns the values of a column as text.
func readFlatColumn(f *parquet.File, n *parquet.Node, budget *parquet.Budget) (cells []string, err error) {
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
	for g := range f.RowGroups() {
		if err := reader.Start(f, g, leaf, budget); err != nil {
			return nil, err
		}
		values.Reset()
		if err := reader.ReadEntries(int(f.GroupRows(g)), nil, &values, nil); err != nil {
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
	}
	return cells, nil
}
