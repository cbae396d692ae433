package stats

import (
	"math"
	"slices"
)

// Lone is the number of a document that no other unit touches, or of several: that a unit
// touches some is all that matters of them.
const Lone = -1

// Documents are the documents that units touch, unit after unit. Units have the positions
// 0, 1, 2, …, documents the numbers from 0. The zero value has no units. It takes a byte and a
// quarter for a unit, and 2 bytes for each document that it touches as long as there are fewer than
// 65,536.
type Documents struct {
	few    []uint16 // the number of each document, plus one, while it fits
	many   []int32  // else
	counts []uint8  // of the documents of each unit; manyTouched of more
	more   map[int]int
	begins []int32 // where the documents of every unit of blockUnits begin in few or many
	end    int     // of the documents of the last unit
	seen   []int32 // of Lone and each document: the last unit that touches it, plus one
}

const (
	blockUnits  = 16
	manyTouched = 255
)

// MakeDocuments has room for so many units, which touch so many documents.
func MakeDocuments(units, touched int) *Documents {
	return &Documents{few: make([]uint16, 0, touched), counts: make([]uint8, 0, units), begins: make([]int32, 0, units/blockUnits+2)}
}

// Add is the next unit, with the documents that it touches: none, or some, of which one may
// be named more than once.
func (d *Documents) Add(documents ...int32) {
	d.Touch(documents...)
	unit, end := len(d.counts), max(len(d.few), len(d.many))
	if unit == 0 {
		d.begins = append(d.begins, 0)
	}
	n := end - d.end
	if d.end = end; n >= manyTouched {
		if d.more == nil {
			d.more = make(map[int]int)
		}
		d.more[unit], n = n, manyTouched
	}
	if d.counts = append(d.counts, uint8(n)); len(d.counts)%blockUnits == 0 {
		d.begins = append(d.begins, int32(end))
	}
}

// count is how many documents a unit touches.
func (d *Documents) count(unit int) int {
	if n := d.counts[unit]; n < manyTouched {
		return int(n)
	}
	return d.more[unit]
}

// Touch adds documents to the unit that the next Add completes.
func (d *Documents) Touch(documents ...int32) {
	for _, doc := range documents {
		at := int(doc) + 1
		if n := at + 1; n > len(d.seen) {
			d.seen = append(d.seen, make([]int32, n-len(d.seen))...)
		}
		if unit := int32(len(d.counts)) + 1; d.seen[at] == unit {
			continue
		} else if d.seen[at] = unit; d.many == nil && at <= math.MaxUint16 {
			d.few = append(d.few, uint16(at))
			continue
		}
		for _, n := range d.few {
			d.many = append(d.many, int32(n)-1)
		}
		d.few, d.many = nil, append(d.many, doc)
	}
}

// Units is the number of units.
func (d *Documents) Units() int { return len(d.counts) }

// Count is the number of documents beside Lone.
func (d *Documents) Count() int {
	if d == nil {
		return 0
	}
	return max(0, len(d.seen)-1)
}

// At are the documents of a unit, each once, in the order in which they were added, in the memory
// of into. A nil d and units behind the last have none.
func (d *Documents) At(unit int, into []int32) []int32 {
	into = into[:0]
	if d == nil || unit >= len(d.counts) {
		return into
	}
	begin := int(d.begins[unit/blockUnits])
	for u := unit - unit%blockUnits; u < unit; u++ {
		begin += d.count(u)
	}
	end := begin + d.count(unit)
	if d.many != nil {
		return append(into, d.many[begin:end]...)
	}
	for _, n := range d.few[begin:end] {
		into = append(into, int32(n)-1)
	}
	return into
}

// Shared reports whether two units touch one document.
func (d *Documents) Shared() bool {
	if d == nil {
		return false
	}
	met := make([]bool, d.Count())
	var documents []int32
	for unit := range d.counts {
		documents = d.At(unit, documents)
		for _, doc := range documents {
			if doc == Lone {
				continue
			}
			if met[doc] {
				return true
			}
			met[doc] = true
		}
	}
	return false
}

