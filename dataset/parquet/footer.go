package parquet

import (
	"encoding/binary"
	"strconv"
	"strings"

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

	NumValues, NullCount                 int64
	TotalCompressedSize                  int64
	DataPageOffset, DictionaryPageOffset int64
	MinValue, MaxValue                   []byte // nil if not known
}

// decodeFooter decodes a footer: its row groups one by one, the rest as it is, whose row
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
				var g format.RowGroup
				n, ok := decodeStruct(b[r.at:], &g)
				if !ok {
					return nil, nil, false
				}
				r.at += n
				groups = append(groups, small(&g))
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
	_, ok = decodeStruct(append(rest, compactStop), meta)
	return meta, groups, ok
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

func small(g *format.RowGroup) rowGroup {
	s := rowGroup{NumRows: g.NumRows, Columns: make([]columnChunk, len(g.Columns))}
	for i := range g.Columns {
		m := &g.Columns[i].MetaData
		s.Columns[i] = columnChunk{
			m.Type, m.Codec, g.Columns[i].FilePath != "", m.NumValues, m.Statistics.NullCount, m.TotalCompressedSize,
			m.DataPageOffset, m.DictionaryPageOffset, m.Statistics.MinValue, m.Statistics.MaxValue,
		}
	}
	return s
}

// addEmpty puts the row groups without rows, which the writer leaves out, where they were.
func (f *File) addEmpty(columns int) error {
	list := f.Metadata(emptyKey)
	if list == "" {
		return nil
	}
	var all []rowGroup
	none := rowGroup{Columns: make([]columnChunk, columns)}
	for text := range strings.SplitSeq(list, ",") {
		k, err := strconv.Atoi(text)
		before := k - len(all)
		if err != nil || before < 0 || before > len(f.groups) {
			return corrupt("empty row groups %s", list)
		}
		all = append(append(all, f.groups[:before]...), none)
		f.groups = f.groups[before:]
	}
	f.groups = append(all, f.groups...)
	return nil
}
