package parquet

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/parquet-go/bitpack"
)

// levelWidth is the number of bits of a level up to max.
func levelWidth(max int) uint { return uint(bits.Len(uint(max))) }

// A hybridReader splits the RLE and bit-packing hybrid encoding into runs.
// Nothing that it says about lengths exceeds what the caller still expects.
//
// Source: parquet-format, Encodings.md, "Run Length Encoding / Bit-Packing
// Hybrid".
type hybridReader struct {
	src   []byte
	width uint
}

// next returns the next run of at most left values: packed bytes, or the one
// value that is repeated n times.
func (r *hybridReader) next(left int) (n int, packed []byte, value uint32, err error) {
	head, k := binary.Uvarint(r.src)
	if k <= 0 || head>>1 == 0 {
		return 0, nil, 0, corrupt("bad run in levels or dictionary codes")
	}
	r.src = r.src[k:]
	if head&1 == 0 {
		size := int(r.width+7) / 8
		if len(r.src) < size {
			return 0, nil, 0, corrupt("levels or dictionary codes end too early")
		}
		for i := range size {
			value |= uint32(r.src[i]) << (8 * i)
		}
		r.src = r.src[size:]
		return int(min(head>>1, uint64(left))), nil, value, nil
	}
	groups := head >> 1
	n = left
	if groups < uint64(left+7)/8 {
		n = int(groups) * 8
	}
	// The last group is padded to eight values; only those that count must
	// be there.
	size := (n*int(r.width) + 7) / 8
	if len(r.src) < size {
		return 0, nil, 0, corrupt("levels or dictionary codes end too early")
	}
	packed = r.src[:size]
	r.src = r.src[min(uint64(len(r.src)), groups*uint64(r.width)):]
	return n, packed, 0, nil
}

// windowValues is how many levels or codes are decoded at a time: a page may claim
// two billion in six bytes.
const windowValues = 256 << 10

// A hybrid decodes the levels or the dictionary codes of a page window by window.
type hybrid[T byte | int32] struct {
	runs    hybridReader
	highest int64 // that a value may be
	left    int   // values that are not decoded yet
	run     int   // of them, those in the run that has been begun
	packed  []byte
	value   T // if packed is nil

	buf []T
	at  int // of buf: the next value
}

// start begins with n values in src.
func (h *hybrid[T]) start(src []byte, width uint, n, highest int) {
	*h = hybrid[T]{runs: hybridReader{src, width}, highest: int64(highest), left: n, buf: h.buf[:0]}
}

// startZeros begins with n zeros that no bytes stand for.
func (h *hybrid[T]) startZeros(n int) { *h = hybrid[T]{left: n, run: n, buf: h.buf[:0]} }

// rest is the number of values that have not been taken.
func (h *hybrid[T]) rest() int { return h.left + len(h.buf) - h.at }

// begin begins with the next run if the last one is over.
func (h *hybrid[T]) begin() error {
	if h.run > 0 {
		return nil
	}
	n, packed, value, err := h.runs.next(h.left)
	if err != nil {
		return err
	}
	if packed == nil && int64(value) > h.highest {
		return corrupt("level or dictionary code %d above %d", value, h.highest)
	}
	h.run, h.packed, h.value = n, packed, T(value)
	return nil
}

// need decodes until at least n values, or all that are left, lie in buf from at on.
func (h *hybrid[T]) need(a *account, n int) error {
	if len(h.buf)-h.at >= n || h.left == 0 {
		return nil
	}
	h.buf = h.buf[:copy(h.buf, h.buf[h.at:])]
	h.at = 0
	n = min(max(n, windowValues), len(h.buf)+h.left)
	for len(h.buf) < n {
		if err := h.begin(); err != nil {
			return err
		}
		k := min(h.run, n-len(h.buf))
		if h.packed != nil && k < h.run {
			k = min(h.run, (k+7)&^7) // the rest begins with a byte
		}
		if err := h.decode(a, k); err != nil {
			return err
		}
	}
	return nil
}

// decode appends the next k values of the run to buf.
func (h *hybrid[T]) decode(a *account, k int) error {
	old := len(h.buf)
	if room := old + k; room > cap(h.buf) {
		size := int64(unsafe.Sizeof(h.value))
		if err := a.add(int64(room-cap(h.buf)) * size); err != nil {
			return err
		}
		h.buf = slices.Grow(h.buf, k)
	}
	h.buf = h.buf[:old+k]
	if h.packed == nil {
		fill(h.buf[old:], h.value)
	} else if err := h.unpack(h.buf[old:]); err != nil {
		return err
	}
	h.run -= k
	h.left -= k
	return nil
}

// unpack unpacks the next values of the run to dst.
func (h *hybrid[T]) unpack(dst []T) error {
	size := min(len(h.packed), (len(dst)+7)/8*int(h.runs.width))
	src := h.packed[:size]
	h.packed = h.packed[size:]
	switch dst := any(dst).(type) {
	case []byte:
		if !unpackLevels(dst, src, h.runs.width, int(h.highest)) {
			return corrupt("level above %d", h.highest)
		}
	case []int32:
		unpack(dst, src, h.runs.width)
		var highest uint32
		for _, c := range dst {
			highest = max(highest, uint32(c))
		}
		if int64(highest) > h.highest {
			return corrupt("dictionary code %d of %d", highest, h.highest+1)
		}
	}
	return nil
}

