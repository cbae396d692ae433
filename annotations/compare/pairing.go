package compare

import (
	"cmp"
	"slices"

	"ibid/metrics/stats"
)

// A rowSet is the rows of one side.
type rowSet struct {
	run    *Run
	rows   []int32 // places in the file, ascending
	system string

	order   []int32 // see clusterOrder
	ordered bool

	// Of rows that share documents: how they depend on each other, and by position the unit,
	// nil if each row is one, and the key of the cluster, nil without clusters.
	dependence *stats.Dependence
	touches    stats.Touches // of the units, if each row is one
	unit       []int32
	keys       []uint64

	documents *rowSet // see byDocuments
}

// depend finds how rows depend on each other by the documents of rows of t and of those
// beside them of o.
func (s *rowSet) depend(t *stats.Touching, rows []int32, o *stats.Touching, others []int32) {
	seed := uint64(s.run.Manifest.Seed)
	s.touches = stats.Together(t, rows, o, others, func(at int) uint64 { return s.run.questions[s.rows[at]] })
	if s.alone() {
		if s.dependence, _ = stats.Depend(s.touches, seed); s.dependence != nil && s.dependence.Components { // in memory nothing fails
			s.keys = make([]uint64, len(s.rows))
			for at := range s.keys {
				s.keys[at] = s.component(int32(at))
			}
		}
		return
	}
	both, _ := stats.Gather(s.touches, len(s.rows))
	members := make([]stats.Member, len(s.rows))
	for i, row := range s.rows {
		members[i] = stats.Member{Unit: s.run.questions[row], Row: int32(i)}
	}
	if s.dependence = both.Depend(members, false, seed); s.dependence == nil {
		return
	}
	s.unit, s.keys = make([]int32, len(s.rows)), make([]uint64, len(s.rows))
	unit := int32(-1)
	for i, m := range members {
		if i == 0 || members[i-1].Unit != m.Unit {
			unit++
		}
		s.unit[m.Row], s.keys[m.Row] = unit, m.Unit
		if s.dependence.Components {
			s.keys[m.Row] = s.dependence.Keys[s.dependence.Of[unit]]
		}
	}
}

// unitOf is the unit of a position.
func (s *rowSet) unitOf(at int) int32 {
	if s.unit == nil {
		return int32(at)
	}
	return s.unit[at]
}

// byDocuments is the side with rows that share documents in clusters; itself if none do.
func (s *rowSet) byDocuments() *rowSet {
	if s.documents == nil {
		s.documents = &rowSet{run: s.run, rows: s.rows, system: s.system}
		if t := s.run.touching; t != nil {
			s.documents.depend(t, s.rows, nil, nil)
		}
	}
	if s.documents.dependence == nil {
		return s
	}
	return s.documents
}

// cluster is the key of the cluster of a position.
func (s *rowSet) cluster(at int32) uint64 {
	if s.keys != nil {
		return s.keys[at]
	}
	return s.run.cluster(s.rows[at])
}

// component is the key of the rows that documents connect with a position.
func (s *rowSet) component(at int32) uint64 {
	d := s.dependence
	if d == nil {
		return s.cluster(at)
	}
	if d.Of == nil {
		_ = d.Connect(s.touches) // in memory nothing fails
	}
	return d.Keys[d.Of[s.unitOf(int(at))]]
}

// pairsOf are how units depend on each other where they are no clusters; else nil.
func (s *rowSet) pairsOf() *stats.Dependence {
	if s.dependence == nil || s.dependence.Components {
		return nil
	}
	return s.dependence
}

// how is what the names of methods end with.
func (s *rowSet) how() string {
	if s.dependence != nil && s.dependence.Components {
		return stats.ByComponents
	}
	return ""
}

