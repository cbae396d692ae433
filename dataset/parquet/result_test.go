package parquet

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// resultRows is the obvious model of a table: one slice of cells per row.
type resultRows struct {
	fields []Field
	rows   [][]Cell
}

// A Cell is one value of a result in these tests: the one of Int, Double, Text, Ints, or Texts
// that its column's kind calls for, and Keys beside values for a map.
type Cell struct {
	Null   bool
	Int    int64 // Int32, Int64, Bool (0 or 1)
	Double float64
	Text   string
	Ints   []int64
	Floats []float64
	Texts  []string
	Keys   []string // Keys[i] has the value Texts[i], Ints[i] or Floats[i]
}

// Cell returns row i. It shares no memory with v.
func (v *ColumnValues) Cell(i int) Cell {
	c := Cell{Null: !v.Valid[i]}
	switch v.Kind {
	case Int32, Int64, Bool:
		c.Int = v.Ints[i]
	case Double:
		c.Double = v.Doubles[i]
	case String:
		c.Text = v.Strings[i]
	case ListInt32:
		c.Ints = slices.Clone(v.Ints[v.Offsets[i]:v.Offsets[i+1]])
	case ListString:
		c.Texts = slices.Clone(v.Strings[v.Offsets[i]:v.Offsets[i+1]])
	case MapString:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Texts = slices.Clone(v.Strings[v.Offsets[i]:v.Offsets[i+1]])
	case MapInt64:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Ints = slices.Clone(v.Ints[v.Offsets[i]:v.Offsets[i+1]])
	case MapDouble:
		c.Keys = slices.Clone(v.Keys[v.Offsets[i]:v.Offsets[i+1]])
		c.Floats = slices.Clone(v.Doubles[v.Offsets[i]:v.Offsets[i+1]])
	}
	return c
}

// everyKind has an optional and a required column of each kind.
func everyKind() []Field {
	var fields []Field
	for k := range ListStruct {
		fields = append(fields,
			Field{Name: fmt.Sprintf("optional_%d", k), Kind: k},
			Field{Name: fmt.Sprintf("required_%d", k), Kind: k, Required: true})
	}
	return fields
}

// empty is a table without rows.
func (m *resultRows) empty(t testing.TB) *Table {
	t.Helper()
	tab := NewTable(m.fields)
	return tab
}

func (m *resultRows) table(t testing.TB) *Table {
	t.Helper()
	tab := m.empty(t)
	for _, row := range m.rows {
		appendCells(tab, row)
	}
	return tab
}

func appendCells(tab *Table, row []Cell) {
	for c, cell := range row {
		kind := tab.Fields()[c].Kind
		switch {
		case cell.Null:
		case kind == Int32 || kind == Int64:
			tab.At(c).AppendInt(cell.Int)
		case kind == Double:
			tab.At(c).AppendDouble(cell.Double)
		case kind == Bool:
			tab.At(c).AppendBool(cell.Int == 1)
		case kind == String:
			tab.At(c).AppendString(cell.Text)
		case kind == ListInt32:
			var list []int32
			for _, x := range cell.Ints {
				list = append(list, int32(x))
			}
			tab.At(c).AppendInts(list)
		case kind == ListString:
			tab.At(c).AppendStrings(cell.Texts)
		case kind == MapString:
			tab.At(c).AppendMap(cell.Keys, cell.Texts)
		case kind == MapInt64:
			tab.At(c).AppendIntMap(cell.Keys, cell.Ints)
		case kind == MapDouble:
			tab.At(c).AppendDoubleMap(cell.Keys, cell.Floats)
		}
	}
	tab.EndRow()
}

// randomResult makes n rows of fields. spread is how many different values a
// column has; nulls how often in 8 an optional one is null, per column: column
// c has nulls of (nulls+c)%9, so that all-null and never-null columns occur.
func randomResult(rng *rand.Rand, fields []Field, n, spread, nulls int) *resultRows {
	m := &resultRows{fields: fields}
	text := func() string {
		return fmt.Sprint("näme ", rng.IntN(spread))[:5+rng.IntN(2)*2]
	}
	for range n {
		row := make([]Cell, len(fields))
		for c, f := range fields {
			if !f.Required && rng.IntN(8) < (nulls+c)%9 {
				row[c].Null = true
				continue
			}
			switch cell := &row[c]; f.Kind {
			case Int32:
				cell.Int = int64(rng.IntN(spread)) - 3
			case Int64:
				cell.Int = int64(rng.IntN(spread))*1_000_000_007 - 5
				if spread < 100 {
					cell.Int = int64(rng.IntN(spread))
				}
			case Double:
				cell.Double = float64(rng.IntN(spread)) / 7
			case Bool:
				cell.Int = rng.Int64N(2)
			case String:
				cell.Text = text()
			case ListInt32:
				for range rng.IntN(4) {
					cell.Ints = append(cell.Ints, int64(rng.IntN(spread))-1)
				}
			case ListString:
				for range rng.IntN(4) {
					cell.Texts = append(cell.Texts, text())
				}
			case MapString, MapInt64, MapDouble:
				for k := range rng.IntN(4) {
					cell.Keys = append(cell.Keys, fmt.Sprint("k", k, rng.IntN(min(spread, 5))))
					switch f.Kind {
					case MapInt64:
						cell.Ints = append(cell.Ints, int64(rng.IntN(spread))-1)
					case MapDouble:
						cell.Floats = append(cell.Floats, float64(rng.IntN(spread))/7)
					default:
						cell.Texts = append(cell.Texts, text())
					}
				}
			}
		}
		m.rows = append(m.rows, row)
	}
	return m
}

