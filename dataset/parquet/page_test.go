package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A header that lies is refused before its page is decoded.
func TestPageHeaderLies(t *testing.T) {
	body := bytes.Repeat([]byte{1}, 70)
	good := format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: 70, CompressedPageSize: 70}
	good.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: 2, RepetitionLevelsByteLength: 3, DefinitionLevelsByteLength: 4})
	for name, lie := range map[string]func(h *format.PageHeader){
		"":                            func(h *format.PageHeader) {},
		"longer than the chunk":       func(h *format.PageHeader) { h.CompressedPageSize = 71 },
		"negative length":             func(h *format.PageHeader) { h.CompressedPageSize = -1 },
		"larger than it is":           func(h *format.PageHeader) { h.UncompressedPageSize = 71 },
		"negative size":               func(h *format.PageHeader) { h.UncompressedPageSize = -1 },
		"more values than the chunk":  func(h *format.PageHeader) { h.DataPageHeaderV2.V.NumValues = 11 },
		"negative values":             func(h *format.PageHeader) { h.DataPageHeaderV2.V.NumValues = -1 },
		"levels longer than the page": func(h *format.PageHeader) { h.DataPageHeaderV2.V.DefinitionLevelsByteLength = 68 },
		"negative levels":             func(h *format.PageHeader) { h.DataPageHeaderV2.V.RepetitionLevelsByteLength = -1 },
		"no header of its kind":       func(h *format.PageHeader) { h.DataPageHeaderV2.Valid = false },
		"dictionary without a header": func(h *format.PageHeader) { h.Type = format.DictionaryPage },
		"another checksum":            func(h *format.PageHeader) { h.CRC = 1 },
	} {
		h := good
		lie(&h)
		b, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
		if err != nil {
			t.Fatal(err)
		}
		for n := range b {
			c := chunkCursor(b[:n], Leaf{Def: 1, Rep: 1}, format.Uncompressed, 10, 1<<20)
			if err := c.pages.nextHeader(new(format.PageHeader)); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s: the first %d of %d bytes are taken for a header, %v", name, n, len(b), err)
			}
		}
		c := chunkCursor(append(b, body...), Leaf{Def: 1, Rep: 1}, format.Uncompressed, 10, 1<<20)
		p, _, err := c.pages.next(&c.leaf, &c.held, nil)
		if name == "" && (err != nil || p.n != 2 || len(p.rep) != 3 || len(p.def) != 4 || len(p.values) != 63) || name != "" && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %+v, %v", name, p, err)
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
				return decompress(nil, tt.src, tt.codec, tt.size)
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
