package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// Limits of what is read of a file, whatever it says of itself.
const (
	MostMemory     = 1 << 30   // bytes of the pages that are open at one time, where no other limit is set
	mostPageBytes  = 256 << 20 // of a page without compression
	mostPageValues = 16 << 20  // entries of a page
	mostHeader     = 16 << 20  // bytes of a page header
	mostFooter     = 64 << 20  // bytes of a footer

	freeValues    = 4 << 20 // entries that a column may have in a file of any size
	valuesPerByte = 64      // and for each byte of the file

	entryBytes = 24 // about what an entry of a page takes beside the page
)

// pagePadding is the room after a page that vector code may read.
const pagePadding = 64

// A pageReader reads the pages of one column chunk. What it returns has been checked:
// decompressed into exactly what the header claims, its checksum compared.
type pageReader struct {
	file io.ReaderAt
	meta *columnChunk

	offset     int64 // in the file, of what follows the window
	bytesLeft  int64 // from offset to the end of the chunk
	valuesLeft int64 // entries in pages not yet read
	strict     bool  // every page must have its checksum

	window []byte
	at     int // of the window: the next page
}

// A pageBody is a page without compression.
type pageBody struct {
	dictionary       bool
	n                int // entries, or values of a dictionary
	encoding         format.Encoding
	rep, def, values []byte
}

func (r *pageReader) start(f *File, group, column int) error {
	c := f.chunk(group, column)
	*r = pageReader{
		file: f.file, meta: c, strict: f.own(), offset: c.start(), bytesLeft: c.Meta.TotalCompressedSize, valuesLeft: c.Meta.NumValues, window: r.window[:0],
	}
	n := f.Entries(column)
	if most := freeValues + valuesPerByte*f.Size; n > most {
		return large("%d values in a file of %d bytes; at most %d are read", n, f.Size, most)
	}
	return checkCodec(c.Meta.Codec)
}

// left is the number of bytes of the chunk that have not been looked at.
func (r *pageReader) left() int64 { return int64(len(r.window)-r.at) + r.bytesLeft }

