package dataset

// mapPatterns holds, for every set that the column uses, the packed codes of
// its keys or of its values.
type mapPatterns struct {
	defined, sets []mapPattern
	words         []uint64
}

// A mapPattern is words[from:] of mapPatterns, n codes. It is unset if from is
// -1.
type mapPattern struct{ from, n int }

func (m *mapPatterns) reset(c *mapSets) {
	m.words = m.words[:0]
	m.defined, m.sets = m.defined[:0], m.sets[:0]
	for range c.defined {
		m.defined = append(m.defined, mapPattern{from: -1})
	}
	for range c.sets {
		m.sets = append(m.sets, mapPattern{from: -1})
	}
}

func (m *mapPatterns) at(row int32) *mapPattern {
	if row < 0 {
		return &m.defined[^row]
	}
	return &m.sets[row]
}

// mapStrings returns the strings of a set that belong to the leaf.
func (v *leafValues) mapStrings(row int32) []string {
	s := v.column.maps.set(row)
	if v.leaf.mapKey {
		return s.keys
	}
	return s.values
}

func (v *leafValues) beginMaps() {
	m := &v.column.maps
	v.mode = mapPlainMode
	v.maps.reset(m)
	v.codes = v.codes[:0]
	d := &v.strings
	d.reset()
	for _, row := range m.rows { // number the strings of each set once
		p := v.maps.at(row)
		if p.from >= 0 {
			continue
		}
		p.from = len(v.codes)
		for _, s := range v.mapStrings(row) {
			v.codes = append(v.codes, d.code(s))
			p.n++
		}
		if len(d.found) > textLimit || d.size > pageBytes {
			return
		}
	}
	if len(d.found) == 0 {
		return
	}
	v.useText(mapCodes)
	v.packMaps(v.maps.defined)
	v.packMaps(v.maps.sets)
}

// packMaps turns the codes of each pattern, at v.codes[from:], into words.
func (v *leafValues) packMaps(patterns []mapPattern) {
	for i := range patterns {
		p := &patterns[i]
		if p.from < 0 {
			continue
		}
		codes := v.codes[p.from : p.from+p.n]
		p.from = len(v.maps.words)
		var acc uint64
		var fill uint
		for _, c := range codes {
			acc |= uint64(c) << fill
			if fill += v.width; fill >= 64 {
				v.maps.words = append(v.maps.words, acc)
				fill -= 64
				acc = uint64(c) >> (v.width - fill)
			}
		}
		v.maps.words = append(v.maps.words, acc)
	}
}

// appendMaps appends the values of the maps [from, to), n in all.
func (v *leafValues) appendMaps(dst []byte, from, to, n int) []byte {
	rows := v.column.maps.rows[from:to]
	if v.mode == mapPlainMode {
		for _, row := range rows {
			for _, s := range v.mapStrings(row) {
				dst = appendPlainString(dst, s)
			}
		}
		return dst
	}
	dst = append(dst, byte(v.width))
	if n == 0 {
		return dst
	}
	dst = appendPackedHeader(dst, n)
	start := len(dst)
	w := bitWriter{b: dst}
	for _, row := range rows {
		p := v.maps.at(row)
		w.pattern(v.maps.words[p.from:], p.n*int(v.width))
	}
	return padPacked(w.flush(), start, n, v.width)
}
