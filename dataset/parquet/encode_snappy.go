package parquet

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

const (
	snappyProbe = 1 << 14 // bytes compressed to see whether a page shrinks
	snappyLeast = 64      // bytes of the smallest page that is tried
)

// A snappyPacker makes Snappy blocks. What does not shrink by a quarter is stored
// in one as a literal, which costs no more than a copy: a column must have one
// codec in all row groups, because parquet-go takes that of the first for all.
type snappyPacker struct {
	out   []byte
	words wordPacker
}

// pack returns raw as one Snappy block, which is good until the next call. wide
// says that raw ends in values of eight bytes, which are alike as a whole or not
// at all.
func (p *snappyPacker) pack(raw []byte, wide bool) []byte {
	if len(raw) >= snappyLeast {
		probe := raw[:min(len(raw), snappyProbe)]
		if wide {
			probe = raw[len(raw)&7 : len(raw)&7+len(probe)&^7]
		}
		packed := p.try(probe, wide)
		if len(packed) <= len(probe)/4*3 {
			if len(probe) < len(raw) {
				packed = p.try(raw, wide)
			}
			return packed
		}
	}
	p.out = binary.AppendUvarint(p.out[:0], uint64(len(raw)))
	p.out = append(appendLiteralTag(p.out, len(raw)), raw...)
	return p.out
}

func (p *snappyPacker) try(raw []byte, wide bool) []byte {
	if wide {
		p.out = p.words.append(p.out[:0], raw)
		return p.out
	}
	packed := s2.EncodeSnappy(p.out[:cap(p.out)], raw)
	if cap(packed) > cap(p.out) {
		p.out = packed
	}
	return packed
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

const (
	wordSlots  = 1 << 12
	wordReach  = 1<<16 - 8 // farthest copy that takes three bytes
	copyLength = 64        // longest copy
)

// A wordPacker makes Snappy blocks of values of eight bytes. It looks for the
// last value that was the same instead of for any run of bytes, which finds next
// to the same in columns of doubles and takes a fifth of the time.
type wordPacker struct {
	last [wordSlots]uint32 // by hash: 1 + place of the value in the block
}

// append appends raw as a block to dst; the values are its last bytes.
//
// Source: format_description.txt of Snappy.
func (p *wordPacker) append(dst, raw []byte) []byte {
	clear(p.last[:])
	le := binary.LittleEndian
	dst = binary.AppendUvarint(dst, uint64(len(raw)))
	pending := 0 // where the open literal begins
	for at := len(raw) & 7; at < len(raw); {
		v := le.Uint64(raw[at : at+8])
		slot := &p.last[v*0x9E3779B97F4A7C15>>52]
		from := int(*slot) - 1
		*slot = uint32(at + 1)
		if from < 0 || at-from > wordReach || le.Uint64(raw[from:from+8]) != v {
			at += 8
			continue
		}
		dst = appendLiteral(dst, raw[pending:at])
		n := 8
		for at+n < len(raw) && n < copyLength && le.Uint64(raw[from+n:]) == le.Uint64(raw[at+n:]) {
			n += 8
		}
		dst = append(dst, byte(n-1)<<2|2, byte(at-from), byte((at-from)>>8))
		at += n
		pending = at
	}
	return appendLiteral(dst, raw[pending:])
}

func appendLiteral(dst, raw []byte) []byte {
	if n := len(raw); n <= 32 && n&7 == 0 { // of few words
		if n > 0 {
			dst = append(dst, byte(n-1)<<2)
		}
		for ; len(raw) > 0; raw = raw[8:] {
			dst = binary.LittleEndian.AppendUint64(dst, binary.LittleEndian.Uint64(raw))
		}
		return dst
	}
	return append(appendLiteralTag(dst, len(raw)), raw...)
}
