package parquet

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// appendInts appends n integers or flags from the body of a page without a
// dictionary.
func appendInts(a *account, dst []int64, n int, body []byte, leaf *Leaf, encoding format.Encoding) (out []int64, err error) {
	old := len(dst)
	switch {
	case leaf.Kind == Flag:
		return appendFlags(a, dst, n, body, encoding)
	case encoding == format.DeltaBinaryPacked:
		out, _, err = appendDeltas(a, dst, n, body)
		if leaf.physical == format.Int32 && err == nil {
			for i, v := range out[old:] {
				out[old+i] = leaf.widen(uint32(v))
			}
		}
		return out, err
	case encoding == format.ByteStreamSplit:
		body, err = joinStreams(a, body, n, leaf.physical)
	case encoding != format.Plain:
		err = corrupt("encoding %s of integers", encoding)
	}
	if err == nil && len(body)/leaf.width() < n {
		err = corrupt("page ends too early")
	}
	if err == nil {
		out, err = extend(a, dst, n, 8)
	}
	if err == nil {
		plainIntegers(out[old:], body, leaf)
	}
	return out, err
}

// appendFlags appends n booleans, one bit each or as levels are.
func appendFlags(a *account, dst []int64, n int, body []byte, encoding format.Encoding) ([]int64, error) {
	old := len(dst)
	var bits []byte
	err := a.fits(9 * int64(n)) // a byte and then eight for each
	switch {
	case err != nil:
	case encoding == format.Plain:
		if len(body) < (n+7)/8 {
			return nil, corrupt("page ends too early")
		}
		bits = make([]byte, n)
		unpackLevels(bits, body, 1, 1)
	case encoding == format.RLE:
		if body, _, err = levelBlock(body, format.RLE); err == nil {
			bits, err = decodeLevels(a, body, n, 1)
		}
	default:
		err = corrupt("encoding %s of booleans", encoding)
	}
	if err == nil {
		dst, err = extend(a, dst, n, 8)
	}
	if err != nil {
		return nil, err
	}
	for i, bit := range bits {
		dst[old+i] = int64(bit)
	}
	return dst, nil
}

// widen extends a 32-bit integer as its type says.
func (l *Leaf) widen(v uint32) int64 {
	if l.Unsigned {
		return int64(v)
	}
	return int64(int32(v))
}

// width is the number of bytes of an integer in the plain encoding.
func (l *Leaf) width() int {
	if l.physical == format.Int32 {
		return 4
	}
	return 8
}

// plainIntegers decodes len(dst) integers from the plain encoding; body must
// hold as many.
func plainIntegers(dst []int64, body []byte, leaf *Leaf) {
	switch {
	case leaf.physical == format.Int32 && leaf.Unsigned:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint32(body[4*i:]))
		}
	case leaf.physical == format.Int32:
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(body[4*i:])))
		}
	case littleEndian && len(dst) > 0:
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), 8*len(dst)), body)
	default:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(body[8*i:]))
		}
	}
}

// littleEndian says that integers in memory look as they do in Parquet.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// appendFloats appends n doubles from the body of a page without a dictionary;
// integers are converted, by way of ints.
func appendFloats(a *account, dst []float64, ints *[]int64, n int, body []byte, leaf *Leaf, encoding format.Encoding) (out []float64, err error) {
	old := len(dst)
	if leaf.physical == format.Int32 || leaf.physical == format.Int64 {
		if *ints, err = appendInts(a, (*ints)[:0], n, body, leaf, encoding); err == nil {
			out, err = extend(a, dst, n, 8)
		}
		if err != nil {
			return nil, err
		}
		for i, v := range *ints {
			if out[old+i] = float64(v); v < 0 && leaf.Unsigned {
				out[old+i] = float64(uint64(v))
			}
		}
		return out, nil
	}
	switch encoding {
	case format.Plain:
	case format.ByteStreamSplit:
		if body, err = joinStreams(a, body, n, leaf.physical); err != nil {
			return nil, err
		}
	default:
		return nil, corrupt("encoding %s of doubles", encoding)
	}
	width := 8
	if leaf.physical == format.Float {
		width = 4
	}
	if len(body)/width < n {
		return nil, corrupt("page ends too early")
	}
	if out, err = extend(a, dst, n, 8); err != nil {
		return nil, err
	}
	for i := range out[old:] {
		if width == 4 {
			out[old+i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:])))
		} else {
			out[old+i] = math.Float64frombits(binary.LittleEndian.Uint64(body[8*i:]))
		}
	}
	return out, nil
}

// joinStreams undoes BYTE_STREAM_SPLIT: byte k of all values, for each k.
func joinStreams(a *account, body []byte, n int, t format.Type) ([]byte, error) {
	width := 8
	if t == format.Int32 || t == format.Float {
		width = 4
	}
	if len(body)/width < n {
		return nil, corrupt("page ends too early")
	}
	if err := a.add(int64(n * width)); err != nil {
		return nil, err
	}
	out := make([]byte, n*width)
	for k := range width {
		for i := range n {
			out[i*width+k] = body[k*n+i]
		}
	}
	return out, nil
}

