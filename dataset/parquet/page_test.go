package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func TestPageHeaderOfEncoder(t *testing.T) {
	encode := func(h format.PageHeader) []byte {
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	v1 := format.PageHeader{Type: format.DataPage, UncompressedPageSize: 900, CompressedPageSize: 70, CRC: -5}
	v1.DataPageHeader.Valid = true
	v1.DataPageHeader.V = format.DataPageHeader{
		NumValues: 1 << 20, Encoding: format.RLEDictionary, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.BitPacked,
		Statistics: format.Statistics{Max: []byte("max"), MinValue: []byte("min"), NullCount: 3},
	}
	v2 := format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: 900, CompressedPageSize: 70}
	v2.DataPageHeaderV2.Valid = true
	v2.DataPageHeaderV2.V = format.DataPageHeaderV2{
		NumValues: 7, NumNulls: 1, NumRows: 2, Encoding: format.DeltaByteArray, DefinitionLevelsByteLength: 11, RepetitionLevelsByteLength: 12,
		IsCompressed: thrift.New(false),
	}
	dictionary := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: 900, CompressedPageSize: 70}
	dictionary.DictionaryPageHeader.Valid = true
	dictionary.DictionaryPageHeader.V = format.DictionaryPageHeader{NumValues: 9, Encoding: format.Plain, IsSorted: true}
	tests := []struct {
		name string
		b    []byte
		want pageHeader
	}{
		{"version 1", encode(v1), pageHeader{PageHeader: v1, values: 1 << 20, encoding: format.RLEDictionary, defEncoding: format.RLE, repEncoding: format.BitPacked}},
		{"version 2", encode(v2), pageHeader{PageHeader: v2, values: 7, encoding: format.DeltaByteArray, defBytes: 11, repBytes: 12, stored: true}},
		{"dictionary", encode(dictionary), pageHeader{PageHeader: dictionary, values: 9, encoding: format.Plain}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n, ok := parsePageHeader(append(bytes.Clone(tt.b), "page"...))
			if !reflect.DeepEqual(got, tt.want) || n != len(tt.b) || !ok {
				t.Errorf("parsePageHeader = %+v, %d, %t\nwant %+v, %d", got, n, ok, tt.want, len(tt.b))
			}
			for n := range tt.b {
				if _, _, ok := parsePageHeader(tt.b[:n]); ok {
					t.Errorf("the first %d of %d bytes are taken for a header", n, len(tt.b))
				}
			}
		})
	}
}

func TestPageHeaderLies(t *testing.T) {
	chunk := columnChunk{TotalUncompressedSize: 5000}
	good := pageHeader{values: 10, defBytes: 3, repBytes: 4}
	good.Type, good.UncompressedPageSize, good.CompressedPageSize, good.DataPageHeaderV2.Valid = format.DataPageV2, 900, 70, true
	if err := good.check(&chunk, 70, 10); err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(h *pageHeader){
		"longer than the chunk":       func(h *pageHeader) { h.CompressedPageSize = 71 },
		"negative length":             func(h *pageHeader) { h.CompressedPageSize = -1 },
		"larger than the chunk":       func(h *pageHeader) { h.UncompressedPageSize = math.MaxInt32 },
		"negative size":               func(h *pageHeader) { h.UncompressedPageSize = -1 },
		"more values than the chunk":  func(h *pageHeader) { h.values = 11 },
		"negative values":             func(h *pageHeader) { h.values = -1 },
		"levels longer than the page": func(h *pageHeader) { h.defBytes = 67 },
		"negative levels":             func(h *pageHeader) { h.repBytes = -1 },
		"no header of its kind":       func(h *pageHeader) { h.DataPageHeaderV2.Valid = false },
		"dictionary without a header": func(h *pageHeader) { h.Type = format.DictionaryPage },
	} {
		h := good
		lie(&h)
		if err := h.check(&chunk, 70, 10); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Compressed data states its size; a decoder would set that much aside.
func TestDecompressRefusesLies(t *testing.T) {
	text := bytes.Repeat([]byte("ibidem "), 1000)
	snappy, err := parquet.Snappy.Encode(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	zstd, err := parquet.Zstd.Encode(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	_, n := binary.Uvarint(snappy)
	bigSnappy := append(binary.AppendUvarint(nil, math.MaxUint32), snappy[n:]...)
	// A single segment with a content size of eight bytes.
	bigZstd := append([]byte{0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 1, 0, 0, 0}, zstd[9:]...)
	tests := []struct {
		name  string
		src   []byte
		codec format.CompressionCodec
		size  int
		ok    bool
	}{
		{"snappy", snappy, format.Snappy, len(text), true},
		{"snappy, page too small", snappy, format.Snappy, len(text) - 1, false},
		{"snappy, page too large", snappy, format.Snappy, len(text) + 1, false},
		{"snappy, 4 GB", bigSnappy, format.Snappy, len(text), false},
		{"zstd", zstd, format.Zstd, len(text), true},
		{"zstd, page too small", zstd, format.Zstd, len(text) - 1, false},
		{"zstd, 4 GB", bigZstd, format.Zstd, len(text), false},
		{"garbage", text, format.Gzip, len(text), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := func() (b []byte, err error) {
				defer func() {
					if p := recover(); p != nil { // as a reader does
						err = corrupt("%v", p)
					}
				}()
				return decompress(plenty(), nil, tt.src, tt.codec, tt.size)
			}()
			runtime.ReadMemStats(&after)
			if (err == nil) != tt.ok || tt.ok && !bytes.Equal(got, text) || err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("decompress = %d bytes, %v", len(got), err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("%d MB allocated", used>>20)
			}
		})
	}
}
