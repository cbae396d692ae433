package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A bitWriter packs values of up to 64 bits, lowest bit first, as Parquet's
// bit-packed runs and PLAIN booleans want them.
type bitWriter struct {
	b    []byte
	acc  uint64
	fill uint // bits in acc, below 64
}

// put appends the n low bits of v, the others of which must be zero.
func (w *bitWriter) put(v uint64, n uint) {
	w.acc |= v << w.fill
	if w.fill+n < 64 {
		w.fill += n
		return
	}
	w.b = binary.LittleEndian.AppendUint64(w.b, w.acc)
	w.acc = v >> (64 - w.fill) // 0 if fill is 0: Go shifts by 64 give 0
	w.fill += n - 64
}

// putAll appends the n low bits of each of values less base, the others of which must
// be zero.
func putAll[T int64 | uint32](w *bitWriter, values []T, base T, n uint) {
	if n <= 8 && w.fill == 0 { // eight values are n bytes
		at := len(w.b)
		w.b = slices.Grow(w.b, len(values)+8)
		b := w.b[:cap(w.b)]
		for ; len(values) >= 8; values = values[8:] {
			v := values[:8]
			word := uint64(v[0]-base) | uint64(v[1]-base)<<n | uint64(v[2]-base)<<(2*n) | uint64(v[3]-base)<<(3*n) |
				uint64(v[4]-base)<<(4*n) | uint64(v[5]-base)<<(5*n) | uint64(v[6]-base)<<(6*n) | uint64(v[7]-base)<<(7*n)
			binary.LittleEndian.PutUint64(b[at:at+8], word)
			at += int(n)
		}
		w.b = b[:at]
	}
	b, acc, fill := w.b, w.acc, w.fill
	for _, x := range values { // as put does
		v := uint64(x - base)
		acc |= v << fill
		if fill += n; fill >= 64 {
			b = binary.LittleEndian.AppendUint64(b, acc)
			fill -= 64
			acc = v >> (n - fill)
		}
	}
	w.b, w.acc, w.fill = b, acc, fill
}

// every[n] has the bits 0, n, 2n and so on, below 64/n*n: times a value of n
// bits it is that value as often as 64 bits hold it.
var every = func() (t [33]uint64) {
	for n := 1; n < len(t); n++ {
		for i := 0; i+n <= 64; i += n {
			t[n] |= 1 << i
		}
	}
	return t
}()

// repeat appends count values v of n bits each, 1 <= n <= 32.
func (w *bitWriter) repeat(v uint64, n uint, count int) {
	word, per := v*every[n], int(64/n)
	for ; count >= per; count -= per {
		w.put(word, uint(per)*n)
	}
	if rest := uint(count) * n; rest > 0 {
		w.put(word&(1<<rest-1), rest)
	}
}

// pattern appends the first n bits of words.
func (w *bitWriter) pattern(words []uint64, n int) {
	for _, word := range words[:n/64] {
		w.put(word, 64)
	}
	if rest := uint(n % 64); rest > 0 {
		w.put(words[n/64]&(1<<rest-1), rest)
	}
}

// flush pads the last byte with zeros and returns all bytes.
func (w *bitWriter) flush() []byte {
	for fill := int(w.fill); fill > 0; fill -= 8 {
		w.b = append(w.b, byte(w.acc))
		w.acc >>= 8
	}
	w.acc, w.fill = 0, 0
	return w.b
}

// appendRLERun appends a run of count values v to the RLE/bit-packing hybrid in
// dst. width is the bit width of the values, at most 32.
func appendRLERun(dst []byte, v uint64, width uint, count int) []byte {
	dst = binary.AppendUvarint(dst, uint64(count)<<1)
	for ; width > 0; width -= min(width, 8) {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

// appendPackedHeader appends the header of one bit-packed run of count values.
// The run is padded to a multiple of eight values.
func appendPackedHeader(dst []byte, count int) []byte {
	return binary.AppendUvarint(dst, uint64((count+7)/8)<<1|1)
}

// padPacked appends the zeros that fill the bit-packed run which started at
// dst[start] up to its declared size.
func padPacked(dst []byte, start, count int, width uint) []byte {
	for want := start + (count+7)/8*int(width); len(dst) < want; {
		dst = append(dst, 0)
	}
	return dst
}

// bitWidth is the number of bits of a dictionary's codes. It is never 0, which
// is allowed for a dictionary of one value but rarely met by readers.
func bitWidth(values int) uint { return uint(max(1, bits.Len(uint(values-1)))) }

// countBits counts the set bits [from, to) of a bitmap that is zero beyond its
// end. from is a multiple of 8.
func countBits(bitmap []uint64, from, to int) int {
	n := 0
	for from < to {
		w := from >> 6
		if w >= len(bitmap) {
			break
		}
		end := min(to, (w+1)<<6)
		mask := ^uint64(0) >> (64 - (end - from)) << (from & 63)
		n += bits.OnesCount64(bitmap[w] & mask)
		from = end
	}
	return n
}

// spreadBits appends the first n bits of such a bitmap as bytes of 0 and 1.
func spreadBits(dst []byte, bitmap []uint64, n int) []byte {
	dst = slices.Grow(dst, n+7)
	for i := 0; i < n; i += 8 {
		var x uint64
		if w := i >> 6; w < len(bitmap) {
			x = bitmap[w] >> (i & 63) & 0xFF
		}
		x = (x | x<<28) & 0x0000000F0000000F
		x = (x | x<<14) & 0x0003000300030003
		x = (x | x<<7) & 0x0101010101010101
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	return dst[:n]
}

// packLevels appends levels of width 1 to 4 bits as one bit-packed run, eight at a
// time: what unpackLevels spreads is folded.
func packLevels(dst, levels []byte, width uint) []byte {
	field := uint64(1)<<width - 1
	mask2 := (field | field<<width) * 0x0001000100010001
	mask4 := field | field<<width | field<<(2*width) | field<<(3*width)
	mask4 |= mask4 << 32
	shift := 8 - width
	for len(levels) > 0 {
		var x uint64
		if len(levels) >= 8 {
			x = binary.LittleEndian.Uint64(levels)
		} else {
			for i, level := range levels {
				x |= uint64(level) << (8 * i)
			}
		}
		levels = levels[min(8, len(levels)):]
		x = (x | x>>shift) & mask2
		x = (x | x>>(2*shift)) & mask4
		x |= x >> (4 * shift)
		dst = binary.LittleEndian.AppendUint64(dst, x)
		dst = dst[:len(dst)-8+int(width)]
	}
	return dst
}

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
		putAll(&w, mini, 0, width)
		dst = w.flush()
	}
	return dst
}
