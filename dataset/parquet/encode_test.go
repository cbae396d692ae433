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
	tab := NewTable([]Field{{Name: "s", Kind: String, Required: true}, {Name: "m", Kind: MapString, Required: true}})
	tab.At(0).AppendString("a\xffb")
	tab.At(1).AppendMap([]string{"\xfe"}, []string{"\xed\xa0\x80"})
	tab.EndRow()
	got := readResult(t, writeResult(t, "x.parquet", encodeTable(t, tab))).rows[0]
	if got[0].Text != "a\uFFFDb" || got[1].Keys[0] != "\uFFFD" || got[1].Texts[0] != "\uFFFD" {
		t.Errorf("got %+v", got)
	}
}

// TestBounds: readers pass over row groups and pages by their bounds. Those of id and row, and
// of dictionaries, are the least and the greatest value; other columns have none. In the page
// index, which has bounds of every column, no value lies outside of them.
func TestBounds(t *testing.T) {
	fields := []Field{
		{Name: "id", Kind: String, Required: true},
		{Name: "few", Kind: String, Few: true},
		{Name: "text", Kind: String},
		{Name: "row", Kind: Int64, Required: true},
		{Name: "n", Kind: Int64},
		{Name: "i", Kind: Int32},
		{Name: "x", Kind: Double},
		{Name: "b", Kind: Bool},
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		m := randomResult(rng, fields, 1+rng.IntN(300), 1<<20, 4)
		data := encodeTable(t, m.table(t))
		file, err := parquetgo.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for c, f := range fields {
			chunk := file.RowGroups()[0].ColumnChunks()[c].(*parquetgo.FileColumnChunk)
			index, err := chunk.ColumnIndex()
			if err != nil {
				t.Fatal(err)
			}
			typ := chunk.Type()
			var least, most parquetgo.Value
			for i, row := range m.rows {
				v := row[c]
				if v.Null {
					continue
				}
				value := parquetgo.ByteArrayValue([]byte(v.Text))
				switch f.Kind {
				case Int64:
					value = parquetgo.Int64Value(v.Int)
				case Int32:
					value = parquetgo.Int32Value(int32(v.Int))
				case Double:
					value = parquetgo.DoubleValue(v.Double)
				case Bool:
					value = parquetgo.BooleanValue(v.Int == 1)
				}
				if least.IsNull() || typ.Compare(value, least) < 0 {
					least = value
				}
				if most.IsNull() || typ.Compare(value, most) > 0 {
					most = value
				}
				if index.NumPages() != 1 || typ.Compare(value, index.MinValue(0)) < 0 || typ.Compare(value, index.MaxValue(0)) > 0 {
					t.Fatalf("%s of row %d is %v, outside of page %v to %v", f.Name, i, value, index.MinValue(0), index.MaxValue(0))
				}
			}
			low, high, ok := chunk.Bounds()
			if has := f.Name == "id" || f.Name == "row" || f.Few && !least.IsNull(); ok != has || has && (typ.Compare(low, least) != 0 || typ.Compare(high, most) != 0) {
				t.Errorf("%s has the bounds %v to %v, values %v to %v", f.Name, low, high, least, most)
			}
		}
	}
}

// TestEncodings: each column is written in the encoding that suits its values.
func TestEncodings(t *testing.T) {
	fields := append(everyKind(), Field{Name: "few", Kind: String, Few: true}, Field{Name: "few_list", Kind: ListString, Few: true})
	meta, err := wholeFooter(encodeTable(t, randomResult(rand.New(rand.NewPCG(1, 1)), fields, 100, 50, 1).table(t)))
	if err != nil {
		t.Fatal(err)
	}
	leaf := 0
	for _, f := range fields {
		want := map[ColumnKind]format.Encoding{
			Int32: format.DeltaBinaryPacked, Int64: format.DeltaBinaryPacked, ListInt32: format.DeltaBinaryPacked, MapString: format.RLEDictionary, MapInt64: format.DeltaBinaryPacked,
		}[f.Kind]
		if f.Few {
			want = format.RLEDictionary
		}
		leaves := []format.Encoding{want}
		if f.Kind.IsMap() {
			leaves = []format.Encoding{format.RLEDictionary, want}
		}
		for _, want := range leaves {
			c := &meta.RowGroups[0].Columns[leaf].MetaData
			for _, s := range c.EncodingStats {
				if s.PageType == format.DataPage && s.Encoding != want || c.Codec != format.Snappy {
					t.Errorf("%s: pages in %s, compressed as %s; want %s", f.Name, s.Encoding, c.Codec, want)
				}
			}
			leaf++
		}
	}
}