// plainTexts turns the body of a page of n texts into the plain encoding: a length in
// four bytes before each text. buf is used for the result if it has to be built.
func plainTexts(a *account, buf []byte, n int, body []byte, encoding format.Encoding) ([]byte, error) {
	var prefixes, suffixes []int64
	var err error
	switch encoding {
	case format.Plain:
		return body, nil
	case format.DeltaLengthByteArray:
		suffixes, body, err = decodeLengths(a, n, body)
	case format.DeltaByteArray:
		if prefixes, body, err = decodeLengths(a, n, body); err == nil {
			suffixes, body, err = decodeLengths(a, n, body)
		}
	default:
		err = corrupt("encoding %s of strings", encoding)
	}
	if err != nil {
		return nil, err
	}
	total, last, left := 4*int64(n), int64(0), int64(len(body))
	for i, suffix := range suffixes {
		prefix := int64(0)
		if prefixes != nil {
			prefix = prefixes[i]
		}
		if prefix > last || suffix > left {
			return nil, corrupt("bad prefix or suffix of a string")
		}
		last, left = prefix+suffix, left-suffix
		total += last
	}
	if err := a.add(total); err != nil {
		return nil, err
	}
	buf = slices.Grow(buf[:0], int(total))
	begin := 0 // of the text before
	for i, suffix := range suffixes {
		prefix := int64(0)
		if prefixes != nil {
			prefix = prefixes[i]
		}
		buf = binary.LittleEndian.AppendUint32(buf, uint32(prefix+suffix))
		buf = append(buf, buf[begin:begin+int(prefix)]...)
		buf = append(buf, body[:suffix]...)
		body, begin = body[suffix:], len(buf)-int(prefix+suffix)
	}
	return buf, nil
}

// decodeLengths decodes n lengths and returns what follows them.
func decodeLengths(a *account, n int, body []byte) (lengths []int64, rest []byte, err error) {
	if lengths, rest, err = appendDeltas(a, nil, n, body); err != nil {
		return nil, nil, err
	}
	for i, v := range lengths {
		if lengths[i] = int64(int32(v)); lengths[i] < 0 {
			return nil, nil, corrupt("string of %d bytes", lengths[i])
		}
	}
	return lengths, rest, nil
}

// appendDeltas appends n integers from DELTA_BINARY_PACKED and returns what follows
// them. 32-bit columns wrap around in 32 bits; the caller cuts the values down. That the
// blocks are there is seen before memory is set aside for n.
//
// Source: parquet-format, Encodings.md, "Delta Encoding".
func appendDeltas(a *account, dst []int64, n int, src []byte) (out []int64, rest []byte, err error) {
	r := compactReader{b: src}
	block, minis, total := r.uvarint(), r.uvarint(), r.uvarint()
	value := r.varint()
	switch {
	case r.bad:
		return nil, nil, corrupt("deltas end too early")
	case minis == 0 || block == 0 || block%128 != 0 || block > 1<<20 || block%minis != 0 || block/minis%32 != 0:
		return nil, nil, corrupt("deltas in blocks of %d and %d", block, minis)
	case total != uint64(n):
		return nil, nil, corrupt("%d deltas instead of %d", total, n)
	}
	if n == 0 {
		return dst, src[r.at:], nil
	}
	perMini := int(block / minis)
	if err := a.fits(8 * int64(n)); err != nil {
		return nil, nil, err
	}
	if !hasDeltas(r, n-1, int(minis), perMini) {
		return nil, nil, corrupt("deltas end too early")
	}
	at := len(dst)
	if dst, err = extend(a, dst, n, 8); err != nil {
		return nil, nil, err
	}
	dst[at] = value
	for at++; at < len(dst); {
		least := r.varint()
		widths := r.at
		r.discard(minis)
		for m := 0; m < int(minis) && at < len(dst); m++ {
			width := uint(src[widths+m])
			packed := src[r.at:]
			r.discard(uint64(perMini) * uint64(width) / 8)
			mini := dst[at:min(at+perMini, len(dst))]
			unpack(mini, packed, width)
			for i, v := range mini {
				value += least + v
				mini[i] = value
			}
			at += len(mini)
		}
	}
	return dst, src[r.at:], nil
}

// hasDeltas reports whether r has the blocks of n deltas.
func hasDeltas(r compactReader, n, minis, perMini int) bool {
	for n > 0 && !r.bad {
		r.varint()
		widths := r.at
		r.discard(uint64(minis))
		for m := 0; m < minis && n > 0 && !r.bad; m++ {
			width := r.b[widths+m]
			if r.discard(uint64(perMini) * uint64(width) / 8); width > 64 {
				return false
			}
			n -= perMini
		}
	}
	return !r.bad
}
