package harness

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// autoCluster is the value of statistics.cluster with which rows depend on each other
// by all documents that they touch.
const autoCluster = "auto"

// pairsMemory is about how many bytes of errors of items a worker has at a time.
const pairsMemory = 4 << 20

// A dependent is a group whose rows share documents.
type dependent struct {
	of       *stats.Dependence
	clusters clustered // the components, where they are clusters

	// Where pairs are counted: the rows of the kept units, in the order of the file, the
	// place of each one's unit among these, nil if it is the row's own, and where the rows of
	// each row group begin.
	rows, units []int32
	parts       []int
}

// findDependences finds the groups whose rows share documents. Where each row of the file
// is a unit they are read one after the other; of other groups they are in memory.
func (s *summarizer) findDependences(ctx context.Context, seed uint64) error {
	s.dependent = make(map[int]*dependent)
	var whole *dependent
	var others []int
	for _, g := range s.groups.own {
		if k := &s.groups.all[g]; k.spread || k.rows < s.file.Rows() {
			others = append(others, g)
			continue
		}
		if whole == nil {
			var err error
			if whole, err = s.dependWhole(ctx, seed); err != nil || whole == nil {
				return err
			}
		}
		s.dependent[g] = whole
	}
	if len(others) == 0 {
		return nil
	}
	touching, questions, err := runs.ReadTouching(ctx, s.file)
	if err != nil || !touching.Shared(questions) {
		return err
	}
	return s.dependOthers(ctx, others, touching, questions, seed)
}

// dependWhole is how all rows of the file depend on each other, each of them a unit; nil if
// no two share a document.
func (s *summarizer) dependWhole(ctx context.Context, seed uint64) (*dependent, error) {
	units := runs.NewTouchingRows(ctx, s.file)
	d, err := stats.Depend(units, seed)
	switch {
	case err != nil || d == nil:
		return nil, err
	case !d.Components:
		return s.byPairs(d, d.Kept, nil), nil
	}
	if err := d.Connect(units); err != nil {
		return nil, err
	}
	rows := make([]int32, d.Units)
	for row := range rows {
		rows[row] = int32(row)
	}
	return &dependent{of: d, clusters: cluster(rows, d.Of, len(d.Keys))}, nil
}

func (s *summarizer) dependOthers(ctx context.Context, groups []int, touching *stats.Touching, questions []uint64, seed uint64) error {
	rows := make([][]int32, len(s.groups.all))
	for _, g := range groups {
		rows[g] = make([]int32, 0, s.groups.all[g].rows)
	}
	row := int32(0)
	for part := range s.file.RowGroups() {
		signatures := &s.groups.perPart[part]
		for i := range s.file.GroupRows(part) {
			for _, g := range s.groups.members[signatures.at(i)] {
				if rows[g] != nil {
					rows[g] = append(rows[g], row)
				}
			}
			row++
		}
	}
	var members []stats.Member
	for _, g := range groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		members = members[:0]
		for _, row := range rows[g] {
			members = append(members, stats.Member{Unit: questions[row], Row: row})
		}
		rows[g] = nil
		if d := touching.Depend(members, !s.groups.all[g].spread, seed); d != nil {
			s.dependent[g] = s.dependMembers(d, members, !s.groups.all[g].spread)
		}
	}
	return nil
}

// dependMembers is a group of members, unit after unit.
func (s *summarizer) dependMembers(d *stats.Dependence, members []stats.Member, single bool) *dependent {
	type keptRow struct{ row, unit int32 }
	var kept []keptRow
	at, codes := make([]int32, 0, len(members)), make([]int32, 0, len(members))
	unit, k := int32(-1), 0
	for i, m := range members {
		if i == 0 || single || members[i-1].Unit != m.Unit {
			unit++
		}
		if d.Components {
			at, codes = append(at, m.Row), append(codes, d.Of[unit])
			continue
		}
		for k < len(d.Kept) && d.Kept[k] < unit {
			k++
		}
		if k < len(d.Kept) && d.Kept[k] == unit {
			kept = append(kept, keptRow{m.Row, int32(k)})
		}
	}
	if d.Components {
		return &dependent{of: d, clusters: cluster(at, codes, len(d.Keys))}
	}
	slices.SortFunc(kept, func(a, b keptRow) int { return cmp.Compare(a.row, b.row) })
	units := make([]int32, len(kept))
	for i, r := range kept {
		at, units[i] = append(at, r.row), r.unit
	}
	return s.byPairs(d, at, units)
}

// byPairs is a group with these rows of kept units.
func (s *summarizer) byPairs(d *stats.Dependence, rows, units []int32) *dependent {
	out := &dependent{of: d, rows: rows, units: units, parts: []int{0}}
	at, first := 0, 0
	for part := range s.file.RowGroups() {
		first += s.file.GroupRows(part)
		for at < len(rows) && int(rows[at]) < first {
			at++
		}
		out.parts = append(out.parts, at)
	}
	return out
}

// collectMemory is about how many bytes a worker needs for values of rows and what they
// add up to.
func (s *summarizer) collectMemory() int {
	bytes := 0
	if s.denseNeeded() {
		bytes = denseBytes * int(s.file.Rows())
	}
	for _, d := range s.dependent {
		if !d.of.Components {
			bytes += 2 * d.of.Bytes()
		}
	}
	return bytes
}

