package parquet

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/parquet-go/parquet-go"
)

// Results are read by tools that we do not control: two independent
// implementations of Parquet must find in a file what was put there.

func TestResultReadByParquetGo(t *testing.T) {
	path, _, want := joinedFile(t, map[string]string{"ibid.a": "1"})
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	pf, err := parquet.OpenFile(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := pf.Lookup("ibid.a"); !ok || v != "1" {
		t.Errorf("metadata ibid.a = %q, %v", v, ok)
	}
	result, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	got := &resultRows{fields: want.fields}
	for _, g := range pf.RowGroups() {
		rows := g.Rows()
		buf := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				got.rows = append(got.rows, parquetGoCells(result, row))
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	sameRows(t, got, want)
}

func parquetGoCells(f *ResultFile, row parquet.Row) []Cell {
	cells := make([]Cell, len(f.fields))
	column := make(map[int]int) // of leaves
	for k, leaves := range f.leaves {
		for _, leaf := range leaves {
			column[leaf.Column] = k
		}
	}
	for _, v := range row {
		k := column[v.Column()]
		c := &cells[k]
		if v.IsNull() {
			c.Null = v.DefinitionLevel() == 0 && !f.fields[k].Required
			continue
		}
		switch f.fields[k].Kind {
		case Int32:
			c.Int = int64(v.Int32())
		case Int64:
			c.Int = v.Int64()
		case Double:
			c.Double = v.Double()
		case Bool:
			if v.Boolean() {
				c.Int = 1
			}
		case String:
			c.Text = v.Clone().String()
		case ListInt32:
			c.Ints = append(c.Ints, int64(v.Int32()))
		default:
			switch key := len(f.leaves[k]) == 2 && f.leaves[k][0].Column == v.Column(); {
			case key:
				c.Keys = append(c.Keys, v.Clone().String())
			case f.fields[k].Kind == MapInt64:
				c.Ints = append(c.Ints, v.Int64())
			case f.fields[k].Kind == MapDouble:
				c.Floats = append(c.Floats, v.Double())
			default:
				c.Texts = append(c.Texts, v.Clone().String())
			}
		}
	}
	return cells
}

func TestResultReadByArrow(t *testing.T) {
	path, _, want := joinedFile(t, nil)
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := fr.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	got := &resultRows{fields: want.fields, rows: make([][]Cell, table.NumRows())}
	for i := range got.rows {
		got.rows[i] = make([]Cell, len(want.fields))
	}
	for c := range want.fields {
		field := table.Schema().Field(c)
		if field.Name != want.fields[c].Name || field.Nullable == want.fields[c].Required || field.Type.ID() != wantArrowType(want.fields[c].Kind) {
			t.Errorf("column %d: %v, want %+v", c, field, want.fields[c])
		}
		row := 0
		for _, chunk := range table.Column(c).Data().Chunks() {
			for i := range chunk.Len() {
				got.rows[row][c] = arrowCell(chunk, i)
				row++
			}
		}
	}
	sameRows(t, got, want)
}

func wantArrowType(k ColumnKind) arrow.Type {
	return [...]arrow.Type{arrow.INT32, arrow.INT64, arrow.FLOAT64, arrow.BOOL, arrow.STRING, arrow.LIST, arrow.LIST, arrow.MAP, arrow.MAP, arrow.MAP}[k]
}

func arrowCell(a arrow.Array, i int) Cell {
	if a.IsNull(i) {
		return Cell{Null: true}
	}
	var c Cell
	switch a := a.(type) {
	case *array.Int32:
		c.Int = int64(a.Value(i))
	case *array.Int64:
		c.Int = a.Value(i)
	case *array.Float64:
		c.Double = a.Value(i)
	case *array.Boolean:
		if a.Value(i) {
			c.Int = 1
		}
	case *array.String:
		c.Text = a.Value(i)
	case *array.Map:
		start, end := a.ValueOffsets(i)
		for j := start; j < end; j++ {
			c.Keys = append(c.Keys, a.Keys().(*array.String).Value(int(j)))
			switch items := a.Items().(type) {
			case *array.Int64:
				c.Ints = append(c.Ints, items.Value(int(j)))
			case *array.Float64:
				c.Floats = append(c.Floats, items.Value(int(j)))
			default:
				c.Texts = append(c.Texts, items.(*array.String).Value(int(j)))
			}
		}
	case *array.List:
		start, end := a.ValueOffsets(i)
		for j := start; j < end; j++ {
			element := arrowCell(a.ListValues(), int(j))
			if _, ok := a.ListValues().(*array.Int32); ok {
				c.Ints = append(c.Ints, element.Int)
			} else {
				c.Texts = append(c.Texts, element.Text)
			}
		}
	}
	return c
}
