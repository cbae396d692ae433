package runs

import (
	"slices"

	"ibid/dataset/parquet"
	"ibid/metrics"
)

// kindsColumn has numbers over the citations of one kind of source, where these are a part of
// the citations of the row.
const kindsColumn = "by_kind"

// ofKinds are the columns that slices by kind have numbers of their own for.
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

// KindKey is the key in the columns by_kind and undefined for a number over the citations that
// have the slice KEY=VALUE.
func KindKey(name, slice string) string { return name + "[" + slice + "]" }

// Of is the part of a block that rows of it are, nil for all, as a slice KEY=VALUE by source_type
// or source_status counts it: numbers over citations ([metrics.Definition.OfCitations]) are over
// those of that kind alone, other numbers over whole rows. It is good as long as the block, and
// means nothing in rows that are not in the slice.
func (b *Block) Of(slice string, rows []int) *Block {
	out := &Block{Number: b.Number, First: b.First, frame: b.frame, places: rows, columns: make(map[string]*blockColumn), whole: b, kind: slice}
	out.part = make([]bool, out.rows())
	key := KindKey(metrics.Citations.String(), slice)
	for i := range out.part {
		_, out.part[i] = b.ofKind(out.place(i), key)
	}
	return out
}

// place is the row of the whole block that row i of a part is.
func (b *Block) place(i int) int {
	if b.whole == nil || b.places == nil {
		return i
	}
	return b.places[i]
}

// ofKind is what a row has under a key of the column by_kind.
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