// denseNeeded reports whether some group asks for rows in another order than theirs.
func (s *summarizer) denseNeeded() bool {
	if s.clusters != nil {
		return true
	}
	for _, d := range s.dependent {
		if d.of.Components {
			return true
		}
	}
	return false
}

// sampled says of which share of the documents standard errors were computed, in the
// group where it is the least; "" if it is all of them everywhere.
func (s *summarizer) sampled() string {
	var least *stats.Dependence
	for _, d := range s.dependent {
		if d.of.Sampled < d.of.Documents && (least == nil || d.of.Documents > least.Documents) {
			least = d.of
		}
	}
	if least == nil {
		return ""
	}
	return fmt.Sprintf("standard errors of more than 100,000 rows that share documents are from a sample of %d of %d documents (%.2g %%)",
		least.Sampled, least.Documents, 100*float64(least.Sampled)/float64(least.Documents))
}

// addComponents adds an item to the states of the groups whose rows that share documents are
// clusters.
func (b *block) addComponents(ctx context.Context, of *denseValues, i int) error {
	for _, g := range b.groups.own {
		d := b.dependent[g]
		if d == nil || !d.of.Components {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		to := &b.apart[g][i]
		to.defined = b.states[g][i].defined
		of.add(to, &d.clusters)
		to.macro.Named(stats.ByComponents)
		to.micro.Named(stats.ByComponents)
		if b.resampling != nil {
			b.drawn[i][g] = of.draw(b.resampling, &d.clusters, d.of.Keys, b.level)
			b.drawn[i][g].named(stats.ByComponents)
		}
	}
	return nil
}

// groupErrors are the errors of the units of a group for one item.
type groupErrors struct {
	*dependent
	item         int // of the block
	to           *state
	macro, micro stats.UnitErrors
	means, pools bool // there are errors
}

// addPairs adds all items to the states of the groups where pairs of rows that share documents
// are counted: some items at a time, so that they do not take much memory. The states as if
// they did not must be complete.
func (b *block) addPairs(ctx context.Context) error {
	bytes := 0
	for _, d := range b.dependent {
		if !d.of.Components {
			bytes += 2 * d.of.Bytes()
		}
	}
	if bytes == 0 {
		return nil
	}
	all, _ := b.errors.Get().(*[]groupErrors)
	if all == nil {
		all = new([]groupErrors)
	}
	defer b.errors.Put(all)
	size := max(1, pairsMemory/bytes)
	for from := 0; from < len(b.items); from += size {
		var err error
		if *all, err = b.addPairsOf(ctx, from, min(from+size, len(b.items)), (*all)[:0]); err != nil {
			return err
		}
	}
	return nil
}

// addPairsOf adds the items [from, to); it may use the memory of all.
func (b *block) addPairsOf(ctx context.Context, from, to int, all []groupErrors) ([]groupErrors, error) {
	for i := from; i < to; i++ {
		for _, g := range b.groups.own {
			d := b.dependent[g]
			if d == nil || d.of.Components {
				continue
			}
			st := &b.apart[g][i]
			if *st = b.states[g][i]; st.defined == 0 {
				continue
			}
			all = slices.Grow(all, 1)[:len(all)+1] // with the memory of one before
			e := &all[len(all)-1]
			e.dependent, e.item, e.to = d, i, st
			e.means = st.macro.Errors(&e.macro, d.of)
			e.pools = b.items[i].micro() && st.micro.Errors(&e.micro, d.of)
		}
	}
	r := newColumnReader(b.file)
	var values itemValues
	var memory []int32
	first := 0
	for part := range b.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		r.part = part
		var places []int32
		for k := range all {
			e := &all[k]
			if k == 0 || all[k-1].item != e.item {
				if err := values.read(r, &b.items[e.item]); err != nil {
					return all, err
				}
				if places = values.places(memory); places != nil {
					memory = places
				}
			}
			e.add(&values, part, first, places)
		}
		first += b.file.GroupRows(part)
	}
	for k := range all {
		e := &all[k]
		if e.means {
			e.to.macro.Rest(&e.macro)
		}
		if e.pools {
			e.to.micro.Rest(&e.micro)
		}
	}
	return all, nil
}

// add adds the rows of a row group that begins at the row first; places are where their
// values are, those below 0 of rows without one, nil if all have one.
func (e *groupErrors) add(values *itemValues, part, first int, places []int32) {
	for n := e.parts[part]; n < e.parts[part+1]; n++ {
		at, unit := int(e.rows[n])-first, n
		if e.units != nil {
			unit = int(e.units[n])
		}
		if places != nil {
			if at = int(places[at]); at < 0 {
				if e.means {
					e.macro.Skip(unit)
				}
				if e.pools {
					e.micro.Skip(unit)
				}
				continue
			}
		}
		if e.means {
			e.macro.Add(unit, values.value(at), 1)
		}
		if e.pools {
			e.micro.Add(unit, values.num.at(at), values.den.at(at))
		}
	}
}

// named says in the names of the methods how rows depend.
func (v *intervals) named(how string) {
	for _, e := range []*stats.Estimate{v.macro, v.micro} {
		if e != nil {
			e.Method = e.Method.By(how)
		}
	}
}
