package dataset

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

const (
	snappyProbe = 1 << 14 // bytes compressed to see whether a page shrinks
	snappyLeast = 64      // bytes of the smallest page that is tried
)

// packSnappy returns raw as one Snappy block, which may lie in mem. What does
// not shrink by a quarter is stored in it as a literal, which costs no more
// than a copy: a column must have one codec in all row groups, because
// parquet-go takes that of the first for all.
func packSnappy(mem, raw []byte) []byte {
	mem = mem[:cap(mem)]
	if len(raw) >= snappyLeast {
		probe := raw[:min(len(raw), snappyProbe)]
		packed := s2.EncodeSnappy(mem, probe)
		if len(packed) <= len(probe)/4*3 {
			if len(probe) < len(raw) {
				packed = s2.EncodeSnappy(mem, raw)
			}
			return packed
		}
	}
	mem = binary.AppendUvarint(mem[:0], uint64(len(raw)))
	return append(appendLiteralTag(mem, len(raw)), raw...)
}

// appendLiteralTag appends the tag of a literal of n bytes; an empty block has
// none.
//
// Source: format_description.txt of Snappy, section 2.1.
func appendLiteralTag(dst []byte, n int) []byte {
	switch m := uint32(n - 1); {
	case n == 0:
		return dst
	case m < 60:
		return append(dst, byte(m)<<2)
	case m < 1<<8:
		return append(dst, 60<<2, byte(m))
	case m < 1<<16:
		return append(dst, 61<<2, byte(m), byte(m>>8))
	case m < 1<<24:
		return append(dst, 62<<2, byte(m), byte(m>>8), byte(m>>16))
	default:
		return append(dst, 63<<2, byte(m), byte(m>>8), byte(m>>16), byte(m>>24))
	}
}
