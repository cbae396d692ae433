package parquet

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A schema is what fields are in Parquet.
type schema struct {
	elements []format.SchemaElement
	leaves   []resultLeaf // in file order

	path []string // of the element that is being added
	leaf resultLeaf
}

// A resultLeaf is one Parquet column of a field. Only maps and structs have several.
type resultLeaf struct {
	column         int // index of the field
	path           []string
	typ            format.Type
	maxDef, maxRep uint8 // levels of a value
}

// mapKey reports whether l holds the keys of a map, mapValue whether the values.
func (l *resultLeaf) mapKey() bool   { return l.inMap("key") }
func (l *resultLeaf) mapValue() bool { return l.inMap("value") }

func (l *resultLeaf) inMap(name string) bool {
	n := len(l.path)
	return n > 2 && l.path[n-2] == "key_value" && l.path[n-1] == name
}

// schemaOf describes a table of the fields.
func schemaOf(fields []Field) *schema {
	s := &schema{elements: []format.SchemaElement{{Name: "schema"}}}
	for i, f := range fields {
		s.leaf.column = i
		s.add(f)
	}
	s.elements[0].NumChildren = thrift.New(int32(len(fields)))
	return s
}

func (s *schema) add(f Field) {
	rep := format.Optional
	if f.Required {
		rep = format.Required
	}
	repeated := func(name string, children int, inside func()) {
		s.group(format.SchemaElement{Name: name}, format.Repeated, children, inside)
	}
	switch e := (format.SchemaElement{Name: f.Name}); f.Kind {
	case ListInt32, ListString, ListStruct:
		e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.List), new(format.ListType)
		s.group(e, rep, 1, func() { repeated("list", 1, func() { s.addElement(f) }) })
	case MapString:
		e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.Map), new(format.MapType)
		s.group(e, rep, 1, func() {
			repeated("key_value", 2, func() {
				s.addLeaf("key", format.Required, format.ByteArray)
				s.addLeaf("value", format.Required, format.ByteArray)
			})
		})
	default:
		s.addLeaf(f.Name, rep, leafType(f.Kind))
	}
}

// addElement adds the element of a list.
func (s *schema) addElement(f Field) {
	if f.Kind != ListStruct {
		s.addLeaf("element", format.Required, leafType(f.Kind))
		return
	}
	s.group(format.SchemaElement{Name: "element"}, format.Required, len(f.Fields), func() {
		for _, member := range f.Fields {
			s.add(member)
		}
	})
}

// group adds e as the parent of what inside adds.
func (s *schema) group(e format.SchemaElement, rep format.FieldRepetitionType, children int, inside func()) {
	e.RepetitionType, e.NumChildren = thrift.New(rep), thrift.New(int32(children))
	s.element(e, inside)
}

func (s *schema) addLeaf(name string, rep format.FieldRepetitionType, typ format.Type) {
	e := format.SchemaElement{Name: name, RepetitionType: thrift.New(rep), Type: thrift.New(typ)}
	if typ == format.ByteArray { // old readers know only the converted type
		e.ConvertedType, e.LogicalType.Value = thrift.New(deprecated.UTF8), new(format.StringType)
	}
	s.element(e, func() {
		leaf := s.leaf
		leaf.path, leaf.typ = slices.Clone(s.path), typ
		s.leaves = append(s.leaves, leaf)
	})
}

func (s *schema) element(e format.SchemaElement, inside func()) {
	s.elements = append(s.elements, e)
	outer, def, rep := s.path, s.leaf.maxDef, s.leaf.maxRep
	s.path = append(s.path, e.Name)
	if e.RepetitionType.V != format.Required {
		s.leaf.maxDef++
	}
	if e.RepetitionType.V == format.Repeated {
		s.leaf.maxRep++
	}
	inside()
	s.path, s.leaf.maxDef, s.leaf.maxRep = outer, def, rep
}

func leafType(k ColumnKind) format.Type {
	switch k {
	case Int32, ListInt32:
		return format.Int32
	case Int64:
		return format.Int64
	case Double:
		return format.Double
	case Bool:
		return format.Boolean
	default:
		return format.ByteArray
	}
}

// end writes the footer and what is still in memory.
func (e *Encoder) end(s *schema, metadata map[string]string) error {
	meta := format.FileMetaData{Version: 2, Schema: s.elements, RowGroups: e.groups, CreatedBy: createdBy}
	for i := range e.groups {
		e.groups[i].Ordinal = int16(i)
		meta.NumRows += e.groups[i].NumRows
	}
	for _, k := range slices.Sorted(maps.Keys(metadata)) {
		meta.KeyValueMetadata = append(meta.KeyValueMetadata, format.KeyValue{Key: k, Value: metadata[k]})
	}
	meta.KeyValueMetadata = append(meta.KeyValueMetadata, format.KeyValue{Key: pagesKey, Value: pageSums(e.sums)}, format.KeyValue{Key: footerKey, Value: noSum})
	for range s.leaves { // without them the bounds mean nothing
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: new(format.TypeDefinedOrder)})
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return err
	}
	if len(footer) > math.MaxUint32 {
		return fmt.Errorf("%d row groups are too many for one file", len(e.groups))
	}
	sealFooter(footer)
	e.write(footer)
	e.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	e.write([]byte(magic))
	e.flush()
	e.w, e.groups, e.sums = nil, nil, nil
	return e.err
}

// A compactWriter appends structs of Thrift's compact protocol to b. Page headers are
// written with it because the library cannot leave out the statistics of a page.
//
// Source: Thrift compact protocol specification, Apache Thrift.
type compactWriter struct {
	b     []byte
	last  int16   // the field written last in the open struct
	outer []int16 // last of the enclosing structs
}

func (w *compactWriter) reset() { w.b, w.last, w.outer = w.b[:0], 0, w.outer[:0] }

// field begins a field whose number is at most 15 above the last one.
func (w *compactWriter) field(id int16, typ byte) {
	w.b = append(w.b, byte(id-w.last)<<4|typ)
	w.last = id
}

func (w *compactWriter) i32(id int16, v int32) {
	w.field(id, compactI32)
	w.b = binary.AppendVarint(w.b, int64(v))
}

// begin opens a struct that is a field.
func (w *compactWriter) begin(id int16) {
	w.field(id, compactStruct)
	w.outer = append(w.outer, w.last)
	w.last = 0
}

// end closes the open struct; without one, the outermost.
func (w *compactWriter) end() {
	w.b = append(w.b, 0)
	if n := len(w.outer); n > 0 {
		w.last = w.outer[n-1]
		w.outer = w.outer[:n-1]
	}
}
