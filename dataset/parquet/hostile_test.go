package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// A hostilePage is a data page, after a dictionary if there is one, whose header and
// column may claim anything.
type hostilePage struct {
	codec        format.CompressionCodec
	values       int32 // as the header and the column say
	uncompressed int32 // as the header says
	encoding     format.Encoding
	body         []byte // as it lies in the file

	dictValues, dictUncompressed int32
	dict                         []byte

	v2                 bool
	repBytes, defBytes int32 // as the header of version 2 says
}

// chunk is the column as it lies in a file.
func (p *hostilePage) chunk(t *testing.T) []byte {
	t.Helper()
	var chunk []byte
	add := func(h format.PageHeader, body []byte) {
		h.CompressedPageSize = int32(len(body))
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
		if err != nil {
			t.Fatal(err)
		}
		chunk = append(append(chunk, b...), body...)
	}
	if p.dict != nil {
		h := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: p.dictUncompressed}
		h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: p.dictValues})
		add(h, p.dict)
	}
	h := format.PageHeader{Type: format.DataPage, UncompressedPageSize: p.uncompressed}
	if p.v2 {
		h.Type = format.DataPageV2
		h.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{
			NumValues: p.values, Encoding: p.encoding, RepetitionLevelsByteLength: p.repBytes, DefinitionLevelsByteLength: p.defBytes,
		})
	} else {
		h.DataPageHeader = thrift.New(format.DataPageHeader{
			NumValues: p.values, Encoding: p.encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		})
	}
	add(h, p.body)
	return chunk
}

// read reads one entry of the page as leaf says, within a budget, and returns how many
// bytes that allocated.
func (p *hostilePage) read(t *testing.T, leaf Leaf, budget int64) (allocated uint64, err error) {
	t.Helper()
	chunk := p.chunk(t)
	c := chunkCursor(chunk, leaf, p.codec, int(p.values), budget)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var values Values
	_, err = c.ReadRows(1, math.MaxInt, &values, new([]byte), nil)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// withLevels puts a block of levels, of version 1, before a page.
func withLevels(levels, body []byte) []byte {
	return append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...), body...)
}

// What a header claims sets no memory aside: a lie is found out when the data ends,
// whatever the budget.
func TestLyingHeaders(t *testing.T) {
	const huge = mostPageValues
	integers := Leaf{Kind: Integer, physical: format.Int64}
	texts := Leaf{Kind: Text, physical: format.ByteArray}
	optional, list := integers, integers
	optional.Def = 1
	list.Def, list.Rep = 1, 1
	some := bytes.Repeat([]byte{1, 0, 0, 0, 'x', 0, 0, 0}, 100)
	packed := appendPackedHeader(nil, 800)
	packed = append(packed, make([]byte, 100)...)
	tests := []struct {
		name string
		leaf Leaf
		page hostilePage
	}{
		{"values of a required column", integers, hostilePage{values: huge, uncompressed: 800, body: some}},
		{"values of an optional column", optional, hostilePage{values: huge, uncompressed: 900, body: withLevels(packed, some)}},
		{"values of a list", list, hostilePage{values: huge, uncompressed: 900, body: withLevels(packed, withLevels(packed, some))}},
		{"values of version 2", optional, hostilePage{values: huge, uncompressed: 902, body: append(packed, some...), v2: true, defBytes: 102}},
		{"deltas", integers, hostilePage{
			values: huge, uncompressed: 100, encoding: format.DeltaBinaryPacked,
			body: binary.AppendUvarint([]byte{128, 1, 4}, huge),
		}},
		{"lengths of strings", texts, hostilePage{
			values: huge, uncompressed: 100, encoding: format.DeltaLengthByteArray,
			body: append(binary.AppendUvarint([]byte{128, 1, 4}, huge), 0, 0, 0, 0, 0, 0),
		}},
		{"a string", texts, hostilePage{values: 1, uncompressed: 8, body: binary.LittleEndian.AppendUint32(nil, math.MaxUint32)}},
		{"streams", integers, hostilePage{values: huge, uncompressed: 800, encoding: format.ByteStreamSplit, body: some}},
		{"bytes of levels", optional, hostilePage{values: 8, uncompressed: 800, body: binary.LittleEndian.AppendUint32(nil, math.MaxUint32)}},
		{"bytes of levels of version 2", list, hostilePage{values: 8, uncompressed: mostPageBytes, body: some, v2: true, repBytes: math.MaxInt32, defBytes: math.MaxInt32}},
		{"integers of a dictionary", integers, hostilePage{
			values: 8, uncompressed: 4, encoding: format.RLEDictionary, body: []byte{1, 16, 0}, dictValues: huge, dictUncompressed: 800, dict: some,
		}},
		{"strings of a dictionary", texts, hostilePage{
			values: 8, uncompressed: 4, encoding: format.RLEDictionary, body: []byte{1, 16, 0}, dictValues: huge, dictUncompressed: 800, dict: some,
		}},
		{"size of a dictionary", texts, hostilePage{
			codec: format.Zstd, values: 8, uncompressed: 4, encoding: format.RLEDictionary, body: []byte{1, 16, 0},
			dictValues: 100, dictUncompressed: mostPageBytes, dict: zstdOf(t, some),
		}},
		{"size after Snappy", integers, hostilePage{codec: format.Snappy, values: 100, uncompressed: mostPageBytes, body: append(binary.AppendUvarint(nil, mostPageBytes), some...)}},
		{"size after Zstandard", integers, hostilePage{codec: format.Zstd, values: 100, uncompressed: mostPageBytes, body: zstdOf(t, some)}},
		{"size within Zstandard", integers, hostilePage{
			codec: format.Zstd, values: 100, uncompressed: mostPageBytes,
			body: append([]byte{0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0xff, 0xff, 0xff, 0x7f}, zstdOf(t, some)[6:]...),
		}},
		{"size after gzip", integers, hostilePage{codec: format.Gzip, values: 100, uncompressed: mostPageBytes, body: gzipOf(t, some)}},
		{"size after Brotli", integers, hostilePage{codec: format.Brotli, values: 100, uncompressed: mostPageBytes, body: brotliOf(t, some)}},
		{"size after LZ4", integers, hostilePage{codec: format.Lz4Raw, values: 100, uncompressed: mostPageBytes, body: lz4Of(t, some)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			allocated, err := tt.page.read(t, tt.leaf, math.MaxInt64)
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("read: %v, want ErrCorrupt", err)
			}
			if allocated > 16<<20 {
				t.Errorf("%d MB allocated", allocated>>20)
			}
		})
	}
}

