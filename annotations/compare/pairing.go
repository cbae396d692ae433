package compare

import (
	"slices"

	"ibid/metrics/stats"
)

// A rowSet is the rows of one side.
type rowSet struct {
	run    *Run
	rows   []int // places in the file
	system string
}

// side selects the rows of a system, or of all those in keep if system is "".
func side(r *Run, system string, keep map[string]bool) *rowSet {
	s := &rowSet{run: r, system: system}
	for i, name := range r.sides {
		if name == system || system == "" && (keep == nil || keep[name]) {
			s.rows = append(s.rows, i)
		}
	}
	return s
}

// A pairing is two sides and which of their rows belong together.
type pairing struct {
	base, other *rowSet
	pairs       [][2]int // places in the files; empty if no question is shared
	onlyBase    []int
	onlyOther   []int

	cache map[string][2]*series
}

// pair pairs rows by id, and by system, too, where both sides have all of theirs.
func pair(base, other *rowSet) *pairing {
	p := &pairing{base: base, other: other, cache: make(map[string][2]*series)}
	at := make(map[question]int, len(other.rows))
	for _, i := range other.rows {
		at[other.question(i)] = i
	}
	for _, i := range base.rows {
		k := base.question(i)
		if j, ok := at[k]; ok {
			p.pairs = append(p.pairs, [2]int{i, j})
			delete(at, k)
		} else {
			p.onlyBase = append(p.onlyBase, i)
		}
	}
	for _, i := range other.rows {
		if j, ok := at[other.question(i)]; ok && i == j {
			p.onlyOther = append(p.onlyOther, i)
		}
	}
	return p
}

// dropped lists rows by the names of their questions.
func dropped(r *Run, rows []int) Dropped {
	d := Dropped{Rows: int64(len(rows)), IDs: []string{}}
	for _, i := range rows {
		d.IDs = append(d.IDs, r.ids[i])
	}
	slices.Sort(d.IDs)
	d.IDs = slices.Compact(d.IDs)
	d.IDs = d.IDs[:min(len(d.IDs), maxListed)]
	return d
}

// series are those of both sides.
func (p *pairing) series(q Quantity) (base, other *series, err error) {
	name := q.String()
	if both, ok := p.cache[name]; ok {
		return both[0], both[1], nil
	}
	if base, err = p.base.run.series(q); err != nil {
		return nil, nil, err
	}
	other = base
	if p.other.run != p.base.run {
		if other, err = p.other.run.series(q); err != nil {
			return nil, nil, err
		}
	}
	// Slices ask for one quantity after another, so the last is enough.
	clear(p.cache)
	p.cache[name] = [2]*series{base, other}
	return base, other, nil
}

// A filter says which rows of a file are looked at; nil is all.
type filter []bool

func (f filter) keeps(i int) bool { return f == nil || f[i] }

// clusterCodes number clusters in the order of first sight.
type clusterCodes map[string]int

func (c clusterCodes) code(name string) int {
	code, ok := c[name]
	if !ok {
		code = len(c)
		c[name] = code
	}
	return code
}

// clusterKeys are the keys of the clusters by code.
func (c clusterCodes) keys() []uint64 {
	keys := make([]uint64, len(c))
	for name, code := range c {
		keys[code] = stats.Key(name)
	}
	return keys
}
