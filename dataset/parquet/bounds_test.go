package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	arrowparquet "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// arrowFile is a file of Arrow's writer, which leaves checksums out and writes
// statistics: 40 rows of an integer, a number, a text and an integer that is null in
// every fourth row.
func arrowFile(t *testing.T, dictionary bool) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "o", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 40 {
		b.Field(0).(*array.Int32Builder).Append(int32(1_000_000 + i))
		b.Field(1).(*array.Float64Builder).Append(0.5 + float64(i))
		b.Field(2).(*array.StringBuilder).Append("text " + string(rune('a'+i%20)))
		if o := b.Field(3).(*array.Int64Builder); i%4 == 3 {
			o.AppendNull()
		} else {
			o.Append(int64(7_000_000_000 + i))
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, arrowparquet.NewWriterProperties(
		arrowparquet.WithDictionaryDefault(dictionary), arrowparquet.WithCompression(compress.Codecs.Uncompressed)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readLeaf reads a column of a file in memory.
func readLeaf(t *testing.T, data []byte, name string, kind ValueKind) (Values, error) {
	t.Helper()
	path := t.TempDir() + "/a.parquet"
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, _ := f.Root.Child(name)
	leaf, ok := n.As(kind)
	if !ok {
		t.Fatalf("%s is not of kind %v", name, kind)
	}
	if unchecked, err := f.Unchecked(leaf.Column); err != nil || unchecked != f.groups[0].Columns[leaf.Column].TotalCompressedSize {
		t.Errorf("%s has %d unchecked bytes (%v), want all of them", name, unchecked, err)
	}
	var c ColumnReader
	budget := NewBudget(1 << 20)
	if err := c.Start(f, 0, leaf, &budget); err != nil {
		t.Fatal(err)
	}
	var v Values
	return v, c.ReadEntries(int(f.Rows()), nil, &v, nil)
}

// Damage that makes a value leave the statistics of its row group is found where pages
// have no checksums, in every kind of column and encoding.
func TestStatistics(t *testing.T) {
	kinds := map[string]ValueKind{"n": Integer, "x": Float, "s": Text, "o": Integer}
	for _, dictionary := range []bool{false, true} {
		whole := arrowFile(t, dictionary)
		for name, kind := range kinds {
			if _, err := readLeaf(t, whole, name, kind); err != nil {
				t.Errorf("%s of a whole file: %v", name, err)
			}
		}
		// A value in the middle of the range is changed where it stands in its page first.
		for _, x := range []struct {
			name         string
			value, other []byte
		}{
			{"n", binary.LittleEndian.AppendUint32(nil, 1_000_010), binary.LittleEndian.AppendUint32(nil, 1_000_040)},
			{"x", binary.LittleEndian.AppendUint64(nil, math.Float64bits(10.5)), binary.LittleEndian.AppendUint64(nil, math.Float64bits(-1))},
			{"s", []byte("text k"), []byte("text z")},
			{"s", []byte("text k"), []byte("oext k")},
			{"o", binary.LittleEndian.AppendUint64(nil, 7_000_000_010), binary.LittleEndian.AppendUint64(nil, 1)},
		} {
			damaged := bytes.Replace(whole, x.value, x.other, 1)
			if _, err := readLeaf(t, damaged, x.name, kinds[x.name]); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "statistics") {
				t.Errorf("dictionary %v, %s, %q as %q: %v, want that it leaves the statistics", dictionary, x.name, x.value, x.other, err)
			}
		}
	}
}

// What statistics count as null is compared where pages have no checksums.
func TestNullCount(t *testing.T) {
	data := arrowFile(t, false)
	// Levels of o are packed bits: 8 rows are 0111 0111, the first of them 1.
	at := bytes.Index(data, []byte{0x77, 0x77, 0x77, 0x77, 0x77})
	if at < 0 {
		t.Fatal("the levels of o are not where they should be")
	}
	data[at] = 0x75
	if _, err := readLeaf(t, data, "o", Integer); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a level that is changed: %v, want an error", err)
	}
}

// Bounds that say nothing are left alone: NaN, another width, the wrong order.
func TestStatisticsWithoutMeaning(t *testing.T) {
	number := binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.5))
	most := binary.LittleEndian.AppendUint64(nil, math.Float64bits(39.5))
	whole := arrowFile(t, false)
	for _, x := range [][2][]byte{
		{most, binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))},
		{most, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.25))},
		{number, binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))},
	} {
		footer := bytes.LastIndex(whole, []byte("PAR1")) - int(binary.LittleEndian.Uint32(whole[len(whole)-8:])) - 4
		data := append(bytes.Clone(whole[:footer]), bytes.ReplaceAll(whole[footer:], x[0], x[1])...)
		if bytes.Equal(data, whole) {
			t.Fatal("the footer does not have the bound")
		}
		if _, err := readLeaf(t, data, "x", Float); err != nil {
			t.Errorf("bound %x as %x: %v", x[0], x[1], err)
		}
	}
}