// A page that is huge, or honestly says so, is refused before it expands, and so are more
// values than a page may have, in however few bytes.
func TestBombs(t *testing.T) {
	const size, huge, limit = 200 << 20, 512 << 20, math.MaxInt64
	zeros := make([]byte, size)
	integers := Leaf{Kind: Integer, physical: format.Int64}
	optional := integers
	optional.Def = 1
	run := appendRLERun(nil, 0, math.MaxInt32)
	tests := []struct {
		name   string
		leaf   Leaf
		budget int64
		page   hostilePage
	}{
		{"Snappy", integers, 16 << 20, hostilePage{codec: format.Snappy, values: 1, uncompressed: size, body: s2.EncodeSnappy(nil, zeros)}},
		{"Zstandard", integers, 16 << 20, hostilePage{codec: format.Zstd, values: 1, uncompressed: size, body: zstdOf(t, zeros)}},
		{"gzip", integers, 16 << 20, hostilePage{codec: format.Gzip, values: 1, uncompressed: size, body: gzipOf(t, zeros)}},
		{"LZ4", integers, 16 << 20, hostilePage{codec: format.Lz4Raw, values: 1, uncompressed: size, body: lz4Of(t, zeros)}},
		{"a long page", integers, limit, hostilePage{codec: format.Zstd, values: 1, uncompressed: huge, body: zstdOf(t, zeros)}},
		{"nulls", optional, limit, hostilePage{values: math.MaxInt32, uncompressed: 100, body: withLevels(run, nil)}},
		{"codes", integers, limit, hostilePage{
			values: math.MaxInt32, uncompressed: 100, encoding: format.RLEDictionary, body: append([]byte{1}, run...),
			dictValues: 1, dictUncompressed: 8, dict: make([]byte, 8),
		}},
		{"levels of a page of few values", optional, limit, hostilePage{
			values: 1000, uncompressed: 100, body: withLevels(appendRLERun(appendRLERun(nil, 0, 1), 1, math.MaxInt32), nil),
		}},
		{"prefixes that grow", Leaf{Kind: Text, physical: format.ByteArray}, limit, growingPrefixes(t)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			allocated, err := tt.page.read(t, tt.leaf, tt.budget)
			if err == nil {
				t.Error("it is read")
			}
			// The bytes of the page itself are in the file.
			if limit := uint64(16<<20 + 4*len(tt.page.body)); allocated > limit {
				t.Errorf("%d MB allocated", allocated>>20)
			}
		})
	}
}