// need makes at least n bytes available from r.at on; it is an error if the chunk has fewer.
func (r *pageReader) need(n int) error {
	have := len(r.window) - r.at
	if have >= n {
		return nil
	}
	if int64(n-have) > r.bytesLeft {
		return corrupt("a page goes past the end of its column")
	}
	size := max(n, int(min(64<<10, int64(have)+r.bytesLeft)))
	r.window = slices.Grow(r.window[:copy(r.window, r.window[r.at:])], size+pagePadding-have)
	r.at = 0
	more := int(min(int64(size-have), r.bytesLeft))
	k, err := r.file.ReadAt(r.window[have:have+more], r.offset)
	if k < more {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	r.window = r.window[:have+more]
	r.offset += int64(more)
	r.bytesLeft -= int64(more)
	return nil
}

// nextHeader reads the next page header. Its length is not known before.
func (r *pageReader) nextHeader(h *format.PageHeader) error {
	for n := 512; ; n *= 4 {
		left := r.left()
		n = int(min(int64(n), left))
		if err := r.need(n); err != nil {
			return err
		}
		*h = format.PageHeader{}
		if length, ok := decodeStruct(r.window[r.at:], h); ok {
			r.at += length
			return nil
		}
		if int64(n) == left || n > mostHeader {
			return corrupt("unreadable page header")
		}
	}
}

// stored returns the bytes of the page whose header has been read, as they lie in the file.
func (r *pageReader) stored(h *format.PageHeader) ([]byte, error) {
	if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > r.left() {
		return nil, corrupt("page of %d bytes, %d are left", h.CompressedPageSize, r.left())
	}
	size := int(h.CompressedPageSize)
	if err := r.need(size); err != nil {
		return nil, err
	}
	b := r.window[r.at : r.at+size]
	r.at += size
	// A header with the checksum 0 cannot be told from one without.
	if (r.strict || h.CRC != 0) && crc32.ChecksumIEEE(b) != uint32(h.CRC) {
		return nil, corrupt("page checksum does not match")
	}
	return b, nil
}

// next reads the next page that has entries, or a dictionary, into buf or a larger buffer,
// which it returns. leaf says which levels it has.
func (r *pageReader) next(leaf *Leaf, held *holder, buf []byte) (p pageBody, out []byte, err error) {
	for {
		var h format.PageHeader
		if err := r.nextHeader(&h); err != nil {
			return p, buf, err
		}
		var repBytes, defBytes int
		codec := r.meta.Meta.Codec
		switch {
		case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
			d := &h.DictionaryPageHeader.V
			p = pageBody{dictionary: true, n: int(d.NumValues), encoding: d.Encoding}
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			d := &h.DataPageHeader.V
			p = pageBody{n: int(d.NumValues), encoding: d.Encoding}
			if leaf.Rep > 0 && d.RepetitionLevelEncoding != format.RLE || leaf.Def > 0 && d.DefinitionLevelEncoding != format.RLE {
				return p, buf, corrupt("encodings %s and %s of levels", d.RepetitionLevelEncoding, d.DefinitionLevelEncoding)
			}
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			d := &h.DataPageHeaderV2.V
			p = pageBody{n: int(d.NumValues), encoding: d.Encoding}
			repBytes, defBytes = int(d.RepetitionLevelsByteLength), int(d.DefinitionLevelsByteLength)
			if d.IsCompressed.Valid && !d.IsCompressed.V {
				codec = format.Uncompressed
			}
		case h.Type == format.IndexPage:
			if _, err := r.stored(&h); err != nil {
				return p, buf, err
			}
			continue
		default:
			return p, buf, corrupt("page without a header of its kind")
		}
		size := int(h.UncompressedPageSize)
		switch levels := int64(repBytes) + int64(defBytes); {
		case size < 0 || p.n < 0 || repBytes < 0 || defBytes < 0 || levels > int64(min(h.CompressedPageSize, h.UncompressedPageSize)):
			return p, buf, corrupt("page of %d values in %d bytes, %d of them levels", p.n, size, levels)
		case !p.dictionary && int64(p.n) > r.valuesLeft:
			return p, buf, corrupt("page of %d values, %d are left", p.n, r.valuesLeft)
		case size > mostPageBytes || p.n > mostPageValues:
			return p, buf, large("a page of %d values in %d bytes; at most %d in %d are read", p.n, size, mostPageValues, mostPageBytes)
		}
		if err := held.hold(int64(size)+int64(h.CompressedPageSize)+int64(p.n)*entryBytes, p.dictionary); err != nil {
			return p, buf, err
		}
		stored, err := r.stored(&h)
		if err != nil {
			return p, buf, err
		}
		if !p.dictionary {
			r.valuesLeft -= int64(p.n)
			if p.n == 0 {
				continue
			}
		}
		p.rep, p.def = stored[:repBytes], stored[repBytes:repBytes+defBytes]
		if buf, err = decompress(buf, stored[repBytes+defBytes:], codec, size-repBytes-defBytes); err != nil {
			return p, buf, err
		}
		p.values = buf
		if h.Type == format.DataPage && leaf.Rep > 0 {
			p.rep, p.values, err = levelBlock(p.values)
		}
		if h.Type == format.DataPage && leaf.Def > 0 && err == nil {
			p.def, p.values, err = levelBlock(p.values)
		}
		return p, buf, err
	}
}

// levelBlock splits a block of levels off a page of version 1.
func levelBlock(body []byte) (block, rest []byte, err error) {
	if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
		return nil, nil, corrupt("page ends too early")
	}
	end := 4 + int(binary.LittleEndian.Uint32(body))
	return body[4:end], body[end:], nil
}

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
var mostExpansion = map[format.CompressionCodec]int{format.Uncompressed: 1, format.Snappy: 32, format.Lz4Raw: 256, format.Gzip: 1040}