// skip passes over n values and returns how many of them are v. A run of equal values
// takes no time, however long it is.
func (h *hybrid[T]) skip(a *account, n int, v T) (equal int, err error) {
	for n > 0 {
		if h.at == len(h.buf) && h.left > 0 {
			if err := h.begin(); err != nil {
				return 0, err
			}
			if h.packed == nil {
				k := min(n, h.run)
				h.run -= k
				h.left -= k
				n -= k
				if h.value == v {
					equal += k
				}
				continue
			}
			if err := h.need(a, 1); err != nil {
				return 0, err
			}
		}
		k := min(n, len(h.buf)-h.at)
		if k == 0 {
			return 0, corrupt("levels or dictionary codes end too early")
		}
		for _, x := range h.buf[h.at : h.at+k] {
			if x == v {
				equal++
			}
		}
		h.at += k
		n -= k
	}
	return equal, nil
}

// skipTo passes over the values before the next v and returns how many they are: all,
// if there is none.
func (h *hybrid[T]) skipTo(a *account, v T) (n int, err error) {
	for h.rest() > 0 {
		if h.at == len(h.buf) {
			if err := h.begin(); err != nil {
				return 0, err
			}
			if h.packed == nil && h.value != v {
				n += h.run
				h.left -= h.run
				h.run = 0
				continue
			}
			if err := h.need(a, 1); err != nil {
				return 0, err
			}
		}
		k := slices.Index(h.buf[h.at:], v)
		if k >= 0 {
			h.at += k
			return n + k, nil
		}
		n += len(h.buf) - h.at
		h.at = len(h.buf)
	}
	return n, nil
}

// decodeLevels returns n levels of at most highest; any other is an error.
func decodeLevels(a *account, src []byte, n, highest int) ([]byte, error) {
	var h hybrid[byte]
	h.start(src, levelWidth(highest), n, highest)
	err := h.need(a, n)
	return h.buf, err
}

func fill[T any](dst []T, v T) {
	if len(dst) == 0 {
		return
	}
	dst[0] = v
	for n := 1; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// unpackLevels unpacks len(dst) levels of width 1 to 4 bits, eight at a time: a
// word of eight fields is spread in three steps, halving the fields' distance
// each time. It reports whether all are at most highest.
func unpackLevels(dst, src []byte, width uint, highest int) bool {
	const ones = 0x0101010101010101
	field := uint64(1)<<width - 1
	mask4 := field | field<<width | field<<(2*width) | field<<(3*width)
	mask4 |= mask4 << 32
	mask2 := (field | field<<width) * 0x0001000100010001
	mask1 := field * ones
	shift := 8 - width
	// Adding this sets a byte's top bit if the level is above highest.
	excess := uint64(0x7F-highest) * ones

	var over uint64
	for len(dst) > 0 {
		var x uint64
		if len(src) >= 8 {
			x = binary.LittleEndian.Uint64(src) & (1<<(8*width) - 1)
		} else {
			var tail [8]byte
			copy(tail[:width], src)
			x = binary.LittleEndian.Uint64(tail[:])
		}
		src = src[min(int(width), len(src)):]
		x = (x | x<<(4*shift)) & mask4
		x = (x | x<<(2*shift)) & mask2
		x = (x | x<<shift) & mask1
		if len(dst) < 8 {
			x &= 1<<(8*len(dst)) - 1
			var tail [8]byte
			binary.LittleEndian.PutUint64(tail[:], x)
			over |= x + excess
			copy(dst, tail[:])
			break
		}
		over |= x + excess
		binary.LittleEndian.PutUint64(dst, x)
		dst = dst[8:]
	}
	return over&(0x80*ones) == 0
}

// startCodes begins with n codes below size.
func startCodes(h *hybrid[int32], src []byte, n, size int) error {
	width := uint(0)
	if len(src) > 0 {
		width = uint(src[0])
	}
	switch {
	case width > 32:
		return corrupt("dictionary codes of %d bits", width)
	case n > 0 && size == 0:
		return corrupt("dictionary code 0 of 0")
	case width == 0: // some writers leave out what is all zero
		h.startZeros(n)
	default:
		h.start(src[1:], width, n, size-1)
	}
	return nil
}

// unpack unpacks values of width bits with the vector code of bitpack, which reads
// somewhat past the end of its input.
func unpack[T int32 | int64](dst []T, src []byte, width uint) {
	size, padding := (len(dst)*int(width)+7)/8, 2*bitpack.PaddingInt64
	if cap(src) < size+padding {
		src = append(bytes.Clone(src[:size]), make([]byte, padding)...)
	}
	bitpack.Unpack(dst, src[:size+padding], width)
}
