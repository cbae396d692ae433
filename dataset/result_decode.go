package dataset

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// readHybrid fills dst from the RLE/bit-packing hybrid b of values below limit.
func readHybrid(dst []uint32, b []byte, width uint, limit uint32) error {
	for len(dst) > 0 {
		head, n := binary.Uvarint(b)
		if n <= 0 || head>>1 == 0 {
			return corrupt("unreadable run of levels or codes")
		}
		b = b[n:]
		count, size := head>>1, uint64(width+7)/8
		if head&1 == 1 {
			if count > math.MaxInt32 {
				return corrupt("unreadable run of levels or codes")
			}
			count, size = count*8, count*uint64(width)
		}
		count = min(count, uint64(len(dst)))
		if size > uint64(len(b)) {
			return corrupt("run of levels or codes goes beyond its page")
		}
		run := dst[:count]
		if head&1 == 1 {
			unpackBits(run, b[:size], width)
			for _, v := range run {
				if v >= limit {
					return corrupt("level or code %d, where %d is the limit", v, limit)
				}
			}
		} else if err := fillRun(run, b[:size], limit); err != nil {
			return err
		}
		b, dst = b[size:], dst[count:]
	}
	return nil
}

func fillRun(run []uint32, b []byte, limit uint32) error {
	var v uint32
	for i, x := range b {
		v |= uint32(x) << (8 * i)
	}
	if v >= limit {
		return corrupt("level or code %d, where %d is the limit", v, limit)
	}
	for i := range run {
		run[i] = v
	}
	return nil
}

// unpackBits fills dst with values of width bits, at most 32, lowest bit first.
// b holds enough bits.
func unpackBits(dst []uint32, b []byte, width uint) {
	mask := uint64(1)<<width - 1
	bit := uint(0)
	for i := range dst {
		at := bit >> 3
		var word uint64
		if at+8 <= uint(len(b)) {
			word = binary.LittleEndian.Uint64(b[at:])
		} else {
			for j, x := range b[at:] {
				word |= uint64(x) << (8 * j)
			}
		}
		dst[i] = uint32(word >> (bit & 7) & mask)
		bit += width
	}
}

// addValues appends the values of a page to dst: those of a dictionary by their
// codes, or those that plain decodes. defs, if not nil, says where the nulls
// are.
func addValues[T any](dst []T, codes []uint32, dict []T, defs []uint32, present int, plain func([]T) ([]T, error), enc format.Encoding) ([]T, error) {
	at := len(dst)
	if enc == format.RLEDictionary {
		dst = resizeKeep(dst, at+present)
		for i, c := range codes {
			dst[at+i] = dict[c]
		}
	} else {
		var err error
		if dst, err = plain(dst); err != nil {
			return dst, err
		}
	}
	if defs == nil || len(defs) == present {
		return dst, nil
	}
	return spread(dst, at, defs), nil
}

// spread moves the values dst[at:] to where defs is 1 and puts zeros where it is
// 0. There are as many values as ones.
func spread[T any](dst []T, at int, defs []uint32) []T {
	from := len(dst)
	dst = resizeKeep(dst, at+len(defs))
	var zero T
	for i := len(defs) - 1; i >= 0; i-- { // from the end, so that nothing is overwritten unread
		if defs[i] == 0 {
			dst[at+i] = zero
			continue
		}
		from--
		dst[at+i] = dst[from]
	}
	return dst
}

// plainInts appends n integers or booleans.
func plainInts(dst []int64, raw []byte, n int, typ format.Type) ([]int64, error) {
	width := 64
	switch typ {
	case format.Int32:
		width = 32
	case format.Boolean:
		width = 1
	}
	if (n*width+7)/8 > len(raw) {
		return dst, corrupt("page with too few values")
	}
	at := len(dst)
	dst = resizeKeep(dst, at+n)
	out := dst[at:]
	switch width {
	case 32:
		for i := range out {
			out[i] = int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	case 64:
		for i := range out {
			out[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	default:
		for i := range out {
			out[i] = int64(raw[i>>3] >> (i & 7) & 1)
		}
	}
	return dst, nil
}

// deltaInts appends n integers.
func deltaInts(dst []int64, raw []byte, n int) ([]int64, error) {
	at := len(dst)
	dst = resizeKeep(dst, at+n)
	_, err := decodeDelta(dst[at:], raw)
	return dst, err
}

func plainDoubles(dst []float64, raw []byte, n int) ([]float64, error) {
	if 8*n > len(raw) {
		return dst, corrupt("page with too few values")
	}
	at := len(dst)
	dst = resizeKeep(dst, at+n)
	for i := range n {
		dst[at+i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return dst, nil
}

// plainStrings appends n strings, which share one copy of the page.
func plainStrings(dst []string, raw []byte, n int) ([]string, error) {
	text := string(raw)
	for range n {
		if len(text) < 4 {
			return dst, corrupt("page with too few values")
		}
		size := int64(binary.LittleEndian.Uint32([]byte(text[:4])))
		if size > int64(len(text)-4) {
			return dst, corrupt("string of %d bytes goes beyond its page", size)
		}
		dst = append(dst, text[4:4+size])
		text = text[4+size:]
	}
	return dst, nil
}
