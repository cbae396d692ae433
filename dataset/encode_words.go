package dataset

import "encoding/binary"

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
		v := le.Uint64(raw[at:])
		slot := &p.last[v*0x9E3779B97F4A7C15>>52]
		from := int(*slot) - 1
		*slot = uint32(at + 1)
		if from < 0 || at-from > wordReach || le.Uint64(raw[from:]) != v {
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
	return append(appendLiteralTag(dst, len(raw)), raw...)
}
