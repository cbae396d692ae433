package parquet

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	parquetgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
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

// TestBoundsHold: readers pass over row groups by their bounds, so that no value lies outside
// of them.
func TestBoundsHold(t *testing.T) {
	fields := []Field{{Name: "id", Kind: String, Required: true}, {Name: "few", Kind: String, Few: true}, {Name: "row", Kind: Int64, Required: true}, {Name: "n", Kind: Int64}, {Name: "x", Kind: Double}}
	rng := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		m := randomResult(rng, fields, 1+rng.IntN(300), 1<<20, 4)
		file, err := parquetgo.OpenFile(bytes.NewReader(encodeTable(t, m.table(t))), int64(len(encodeTable(t, m.table(t)))))
		if err != nil {
			t.Fatal(err)
		}
		for c := range fields {
			chunk := file.RowGroups()[0].ColumnChunks()[c].(*parquetgo.FileColumnChunk)
			low, high, ok := chunk.Bounds()
			for i, row := range m.rows {
				v := row[c]
				if v.Null || !ok {
					continue
				}
				value := parquetgo.ByteArrayValue([]byte(v.Text))
				switch fields[c].Kind {
				case Int64:
					value = parquetgo.Int64Value(v.Int)
				case Double:
					value = parquetgo.DoubleValue(v.Double)
				}
				if typ := chunk.Type(); typ.Compare(value, low) < 0 || typ.Compare(value, high) > 0 {
					t.Fatalf("%s of row %d is %v, outside of %v and %v", fields[c].Name, i, value, low, high)
				}
			}
			if !ok && fields[c].Name == "row" {
				t.Error("row has no bounds")
			}
		}
	}
}
