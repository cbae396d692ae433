package dataset

import "encoding/binary"

// A compactWriter appends structs of Thrift's compact protocol to b. Page
// headers and footers are written once per column and part, where the
// reflection of a general encoder costs more than the values.
//
// Source: Thrift compact protocol specification, Apache Thrift.
type compactWriter struct {
	b     []byte
	last  int16   // the field written last in the open struct
	outer []int16 // last of the enclosing structs
}

func (w *compactWriter) reset() { w.b, w.last, w.outer = w.b[:0], 0, w.outer[:0] }

func (w *compactWriter) field(id int16, typ byte) {
	if delta := id - w.last; delta > 0 && delta <= 15 {
		w.b = append(w.b, byte(delta)<<4|typ)
	} else {
		w.b = append(w.b, typ)
		w.b = binary.AppendVarint(w.b, int64(id))
	}
	w.last = id
}

func (w *compactWriter) i32(id int16, v int32) {
	w.field(id, compactI32)
	w.b = binary.AppendVarint(w.b, int64(v))
}

func (w *compactWriter) i64(id int16, v int64) {
	w.field(id, compactI64)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *compactWriter) bytes(id int16, v []byte) {
	w.field(id, compactBinary)
	w.b = binary.AppendUvarint(w.b, uint64(len(v)))
	w.b = append(w.b, v...)
}

func (w *compactWriter) string(id int16, v string) {
	w.field(id, compactBinary)
	w.element(v)
}

// element appends a string of a list.
func (w *compactWriter) element(v string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(v)))
	w.b = append(w.b, v...)
}

// list begins a list of n elements, which the caller appends.
func (w *compactWriter) list(id int16, typ byte, n int) {
	w.field(id, compactList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|typ)
		return
	}
	w.b = append(w.b, 0xF0|typ)
	w.b = binary.AppendUvarint(w.b, uint64(n))
}

// begin opens a struct that is a field.
func (w *compactWriter) begin(id int16) {
	w.field(id, compactStruct)
	w.open()
}

// open opens a struct that is an element of a list.
func (w *compactWriter) open() {
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
