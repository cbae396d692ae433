package dataset

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// decodeInts decodes n integers from the body of a page without a dictionary.
func decodeInts(dst []int64, n int, body []byte, leaf *boundLeaf, encoding format.Encoding) ([]int64, error) {
	dst = slices.Grow(dst[:0], n)[:n]
	switch encoding {
	case format.Plain:
		if len(body)/leaf.width() < n {
			return nil, corrupt("page ends too early")
		}
		plainIntegers(dst, body, leaf)
		return dst, nil
	case format.DeltaBinaryPacked:
		_, err := decodeDelta(dst, body)
		if leaf.physical == format.Int32 {
			for i, v := range dst {
				dst[i] = leaf.widen(uint32(v))
			}
		}
		return dst, err
	case format.ByteStreamSplit:
		body, err := joinStreams(body, n, leaf.physical)
		if err != nil {
			return nil, err
		}
		plainIntegers(dst, body, leaf)
		return dst, nil
	}
	return nil, corrupt("encoding %s of integers", encoding)
}

// widen extends a 32-bit integer as its type says.
func (l *boundLeaf) widen(v uint32) int64 {
	if l.unsigned {
		return int64(v)
	}
	return int64(int32(v))
}

// width is the number of bytes of an integer in the plain encoding.
func (l *boundLeaf) width() int {
	if l.physical == format.Int32 {
		return 4
	}
	return 8
}

// plainIntegers decodes len(dst) integers from the plain encoding; body must
// hold as many.
func plainIntegers(dst []int64, body []byte, leaf *boundLeaf) {
	switch {
	case leaf.physical == format.Int32 && leaf.unsigned:
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

// decodeFloats decodes n doubles from the body of a page without a dictionary;
// integers are converted.
func decodeFloats(dst []float64, ints *[]int64, n int, body []byte, leaf *boundLeaf, encoding format.Encoding) ([]float64, error) {
	dst = slices.Grow(dst[:0], n)[:n]
	if leaf.physical == format.Int32 || leaf.physical == format.Int64 {
		v, err := decodeInts(*ints, n, body, leaf, encoding)
		if err != nil {
			return nil, err
		}
		*ints = v
		for i := range dst {
			if dst[i] = float64(v[i]); v[i] < 0 && leaf.unsigned {
				dst[i] = float64(uint64(v[i]))
			}
		}
		return dst, nil
	}
	switch encoding {
	case format.Plain:
	case format.ByteStreamSplit:
		var err error
		if body, err = joinStreams(body, n, leaf.physical); err != nil {
			return nil, err
		}
	default:
		return nil, corrupt("encoding %s of doubles", encoding)
	}
	if leaf.physical == format.Float {
		if len(body)/4 < n {
			return nil, corrupt("page ends too early")
		}
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(body[4*i:])))
		}
		return dst, nil
	}
	if len(body)/8 < n {
		return nil, corrupt("page ends too early")
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(body[8*i:]))
	}
	return dst, nil
}

// joinStreams undoes BYTE_STREAM_SPLIT: byte k of all values, for each k.
func joinStreams(body []byte, n int, t format.Type) ([]byte, error) {
	width := 8
	if t == format.Int32 || t == format.Float {
		width = 4
	}
	if len(body)/width < n {
		return nil, corrupt("page ends too early")
	}
	out := make([]byte, n*width)
	for k := range width {
		for i := range n {
			out[i*width+k] = body[k*n+i]
		}
	}
	return out, nil
}

// plainTexts turns the body of a page of n texts into the plain encoding: a
// length in four bytes before each text. buf is used for the result if it has
// to be built.
func plainTexts(buf []byte, n int, body []byte, encoding format.Encoding) ([]byte, error) {
	switch encoding {
	case format.Plain:
		return body, nil
	case format.DeltaLengthByteArray:
		lengths, rest, err := decodeLengths(n, body)
		if err != nil {
			return nil, err
		}
		buf = buf[:0]
		for _, length := range lengths {
			if length > int64(len(rest)) {
				return nil, corrupt("page ends too early")
			}
			buf = binary.LittleEndian.AppendUint32(buf, uint32(length))
			buf = append(buf, rest[:length]...)
			rest = rest[length:]
		}
		return buf, nil
	case format.DeltaByteArray:
		return deltaTexts(buf, n, body)
	}
	return nil, corrupt("encoding %s of strings", encoding)
}

// deltaTextLimit bounds what the prefixes of one page may expand to: more than
// any writer puts into a page.
const deltaTextLimit = 1 << 30

func deltaTexts(buf []byte, n int, body []byte) ([]byte, error) {
	prefixes, rest, err := decodeLengths(n, body)
	if err != nil {
		return nil, err
	}
	suffixes, rest, err := decodeLengths(n, rest)
	if err != nil {
		return nil, err
	}
	buf = buf[:0]
	last := 0 // where the previous text begins
	for i := range n {
		prefix, suffix := prefixes[i], suffixes[i]
		if prefix > int64(len(buf)-last) || suffix > int64(len(rest)) || len(buf) > deltaTextLimit {
			return nil, corrupt("bad prefix or suffix of a string")
		}
		buf = binary.LittleEndian.AppendUint32(buf, uint32(prefix+suffix))
		begin := len(buf)
		buf = append(buf, buf[last:last+int(prefix)]...)
		buf = append(buf, rest[:suffix]...)
		rest, last = rest[suffix:], begin
	}
	return buf, nil
}

// decodeLengths decodes n lengths and returns what follows them.
func decodeLengths(n int, body []byte) ([]int64, []byte, error) {
	lengths := make([]int64, n)
	rest, err := decodeDelta(lengths, body)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range lengths {
		if lengths[i] = int64(int32(v)); lengths[i] < 0 {
			return nil, nil, corrupt("string of %d bytes", lengths[i])
		}
	}
	return lengths, rest, nil
}
