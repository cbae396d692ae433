package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/klauspost/compress/s2"
)

func TestEncodePartIsDeterministic(t *testing.T) {
	m := randomResult(rand.New(rand.NewPCG(1, 1)), everyKind(), 3000, 50, 4)
	other := randomResult(rand.New(rand.NewPCG(2, 1)), everyKind(), 2000, 1<<20, 1)
	want := encodeTable(t, m.table(t))

	// A used encoder and a used table must leave no trace.
	var e Encoder
	tab := other.table(t)
	if err := e.EncodePart(io.Discard, tab); err != nil {
		t.Fatal(err)
	}
	tab.Reset()
	for _, row := range m.rows {
		appendCells(tab, row)
	}
	for round := range 2 { // encoding changes nothing in the table
		var b bytes.Buffer
		if err := e.EncodePart(&b, tab); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), want) {
			t.Errorf("round %d: other bytes from a used encoder and table", round)
		}
	}
}

// Rows may be added after a part was encoded, in the middle of a block.
func TestTableGrowsAfterEncodePart(t *testing.T) {
	m := randomResult(rand.New(rand.NewPCG(1, 9)), everyKind(), 300, 20, 4)
	tab := m.empty(t)
	for i, row := range m.rows {
		appendCells(tab, row)
		if i%37 == 0 {
			encodeTable(t, tab)
		}
	}
	if !bytes.Equal(encodeTable(t, tab), encodeTable(t, m.table(t))) {
		t.Error("encoding in between changed the table")
	}
}

// TestReserveIsOnlyMemory: a table that knows how many rows it will have, more or fewer of
// them, holds the same; a column that has many takes memory once.
func TestReserveIsOnlyMemory(t *testing.T) {
	m := randomResult(rand.New(rand.NewPCG(1, 9)), everyKind(), 300, 20, 4)
	want := encodeTable(t, m.table(t))
	for _, rows := range []int{0, 1, 200, 300, 1000} {
		tab := m.empty(t)
		tab.Reserve(rows)
		for _, row := range m.rows {
			appendCells(tab, row)
		}
		if !bytes.Equal(encodeTable(t, tab), want) {
			t.Errorf("with %d rows reserved the table has other bytes", rows)
		}
	}
	tab, err := NewTable([]Field{{Name: "n", Kind: Int64}})
	if err != nil {
		t.Fatal(err)
	}
	tab.Reserve(5000)
	for i := range 5000 {
		tab.AppendInt(0, int64(i))
		tab.EndRow()
		if n := cap(tab.columns[0].ints); i >= fewValues+blockRows && n != cap(room(make([]int64, fewValues), 1, 5000)) {
			t.Fatalf("after %d of 5000 values there is room for %d", i+1, n)
		}
	}
}

func TestEncodePartWriterFails(t *testing.T) {
	tab := randomResult(rand.New(rand.NewPCG(1, 9)), everyKind(), 20_000, 1<<20, 0).table(t)
	for _, after := range []int{0, 1} {
		if err := new(Encoder).EncodePart(&failingWriter{left: after}, tab); !errors.Is(err, errDiskFull) {
			t.Errorf("EncodePart with a writer that fails after %d writes: %v", after, err)
		}
	}
}

func TestExtremeValues(t *testing.T) {
	fields := []Field{{Name: "i32", Kind: Int32}, {Name: "i64", Kind: Int64}, {Name: "x", Kind: Double}, {Name: "s", Kind: String}}
	var m resultRows
	m.fields = fields
	for _, i := range []int64{math.MinInt64, math.MaxInt64, 0, -1, math.MinInt32, math.MaxInt32} {
		m.rows = append(m.rows, []Cell{{Int: int64(int32(i))}, {Int: i}, {Double: float64(i)}, {Text: ""}})
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, math.MaxFloat64} {
		m.rows = append(m.rows, []Cell{{}, {}, {Double: x}, {Text: strings.Repeat("ü", 1000)}})
	}
	m.rows = append(m.rows, []Cell{{Null: true}, {Null: true}, {Null: true}, {Null: true}})
	sameRows(t, readResult(t, writeResult(t, "x.parquet", encodeTable(t, m.table(t)))), &m)
}

