package parquet

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/format"
)

// A rowGroup is what reading takes from the description of a row group in a footer.
type rowGroup struct {
	NumRows int64
	Columns []columnChunk
}

// A columnChunk is what reading takes from the description of one column of a row group. The
// fields are as in format.ColumnMetaData, which takes eight times the memory: a result of
// ten million rows has 85,000 of them.
type columnChunk struct {
	Type      format.Type
	Codec     format.CompressionCodec
	Elsewhere bool // the data are in another file

	NumValues                                  int64
	TotalUncompressedSize, TotalCompressedSize int64
	DataPageOffset, DictionaryPageOffset       int64
	BloomFilterOffset                          int64
	BloomFilterLength                          int32
	Statistics                                 statistics
}

// statistics are those of a chunk. The texts lie in the memory of the footer.
type statistics struct {
	NullCount          int64
	MinValue, MaxValue []byte // nil if not known
}

// decodeFooter decodes a footer: its row groups here, the rest by the library, whose row
// groups are none. ok is false if it is not whole, or nested too deep.
func decodeFooter(b []byte) (meta *format.FileMetaData, groups []rowGroup, ok bool) {
	const groupsField = 4
	r := compactReader{b: b}
	var rest []byte
	var id int16
	for typ := r.field(&id); typ != compactStop; typ = r.field(&id) {
		rest = binary.AppendVarint(append(rest, typ), int64(id))
		if id == groupsField && typ == compactList {
			for range r.structs() {
				var g rowGroup
				if n := len(groups); n > 0 { // it has as many columns as the one before
					g.Columns = make([]columnChunk, 0, len(groups[n-1].Columns))
				}
				if r.rowGroup(&g); r.bad {
					return nil, nil, false
				}
				groups = append(groups, g)
			}
			rest = append(rest, compactStruct) // an empty list
			continue
		}
		from := r.at
		r.skip(typ, 1)
		rest = append(rest, b[from:r.at]...)
	}
	meta = new(format.FileMetaData)
	if r.bad {
		return nil, nil, false
	}
	if _, ok := decodeStruct(append(rest, compactStop), meta); !ok {
		return nil, nil, false
	}
	return meta, groups, true
}

// structs reads the header of a list and returns how many structs it claims: at most as
// many as there are bytes.
func (r *compactReader) structs() uint64 {
	head := r.byte()
	n := uint64(head >> 4)
	if n == 0xF {
		n = r.uvarint()
	}
	if n > 0 && head&0xF != compactStruct || n > uint64(len(r.b)-r.at) {
		r.fail()
		return 0
	}
	return n
}

// A fieldSet has a bit for each of the fields 0 to 31 of a struct.
type fieldSet uint32

func (s *fieldSet) add(id int16) {
	if id >= 0 && id < 32 {
		*s |= 1 << id
	}
}

// needs fails unless all fields were seen.
func (r *compactReader) needs(seen, all fieldSet) {
	if seen&all != all {
		r.fail()
	}
}

func (r *compactReader) rowGroup(g *rowGroup) {
	var id int16
	var seen fieldSet
	for typ := r.field(&id); typ != compactStop; typ = r.field(&id) {
		switch {
		case id == 1 && typ == compactList:
			for range r.structs() {
				if r.bad {
					return
				}
				g.Columns = append(g.Columns, columnChunk{})
				r.chunk(&g.Columns[len(g.Columns)-1])
			}
		case id == 3 && typ == compactI64:
			g.NumRows = r.varint()
		case id == 1 || id == 3:
			r.fail()
		default:
			r.skip(typ, 1)
		}
		seen.add(id)
	}
	r.needs(seen, 1<<1|1<<2|1<<3)
}

func (r *compactReader) chunk(c *columnChunk) {
	var id int16
	var seen fieldSet
	for typ := r.field(&id); typ != compactStop; typ = r.field(&id) {
		switch {
		case id == 1 && typ == compactBinary:
			c.Elsewhere = len(r.bytes()) > 0
		case id == 3 && typ == compactStruct:
			r.chunkMeta(c)
		case id == 1 || id == 3:
			r.fail()
		default:
			r.skip(typ, 1)
		}
		seen.add(id)
	}
	r.needs(seen, 1<<2|1<<3)
}

func (r *compactReader) chunkMeta(c *columnChunk) {
	var id int16
	var seen fieldSet
	for typ := r.field(&id); typ != compactStop; typ = r.field(&id) {
		want := compactI64
		var into *int64
		switch id {
		case 1, 4, 15:
			want = compactI32
		case 5:
			into = &c.NumValues
		case 6:
			into = &c.TotalUncompressedSize
		case 7:
			into = &c.TotalCompressedSize
		case 9:
			into = &c.DataPageOffset
		case 11:
			into = &c.DictionaryPageOffset
		case 12:
			want = compactStruct
		case 14:
			into = &c.BloomFilterOffset
		default:
			want = typ
		}
		switch {
		case typ != want:
			r.fail()
		case into != nil:
			*into = r.varint()
		case id == 1:
			c.Type = format.Type(r.varint())
		case id == 4:
			c.Codec = format.CompressionCodec(r.varint())
		case id == 12:
			r.statistics(&c.Statistics)
		case id == 15:
			c.BloomFilterLength = int32(r.varint())
		default:
			r.skip(typ, 1)
		}
		seen.add(id)
	}
	r.needs(seen, 1<<1|1<<2|1<<3|1<<4|1<<5|1<<6|1<<7|1<<9)
}

func (r *compactReader) statistics(s *statistics) {
	var id int16
	for typ := r.field(&id); typ != compactStop; typ = r.field(&id) {
		switch {
		case id == 3 && typ == compactI64:
			s.NullCount = r.varint()
		case id == 5 && typ == compactBinary:
			s.MaxValue = r.bytes()
		case id == 6 && typ == compactBinary:
			s.MinValue = r.bytes()
		case id == 3 || id == 5 || id == 6:
			r.fail()
		default:
			r.skip(typ, 1)
		}
	}
}

// bytes reads a text, which lies in the memory of r.
func (r *compactReader) bytes() []byte {
	n := r.uvarint()
	from := r.at
	if r.discard(n); r.bad {
		return nil
	}
	return r.b[from:r.at:r.at]
}

// wholeGroups are the row groups with all that the footer says of them.
func (f *File) wholeGroups() ([]format.RowGroup, error) {
	b, _, err := footerBytes(f.file, f.Size)
	if err != nil {
		return nil, err
	}
	meta := new(format.FileMetaData)
	if _, ok := decodeStruct(b, meta); !ok {
		return nil, corrupt("unreadable footer")
	}
	return meta.RowGroups, nil
}
