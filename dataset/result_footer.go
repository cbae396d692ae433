package dataset

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// errNotResult is the cause for a Parquet file that this package did not write
// as a result.
var errNotResult = errors.New("not a result file of ibid")

// A resultFooter is the metadata of a result file or of one part of it. Its
// byte slices share the memory of the footer.
type resultFooter struct {
	fields   []Field
	leaves   []resultLeaf
	rows     int64
	groups   []resultGroup
	metadata map[string]string
}

// readResultFooter reads and checks the footer of a file of the given size.
// What it accepts is what appendFooter writes, and nothing else: general
// Parquet takes another way through this package.
func readResultFooter(r io.ReaderAt, size int64) (*resultFooter, error) {
	tail := int64(len(resultMagic) + 4)
	if size < int64(len(resultMagic))+tail {
		return nil, corrupt("%d bytes are too few", size)
	}
	end := make([]byte, tail)
	if _, err := r.ReadAt(end, size-tail); err != nil {
		return nil, err
	}
	if string(end[4:]) != resultMagic {
		return nil, corrupt("the end of the file is missing")
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > size-tail-int64(len(resultMagic)) {
		return nil, corrupt("footer of %d bytes in a file of %d", n, size)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-tail-n); err != nil {
		return nil, err
	}
	return parseResultFooter(b, size-tail-n)
}

// parseResultFooter parses the footer b of a file whose pages end at dataEnd.
func parseResultFooter(b []byte, dataEnd int64) (*resultFooter, error) {
	f := &resultFooter{}
	r := &compactReader{b: b}
	var createdBy string
	var err error
	walkStruct(r, func(id int16, typ byte) bool {
		switch {
		case id == 2 && typ == compactList:
			err = errors.Join(err, f.readSchema(r))
		case id == 3 && typ == compactI64:
			f.rows = r.varint()
		case id == 4 && typ == compactList:
			for range listLength(r) {
				f.groups = append(f.groups, f.readGroup(r))
			}
		case id == 5 && typ == compactList:
			f.readMetadata(r)
		case id == 6 && typ == compactBinary:
			createdBy = string(binaryValue(r))
		default:
			return false
		}
		return true
	})
	switch {
	case r.bad:
		return nil, corrupt("unreadable footer")
	case createdBy != resultCreatedBy:
		return nil, errNotResult
	case err != nil:
		return nil, err
	}
	return f, f.check(dataEnd)
}

func (f *resultFooter) readGroup(r *compactReader) resultGroup {
	var g resultGroup
	walkStruct(r, func(id int16, typ byte) bool {
		switch {
		case id == 1 && typ == compactList:
			n := listLength(r)
			g.chunks = make([]resultChunk, 0, n)
			for range n {
				g.chunks = append(g.chunks, readChunk(r))
			}
		case id == 3 && typ == compactI64:
			g.rows = r.varint()
		default:
			return false
		}
		return true
	})
	return g
}

func readChunk(r *compactReader) resultChunk {
	var c resultChunk
	walkStruct(r, func(id int16, typ byte) bool {
		if id != 3 || typ != compactStruct {
			return false
		}
		walkStruct(r, func(id int16, typ byte) bool { return readChunkField(r, &c, id, typ) })
		return true
	})
	if c.first == 0 { // no dictionary
		c.first = c.data
	}
	return c
}

func readChunkField(r *compactReader, c *resultChunk, id int16, typ byte) bool {
	switch {
	case id == 2 && typ == compactList:
		for i := range listLength(r) {
			if e := format.Encoding(r.varint()); i == 0 {
				c.encoding = e
			}
		}
	case id == 4 && typ == compactI32:
		c.foreign = r.varint() != int64(format.Snappy)
	case id == 5 && typ == compactI64:
		c.values = r.varint()
	case id == 6 && typ == compactI64:
		c.rawSize = r.varint()
	case id == 7 && typ == compactI64:
		c.size = r.varint()
	case id == 9 && typ == compactI64:
		c.data = r.varint()
	case id == 11 && typ == compactI64:
		c.first = r.varint()
	case id == 12 && typ == compactStruct:
		walkStruct(r, func(id int16, typ byte) bool {
			switch {
			case id == 3 && typ == compactI64:
				c.nulls = r.varint()
			case id == 5 && typ == compactBinary:
				c.max, c.hasBounds = binaryValue(r), true
			case id == 6 && typ == compactBinary:
				c.min = binaryValue(r)
			default:
				return false
			}
			return true
		})
	default:
		return false
	}
	return true
}

func (f *resultFooter) readMetadata(r *compactReader) {
	f.metadata = make(map[string]string)
	for range listLength(r) {
		var kv [2]string
		walkStruct(r, func(id int16, typ byte) bool {
			if id < 1 || id > 2 || typ != compactBinary {
				return false
			}
			kv[id-1] = string(binaryValue(r))
			return true
		})
		f.metadata[kv[0]] = kv[1]
	}
}

// check finds out whether the groups add up and lie where they must.
func (f *resultFooter) check(dataEnd int64) error {
	var rows int64
	at := int64(len(resultMagic))
	for i := range f.groups {
		g := &f.groups[i]
		if g.rows < 0 || g.rows > f.rows-rows || len(g.chunks) != len(f.leaves) || len(g.chunks) == 0 {
			return corrupt("row group %d: %d rows, %d columns", i, g.rows, len(g.chunks))
		}
		rows += g.rows
		for j := range g.chunks {
			c := &g.chunks[j]
			if c.foreign {
				return errNotResult
			}
			if c.first != at || c.data < c.first || c.size < c.data-c.first || c.size > dataEnd-at || c.values < g.rows {
				return corrupt("row group %d, column %s: %d values at [%d, %d+%d)", i, f.leaves[j].path[0], c.values, c.data, at, c.size)
			}
			at += c.size
		}
	}
	if rows != f.rows || at != dataEnd {
		return corrupt("row groups of %d rows end at %d, not %d at %d", rows, at, f.rows, dataEnd)
	}
	return nil
}
