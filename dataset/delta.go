package dataset

import "encoding/binary"

// decodeDelta fills dst from DELTA_BINARY_PACKED and returns what follows it.
// 32-bit columns wrap around in 32 bits; the caller cuts the values down.
//
// Source: parquet-format, Encodings.md, "Delta Encoding".
func decodeDelta(dst []int64, src []byte) (rest []byte, err error) {
	r := compactReader{b: src}
	block, minis, total := r.uvarint(), r.uvarint(), r.uvarint()
	value := r.varint()
	switch {
	case r.bad:
		return nil, corrupt("deltas end too early")
	case minis == 0 || block == 0 || block%128 != 0 || block > 1<<20 || block%minis != 0 || block/minis%32 != 0:
		return nil, corrupt("deltas in blocks of %d and %d", block, minis)
	case total != uint64(len(dst)):
		return nil, corrupt("%d deltas instead of %d", total, len(dst))
	}
	if len(dst) == 0 {
		return src[r.at:], nil
	}
	dst[0] = value
	dst = dst[1:]
	perMini := int(block / minis)
	for len(dst) > 0 {
		least := r.varint()
		widths := r.at
		r.discard(minis)
		for m := 0; m < int(minis) && len(dst) > 0 && !r.bad; m++ {
			width := uint(src[widths+m])
			packed := r.at
			r.discard(uint64(perMini) * uint64(width) / 8)
			if r.bad || width > 64 {
				return nil, corrupt("deltas end too early")
			}
			n := min(perMini, len(dst))
			for i := range dst[:n] {
				value += least + int64(bitsAt(src[packed:], uint(i)*width, width))
				dst[i] = value
			}
			dst = dst[n:]
		}
		if r.bad {
			return nil, corrupt("deltas end too early")
		}
	}
	return src[r.at:], nil
}

// bitsAt returns the width bits of b from bit at on.
func bitsAt(b []byte, at, width uint) uint64 {
	if width == 0 {
		return 0
	}
	b = b[at/8:]
	var word [16]byte
	if len(b) < 9 {
		copy(word[:], b)
		b = word[:]
	}
	v := binary.LittleEndian.Uint64(b) >> (at % 8)
	if at%8 != 0 {
		v |= uint64(b[8]) << (64 - at%8)
	}
	return v & (1<<width - 1)
}