// growingPrefixes is a page of texts in DELTA_BYTE_ARRAY: the first has 100 kB, each other
// the whole one before as its prefix.
func growingPrefixes(t *testing.T) hostilePage {
	t.Helper()
	const n, length = 10_000, 100_000
	prefixes, suffixes := make([]int32, n), make([]int32, n)
	for i := range prefixes {
		prefixes[i] = length
	}
	prefixes[0], suffixes[0] = 0, length
	var body []byte
	for _, lengths := range [][]int32{prefixes, suffixes} {
		b, err := new(delta.BinaryPackedEncoding).EncodeInt32(nil, lengths)
		if err != nil {
			t.Fatal(err)
		}
		body = append(body, b...)
	}
	body = append(body, make([]byte, length)...)
	return hostilePage{values: n, uncompressed: int32(len(body)), encoding: format.DeltaByteArray, body: body}
}

// A page that compresses well is no bomb: it is read whatever its rate.
func TestPagesThatCompressWell(t *testing.T) {
	values := make([]byte, 32<<20)
	for i := range len(values) / 8 {
		binary.LittleEndian.PutUint64(values[8*i:], uint64(i>>16))
	}
	for codec, body := range map[format.CompressionCodec][]byte{
		format.Snappy: s2.EncodeSnappy(nil, values), format.Zstd: zstdOf(t, values), format.Gzip: gzipOf(t, values),
		format.Brotli: brotliOf(t, values), format.Lz4Raw: lz4Of(t, values),
	} {
		got, err := decompress(nil, body, codec, len(values))
		if err != nil || !bytes.Equal(got, values) {
			t.Errorf("%s: %d of %d bytes, %v", codec, len(got), len(values), err)
		}
	}
}

// The budget of a file does not depend on how many row groups have a dictionary.
func TestBudgetOfRowGroups(t *testing.T) {
	type row struct {
		Doc string `parquet:"doc,dict"`
	}
	used := func(groups int) int64 {
		path := filepath.Join(t.TempDir(), "rows.parquet")
		var out bytes.Buffer
		w := parquet.NewGenericWriter[row](&out, parquet.MaxRowsPerRowGroup(1000))
		for i := range groups * 1000 {
			if _, err := w.Write([]row{{fmt.Sprintf("document %d", i%700)}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.RowGroups() != groups {
			t.Fatalf("%d row groups", f.RowGroups())
		}
		leaf, _ := f.Root.Children[0].As(Text)
		var c Cursor
		var values Values
		budget := int64(1 << 30)
		c.Start(f, 0, groups, leaf, &budget)
		if n, err := c.ReadRows(groups*1000, math.MaxInt, &values, nil, nil); err != nil || n != groups*1000 {
			t.Fatalf("%d rows, %v", n, err)
		}
		return 1<<30 - budget
	}
	if one, many := used(1), used(60); many > one {
		t.Errorf("%d bytes of 60 row groups, %d of one", many, one)
	}
}

// A footer whose lists claim more columns than its bytes describe is refused.
func TestLyingFooter(t *testing.T) {
	const many = 1 << 20
	list := func(field ...byte) []byte { // of empty structs
		return append(binary.AppendUvarint(append(field, 0xFC), many), make([]byte, many)...)
	}
	for name, footer := range map[string][]byte{
		"columns of one row group": append([]byte{0x49, 0x1C}, append(list(0x19), 0, 0)...),
		"columns of the schema":    append(list(0x29), 0),
		"row groups":               append(list(0x49), 0),
		"keys":                     append(list(0x59), 0),
		"columns of row groups": append(append([]byte{0x49, 0xFC}, binary.AppendUvarint(nil, 60_000)...),
			bytes.Repeat(append([]byte{0x19, 0x6C}, make([]byte, 7)...), 60_000)...),
		"a list without its elements": binary.AppendUvarint([]byte{0x29, 0xFC}, 1<<31-1),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := (&File{Size: 1 << 30}).parseFooter(footer)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 || name == "columns of one row group" && used > 1<<20 {
			t.Errorf("%s: %d MB allocated for %d bytes", name, used>>20, len(footer))
		}
	}
}

func zstdOf(t *testing.T, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

func gzipOf(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(b)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func brotliOf(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := brotli.NewWriterLevel(&out, 1)
	_, err := w.Write(b)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func lz4Of(t *testing.T, b []byte) []byte {
	t.Helper()
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out[:n]
}

// appendPackedHeader appends the header of a run of so many values, of which 8 are packed
// together.
func appendPackedHeader(b []byte, values int) []byte {
	return binary.AppendUvarint(b, uint64(values)/8<<1|1)
}

// appendRLERun appends a run of a value of at most 8 bits.
func appendRLERun(b []byte, value byte, values uint64) []byte {
	return append(binary.AppendUvarint(b, values<<1), value)
}
