package dataset

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// A hybridRun is one run of the RLE/bit-packing hybrid: count times the value in
// data, or count bit-packed values.
type hybridRun struct {
	packed bool
	count  int
	data   []byte
}

// nextRun splits the first run off b. No more than limit values of it are
// wanted.
func nextRun(b []byte, width uint, limit int) (run hybridRun, rest []byte, err error) {
	head, n := binary.Uvarint(b)
	if n <= 0 || head>>1 == 0 || head>>1 > math.MaxInt32 {
		return run, nil, corrupt("unreadable run of levels or codes")
	}
	b = b[n:]
	count, size := head>>1, uint64(width+7)/8
	if run.packed = head&1 == 1; run.packed {
		count, size = count*8, count*uint64(width)
	}
	if size > uint64(len(b)) {
		return run, nil, corrupt("run of levels or codes goes beyond its page")
	}
	run.count, run.data = int(min(count, uint64(limit))), b[:size]
	return run, b[size:], nil
}

// readHybrid fills dst from the hybrid b of values below limit.
func readHybrid(dst []uint32, b []byte, width uint, limit uint32) error {
	for len(dst) > 0 {
		run, rest, err := nextRun(b, width, len(dst))
		if err != nil {
			return err
		}
		values := dst[:run.count]
		if run.packed {
			unpackBits(values, run.data, width)
		} else {
			var v uint32
			for i, x := range run.data {
				v |= uint32(x) << (8 * i)
			}
			for i := range values {
				values[i] = v
			}
		}
		if greatest := slices.Max(values); greatest >= limit {
			return corrupt("level or code %d, where %d is the limit", greatest, limit)
		}
		b, dst = rest, dst[run.count:]
	}
	return nil
}

// unpackBits fills dst with values of width bits, at most 32, lowest bit first.
// b holds enough bits.
func unpackBits(dst []uint32, b []byte, width uint) {
	mask := uint64(1)<<width - 1
	for width <= 8 && len(dst) >= 8 && len(b) >= 8 { // eight values are width bytes
		word := binary.LittleEndian.Uint64(b)
		for i := range dst[:8] {
			dst[i] = uint32(word & mask)
			word >>= width
		}
		dst, b = dst[8:], b[width:]
	}
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

// readPresence fills valid from the hybrid b of definition levels 0 and 1, and
// returns how many are 1.
func readPresence(valid []bool, b []byte) (present int, err error) {
	for len(valid) > 0 {
		run, rest, err := nextRun(b, 1, len(valid))
		if err != nil {
			return 0, err
		}
		b = rest
		dst := valid[:run.count]
		valid = valid[run.count:]
		if !run.packed {
			if run.data[0] > 1 {
				return 0, corrupt("level %d, where 1 is the greatest", run.data[0])
			}
			for i := range dst {
				dst[i] = run.data[0] == 1
			}
			present += run.count * int(run.data[0])
			continue
		}
		for i := range dst {
			bit := run.data[i>>3] >> (i & 7) & 1
			dst[i] = bit == 1
			present += int(bit)
		}
	}
	return present, nil
}

// addValues appends the values of a page to dst: those of a dictionary by their
// codes, or those that plain decodes. valid, if not nil, says where the nulls
// are.
func addValues[T any](dst []T, codes []uint32, dict []T, valid []bool, present int, plain func([]T) ([]T, error), enc format.Encoding) ([]T, error) {
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
	if len(valid) == present || valid == nil {
		return dst, nil
	}
	return spread(dst, at, valid), nil
}

// spread moves the values dst[at:] to where valid is true and puts zeros where
// it is not. There are as many values as trues.
func spread[T any](dst []T, at int, valid []bool) []T {
	from := len(dst)
	dst = resizeKeep(dst, at+len(valid))
	if from == at {
		clear(dst[at:])
		return dst
	}
	var zero T
	for i := len(valid) - 1; i >= 0; i-- { // from the end, so that nothing is overwritten unread
		if !valid[i] {
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
