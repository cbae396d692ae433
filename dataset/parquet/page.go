package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"
	"unsafe"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// A pageHeader is what a reader needs to know of a page of any version.
type pageHeader struct {
	format.PageHeader
	values                   int
	encoding                 format.Encoding
	defEncoding, repEncoding format.Encoding
	defBytes, repBytes       int  // version 2
	stored                   bool // version 2: the values are not compressed
	length                   int  // of the header in bytes
}

// parsePageHeader reads the header that b begins with and returns its length. ok is
// false if b does not begin with a complete header.
func parsePageHeader(b []byte) (h pageHeader, n int, ok bool) {
	if n, ok = decodeStruct(b, &h.PageHeader); !ok {
		return h, 0, false
	}
	switch {
	case h.DataPageHeader.Valid:
		p := &h.DataPageHeader.V
		h.values, h.encoding = int(p.NumValues), p.Encoding
		h.defEncoding, h.repEncoding = p.DefinitionLevelEncoding, p.RepetitionLevelEncoding
	case h.DataPageHeaderV2.Valid:
		p := &h.DataPageHeaderV2.V
		h.values, h.encoding = int(p.NumValues), p.Encoding
		h.defBytes, h.repBytes = int(p.DefinitionLevelsByteLength), int(p.RepetitionLevelsByteLength)
		h.stored = p.IsCompressed.Valid && !p.IsCompressed.V
	case h.DictionaryPageHeader.Valid:
		p := &h.DictionaryPageHeader.V
		h.values, h.encoding = int(p.NumValues), p.Encoding
	}
	return h, n, true
}

// check compares what the header claims with what is left of the chunk.
func (h *pageHeader) check(m *format.ColumnMetaData, bytesLeft, valuesLeft int64) error {
	const harmless = 1 << 20
	levels := h.defBytes + h.repBytes
	compressed, uncompressed := h.CompressedPageSize, h.UncompressedPageSize
	switch {
	case compressed < 0 || int64(compressed) > bytesLeft:
		return corrupt("page of %d bytes, %d are left", compressed, bytesLeft)
	case uncompressed < 0 || uncompressed > harmless && int64(uncompressed) > m.TotalUncompressedSize:
		return corrupt("page of %d bytes in a column of %d", uncompressed, m.TotalUncompressedSize)
	case h.values < 0:
		return corrupt("page of %d values", h.values)
	case h.Type == format.DictionaryPage && !h.DictionaryPageHeader.Valid,
		h.Type == format.DataPage && !h.DataPageHeader.Valid,
		h.Type == format.DataPageV2 && !h.DataPageHeaderV2.Valid:
		return corrupt("page without a header of its kind")
	case h.Type != format.DictionaryPage && int64(h.values) > valuesLeft:
		return corrupt("page of %d values, %d are left", h.values, valuesLeft)
	case h.defBytes < 0 || h.repBytes < 0 || levels > int(min(compressed, uncompressed)):
		return corrupt("page with %d bytes of levels in %d", levels, compressed)
	}
	return nil
}

// checksum verifies the page's CRC if it has one, or must have one. A header with the
// CRC 0 cannot be told from one without.
func (h *pageHeader) checksum(body []byte, must bool) error {
	if (must || h.CRC != 0) && crc32.ChecksumIEEE(body) != uint32(h.CRC) {
		return corrupt("page checksum does not match")
	}
	return nil
}

// pagePadding is the room after a page that vector code may read.
const pagePadding = 64

// checkCodec refuses what no library here decompresses: LZO, and the LZ4 that the
// format has given up for LZ4_RAW.
func checkCodec(c format.CompressionCodec) error {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw:
		return nil
	}
	return fmt.Errorf("compression %s is not supported", c)
}

// mostExpansion is how many bytes can come from one, where the format bounds that.
var mostExpansion = map[format.CompressionCodec]int{format.Snappy: 32, format.Lz4Raw: 256}

// withoutContentSize returns a Zstandard frame whose header does not say how much
// data it holds. The library believes that number before it has decoded anything.
// What is no frame stays as it is.
//
// Source: RFC 8878, section 3.1.1.1.
func withoutContentSize(src []byte) []byte {
	const singleSegment, widestWindow = 1 << 5, 21 << 3 // a window of 2 GiB, as long as a page can be
	if len(src) < 6 {
		return src
	}
	descriptor := src[4]
	single := descriptor&singleSegment != 0
	idSize := [4]int{0, 1, 2, 4}[descriptor&3]
	contentSize := [4]int{0, 2, 4, 8}[descriptor>>6]
	window, at := src[5], 6
	if single {
		window, at = widestWindow, 5
		contentSize = max(contentSize, 1)
	}
	if len(src) < at+idSize+contentSize {
		return src
	}
	out := make([]byte, 0, len(src)+1)
	out = append(out, src[:4]...)
	out = append(out, descriptor&^(3<<6|singleSegment), window)
	out = append(out, src[at:at+idSize]...)
	return append(out, src[at+idSize+contentSize:]...)
}

// errShort says that a buffer is too small for what is decompressed into it.
var errShort = errors.New("more data than its page says")

