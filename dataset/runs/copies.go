package runs

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ibid/dataset/parquet"
)

// CopyParquet writes the table's file in the run directory dir as a Parquet file with all
// columns, also those that it leaves out: the bytes that a run with results: all writes.
func (f *Form) CopyParquet(w io.Writer, dir string) error {
	file, err := parquet.OpenResult(filepath.Join(dir, f.File))
	if err != nil {
		return err
	}
	defer file.Close()
	fields := slices.Clone(file.Fields())
	for i := range fields {
		fields[i].Of = nil
	}
	table, err := parquet.NewTable(fields)
	if err != nil {
		return err
	}
	for i, field := range fields {
		if slices.ContainsFunc(f.Columns, func(c Column) bool { return c.Sought && c.Name == field.Name }) {
			table.Filter(i)
		}
	}
	var e parquet.Encoder
	e.Begin(w)
	columns := make([]parquet.ColumnValues, len(fields))
	for g := range file.RowGroups() {
		for c := range fields {
			if err := file.ReadColumn(g, fields[c].Name, &columns[c]); err != nil {
				return err
			}
		}
		table.Reset()
		for i := range file.GroupRows(g) {
			for c := range columns {
				if columns[c].Valid[i] {
					copyValue(table, c, &columns[c], i)
				}
			}
			table.EndRow()
		}
		if err := e.Group(table); err != nil {
			return err
		}
	}
	return e.End(table, file.Metadata())
}

// copyValue appends value i of a column, which is not null, to column c.
func copyValue(t *parquet.Table, c int, v *parquet.ColumnValues, i int) {
	switch cell := v.Cell(i); v.Kind {
	case parquet.Int32, parquet.Int64:
		t.AppendInt(c, cell.Int)
	case parquet.Bool:
		t.AppendBool(c, cell.Int != 0)
	case parquet.Double:
		t.AppendDouble(c, cell.Double)
	case parquet.String:
		t.AppendText(c, cell.Text)
	case parquet.ListInt32:
		list := make([]int32, len(cell.Ints))
		for k, n := range cell.Ints {
			list[k] = int32(n)
		}
		t.AppendInts(c, list)
	case parquet.ListString:
		t.AppendStrings(c, cell.Texts)
	case parquet.MapString:
		t.AppendMap(c, cell.Keys, cell.Texts)
	}
}

// WriteView writes a statement that makes a view of the table's file in the run directory
// dir for DuckDB, with all columns in their order, also those that the file leaves out.
func (f *Form) WriteView(w io.Writer, dir string) error {
	path, err := filepath.Abs(filepath.Join(dir, f.File))
	if err != nil {
		return err
	}
	file, err := parquet.OpenResult(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var columns []string
	for _, field := range file.Fields() {
		column := quoteSQL(field.Name, '"')
		if of := field.Of; of != nil {
			column = fmt.Sprintf("(%s)::DOUBLE / nullif(%s, 0) AS %s", sumSQL(of.Num), sumSQL(of.Den), column)
		}
		columns = append(columns, column)
	}
	name := strings.TrimSuffix(f.File, filepath.Ext(f.File))
	_, err = fmt.Fprintf(w, "CREATE OR REPLACE VIEW %s AS SELECT\n  %s\nFROM read_parquet(%s);\n", quoteSQL(name, '"'), strings.Join(columns, ",\n  "), quoteSQL(path, '\''))
	return err
}

func sumSQL(terms []parquet.Multiple) string {
	var out []string
	for _, t := range terms {
		if t.Factor == 1 {
			out = append(out, quoteSQL(t.Column, '"'))
		} else {
			out = append(out, fmt.Sprintf("%g * %s", t.Factor, quoteSQL(t.Column, '"')))
		}
	}
	return strings.Join(out, " + ")
}

func quoteSQL(s string, mark rune) string {
	m := string(mark)
	return m + strings.ReplaceAll(s, m, m+m) + m
}
