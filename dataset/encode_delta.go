package dataset

import (
	"encoding/binary"
	"math/bits"
)

// The layout of DELTA_BINARY_PACKED that parquet-mr writes and that all readers
// have met.
const (
	deltaBlock = 128
	deltaMinis = 4
	deltaMini  = deltaBlock / deltaMinis
)

// appendDelta appends ints as DELTA_BINARY_PACKED. Their differences must not
// overflow the column's type.
//
// Source: parquet-format, Encodings.md, "Delta Encoding".
func appendDelta(dst []byte, ints []int64) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(len(ints)))
	if len(ints) == 0 {
		return binary.AppendVarint(dst, 0)
	}
	dst = binary.AppendVarint(dst, ints[0])
	var deltas [deltaBlock]int64
	for last, rest := ints[0], ints[1:]; len(rest) > 0; {
		n := min(len(rest), deltaBlock)
		for i, x := range rest[:n] {
			deltas[i] = x - last
			last = x
		}
		rest = rest[n:]
		dst = appendDeltaBlock(dst, &deltas, n)
	}
	return dst
}

// appendDeltaBlock appends the first n deltas. Of the miniblocks without a value
// only the width is written.
func appendDeltaBlock(dst []byte, deltas *[deltaBlock]int64, n int) []byte {
	least := deltas[0]
	for _, d := range deltas[:n] {
		least = min(least, d)
	}
	for i := range deltas {
		if i < n {
			deltas[i] -= least
		} else {
			deltas[i] = 0
		}
	}
	dst = binary.AppendVarint(dst, least)
	widths := len(dst)
	dst = append(dst, make([]byte, deltaMinis)...)
	for m := 0; m*deltaMini < n; m++ {
		mini := deltas[m*deltaMini : (m+1)*deltaMini]
		var all int64
		for _, d := range mini {
			all |= d
		}
		width := uint(bits.Len64(uint64(all)))
		dst[widths+m] = byte(width)
		w := bitWriter{b: dst}
		for _, d := range mini {
			w.put(uint64(d), width)
		}
		dst = w.flush()
	}
	return dst
}