func TestLongStringsTakeSeveralPages(t *testing.T) {
	m := &resultRows{fields: []Field{{Name: "s", Kind: String}, {Name: "l", Kind: ListString, Required: true}}}
	rng := rand.New(rand.NewPCG(1, 2))
	long := func() string {
		b := make([]byte, 50_000)
		for i := range b {
			b[i] = 'a' + byte(rng.IntN(26))
		}
		return string(b)
	}
	for i := range 100 {
		row := []Cell{{Text: long()}, {Texts: []string{long(), "", long()}}}
		if i%3 == 0 {
			row = []Cell{{Null: true}, {}}
		}
		m.rows = append(m.rows, row)
	}
	b := encodeTable(t, m.table(t))
	meta, err := wholeFooter(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range meta.RowGroups[0].Columns {
		c := &meta.RowGroups[0].Columns[i].MetaData
		pages := 0
		for chunk := b[c.DataPageOffset : c.DataPageOffset+c.TotalCompressedSize]; len(chunk) > 0; pages++ {
			var h format.PageHeader
			n, ok := decodeStruct(chunk, &h)
			if !ok || h.UncompressedPageSize > pageBytes+200_000 {
				t.Fatalf("page of %d bytes", h.UncompressedPageSize)
			}
			chunk = chunk[n+int(h.CompressedPageSize):]
		}
		if pages < 2 {
			t.Errorf("%d pages of %d bytes", pages, c.TotalCompressedSize)
		}
	}
	sameRows(t, readResult(t, writeResult(t, "x.parquet", b)), m)
}

func TestInvalidUTF8BecomesReplacementCharacter(t *testing.T) {
	tab, err := NewTable([]Field{{Name: "s", Kind: String, Required: true}, {Name: "m", Kind: MapString, Required: true}})
	if err != nil {
		t.Fatal(err)
	}
	tab.AppendString(0, "a\xffb")
	tab.AppendMap(1, []string{"\xfe"}, []string{"\xed\xa0\x80"})
	tab.EndRow()
	got := readResult(t, writeResult(t, "x.parquet", encodeTable(t, tab))).rows[0]
	if got[0].Text != "a\uFFFDb" || got[1].Keys[0] != "\uFFFD" || got[1].Texts[0] != "\uFFFD" {
		t.Errorf("got %+v", got)
	}
}

// Readers skip row groups by their bounds, so that wrong ones lose rows.
func TestBounds(t *testing.T) {
	le := func(v any) string {
		b, err := binary.Append(nil, binary.LittleEndian, v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	negZero := math.Copysign(0, -1)
	tests := []struct {
		name     string
		kind     ColumnKind
		cells    []Cell
		nulls    int64
		min, max string
		ok       bool
	}{
		{"int32", Int32, []Cell{{Int: 5}, {Int: -7}, {Null: true}}, 1, le(int32(-7)), le(int32(5)), true},
		{"int64", Int64, []Cell{{Int: math.MinInt64}, {Int: math.MaxInt64}}, 0, le(int64(math.MinInt64)), le(int64(math.MaxInt64)), true},
		{"bool", Bool, []Cell{{Int: 1}, {Int: 0}, {Int: 1}}, 0, "\x00", "\x01", true},
		{"double", Double, []Cell{{Double: 0.5}, {Double: -2}}, 0, le(-2.0), le(0.5), true},
		{"positive zero is least", Double, []Cell{{Double: 0}, {Double: 1}}, 0, le(negZero), le(1.0), true},
		{"negative zero is greatest", Double, []Cell{{Double: negZero}, {Double: -1}}, 0, le(-1.0), le(0.0), true},
		{"NaN", Double, []Cell{{Double: 0.5}, {Double: math.NaN()}}, 0, "", "", false},
		{"infinities", Double, []Cell{{Double: math.Inf(1)}, {Double: math.Inf(-1)}}, 0, le(math.Inf(-1)), le(math.Inf(1)), true},
		{"only nulls", Int64, []Cell{{Null: true}, {Null: true}}, 2, "", "", false},
		{"repeated strings", String, []Cell{{Text: "b"}, {Text: "b"}, {Text: "é"}, {Text: "b"}, {Text: "é"}, {Text: "b"}, {Text: "b"}, {Text: "b"}}, 0, "b", "é", true},
		{"long strings", String, []Cell{{Text: strings.Repeat("b", 100)}, {Text: strings.Repeat("b", 100)}, {Text: strings.Repeat("b", 100)}, {Text: strings.Repeat("b", 100)}}, 0, "", "", false},
		{"empty and null lists", ListInt32, []Cell{{}, {Null: true}, {Ints: []int64{3, 9}}}, 2, le(int32(3)), le(int32(9)), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &resultRows{fields: []Field{{Name: "c", Kind: tt.kind}}}
			for _, c := range tt.cells {
				m.rows = append(m.rows, []Cell{c})
			}
			b := encodeTable(t, m.table(t))
			meta, err := wholeFooter(b)
			if err != nil {
				t.Fatal(err)
			}
			c := &meta.RowGroups[0].Columns[0].MetaData.Statistics
			if c.NullCount != tt.nulls || (c.MaxValue != nil) != tt.ok || string(c.MinValue) != tt.min || string(c.MaxValue) != tt.max {
				t.Errorf("nulls %d, bounds %q %q; want %d, %v %q %q", c.NullCount, c.MinValue, c.MaxValue, tt.nulls, tt.ok, tt.min, tt.max)
			}
		})
	}
}

func TestEncodePartAllocates(t *testing.T) {
	tab, add := benchRows(t)
	var e Encoder
	for i := range 2000 {
		add(i)
	}
	encode := func() {
		if err := e.EncodePart(io.Discard, tab); err != nil {
			t.Fatal(err)
		}
	}
	encode()
	// What the footer says of a column, and little else.
	if n := testing.AllocsPerRun(10, encode); n > 3.5*float64(len(tab.fields)) {
		t.Errorf("%v allocations per part of 2000 rows", n)
	}
}

func TestPackSnappy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 59, 60, 61, 63, 64, 255, 256, 257, 65535, 65536, 65537, 1 << 24, 1<<24 + 1} {
		for _, values := range []int{1, 256} {
			raw := make([]byte, n)
			for i := range raw {
				raw[i] = byte(rng.IntN(values))
			}
			for _, wide := range []bool{false, true} {
				var p snappyPacker
				packed := p.pack(raw, wide)
				got, err := s2.Decode(nil, packed)
				if err != nil || !bytes.Equal(got, raw) {
					t.Errorf("%d bytes of %d values, wide %v: %v", n, values, wide, err)
				}
				if values == 1 && n > 300 && len(packed) > n/10 {
					t.Errorf("%d equal bytes take %d, wide %v", n, len(packed), wide)
				}
				if len(packed) > n+10 {
					t.Errorf("%d bytes take %d, wide %v", n, len(packed), wide)
				}
			}
		}
	}
}