// side selects the rows of a system, or of all those in keep if system is "".
func side(r *Run, system string, keep map[string]bool) *rowSet {
	s := &rowSet{run: r, system: system}
	if system != "" {
		s.rows = r.rowsOf(system)
		return s
	}
	kept := make([]bool, len(r.sides.names))
	for code, name := range r.sides.names {
		kept[code] = keep == nil || keep[name]
	}
	s.rows = make([]int32, 0, len(r.questions))
	for row, code := range r.sides.codes {
		if code < 0 && keep == nil || code >= 0 && kept[code] {
			s.rows = append(s.rows, int32(row))
		}
	}
	return s
}

// question is the key of what a row of the side is paired by: its id, and its system,
// too, where the side has several. Two of a million questions have the same key with a
// chance below 3e-8.
func (s *rowSet) question(row int32) uint64 {
	if s.system != "" {
		return s.run.questions[row]
	}
	return s.run.answer(row)
}

// alone reports whether each row is of a question of its own: a system answers one once.
func (s *rowSet) alone() bool { return s.system != "" || len(s.run.systems.names) == 1 }

// clusterOrder are the positions in rows in an order in which those of a cluster follow
// each other; nil if each row is a cluster of its own.
func (s *rowSet) clusterOrder() []int32 {
	if s.ordered {
		return s.order
	}
	s.ordered = true
	if s.keys == nil && s.run.clusters == nil && s.alone() {
		return nil
	}
	type place struct {
		cluster uint64
		at      int32
	}
	all := make([]place, len(s.rows))
	for i := range s.rows {
		all[i] = place{s.cluster(int32(i)), int32(i)}
	}
	slices.SortFunc(all, func(a, b place) int {
		if c := cmp.Compare(a.cluster, b.cluster); c != 0 { // of nearly all
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
	s.order = make([]int32, len(all))
	for i := range all {
		s.order[i] = all[i].at
	}
	return s.order
}

// eachCluster calls add with the positions in rows, cluster by cluster, and end with the
// key of a cluster after each that add took a row of.
func (s *rowSet) eachCluster(add func(at int32) bool, end func(cluster uint64)) {
	order := s.clusterOrder()
	if order == nil {
		for i := range s.rows {
			if add(int32(i)) {
				end(s.cluster(int32(i)))
			}
		}
		return
	}
	some := false
	for i, at := range order {
		some = add(at) || some
		cluster := s.cluster(at)
		if some && (i+1 == len(order) || s.cluster(order[i+1]) != cluster) {
			end(cluster)
			some = false
		}
	}
}

// A pairing is two sides and which of their rows belong together.
type pairing struct {
	base, other *rowSet
	paired      bool    // some question is shared
	first       *rowSet // rows of the base that have a counterpart
	second      []int32 // row of the other side for each
	onlyBase    []int32
	onlyOther   []int32
	documents   *rowSet // see byDocuments
}

// byDocuments are the pairs with those that share documents, by rows of either side, in
// clusters; first if none do.
func (p *pairing) byDocuments() *rowSet {
	if p.documents == nil {
		p.documents = &rowSet{run: p.first.run, rows: p.first.rows, system: p.first.system}
		if base, other := p.base.run.touching, p.other.run.touching; base != nil || other != nil {
			p.documents.depend(base, p.first.rows, other, p.second)
		}
	}
	if p.documents.dependence == nil {
		return p.first
	}
	return p.documents
}

// pair pairs rows by id, and by system, too, where both sides have all of theirs. Runs
// over the same dataset have their rows in one order, so that this is one pass; only
// what comes after the first difference is sorted.
func pair(base, other *rowSet) *pairing {
	p := &pairing{base: base, other: other, first: &rowSet{run: base.run, system: base.system}}
	same := 0
	for same < min(len(base.rows), len(other.rows)) && base.question(base.rows[same]) == other.question(other.rows[same]) {
		same++
	}
	if same == len(base.rows) && same == len(other.rows) {
		p.first, p.second, p.paired = base, other.rows, same > 0
		return p
	}
	counterpart := match(base, other, same)
	p.first.rows = append(make([]int32, 0, len(base.rows)), base.rows[:same]...)
	p.second = append(make([]int32, 0, len(base.rows)), other.rows[:same]...)
	taken := make([]bool, len(other.rows)-same)
	for i, at := range counterpart {
		if row := base.rows[same+i]; at >= 0 {
			p.first.rows, p.second = append(p.first.rows, row), append(p.second, other.rows[same+int(at)])
			taken[at] = true
		} else {
			p.onlyBase = append(p.onlyBase, row)
		}
	}
	for i, row := range other.rows[same:] {
		if !taken[i] {
			p.onlyOther = append(p.onlyOther, row)
		}
	}
	p.paired = len(p.second) > 0
	return p
}

// match says for each row of the base from the position on which row of the other side
// it belongs to, counted from there; -1 is none.
func match(base, other *rowSet, from int) []int32 {
	a, b := sortedQuestions(base, from), sortedQuestions(other, from)
	counterpart := make([]int32, len(a))
	for i := range counterpart {
		counterpart[i] = -1
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := cmp.Compare(a[i].question, b[j].question); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			counterpart[a[i].at] = b[j].at
			i, j = i+1, j+1
		}
	}
	return counterpart
}

// An asked question is one with the position of its row.
type asked struct {
	question uint64
	at       int32
}

func sortedQuestions(s *rowSet, from int) []asked {
	all := make([]asked, 0, len(s.rows)-from)
	for i, row := range s.rows[from:] {
		all = append(all, asked{s.question(row), int32(i)})
	}
	slices.SortFunc(all, func(a, b asked) int { return cmp.Or(cmp.Compare(a.question, b.question), cmp.Compare(a.at, b.at)) })
	return all
}

// within is the part of the pairing whose rows are in a slice of either side; of pairs
// the base's row decides. The rows are in file order.
func (p *pairing) within(base, other []int32) *pairing {
	out := &pairing{base: p.base.within(base), other: p.other.within(other), paired: p.paired}
	out.first = &rowSet{run: p.first.run, system: p.first.system}
	eachCommon(p.first.rows, base, func(at int) {
		out.first.rows, out.second = append(out.first.rows, p.first.rows[at]), append(out.second, p.second[at])
	})
	return out
}

func (s *rowSet) within(rows []int32) *rowSet {
	out := &rowSet{run: s.run, system: s.system}
	eachCommon(s.rows, rows, func(at int) { out.rows = append(out.rows, s.rows[at]) })
	return out
}

// eachCommon calls yield with the positions in all of the rows that are in some, too.
// Both are ascending; what it costs grows with the shorter one.
func eachCommon(all, some []int32, yield func(at int)) {
	if len(all) < len(some) {
		for at, row := range all {
			n, ok := slices.BinarySearch(some, row)
			if some = some[n:]; ok {
				yield(at)
			}
		}
		return
	}
	at := 0
	for _, row := range some {
		n, ok := slices.BinarySearch(all[at:], row)
		if at += n; ok {
			yield(at)
		}
	}
}

func questions(r *Run, rows []int32) (Named, error) {
	return r.named(rows, func(_ int32, id string) string { return id })
}

// series are those of both sides.
func (p *pairing) series(q Quantity) (base, other *series, err error) {
	if base, err = p.base.run.series(q); err != nil {
		return nil, nil, err
	}
	other, err = p.other.run.series(q)
	return base, other, err
}

type clusterSums struct {
	y, x stats.Exact
	rows int64
}

// add adds a row of numerator y and denominator x.
func (c *clusterSums) add(y, x float64) {
	c.y.Add(y)
	c.x.Add(x)
	c.rows++
}

// addTo adds the cluster to those of a sum, and empties it. The
// sums are returned rounded; one that is not defined is 0.
func (c *clusterSums) addTo(sum *stats.Clusters) (y, x float64, rows int64) {
	y, _ = c.y.Float64()
	x, _ = c.x.Float64()
	rows = c.rows
	sum.AddSums(&c.y, &c.x, rows)
	*c = clusterSums{}
	return y, x, rows
}
