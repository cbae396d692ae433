package parquet

import (
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestNewTablePanics(t *testing.T) {
	for _, name := range []string{"", "a"} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if msg, _ := recover().(string); !strings.Contains(msg, "no name for column 1") {
					t.Errorf("panic %q", msg)
				}
			}()
			NewTable([]Field{{Name: "a", Kind: Int64}, {Name: name, Kind: Double}})
		})
	}
}

// Misuse of a table would shift a column against the others and so must not
// pass.
func TestTableMisusePanics(t *testing.T) {
	fields := []Field{{Name: "i", Kind: Int32}, {Name: "a", Kind: Int64}, {Name: "b", Kind: Int64}, {Name: "x", Kind: Double}, {Name: "m", Kind: MapString}, {Name: "s", Kind: String}}
	tests := []struct {
		name string
		use  func(*Table)
		want string
	}{
		{"column twice", func(t *Table) { t.At(1).AppendInt(1); t.At(1).AppendInt(2) }, "row 0 of a result table: column \"a\" appended to twice"},
		{"column twice after a null", func(t *Table) { t.EndRow(); t.At(1).AppendInt(1); t.At(1).AppendInt(2) }, "row 1 of a result table: column \"a\" appended to twice"},
		{"wrong kind", func(t *Table) { t.At(1).AppendDouble(1) }, `"a" holds int64, not double`},
		{"integer in a column of doubles", func(t *Table) { t.At(3).AppendInt(1) }, `"x" holds double, not int64`},
		{"int32 too large", func(t *Table) { t.At(0).AppendInt(math.MaxInt32 + 1) }, `2147483648 does not fit result column "i" of int32`},
		{"int32 too small", func(t *Table) { t.At(0).AppendInt(math.MinInt32 - 1) }, "does not fit"},
		{"uneven map", func(t *Table) { t.At(4).AppendMap([]string{"k"}, nil) }, "different number"},
		{"full block before an open row", func(t *Table) {
			for range 64 {
				t.At(1).AppendInt(1)
				t.EndRow()
			}
			t.At(1).AppendInt(1)
			new(Encoder).EncodePart(io.Discard, t)
		}, "row 64 of a result table is not ended"},
		{"open row", func(t *Table) { t.At(1).AppendInt(1); new(Encoder).EncodePart(io.Discard, t) }, "row 0 of a result table is not ended"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tab := NewTable(fields)
			defer func() {
				if msg, _ := recover().(string); !strings.Contains(msg, tt.want) {
					t.Errorf("panic %q, want %q", msg, tt.want)
				}
			}()
			tt.use(tab)
		})
	}
}

func TestRequiredColumnWithNull(t *testing.T) {
	tab := NewTable([]Field{{Name: "id", Kind: String, Required: true}})
	tab.At(0).AppendString("")
	tab.EndRow()
	tab.EndRow()
	err := new(Encoder).EncodePart(io.Discard, tab)
	if want := `result column "id": null, but it is required`; err == nil || err.Error() != want {
		t.Errorf("EncodePart: %v, want %q", err, want)
	}
}

func TestTableAppendsDoNotAllocate(t *testing.T) {
	tab := NewTable(everyKind())
	row := randomResult(rand.New(rand.NewPCG(5, 6)), everyKind(), 1, 5, 0).rows[0]
	ints := []int32{1, 2, 3}
	add := func() {
		tab.Reset()
		for range 300 {
			for c, cell := range row {
				switch tab.Fields()[c].Kind {
				case Int32, Int64:
					tab.At(c).AppendInt(cell.Int)
				case Double:
					tab.At(c).AppendDouble(cell.Double)
				case Bool:
					tab.At(c).AppendBool(true)
				case String:
					tab.At(c).AppendString(cell.Text)
				case ListInt32:
					tab.At(c).AppendInts(ints)
				case ListString:
					tab.At(c).AppendStrings(cell.Texts)
				case MapString:
					tab.At(c).AppendMap(nil, nil)
				case MapInt64:
					tab.At(c).AppendIntMap(cell.Keys, cell.Ints)
				case MapDouble:
					tab.At(c).AppendDoubleMap(cell.Keys, cell.Floats)
				}
			}
			tab.EndRow()
		}
	}
	add()
	if n := testing.AllocsPerRun(20, add); n > 4 { // the empty map of both columns is made again in every part
		t.Errorf("%v allocations for 300 rows", n)
	}
}