// decompress decompresses src, which must yield exactly size bytes, into buf or a larger
// buffer and returns it. What size alone says sets no memory aside: it must be possible for
// src and, where anything is possible, the buffer grows with what comes.
func decompress(buf, src []byte, codec format.CompressionCodec, size int) (out []byte, err error) {
	possible := true
	if limit, ok := mostExpansion[codec]; ok {
		possible = size <= 64+limit*len(src)
	} else if codec == format.Zstd {
		least, most, ok := zstdExpansion(src)
		possible = ok && least <= size && size <= most
	}
	if !possible {
		return buf, corrupt("%s: %d bytes cannot come from %d", codec, size, len(src))
	}
	buf = buf[:0]
	if (codec != format.Gzip && codec != format.Brotli || size < 1<<20) && cap(buf) < size+pagePadding {
		buf = make([]byte, 0, size+pagePadding)
	}
	switch {
	case size == 0:
		return buf, nil
	case codec == format.Uncompressed:
		out = append(buf, src...)
	case codec == format.Snappy:
		var n int
		if n, err = s2.DecodedLen(src); err == nil && n == size {
			out, err = s2.Decode(buf[:size], src)
		}
	case codec == format.Zstd:
		var decoder *zstd.Decoder
		if decoder, err = zstdDecoder(); err == nil {
			out, err = decoder.DecodeAll(src, buf[:0:size])
			out = buf[:len(out)] // with its padding
		}
	case codec == format.Lz4Raw:
		var n int
		n, err = lz4.UncompressBlock(src, buf[:size])
		out = buf[:max(n, 0)]
	case codec == format.Gzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(src)); err == nil {
			out, err = readUpTo(buf, r, size)
		}
	case codec == format.Brotli:
		out, err = readUpTo(buf, brotli.NewReader(bytes.NewReader(src)), size)
	}
	switch {
	case err != nil:
		return buf, corrupt("%s: %w", codec, err)
	case len(out) != size:
		return buf, corrupt("%s: not the %d bytes that the page says", codec, size)
	}
	return slices.Grow(out, pagePadding), nil
}

// readUpTo reads what r has into buf or a larger buffer, at most one byte more than size.
func readUpTo(buf []byte, r io.Reader, size int) ([]byte, error) {
	b := bytes.NewBuffer(buf)
	_, err := b.ReadFrom(io.LimitReader(r, int64(size)+1))
	return b.Bytes(), err
}

// zstdExpansion returns how many bytes can come from frames of Zstandard, from the headers
// of their blocks: what a frame says of its own content is not believed. ok is false if
// the blocks do not end where src does.
//
// Source: RFC 8878, section 3.1.1.
func zstdExpansion(src []byte) (least, most int, ok bool) {
	const mostOfBlock = 128 << 10
	for len(src) > 0 {
		var h zstd.Header
		if h.Decode(src) != nil || len(src)-h.HeaderSize < int(h.SkippableSize) {
			return 0, 0, false
		}
		src = src[h.HeaderSize+int(h.SkippableSize):]
		for last := h.Skippable; !last; {
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
		if h.HasCheckSum {
			src = src[min(4, len(src)):]
		}
	}
	return least, most, true
}

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(2<<30))
})

// A holder is what one cursor has taken of a budget of bytes: the most that it needed at one
// time, since its memory is used again.
type holder struct {
	budget     *int64 // what is left of it, for the cursors of one file
	held       int64
	dictionary int64 // of it, for the dictionary
}

// hold says that a page, beside the dictionary, or the dictionary of the next pages takes n bytes.
func (h *holder) hold(n int64, dictionary bool) error {
	if dictionary {
		h.dictionary = n
	} else {
		n += h.dictionary
	}
	more := n - h.held
	if more <= 0 {
		return nil
	}
	if more > *h.budget {
		return large("pages that are read at one time take %d bytes more than limits allow", more-*h.budget)
	}
	*h.budget -= more
	h.held = n
	return nil
}

