package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime/debug"
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
func (h *pageHeader) check(m *columnChunk, bytesLeft, valuesLeft int64) error {
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
var mostExpansion = map[format.CompressionCodec]int{format.Snappy: 32, format.Lz4Raw: 256, format.Gzip: 1040}

// zstdExpansion returns how many bytes can come from frames of Zstandard, from the headers
// of their blocks: what a frame says of its own content is not believed. ok is false if
// the blocks do not end where src does.
//
// Source: RFC 8878, section 3.1.1.
func zstdExpansion(src []byte) (least, most int, ok bool) {
	const mostOfBlock = 128 << 10
	for len(src) > 0 {
		if len(src) < 8 {
			return 0, 0, false
		}
		magic := binary.LittleEndian.Uint32(src)
		if magic&^0xF == 0x184D2A50 { // a frame to be skipped
			length := binary.LittleEndian.Uint32(src[4:])
			if uint64(length) > uint64(len(src)-8) {
				return 0, 0, false
			}
			src = src[8+length:]
			continue
		}
		descriptor := src[4]
		header := 5 + [4]int{0, 1, 2, 4}[descriptor&3] + [4]int{0, 2, 4, 8}[descriptor>>6]
		switch single := descriptor&(1<<5) != 0; {
		case !single, descriptor>>6 == 0: // a byte for the window, or for the size
			header++
		}
		if magic != 0xFD2FB528 || len(src) < header {
			return 0, 0, false
		}
		src = src[header:]
		for last := false; !last; {
			if len(src) < 3 {
				return 0, 0, false
			}
			block := int(src[0]) | int(src[1])<<8 | int(src[2])<<16
			last = block&1 != 0
			length := block >> 3
			switch block >> 1 & 3 {
			case 0:
				least, most = least+length, most+length
			case 1: // one byte, many times
				least, most, length = least+length, most+length, 1
			default:
				most += mostOfBlock
			}
			if len(src) < 3+length {
				return 0, 0, false
			}
			src = src[3+length:]
		}
		if descriptor&(1<<2) != 0 { // a checksum
			src = src[min(4, len(src)):]
		}
	}
	return least, most, true
}

// longPage is how many bytes of a page are too many to wait for another one, and worth a
// collection of garbage before they are set aside.
const longPage = 64 << 20

// decompress decompresses src, which must yield exactly size bytes, into buf or a larger
// buffer and returns it. What size alone says sets no memory aside: much more than usual
// must be possible for src and, where that can be anything, is counted before it is kept.
func decompress(a *account, buf, src []byte, codec format.CompressionCodec, size int) ([]byte, error) {
	if size == 0 {
		return buf[:0], nil
	}
	if limit, ok := mostExpansion[codec]; ok && size > 64+limit*len(src) {
		return nil, corrupt("%s: %d bytes cannot come from %d", codec, size, len(src))
	}
	if err := a.add(int64(size)); err != nil {
		return nil, err
	}
	const usual = 1 << 20
	if size > max(usual, 8*len(src), cap(buf)-pagePadding) {
		if err := canExpand(src, codec, size); err != nil {
			return nil, err
		}
	}
	if cap(buf) < size+pagePadding {
		if size > longPage { // the one before may be garbage that nobody has collected yet
			buf = nil
			debug.FreeOSMemory()
		}
		buf = make([]byte, 0, size+pagePadding)
	}
	out, err := decompressInto(buf[:0:size], src, codec)
	switch {
	case err != nil:
		return nil, corrupt("%s: %w", codec, err)
	case len(out) != size:
		return nil, corrupt("%s: %d bytes instead of %d", codec, len(out), size)
	case unsafe.SliceData(out) != unsafe.SliceData(buf):
		copy(buf[:size], out)
	}
	return buf[:size], nil
}

// canExpand returns an error if size bytes cannot come from src, as far as that can be
// told without memory for them.
func canExpand(src []byte, codec format.CompressionCodec, size int) error {
	var r io.Reader
	switch codec {
	case format.Zstd:
		if least, most, ok := zstdExpansion(src); !ok || size < least || size > most {
			return corrupt("%s: %d bytes cannot come from these blocks", codec, size)
		}
		return nil
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return corrupt("%s: %w", codec, err)
		}
		r = z
	case format.Brotli:
		r = brotli.NewReader(bytes.NewReader(src))
	default:
		return nil
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, int64(size)+1))
	if err != nil {
		return corrupt("%s: %w", codec, err)
	}
	if n != int64(size) {
		return corrupt("%s: %d bytes or more instead of %d", codec, n, size)
	}
	return nil
}

func newZstdDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(2<<30))
}

var zstdDecoder = sync.OnceValues(newZstdDecoder)

// errLong says that a buffer is too small for what is decompressed into it.
var errLong = errors.New("more data than its page says")

// decompressInto decompresses src into the capacity of buf.
func decompressInto(buf, src []byte, codec format.CompressionCodec) ([]byte, error) {
	room := buf[:cap(buf)]
	switch codec {
	case format.Snappy:
		n, err := s2.DecodedLen(src)
		if err == nil && n > len(room) {
			err = errLong
		}
		if err != nil {
			return nil, err
		}
		return s2.Decode(room, src)
	case format.Zstd:
		decoder, err := zstdDecoder()
		if cap(buf) > longPage { // a decoder keeps what it decoded last
			decoder, err = newZstdDecoder()
		}
		if err != nil {
			return nil, err
		}
		return decoder.DecodeAll(src, buf)
	case format.Lz4Raw:
		n, err := lz4.UncompressBlock(src, room)
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
		return nil, errLong
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

// errOverMemory is within the error for what needs more memory than the budget has.
var errOverMemory = errors.New("limits.memory")

// fits returns an error if n more bytes are over the budget. Who knows early that they
// will be needed asks before others are taken.
func (a *account) fits(n int64) error {
	more := a.used + n - a.held
	switch {
	case more <= 0 || a.budget != nil && more <= a.budget.left:
		return nil
	case a.budget != nil && a.budget.page > 0:
		return corrupt("%w: what is decoded takes %d bytes more than it allows", errOverMemory, more)
	}
	return corrupt("what is decoded takes %d bytes more than a file of this size can need", more)
}

// add says that n more bytes are about to be used.
func (a *account) add(n int64) error {
	if err := a.fits(n); err != nil {
		return err
	}
	a.used += n
	if more := a.used - a.held; more > 0 {
		a.budget.left -= more
		a.held = a.used
	}
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
