package parquet

import (
	"bytes"
	"encoding/binary"
	"math/bits"

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

// decodeLevels appends to dst n levels of at most highest and returns an error for any
// other. dst grows run by run.
func decodeLevels(a *account, dst, src []byte, n, highest int) ([]byte, error) {
	width := levelWidth(highest)
	r := hybridReader{src: src, width: width}
	for n > 0 {
		k, packed, value, err := r.next(n)
		if err != nil {
			return dst, err
		}
		at := len(dst)
		if dst, err = extend(a, dst, k, 1); err != nil {
			return dst, err
		}
		if packed != nil {
			if !unpackLevels(dst[at:], packed, width, highest) {
				return dst, corrupt("level above %d", highest)
			}
		} else {
			if value > uint32(highest) {
				return dst, corrupt("level %d above %d", value, highest)
			}
			fill(dst[at:], byte(value))
		}
		n -= k
	}
	return dst, nil
}

func fill(dst []byte, v byte) {
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

// decodeCodes appends to dst n dictionary codes below size. dst grows run by run.
func decodeCodes(a *account, dst []int32, src []byte, n, size int) ([]int32, error) {
	var r hybridReader
	if len(src) > 0 {
		r = hybridReader{src: src[1:], width: uint(src[0])}
	}
	if r.width > 32 {
		return dst, corrupt("dictionary codes of %d bits", r.width)
	}
	var highest uint32
	for n > 0 {
		k, packed, value := n, []byte(nil), uint32(0)
		var err error
		if r.width > 0 { // some writers leave out what is all zero
			if k, packed, value, err = r.next(n); err != nil {
				return dst, err
			}
		}
		at := len(dst)
		if dst, err = extend(a, dst, k, 4); err != nil {
			return dst, err
		}
		run := dst[at:]
		if packed != nil {
			unpackCodes(run, packed, r.width)
			for _, c := range run {
				highest = max(highest, uint32(c))
			}
		} else {
			highest = max(highest, value)
			for i := range run {
				run[i] = int32(value)
			}
		}
		if int64(highest) >= int64(size) {
			return dst, corrupt("dictionary code %d of %d", highest, size)
		}
		n -= k
	}
	return dst, nil
}

// unpackCodes unpacks with the vector code of bitpack, which reads somewhat past
// the end of its input.
func unpackCodes(dst []int32, src []byte, width uint) {
	if cap(src) < len(src)+2*bitpack.PaddingInt32 {
		src = append(bytes.Clone(src), make([]byte, 2*bitpack.PaddingInt32)...)[:len(src)]
	}
	bitpack.Unpack(dst, src, width)
}
