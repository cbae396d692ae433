package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// The types of the compact Thrift protocol, in which Parquet writes its footer
// and its page headers.
const (
	compactStop byte = iota
	compactTrue
	compactFalse
	compactByte
	compactI16
	compactI32
	compactI64
	compactDouble
	compactBinary
	compactList
	compactSet
	compactMap
	compactStruct
)

// compactDepth bounds the nesting that is followed; Parquet needs about seven.
const compactDepth = 32

// leastChunk is less than the bytes that describe one column of one row group.
// The library needs twenty times as much memory for it.
const leastChunk = 16

// mostTops is how many columns, row groups and keys a footer may have together: the
// library needs two hundred times as much memory as the shortest of them has bytes.
const mostTops = 256 << 10

// A compactReader walks a value of the compact protocol without trusting it:
// every length is compared with the bytes that are left before it is used. After
// the first mistake bad is set and all reads return zero.
type compactReader struct {
	b      []byte
	at     int
	bad    bool
	chunks int // structs in lists of structs in lists: the columns of row groups
	tops   int // structs in lists: columns, row groups and keys of the footer
}

func (r *compactReader) fail() { r.bad, r.at = true, len(r.b) }

func (r *compactReader) byte() byte {
	if r.at >= len(r.b) {
		r.fail()
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *compactReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 {
		r.fail()
		return 0
	}
	r.at += n
	return v
}

// varint reads a zigzag integer.
func (r *compactReader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *compactReader) discard(n uint64) {
	if n > uint64(len(r.b)-r.at) {
		r.fail()
		return
	}
	r.at += int(n)
}

// field reads the header of the next field of a struct and returns its type,
// compactStop at the end. It keeps the field's number in *id.
func (r *compactReader) field(id *int16) byte {
	head := r.byte()
	if r.bad || head == compactStop {
		return compactStop
	}
	if delta := head >> 4; delta != 0 {
		*id += int16(delta)
	} else {
		*id = int16(r.varint())
	}
	return head & 0xF
}

// skip passes over one value of the given type that stands in a field.
func (r *compactReader) skip(typ byte, depth int) {
	if depth > compactDepth {
		r.fail()
	}
	if r.bad {
		return
	}
	switch typ {
	case compactTrue, compactFalse:
	case compactByte:
		r.byte()
	case compactI16, compactI32, compactI64:
		r.uvarint()
	case compactDouble:
		r.discard(8)
	case compactBinary:
		r.discard(r.uvarint())
	case compactList, compactSet:
		r.skipList(depth)
	case compactMap:
		r.skipMap(depth)
	case compactStruct:
		var id int16
		for t := r.field(&id); t != compactStop; t = r.field(&id) {
			r.skip(t, depth+1)
		}
	default:
		r.fail()
	}
}

func (r *compactReader) skipList(depth int) {
	head := r.byte()
	n := uint64(head >> 4)
	if n == 0xF {
		n = r.uvarint()
	}
	if head&0xF == compactStruct {
		switch k := int(min(n, uint64(len(r.b)))); depth {
		case 1:
			r.tops += k
		case 3: // of the footer, of a row group
			r.chunks += k
		}
	}
	r.skipItems(n, head&0xF, depth)
}

func (r *compactReader) skipMap(depth int) {
	n := r.uvarint()
	if n == 0 {
		return
	}
	types := r.byte()
	for range n {
		r.skipItem(types>>4, depth)
		r.skipItem(types&0xF, depth)
		if r.bad {
			return
		}
	}
}

func (r *compactReader) skipItems(n uint64, typ byte, depth int) {
	// Every item takes a byte at least, so that a longer list is a lie.
	if n > uint64(len(r.b)-r.at) {
		r.fail()
	}
	for range n {
		if r.bad {
			return
		}
		r.skipItem(typ, depth)
	}
}

// skipItem passes over one element of a container, where a boolean has a byte
// of its own.
func (r *compactReader) skipItem(typ byte, depth int) {
	if typ == compactTrue || typ == compactFalse {
		r.byte()
		return
	}
	r.skip(typ, depth+1)
}

// decodeStruct decodes the Thrift struct that b begins with into v and returns
// its length. ok is false if b does not begin with a complete one.
//
// The library makes a list as long as its header claims and follows structs
// however deep they are nested. So the bytes are walked first: every element of a
// list must be there, and no struct is nested too deep.
func decodeStruct(b []byte, v any) (n int, ok bool) {
	r := compactReader{b: b}
	r.skip(compactStruct, 0)
	if r.bad || r.chunks*leastChunk > len(b) || r.tops > mostTops {
		return 0, false
	}
	protocol := new(thrift.CompactProtocol)
	if thrift.NewDecoder(protocol.NewReaderFromBytes(b[:r.at])).Decode(v) != nil {
		return 0, false
	}
	return r.at, true
}
