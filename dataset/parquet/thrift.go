package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

const (
	mostDepth  = 32        // of structs and lists in each other; Parquet needs about seven
	mostTops   = 256 << 10 // columns, row groups and keys of a footer together
	leastChunk = 16        // fewer bytes than describe one column of one row group
)

// A compactReader walks a value of the compact Thrift protocol, in which Parquet writes its
// footer and its page headers, without trusting it: every length is compared with the bytes
// that are left before it is used. After the first mistake bad is set and all reads return
// zero.
type compactReader struct {
	b    []byte
	at   int
	bad  bool
	tops int // structs in lists of the outer struct
	low  int // structs in lists of structs in these: the columns of row groups
}

func (r *compactReader) fail() { r.bad, r.at = true, len(r.b) }

func (r *compactReader) byte() byte {
	if r.discard(1); r.bad {
		return 0
	}
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

func (r *compactReader) discard(n uint64) {
	if n > uint64(len(r.b)-r.at) {
		r.fail()
		return
	}
	r.at += int(n)
}

// skip passes over one value of a type, which stands in a field or in a list.
func (r *compactReader) skip(typ thrift.Type, depth int, listed bool) {
	if depth > mostDepth {
		r.fail()
	}
	if r.bad {
		return
	}
	switch typ {
	case thrift.TRUE, thrift.FALSE: // in a field the type is the value
		if listed {
			r.byte()
		}
	case thrift.I8:
		r.byte()
	case thrift.I16, thrift.I32, thrift.I64:
		r.uvarint()
	case thrift.DOUBLE:
		r.discard(8)
	case thrift.BINARY:
		r.discard(r.uvarint())
	case thrift.LIST, thrift.SET:
		head := r.byte()
		n, items := uint64(head>>4), thrift.Type(head&0xF)
		if n == 0xF {
			n = r.uvarint()
		}
		if n > uint64(len(r.b)-r.at) { // every item takes a byte at least
			r.fail()
		}
		if items == thrift.STRUCT && depth == 1 {
			r.tops += int(n)
		} else if items == thrift.STRUCT && depth == 3 {
			r.low += int(n)
		}
		for ; n > 0 && !r.bad; n-- {
			r.skip(items, depth+1, true)
		}
	case thrift.STRUCT:
		for head := r.byte(); head != 0; head = r.byte() {
			if head>>4 == 0 {
				r.uvarint() // the number of the field
			}
			r.skip(thrift.Type(head&0xF), depth+1, false)
		}
	default: // Parquet has no maps
		r.fail()
	}
}

// decodeStruct decodes the Thrift struct that b begins with into v and returns its length. ok
// is false if b does not begin with a complete one.
//
// The library makes a list as long as its header claims and follows structs however deep they
// are nested. So the bytes are walked first: every element of a list must be there, and no
// struct is nested too deep.
func decodeStruct(b []byte, v any) (n int, ok bool) {
	r := compactReader{b: b}
	r.skip(thrift.STRUCT, 0, false)
	if r.bad || r.low*leastChunk > len(b) || r.tops > mostTops {
		return 0, false
	}
	protocol := new(thrift.CompactProtocol)
	return r.at, thrift.NewDecoder(protocol.NewReaderFromBytes(b[:r.at])).Decode(v) == nil
}
