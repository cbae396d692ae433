package dataset

// leafPages cuts one leaf of a table into pages and lays out their levels. The
// values of a page are laid out by values.
type leafPages struct {
	leaf    *resultLeaf
	column  *tableColumn
	rows    int
	lengths []int32 // of the lists that are not null, for a repeated leaf
	values  leafValues
	mapLens []int32 // memory of lengths for maps

	lists int // lists before the next page
	done  int // values before the next page
}

func (p *leafPages) begin(t *Table, l *resultLeaf) {
	p.leaf, p.column, p.rows = l, &t.columns[l.column], t.rows
	p.lists, p.done = 0, 0
	p.lengths = p.column.lengths
	if p.column.kind == MapString {
		p.mapLens = p.mapLens[:0]
		for _, row := range p.column.maps.rows {
			p.mapLens = append(p.mapLens, int32(len(p.column.maps.set(row).keys)))
		}
		p.lengths = p.mapLens
	}
	p.values.begin(p.column, l)
}

// cut returns the end of the page that begins at row: the end of the table, or
// else a multiple of 8, so that the bitmap of a page begins at a byte.
func (p *leafPages) cut(row int) int {
	if !p.leaf.repeated && p.values.plainBytes() <= pageBytes {
		return min(p.rows, row+pageValues)
	}
	entries, bytes := 0, 0
	list, value := p.lists, p.done
	for end := row; end < p.rows; {
		next := min(end+8, p.rows)
		present := countBits(p.column.valid, end, next)
		n := present
		if p.leaf.repeated {
			n = 0
			for _, l := range p.lengths[list : list+present] {
				n += int(l)
				entries += max(int(l), 1)
			}
			entries += next - end - present
			list += present
		} else {
			entries += next - end
		}
		bytes += p.values.stringBytes(value, value+n)
		if end > row && (entries > pageValues || bytes > pageBytes) {
			return end
		}
		value += n
		end = next
	}
	return p.rows
}

// page appends the page of rows [row, end) to dst and returns the number of its
// values, nulls included. Pages must be asked for in order.
func (p *leafPages) page(dst []byte, row, end int) ([]byte, int) {
	if p.leaf.repeated {
		return p.listPage(dst, row, end)
	}
	n := end - row
	present := n
	if !p.leaf.isRequired {
		present = countBits(p.column.valid, row, end)
		dst = appendLevels(dst, func(b []byte) []byte {
			return appendPresence(b, p.column.valid, row, end, present)
		})
	}
	dst = p.values.append(dst, p.done, p.done+present)
	p.done += present
	return dst, n
}

// appendPresence appends the definition levels of an optional scalar, present
// of which are 1. A bitmap is just what a bit-packed run of width 1 holds.
func appendPresence(dst []byte, valid []uint64, row, end, present int) []byte {
	switch n := end - row; present {
	case 0:
		return appendRLERun(dst, 0, 1, n)
	case n:
		return appendRLERun(dst, 1, 1, n)
	default:
		return appendBitmap(appendPackedHeader(dst, n), valid, row, end)
	}
}

// listPage is page for a repeated leaf. A null list and an empty one have one
// entry without a value.
func (p *leafPages) listPage(dst []byte, row, end int) ([]byte, int) {
	present := countBits(p.column.valid, row, end)
	lengths := p.lengths[p.lists : p.lists+present]
	values, empty := 0, 0
	for _, l := range lengths {
		values += int(l)
		if l == 0 {
			empty++
		}
	}
	entries := values + empty + end - row - present
	dst = appendLevels(dst, func(b []byte) []byte { return p.appendRepetition(b, row, end, lengths, entries) })
	dst = appendLevels(dst, func(b []byte) []byte { return p.appendDefinition(b, row, end, lengths, entries) })
	if p.values.mode >= mapCodes {
		dst = p.values.appendMaps(dst, p.lists, p.lists+present, values)
	} else {
		dst = p.values.append(dst, p.done, p.done+values)
	}
	p.lists += present
	p.done += values
	return dst, entries
}

// appendRepetition appends the levels 0 for the first entry of a row and 1 for
// the others.
func (p *leafPages) appendRepetition(dst []byte, row, end int, lengths []int32, entries int) []byte {
	if entries == end-row {
		return appendRLERun(dst, 0, 1, entries)
	}
	dst = appendPackedHeader(dst, entries)
	start := len(dst)
	w := bitWriter{b: dst}
	for ; row < end; row++ {
		w.put(0, 1)
		if p.present(row) {
			w.repeat(1, 1, max(int(lengths[0])-1, 0))
			lengths = lengths[1:]
		}
	}
	return padPacked(w.flush(), start, entries, 1)
}

// appendDefinition appends the levels: the highest for a value, one less for an
// empty list, and 0 for a null list of a column that may have them.
func (p *leafPages) appendDefinition(dst []byte, row, end int, lengths []int32, entries int) []byte {
	if len(lengths) == 0 && !p.leaf.isRequired {
		return appendRLERun(dst, 0, bitWidth(int(p.leaf.maxDef)+1), entries)
	}
	full := uint64(p.leaf.maxDef)
	width := bitWidth(int(full) + 1)
	dst = appendPackedHeader(dst, entries)
	start := len(dst)
	w := bitWriter{b: dst}
	for ; row < end; row++ {
		switch {
		case !p.present(row):
			w.put(0, width)
			continue
		case lengths[0] == 0:
			w.put(full-1, width)
		default:
			w.repeat(full, width, int(lengths[0]))
		}
		lengths = lengths[1:]
	}
	return padPacked(w.flush(), start, entries, width)
}

func (p *leafPages) present(row int) bool {
	w := row >> 6
	return w < len(p.column.valid) && p.column.valid[w]>>(row&63)&1 == 1
}