// decodeDeltas decodes n integers in DELTA_BINARY_PACKED and returns what follows them. Their
// blocks are walked first: they must be there.
//
// Source: parquet-format, Encodings.md, "Delta Encoding".
func decodeDeltas(dst []int64, src []byte, n int) (deltas []int64, rest []byte, err error) {
	at, short := 0, false
	uvarint := func() uint64 {
		v, k := binary.Uvarint(src[min(at, len(src)):])
		short = short || k <= 0
		at += max(k, 0)
		return v
	}
	block, minis, total, _ := uvarint(), uvarint(), uvarint(), uvarint()
	switch {
	case short:
	case minis == 0 || block == 0 || block%128 != 0 || block > 1<<20 || block%minis != 0 || block/minis%32 != 0:
		return nil, nil, corrupt("deltas in blocks of %d and %d", block, minis)
	case total != uint64(n):
		return nil, nil, corrupt("%d deltas instead of %d", total, n)
	}
	perMini := int(block / max(minis, 1))
	for left := n - 1; left > 0 && !short; {
		uvarint()
		widths := src[min(at, len(src)):min(at+int(minis), len(src))]
		at += int(minis)
		for m := 0; m < len(widths) && left > 0; m++ {
			if widths[m] > 64 {
				return nil, nil, corrupt("deltas of %d bits", widths[m])
			}
			at += perMini * int(widths[m]) / 8
			left -= perMini
		}
		short = short || at > len(src)
	}
	if short {
		return nil, nil, corrupt("deltas end too early")
	}
	deltas, err = parquet.DeltaBinaryPacked.DecodeInt64(dst[:0], src[:at])
	if err != nil || len(deltas) != n {
		return nil, nil, corrupt("%d deltas of %d: %w", len(deltas), n, err)
	}
	return deltas, src[at:], nil
}

// checkRuns walks the runs of n values of so many bits each, in the hybrid of runs and packed
// bits, and returns them as the library may decode them: they are there, of at most highest
// where a value is repeated, and no more values than whole bytes must have. Of a last run that
// is padded or cut, only what counts must be there.
//
// Source: parquet-format, Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
func checkRuns(src []byte, width, n, highest int) ([]byte, error) {
	for at := 0; ; {
		head, k := binary.Uvarint(src[at:])
		if k <= 0 || head < 2 {
			return nil, corrupt("bad run in levels or dictionary codes")
		}
		begin, body := at, src[at+k:]
		count, size, must := min(head>>1, uint64(n)), (width+7)/8, (width+7)/8
		values := int(count)
		if head&1 != 0 {
			count = min(count, uint64(n+7)/8)
			values, size = 8*int(count), int(count)*width
			must = (min(values, n)*width + 7) / 8
		}
		if must > len(body) {
			return nil, corrupt("levels or dictionary codes end too early")
		}
		if head&1 == 0 {
			var value [4]byte
			copy(value[:], body[:size])
			if v := binary.LittleEndian.Uint32(value[:]); uint64(v) > uint64(highest) {
				return nil, corrupt("level or dictionary code %d above %d", v, highest)
			}
		}
		at += k + size
		switch {
		case values < n:
			n -= values
		case count == head>>1 && at <= len(src):
			return src[:at], nil
		default:
			body = body[:min(size, len(body))]
			last := append(binary.AppendUvarint(slices.Clip(src[:begin]), count<<1|head&1), body...)
			return slices.Grow(append(last, make([]byte, size-len(body))...), pagePadding), nil
		}
	}
}

// appendPlainTexts appends where n texts begin in the plain encoding, each after its
// length, and where the last ends.
func appendPlainTexts(dst []uint32, src []byte, n int) ([]uint32, error) {
	if n > len(src)/4 {
		return nil, corrupt("%d texts in %d bytes", n, len(src))
	}
	dst = slices.Grow(dst, n+1)
	at := 0
	for range n {
		dst = append(dst, uint32(at))
		if len(src)-at < 4 {
			return nil, corrupt("page ends too early")
		}
		length := int(binary.LittleEndian.Uint32(src[at:]))
		if at += 4; length > len(src)-at {
			return nil, corrupt("page ends too early")
		}
		at += length
	}
	return append(dst, uint32(at)), nil
}
