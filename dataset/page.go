package dataset

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A inputHeader is what a reader needs to know of a page.
type inputHeader struct {
	kind                     format.PageType
	uncompressed, compressed int
	crc                      uint32
	hasCRC                   bool

	values               int
	encoding             format.Encoding
	defEncoding          format.Encoding
	repEncoding          format.Encoding
	defBytes, repBytes   int  // version 2
	stored               bool // version 2: the values are not compressed
	hasData, hasDictPage bool
}

// parseInputHeader reads the header that b begins with and returns its length. ok
// is false if b does not begin with a complete header.
//
// Source: parquet-format, parquet.thrift, struct PageHeader.
func parseInputHeader(b []byte) (h inputHeader, n int, ok bool) {
	r := compactReader{b: b}
	var id int16
	for t := r.field(&id); t != compactStop; t = r.field(&id) {
		switch {
		case t == compactI32 && id == 1:
			h.kind = format.PageType(r.varint())
		case t == compactI32 && id == 2:
			h.uncompressed = int(r.varint())
		case t == compactI32 && id == 3:
			h.compressed = int(r.varint())
		case t == compactI32 && id == 4:
			h.crc, h.hasCRC = uint32(r.varint()), true
		case t == compactStruct && id == 5:
			h.dataPage(&r)
		case t == compactStruct && id == 7:
			h.dictionaryPage(&r)
		case t == compactStruct && id == 8:
			h.dataPageV2(&r)
		default:
			r.skip(t, 0)
		}
	}
	return h, r.at, !r.bad
}

func (h *inputHeader) dataPage(r *compactReader) {
	h.hasData = true
	var id int16
	for t := r.field(&id); t != compactStop; t = r.field(&id) {
		switch {
		case t == compactI32 && id == 1:
			h.values = int(r.varint())
		case t == compactI32 && id == 2:
			h.encoding = format.Encoding(r.varint())
		case t == compactI32 && id == 3:
			h.defEncoding = format.Encoding(r.varint())
		case t == compactI32 && id == 4:
			h.repEncoding = format.Encoding(r.varint())
		default:
			r.skip(t, 1)
		}
	}
}

func (h *inputHeader) dictionaryPage(r *compactReader) {
	h.hasDictPage = true
	var id int16
	for t := r.field(&id); t != compactStop; t = r.field(&id) {
		switch {
		case t == compactI32 && id == 1:
			h.values = int(r.varint())
		case t == compactI32 && id == 2:
			h.encoding = format.Encoding(r.varint())
		default:
			r.skip(t, 1)
		}
	}
}

func (h *inputHeader) dataPageV2(r *compactReader) {
	h.hasData = true
	h.defEncoding, h.repEncoding = format.RLE, format.RLE
	var id int16
	for t := r.field(&id); t != compactStop; t = r.field(&id) {
		switch {
		case t == compactI32 && id == 1:
			h.values = int(r.varint())
		case t == compactI32 && id == 4:
			h.encoding = format.Encoding(r.varint())
		case t == compactI32 && id == 5:
			h.defBytes = int(r.varint())
		case t == compactI32 && id == 6:
			h.repBytes = int(r.varint())
		case t == compactFalse && id == 7:
			h.stored = true
		default:
			r.skip(t, 1)
		}
	}
}

// check compares what the header claims with what is left of the chunk, so that
// a lie is found before memory is set aside for it.
func (h *inputHeader) check(m *format.ColumnMetaData, bytesLeft, valuesLeft int64) error {
	const harmless = 1 << 20
	levels := h.defBytes + h.repBytes
	switch {
	case h.compressed < 0 || int64(h.compressed) > bytesLeft:
		return corrupt("page of %d bytes, %d are left", h.compressed, bytesLeft)
	case h.uncompressed < 0 || h.uncompressed > harmless && int64(h.uncompressed) > m.TotalUncompressedSize:
		return corrupt("page of %d bytes in a column of %d", h.uncompressed, m.TotalUncompressedSize)
	case h.values < 0:
		return corrupt("page of %d values", h.values)
	case h.kind == format.DictionaryPage && !h.hasDictPage,
		(h.kind == format.DataPage || h.kind == format.DataPageV2) && !h.hasData:
		return corrupt("page without a header of its kind")
	case h.kind != format.DictionaryPage && int64(h.values) > valuesLeft:
		return corrupt("page of %d values, %d are left", h.values, valuesLeft)
	case h.defBytes < 0 || h.repBytes < 0 || levels > min(h.compressed, h.uncompressed):
		return corrupt("page with %d bytes of levels in %d", levels, h.compressed)
	}
	return nil
}

// checksum verifies the page's CRC if it has one.
func (h *inputHeader) checksum(body []byte) error {
	if h.hasCRC && crc32.ChecksumIEEE(body) != h.crc {
		return corrupt("page checksum does not match")
	}
	return nil
}

// pagePadding is the room after a page that vector code may read.
const pagePadding = 64

// decompress decodes src, which must yield exactly size bytes, into buf or a
// larger buffer and returns it.
func decompress(buf, src []byte, codec format.CompressionCodec, size int) ([]byte, error) {
	if size == 0 {
		return buf[:0], nil
	}
	if err := checkDeclaredSize(src, codec, size); err != nil {
		return nil, err
	}
	if cap(buf) < size+pagePadding {
		buf = make([]byte, 0, max(size+pagePadding, 2*cap(buf)))
	}
	// Some codecs use the length of what they are given, some its capacity.
	out, err := parquet.LookupCompressionCodec(codec).Decode(buf[:size], src)
	if err != nil {
		return nil, corrupt("%s: %w", codec, err)
	}
	if len(out) != size {
		return nil, corrupt("%s: %d bytes instead of %d", codec, len(out), size)
	}
	if cap(out) < size+pagePadding {
		out = append(make([]byte, 0, size+pagePadding), out...)
	}
	return out, nil
}

// checkDeclaredSize compares the size that compressed data states itself with
// what its page says: decoders set that much memory aside.
func checkDeclaredSize(src []byte, codec format.CompressionCodec, size int) error {
	declared, known := uint64(0), false
	switch codec {
	case format.Snappy:
		var n int
		declared, n = binary.Uvarint(src)
		known = n > 0
	case format.Zstd:
		declared, known = zstdContentSize(src)
	}
	if known && declared > uint64(size) {
		return corrupt("%s: data of %d bytes in a page of %d", codec, declared, size)
	}
	return nil
}

// zstdContentSize reads the size that the header of a Zstandard frame states, if
// it does.
//
// Source: RFC 8878, section 3.1.1.1.
func zstdContentSize(src []byte) (size uint64, ok bool) {
	const magic = 0xFD2FB528
	if len(src) < 5 || binary.LittleEndian.Uint32(src) != magic {
		return 0, false
	}
	descriptor := src[4]
	single := descriptor>>5&1 == 1
	at := 5 + [4]int{0, 1, 2, 4}[descriptor&3]
	if !single {
		at++
	}
	n := [4]int{0, 2, 4, 8}[descriptor>>6]
	if n == 0 && single {
		n = 1
	}
	if n == 0 || len(src) < at+n {
		return 0, false
	}
	for i := range n {
		size |= uint64(src[at+i]) << (8 * i)
	}
	if n == 2 {
		size += 256
	}
	return size, true
}
