package runs

import (
	"errors"
	"io/fs"
	"path/filepath"

	"ibid/dataset"
)

// A RowKey names one row of rows.parquet.
type RowKey struct {
	Index      int64 // position in the file
	Row        int64 // position in the input
	ID, System string
	Error      string // why it could not be scored, "" if it was
}

// FindRows lists the rows of the run in dir that match, in file order.
func FindRows(dir string, match func(RowKey) bool) ([]RowKey, error) {
	var found []RowKey
	err := ScanRows(dir, nil, func(key RowKey, _ Record) {
		if match(key) {
			found = append(found, key)
		}
	})
	return found, err
}

// ScanRows calls yield with each row of the run in dir, in file order, and with
// its cells of the columns. The record is valid until yield returns.
func ScanRows(dir string, columns []string, yield func(RowKey, Record)) error {
	f, err := dataset.OpenResult(filepath.Join(dir, RowsFile))
	if err != nil {
		return err
	}
	defer f.Close()
	var id, system, row, why dataset.ColumnValues
	read := map[string]*dataset.ColumnValues{"id": &id, "system": &system, "row": &row, "error": &why}
	for _, name := range columns {
		if read[name] == nil {
			read[name] = new(dataset.ColumnValues)
		}
	}
	cells := make(Record, len(columns))
	index := int64(0)
	for g := range f.RowGroups() {
		for name, into := range read {
			if err := f.ReadColumn(g, name, into); err != nil {
				return err
			}
		}
		for i := range f.GroupRows(g) {
			for _, name := range columns {
				cells[name] = read[name].Cell(i)
			}
			yield(RowKey{Index: index, Row: row.Ints[i], ID: id.Strings[i], System: system.Strings[i], Error: why.Strings[i]}, cells)
			index++
		}
	}
	return nil
}

// A Record is one row of a result file: its cells by column name.
type Record map[string]dataset.Cell

// ReadRow returns row n of rows.parquet of the run in dir.
func ReadRow(dir string, n int64) (Record, error) {
	f, err := dataset.OpenResult(filepath.Join(dir, RowsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cells, err := f.ReadRow(n)
	if err != nil {
		return nil, err
	}
	return record(f.Fields(), cells), nil
}

// CitationsOf returns the citations of the row at a position of the input, in
// order.
func CitationsOf(dir string, row int64) ([]Record, error) { return recordsOf(dir, CitationsFile, row) }

// ClaimsOf returns the claims of the row at a position of the input, in order;
// none if the run has no judge.
func ClaimsOf(dir string, row int64) ([]Record, error) { return recordsIfAny(dir, ClaimsFile, row) }

// CallsOf returns the judge calls about the row at a position of the input, in
// order; none if the run's judge asks no model.
func CallsOf(dir string, row int64) ([]Record, error) { return recordsIfAny(dir, CallsFile, row) }

// recordsIfAny is recordsOf for a file that not every run has.
func recordsIfAny(dir, file string, row int64) ([]Record, error) {
	records, err := recordsOf(dir, file, row)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return records, err
}

// recordsOf returns the records of a file that belong to one row.
func recordsOf(dir, file string, row int64) ([]Record, error) {
	f, err := dataset.OpenResult(filepath.Join(dir, file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Record
	var rows dataset.ColumnValues
	first := int64(0)
	for g := range f.RowGroups() {
		if err := f.ReadColumn(g, "row", &rows); err != nil {
			return nil, err
		}
		for i, r := range rows.Ints {
			if r != row {
				continue
			}
			cells, err := f.ReadRow(first + int64(i))
			if err != nil {
				return nil, err
			}
			out = append(out, record(f.Fields(), cells))
		}
		first += int64(f.GroupRows(g))
		if len(out) > 0 {
			return out, nil // what belongs to a row is in one group
		}
	}
	return nil, nil
}

func record(fields []dataset.Field, cells []dataset.Cell) Record {
	r := make(Record, len(fields))
	for i, f := range fields {
		r[f.Name] = cells[i]
	}
	return r
}