func encodeTable(t testing.TB, tab *Table) []byte {
	t.Helper()
	var e Encoder
	var b bytes.Buffer
	if err := e.EncodePart(&b, tab); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func writeResult(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// readResult reads a whole file back, group by group and column by column.
func readResult(t testing.TB, path string) *resultRows {
	t.Helper()
	f, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := &resultRows{fields: f.Fields()}
	var v ColumnValues
	for k := range f.RowGroups() {
		rows := make([][]Cell, f.GroupRows(k))
		for i := range rows {
			rows[i] = make([]Cell, len(m.fields))
		}
		for c, field := range m.fields {
			if err := f.ReadColumn(k, field.Name, nil, &v); err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				rows[i][c] = v.Cell(i)
			}
		}
		m.rows = append(m.rows, rows...)
	}
	if int64(len(m.rows)) != f.Rows() {
		t.Errorf("%d rows in groups, %d in the file", len(m.rows), f.Rows())
	}
	return m
}

// sameRows fails unless got has the values of want. Doubles are compared by
// their bits, so that a zero's sign and NaN count.
func sameRows(t testing.TB, got, want *resultRows) {
	t.Helper()
	if d := cmp.Diff(want.fields, got.fields); d != "" {
		t.Fatalf("fields (-want +got):\n%s", d)
	}
	if len(got.rows) != len(want.rows) {
		t.Fatalf("%d rows, want %d", len(got.rows), len(want.rows))
	}
	for i := range want.rows {
		for c, x := range want.rows[i] {
			if y := got.rows[i][c]; !sameCell(x, y) {
				t.Fatalf("row %d, %s: got %+v, want %+v", i, want.fields[c].Name, y, x)
			}
		}
	}
}

func sameCell(x, y Cell) bool {
	return x.Null == y.Null && x.Int == y.Int && math.Float64bits(x.Double) == math.Float64bits(y.Double) && x.Text == y.Text &&
		slices.Equal(x.Ints, y.Ints) && slices.Equal(x.Floats, y.Floats) && slices.Equal(x.Texts, y.Texts) && slices.Equal(x.Keys, y.Keys)
}

func TestResultRoundTrip(t *testing.T) {
	tests := []struct {
		name             string
		n, spread, nulls int
	}{
		{"no row", 0, 3, 2},
		{"one row", 1, 3, 2},
		{"seven rows", 7, 3, 3},
		{"constant", 500, 1, 0},
		{"few values", 1000, 5, 4},
		{"few values, other nulls", 1003, 40, 7},
		{"many values", 3000, 1 << 20, 1},
		{"several pages of the nested columns", 140_000, 300, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && tt.n > 10_000 {
				t.Skip("large")
			}
			want := randomResult(rand.New(rand.NewPCG(1, uint64(tt.n))), everyKind(), tt.n, tt.spread, tt.nulls)
			path := writeResult(t, "part.parquet", encodeTable(t, want.table(t)))
			sameRows(t, readResult(t, path), want)
		})
	}
}

// TestReadCells reads rows at some places, single ones and neighbours, and gets what
// reading all of them gets.
func TestReadCells(t *testing.T) {
	nested := []Field{{Name: "list", Kind: ListString}, {Name: "map", Kind: MapString}, {Name: "numbers", Kind: ListInt32}, {Name: "text", Kind: String}}
	for _, tt := range []struct {
		fields           []Field
		n, spread, nulls int
	}{{everyKind(), 1003, 40, 3}, {everyKind(), 500, 1, 0}, {everyKind(), 3000, 1 << 20, 1}, {nested, 120_000, 1 << 20, 1}} {
		rng := rand.New(rand.NewPCG(9, uint64(tt.n)))
		want := randomResult(rng, tt.fields, tt.n, tt.spread, tt.nulls)
		f, err := OpenResult(writeResult(t, "part.parquet", encodeTable(t, want.table(t))))
		if err != nil {
			t.Fatal(err)
		}
		var v ColumnValues
		for c, field := range tt.fields {
			for _, among := range []int{1, 2, 50, tt.n} {
				at := []int{}
				for i := range tt.n {
					if rng.IntN(among) == 0 {
						at = append(at, i)
					}
				}
				if err := f.ReadColumn(0, field.Name, at, &v); err != nil || v.Rows != len(at) {
					t.Fatalf("%s at %d places: %d rows, %v", field.Name, len(at), v.Rows, err)
				}
				for k, i := range at {
					if !sameCell(v.Cell(k), want.rows[i][c]) {
						t.Fatalf("%s of row %d: %+v, want %+v", field.Name, i, v.Cell(k), want.rows[i][c])
					}
				}
			}
		}
		if err := f.ReadColumn(0, tt.fields[0].Name, []int{tt.n}, &v); err == nil {
			t.Error("a row behind the last is read")
		}
		f.Close()
	}
}
