package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
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
	c := ColumnReader{
		file: bytes.NewReader(chunk), leaf: leaf, bytesLeft: int64(len(chunk)), valuesLeft: int64(p.values), account: account{budget: &Budget{left: budget}},
		meta: &columnChunk{
			Codec: p.codec, NumValues: int64(p.values), TotalUncompressedSize: math.MaxInt32, TotalCompressedSize: int64(len(chunk)),
		},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var values Values
	if leaf.Rep > 0 {
		var rep []byte
		_, _, err = c.ReadRows(1, Unlimited, &values, &rep, nil)
	} else {
		err = c.ReadEntries(1, nil, &values, nil)
	}
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
	const huge = math.MaxInt32
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
		{"a string", texts, hostilePage{values: 1, uncompressed: 8, body: binary.LittleEndian.AppendUint32(nil, huge)}},
		{"streams", integers, hostilePage{values: huge, uncompressed: 800, encoding: format.ByteStreamSplit, body: some}},
		{"bytes of levels", optional, hostilePage{values: 8, uncompressed: 800, body: binary.LittleEndian.AppendUint32(nil, huge)}},
		{"bytes of levels of version 2", list, hostilePage{values: 8, uncompressed: huge, body: some, v2: true, repBytes: huge, defBytes: huge}},
		{"integers of a dictionary", integers, hostilePage{
			values: 8, uncompressed: 4, encoding: format.RLEDictionary, body: []byte{1, 16, 0}, dictValues: huge, dictUncompressed: 800, dict: some,
		}},
		{"strings of a dictionary", texts, hostilePage{
			values: 8, uncompressed: 4, encoding: format.RLEDictionary, body: []byte{1, 16, 0}, dictValues: huge, dictUncompressed: 800, dict: some,
		}},
		{"size of a dictionary", texts, hostilePage{
			codec: format.Zstd, values: 8, uncompressed: 4, encoding: format.RLEDictionary, body: []byte{1, 16, 0},
			dictValues: 100, dictUncompressed: huge, dict: zstdOf(t, some),
		}},
		{"size after Snappy", integers, hostilePage{codec: format.Snappy, values: 100, uncompressed: huge, body: append(binary.AppendUvarint(nil, huge), some...)}},
		{"size after Zstandard", integers, hostilePage{codec: format.Zstd, values: 100, uncompressed: huge, body: zstdOf(t, some)}},
		{"size within Zstandard", integers, hostilePage{
			codec: format.Zstd, values: 100, uncompressed: huge,
			body: append([]byte{0x28, 0xB5, 0x2F, 0xFD, 0xA0, 0xff, 0xff, 0xff, 0x7f}, zstdOf(t, some)[6:]...),
		}},
		{"size after gzip", integers, hostilePage{codec: format.Gzip, values: 100, uncompressed: huge, body: gzipOf(t, some)}},
		{"size after Brotli", integers, hostilePage{codec: format.Brotli, values: 100, uncompressed: huge, body: brotliOf(t, some)}},
		{"size after LZ4", integers, hostilePage{codec: format.Lz4Raw, values: 100, uncompressed: huge, body: lz4Of(t, some)}},
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

// A page that honestly says that it is huge is refused while it expands, as soon as the
// budget is used up.
func TestBombs(t *testing.T) {
	const size = 512 << 20
	zeros := make([]byte, size)
	integers := Leaf{Kind: Integer, physical: format.Int64}
	tests := []struct {
		name string
		leaf Leaf
		page hostilePage
	}{
		{"Snappy", integers, hostilePage{codec: format.Snappy, values: size / 8, uncompressed: size, body: s2.EncodeSnappy(nil, zeros)}},
		{"Zstandard", integers, hostilePage{codec: format.Zstd, values: size / 8, uncompressed: size, body: zstdOf(t, zeros)}},
		{"gzip", integers, hostilePage{codec: format.Gzip, values: size / 8, uncompressed: size, body: gzipOf(t, zeros)}},
		{"LZ4", integers, hostilePage{codec: format.Lz4Raw, values: size / 8, uncompressed: size, body: lz4Of(t, zeros)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			allocated, err := tt.page.read(t, tt.leaf, 16<<20)
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("read: %v, want ErrCorrupt", err)
			}
			// The bytes of the page itself are in the file.
			if limit := uint64(64<<20 + 2*len(tt.page.body)); allocated > limit {
				t.Errorf("%d MB allocated, budget 16 MB", allocated>>20)
			}
		})
	}
}

// Two billion levels or codes in a few bytes are decoded as far as they are asked for.
func TestLongRuns(t *testing.T) {
	integers := Leaf{Kind: Integer, physical: format.Int64}
	optional := integers
	optional.Def = 1
	run := appendRLERun(nil, 0, 1, math.MaxInt32)
	for name, tt := range map[string]struct {
		leaf Leaf
		page hostilePage
	}{
		"nulls": {optional, hostilePage{values: math.MaxInt32, uncompressed: 100, body: withLevels(run, nil)}},
		"codes": {integers, hostilePage{
			values: math.MaxInt32, uncompressed: 100, encoding: format.RLEDictionary, body: append([]byte{1}, run...),
			dictValues: 1, dictUncompressed: 8, dict: make([]byte, 8),
		}},
	} {
		allocated, err := tt.page.read(t, tt.leaf, 16<<20)
		if err != nil || allocated > 8<<20 {
			t.Errorf("%s: %d MB allocated, %v", name, allocated>>20, err)
		}
	}
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
		a := plenty()
		got, err := decompress(a, nil, body, codec, len(values))
		if err != nil || !bytes.Equal(got, values) {
			t.Errorf("%s: %d of %d bytes, %v", codec, len(got), len(values), err)
		}
	}
}

// A footer whose lists claim more columns than its bytes describe is refused.
func TestLyingFooter(t *testing.T) {
	// One row group with a million columns of an empty struct each.
	columns := append([]byte{0x19, 0xFC}, binary.AppendUvarint(nil, 1<<20)...)
	columns = append(columns, make([]byte, 1<<20)...)
	footer := append([]byte{0x49, 0x1C}, append(columns, 0, 0)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := (&File{Size: 1 << 30}).parseFooter(footer)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("parseFooter: %v, want ErrCorrupt", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d MB allocated for %d bytes", used>>20, len(footer))
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
