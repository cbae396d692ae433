package dataset

import (
	"bytes"

	"github.com/parquet-go/parquet-go/format"
)

// readSchema finds the fields. That they describe the whole schema is checked
// by writing it again.
func (f *resultFooter) readSchema(r *compactReader) error {
	start := r.at
	var elements []schemaElement
	for range listLength(r) {
		elements = append(elements, readElement(r))
	}
	end := r.at
	if r.bad || len(elements) == 0 {
		return corrupt("unreadable schema")
	}
	for i := 1; i < len(elements); {
		field, n := elementField(elements[i:])
		f.fields = append(f.fields, field)
		i += n
	}
	var again compactWriter
	writeSchema(&again, f.fields)
	if !bytes.Equal(again.b[1:], r.b[start:end]) { // without the header of the field
		return errNotResult
	}
	f.leaves = resultLeaves(f.fields)
	return nil
}

// A schemaElement is a node of the schema, as far as fields differ in it.
type schemaElement struct {
	typ      int64
	rep      int64
	name     string
	children int64
}

func readElement(r *compactReader) schemaElement {
	e := schemaElement{typ: -1}
	walkStruct(r, func(id int16, typ byte) bool {
		switch {
		case id == 1 && typ == compactI32:
			e.typ = r.varint()
		case id == 3 && typ == compactI32:
			e.rep = r.varint()
		case id == 4 && typ == compactBinary:
			e.name = string(binaryValue(r))
		case id == 5 && typ == compactI32:
			e.children = r.varint()
		default:
			return false
		}
		return true
	})
	return e
}

// elementField guesses the field that begins the elements and the number of
// elements it takes.
func elementField(e []schemaElement) (Field, int) {
	f := Field{Name: e[0].name, Required: e[0].rep == int64(format.Required)}
	if e[0].children == 0 {
		switch format.Type(e[0].typ) {
		case format.Int32:
			f.Kind = Int32
		case format.Int64:
			f.Kind = Int64
		case format.Double:
			f.Kind = Double
		case format.Boolean:
			f.Kind = Bool
		default:
			f.Kind = String
		}
		return f, 1
	}
	if len(e) > 1 && e[1].children == 2 {
		f.Kind = MapString
		return f, 4
	}
	f.Kind = ListString
	if len(e) > 2 && format.Type(e[2].typ) == format.Int32 {
		f.Kind = ListInt32
	}
	return f, 3
}

// walkStruct calls read for every field of a struct; read leaves alone the
// fields for which it returns false.
func walkStruct(r *compactReader, read func(id int16, typ byte) bool) {
	var id int16
	for typ := r.field(&id); typ != compactStop; typ = r.field(&id) {
		if !read(id, typ) {
			r.skip(typ, 0)
		}
	}
}

// listLength reads the header of a list, whose elements take a byte at least.
func listLength(r *compactReader) int {
	n := uint64(r.byte() >> 4)
	if n == 0xF {
		n = r.uvarint()
	}
	if n > uint64(len(r.b)-r.at) {
		r.fail()
		return 0
	}
	return int(n)
}

// binaryValue reads a string that shares the reader's memory.
func binaryValue(r *compactReader) []byte {
	n := r.uvarint()
	start := r.at
	r.discard(n)
	if r.bad {
		return nil
	}
	return r.b[start:r.at:r.at]
}