// Rows are the rows of a group, which are units or belong to some.
type Rows struct {
	documents *Documents
	of        []int32 // unit of each row; nil if each row is a unit
	order     []int32 // rows, unit after unit
	ends      []int32 // of each unit: where its rows end
}

// NewRows are rows with the documents that they touch, nil if they touch none. units has the
// unit of each row, nil if each is one of its own. Units get the positions of their first
// rows: 0 is the unit of the first row, 1 the next other one.
func NewRows[U comparable](units []U, documents *Documents) *Rows {
	r := &Rows{documents: documents}
	if units == nil {
		return r
	}
	numbers := make(map[U]int32)
	r.of = make([]int32, len(units))
	for row, unit := range units {
		n, known := numbers[unit]
		if !known {
			n = int32(len(numbers))
			numbers[unit] = n
			r.ends = append(r.ends, 0)
		}
		r.of[row] = n
		r.ends[n]++
	}
	if len(numbers) == len(units) {
		r.of, r.ends = nil, nil
		return r
	}
	begin := int32(0)
	for n, size := range r.ends {
		r.ends[n] = begin // until its rows are there
		begin += size
	}
	r.order = make([]int32, len(units))
	for row, n := range r.of {
		r.order[r.ends[n]] = int32(row)
		r.ends[n]++
	}
	return r
}

// Single reports whether each row is a unit.
func (r *Rows) Single() bool { return r.of == nil }

// Of is the unit of a row, of which there are Units.
func (r *Rows) Of(row int) int32 { return r.of[row] }

// Units is the number of units, 0 where each row is one.
func (r *Rows) Units() int { return len(r.ends) }

// Touched are the documents of a row, as of [Documents.At].
func (r *Rows) Touched(row int, into []int32) []int32 { return r.documents.At(row, into) }

// Count is the number of documents.
func (r *Rows) Count() int { return r.documents.Count() }

// Sums adds up the numbers of rows by unit. Where each row is a unit it is the argument.
func (r *Rows) Sums(of []float64) []float64 {
	if r.Single() {
		return of
	}
	out := make([]float64, len(r.ends))
	for row, unit := range r.of {
		out[unit] += of[row]
	}
	return out
}

// Documents are those of the units: what any of their rows touches for which in is true. A
// nil in is true of all rows. Where each row is a unit they are those of all rows.
func (r *Rows) Documents(in func(row int) bool) *Documents {
	if r.Single() || r.documents == nil {
		return r.documents
	}
	out := new(Documents)
	var documents []int32
	r.each(func(_ int, rows []int32) {
		for _, row := range rows {
			if in == nil || in(int(row)) {
				documents = r.documents.At(int(row), documents)
				out.Touch(documents...)
			}
		}
		out.Add()
	})
	return out
}

// within is a value between low and high of which the errors and shares of rows are known.
func (r *Rows) within(value float64, errors, shares []float64, low, high, level float64) Estimate {
	errors, shares = r.Sums(errors), r.Sums(shares)
	spread := NewShares(shares, errors, r.Documents(nil)).Spread(errors, shares)
	return spread.Within(value, low, high, level)
}

func (r *Rows) each(f func(unit int, rows []int32)) {
	begin := int32(0)
	for unit, end := range r.ends {
		f(unit, r.order[begin:end])
		begin = end
	}
}

// A Numbering numbers names from 0 in the order in which they come. The zero value knows none.
type Numbering[K comparable] struct {
	Names []K
	of    map[K]int32
}

// Number is the number of a name, a new one if it was not met before.
func (n *Numbering[K]) Number(name K) int32 {
	k, known := n.of[name]
	if !known {
		if n.of == nil {
			n.of = make(map[K]int32)
		}
		k = int32(len(n.Names))
		n.of[name] = k
		n.Names = append(n.Names, name)
	}
	return k
}

// Numbers are the numbers of names.
func (n *Numbering[K]) Numbers(names ...K) []int32 {
	out := make([]int32, 0, len(names))
	for _, name := range names {
		out = append(out, n.Number(name))
	}
	return slices.Clip(out)
}