// decompress decodes src, which must yield exactly size bytes, into buf or a larger
// buffer and returns it. It starts with a buffer for usual rates of compression and
// doubles it as long as data comes: size alone sets no memory aside.
func decompress(a *account, buf, src []byte, codec format.CompressionCodec, size int) ([]byte, error) {
	if size == 0 {
		return buf[:0], nil
	}
	if limit, ok := mostExpansion[codec]; ok && size > 64+limit*len(src) {
		return nil, corrupt("%s: %d bytes cannot come from %d", codec, size, len(src))
	}
	const usual = 1 << 20
	room := min(size, max(usual, 8*len(src), cap(buf)-pagePadding))
	if room < size && codec == format.Zstd {
		src = withoutContentSize(src)
	}
	if err := a.add(int64(room)); err != nil {
		return nil, err
	}
	for {
		if cap(buf) < room+pagePadding {
			buf = make([]byte, 0, room+pagePadding)
		}
		out, err := decompressInto(buf[:0:room], src, codec)
		switch {
		case err == nil && len(out) == size:
			if unsafe.SliceData(out) != unsafe.SliceData(buf) {
				copy(buf[:size], out)
			}
			return buf[:size], nil
		case err == nil:
			return nil, corrupt("%s: %d bytes instead of %d", codec, len(out), size)
		case !errors.Is(err, errShort) || room == size:
			return nil, corrupt("%s: %w", codec, err)
		}
		more := min(room, size-room)
		if err := a.add(int64(more)); err != nil {
			return nil, err
		}
		room += more
	}
}

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(2<<30))
})

// decompressInto decompresses src into the capacity of buf; the error is errShort if
// that is not enough.
func decompressInto(buf, src []byte, codec format.CompressionCodec) ([]byte, error) {
	room := buf[:cap(buf)]
	switch codec {
	case format.Snappy:
		n, err := s2.DecodedLen(src)
		if err == nil && n > len(room) {
			err = errShort
		}
		if err != nil {
			return nil, err
		}
		return s2.Decode(room, src)
	case format.Zstd:
		decoder, err := zstdDecoder()
		if err != nil {
			return nil, err
		}
		out, err := decoder.DecodeAll(src, buf)
		// The library has several errors for too little room. That the last whole
		// block ends within a block's length of it tells them from corrupt data.
		const block = 128 << 10
		if err != nil && cap(buf)-len(out) <= block {
			err = errShort
		}
		return out, err
	case format.Lz4Raw:
		n, err := lz4.UncompressBlock(src, room)
		if errors.Is(err, lz4.ErrInvalidSourceShortBuffer) {
			err = errShort // or the data is corrupt: the library does not tell
		}
		return room[:max(n, 0)], err
	case format.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return nil, err
		}
		return readAll(room, r)
	case format.Brotli:
		return readAll(room, brotli.NewReader(bytes.NewReader(src)))
	}
	return nil, checkCodec(codec)
}

// readAll reads what r has into room.
func readAll(room []byte, r io.Reader) ([]byte, error) {
	n, err := io.ReadFull(r, room)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		return room[:n], nil
	}
	if err != nil {
		return nil, err
	}
	var one [1]byte
	switch _, err := io.ReadFull(r, one[:]); err {
	case nil:
		return nil, errShort
	case io.EOF:
		return room, nil
	default:
		return nil, err
	}
}

// levelBlock splits a block of levels off a page of version 1.
func levelBlock(body []byte, encoding format.Encoding) (block, rest []byte, err error) {
	if encoding != format.RLE {
		return nil, nil, corrupt("encoding %s of levels", encoding)
	}
	if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
		return nil, nil, corrupt("page ends too early")
	}
	end := 4 + int(binary.LittleEndian.Uint32(body))
	return body[4:end], body[end:], nil
}

// What a file may take in memory when it is decoded, where nobody sets a limit: more
// than real files do, and in proportion to their bytes. A page that claims more is
// refused while it is decoded, since a claim alone sets no memory aside.
const (
	budgetBase    = 512 << 20
	budgetPerByte = 256
)

// A Budget is how many bytes the readers of one file may still take. It is not safe
// for concurrent use.
type Budget struct {
	left int64
	page int64 // most bytes that a page of a column without lists may claim; 0 = any number
}

// Budget returns a new budget for reading the file: memory bytes or, if that is 0, half a
// gigabyte and 256 times its size.
func (f *File) Budget(memory int64) *Budget {
	if memory == 0 {
		return &Budget{left: budgetBase + budgetPerByte*f.Size}
	}
	return &Budget{left: memory, page: memory}
}

// NewBudget is a budget of some bytes.
func NewBudget(bytes int64) Budget { return Budget{left: bytes} }

// Left is what may still be taken.
func (b *Budget) Left() int64 { return b.left }

// pageLimit is how many bytes a page may have in memory: both sides of a codec that is
// not a stream are there at one time.
func (b *Budget) pageLimit(codec format.CompressionCodec) int64 {
	if codec == format.Snappy || codec == format.Lz4Raw {
		return b.page / 2
	}
	return b.page / 4 * 3
}

// An account is what one buffer's owner has taken of a budget: the most that it ever
// needed at one time, since its memory is used again.
type account struct {
	budget *Budget
	held   int64
	used   int64
}

// add says that n more bytes are about to be used.
func (a *account) add(n int64) error {
	a.used += n
	more := a.used - a.held
	if more <= 0 {
		return nil
	}
	if a.budget == nil || more > a.budget.left {
		return corrupt("what is decoded takes %d bytes more than a file of this size can need", more)
	}
	a.budget.left -= more
	a.held = a.used
	return nil
}

// extend lengthens s by n elements, whose values are arbitrary, as part of what the
// account pays for. size is that of an element.
func extend[T any](a *account, s []T, n int, size int64) ([]T, error) {
	if err := a.add(int64(n) * size); err != nil {
		return s, err
	}
	return slices.Grow(s, n)[:len(s)+n], nil
}
