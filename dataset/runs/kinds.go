package runs

import (
	"slices"

	"ibid/dataset/parquet"
	"ibid/metrics"
)

// kindsColumn has numbers over the citations of one kind of source, where these are a part of
// the citations of the row.
const kindsColumn = "by_kind"

// ofKinds are the columns that count the citations of one kind in a slice by kind.
var ofKinds = func() map[string]bool {
	of := make(map[string]bool)
	for _, c := range metrics.CitationCounts {
		of[c.String()] = true
	}
	for _, o := range metrics.CitationOpen {
		of[o.String()] = true
	}
	for _, m := range metrics.CitationMetrics {
		of[m.String()], of[m.String()+LowSuffix], of[m.String()+HighSuffix] = true, true, true
	}
	return of
}()

// KindKey is the key, in the columns by_kind and undefined, of a number over the citations of a slice
// KEY=VALUE.
func KindKey(name, slice string) string { return name + "[" + slice + "]" }

// Of returns some rows of a block, nil for all, as a slice KEY=VALUE by source_type or source_status
// counts them. Numbers over citations ([metrics.Definition.OfCitations]) count those of that kind
// alone, other numbers are of whole rows. The result is valid as long as the block. The rows must be
// in the slice.
func (b *Block) Of(slice string, rows []int) *Block {
	out := &Block{Number: b.Number, First: b.First, frame: b.frame, places: rows, columns: make(map[string]*blockColumn), whole: b, kind: slice}
	out.part = make([]bool, out.rows())
	key := KindKey(metrics.Citations.String(), slice)
	for i := range out.part {
		_, out.part[i] = b.ofKind(out.place(i), key)
	}
	return out
}

// place returns the number in the whole block of row i of a part.
func (b *Block) place(i int) int {
	if b.whole == nil || b.places == nil {
		return i
	}
	return b.places[i]
}

// ofKind returns the value of a row under a key of the column by_kind.
func (b *Block) ofKind(row int, key string) (value float64, ok bool) {
	maps := b.Column(kindsColumn)
	lo, hi := maps.Offsets[row], maps.Offsets[row+1]
	k, ok := slices.BinarySearch(maps.Keys[lo:hi], key)
	if !ok {
		return 0, false
	}
	return maps.Doubles[lo+int32(k)], true
}

// readPart makes a column of a part of a block.
func (b *Block) readPart(name string, to *parquet.ColumnValues) {
	to.Null(b.rows())
	if !ofKinds[name] {
		from := b.whole.Column(name)
		to.Kind = from.Kind
		for i := range to.Valid {
			p := b.place(i)
			to.Valid[i] = from.Valid[p]
			switch from.Kind {
			case parquet.String:
				to.Strings[i] = from.Strings[p]
			case parquet.Double:
				to.Doubles[i] = from.Doubles[p]
			default: // lists are read of whole blocks
				to.Ints[i] = from.Ints[p]
			}
		}
		return
	}
	values, known := b.whole.Numbers(name)
	_, open := metrics.OpenByKey(name)
	key := KindKey(name, b.kind)
	to.Kind = parquet.Double
	for i, part := range b.part {
		p := b.place(i)
		if to.Doubles[i], to.Valid[i] = values[p], known[p]; part {
			to.Doubles[i], to.Valid[i] = b.whole.ofKind(p, key)
			to.Valid[i] = to.Valid[i] || open
		}
	}
}
