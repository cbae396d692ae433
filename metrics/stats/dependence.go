package stats

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// How rows that share documents enter an interval, as the end of its method says.
const (
	// ByComponents: rows that documents connect are one cluster.
	ByComponents = "components"
	// ByPairs: every two rows that share a document are correlated.
	ByPairs = "pairs"
	// ByDocuments: as ByPairs, but by sums over documents, which are never too small
	// and count two rows once for each document that they share.
	ByDocuments = "documents"
)

const (
	largestComponent = 0.1     // share of the rows up to which components are clusters
	fewestComponents = 8       // effective ones that there must be for that
	pairDocuments    = 4       // documents that a unit may touch to count pairs
	fewestDocuments  = 40      // effective ones that there must be to count pairs
	sampledRows      = 100_000 // from more rows on documents are sampled
	mostSampled      = 2000    // documents of a sample
	fewestSampled    = 1000    // with fewer, standard errors are more than some percent off those of all
	sampledTouches   = 400_000 // of units with a document of the sample, between the two
)

// Touching says which documents each of some rows touches. The zero Touching has no
// rows. It is not safe for concurrent use.
type Touching struct {
	docs  []int32 // row after row
	first []uint32
	codes Codes
	keys  []uint64 // of each document
	local []int32  // scratch: the number of a document in a group, less one; else 0
}

// Add adds a row that touches documents, each of which may be named more than once.
func (t *Touching) Add(documents ...string) {
	t.begin()
	for _, name := range documents {
		t.touch(Key(name))
	}
	t.end()
}

// AddKeys is Add for the keys of documents.
func (t *Touching) AddKeys(documents ...uint64) {
	t.begin()
	for _, key := range documents {
		t.touch(key)
	}
	t.end()
}

// AddRow adds a row that touches what a row of o touches, and what one of another does;
// rows of nil touch nothing.
func (t *Touching) AddRow(o *Touching, row int32, other *Touching, otherRow int32) {
	t.begin()
	for _, doc := range o.of(row) {
		t.touch(o.keys[doc])
	}
	for _, doc := range other.of(otherRow) {
		t.touch(other.keys[doc])
	}
	t.end()
}

func (t *Touching) begin() {
	if len(t.first) == 0 {
		t.first = append(t.first, 0)
	}
}

func (t *Touching) end() { t.first = append(t.first, uint32(len(t.docs))) }

// touch adds a document to the open row.
func (t *Touching) touch(key uint64) {
	code := int32(t.codes.Code(key))
	if int(code) == len(t.keys) {
		t.keys = append(t.keys, key)
	}
	if !slices.Contains(t.docs[t.first[len(t.first)-1]:], code) {
		t.docs = append(t.docs, code)
	}
}

// of are the documents of a row, as numbers.
func (t *Touching) of(row int32) []int32 {
	if t == nil {
		return nil
	}
	return t.docs[t.first[row]:t.first[row+1]]
}

// Shared reports whether some document is touched by rows of two units; units are the keys
// of those of the rows.
func (t *Touching) Shared(units []uint64) bool {
	by := make([]uint64, len(t.keys))
	seen := make([]bool, len(t.keys))
	for row, unit := range units {
		for _, doc := range t.of(int32(row)) {
			if seen[doc] && by[doc] != unit {
				return true
			}
			seen[doc], by[doc] = true, unit
		}
	}
	return false
}

// A Member is a row of a group: which row of a [Touching], and the key of the unit that
// it is of. Rows of a unit, such as the answers of several systems to a question, depend
// on each other whatever they touch, and are in the order of their ranks.
type Member struct {
	Unit      uint64
	Row, Rank int32
}

// A Dependence says how the units of a group depend on each other. Units are numbered in
// the order of their keys, so that nothing depends on the order of rows.
type Dependence struct {
	// Components says that rows which documents connect are clusters, else pairs of
	// rows that share a document are counted.
	Components bool
	// Of is the component of each unit, be they clusters or not.
	Of []int32
	// Keys are those of the components: of their first units.
	Keys []uint64

	// Documents are how many there are, Sampled how many of them the variance is
	// computed from.
	Documents, Sampled int

	wide    bool     // some unit touches too many documents to count pairs
	terms   []int32  // of each unit: sums that it is in, those of documents first
	first   []uint32 // of each unit, where its terms begin
	alone   []int32  // of each unit, how often its square is added for sums that nobody else is in, less how often it is subtracted
	minus   []bool   // of each sum: whether it is subtracted
	sums    int
	rate    float64
	sampled bool // units that are in no sum were left out
}

// A graph is what the units of a group touch.
type graph struct {
	unit   []uint64 // their keys
	rows   []int64
	docs   []int32 // numbers of documents in the group, unit after unit
	first  []uint32
	keys   []uint64 // of documents
	parent []int32  // of documents
}

func (g *graph) of(unit int) []int32 { return g.docs[g.first[unit]:g.first[unit+1]] }

func (g *graph) root(doc int32) int32 {
	for g.parent[doc] != doc {
		g.parent[doc] = g.parent[g.parent[doc]]
		doc = g.parent[doc]
	}
	return doc
}

// graph reads the units of members, which are in the order of their units. A unit
// without documents has one of its own.
func (t *Touching) graph(members []Member) *graph {
	g := &graph{first: []uint32{0}}
	if len(t.local) < len(t.keys) {
		t.local = make([]int32, len(t.keys))
	}
	var seen []int32
	for i, m := range members {
		if i == 0 || members[i-1].Unit != m.Unit {
			g.unit, g.rows = append(g.unit, m.Unit), append(g.rows, 0)
		}
		g.rows[len(g.rows)-1]++
		from := g.first[len(g.first)-1]
		for _, doc := range t.of(m.Row) {
			if t.local[doc] == 0 {
				g.keys, seen = append(g.keys, t.keys[doc]), append(seen, doc)
				t.local[doc] = int32(len(g.keys))
			}
			if number := t.local[doc] - 1; !slices.Contains(g.docs[from:], number) {
				g.docs = append(g.docs, number)
			}
		}
		if i+1 == len(members) || members[i+1].Unit != m.Unit {
			if int(from) == len(g.docs) {
				g.docs, g.keys = append(g.docs, int32(len(g.keys))), append(g.keys, mix(^m.Unit))
			}
			g.first = append(g.first, uint32(len(g.docs)))
		}
	}
	for _, doc := range seen {
		t.local[doc] = 0
	}
	g.parent = make([]int32, len(g.keys))
	for i := range g.parent {
		g.parent[i] = int32(i)
	}
	for i := range g.unit {
		docs := g.of(i)
		for _, doc := range docs[1:] {
			g.parent[g.root(doc)] = g.root(docs[0])
		}
	}
	return g
}

// Depend says how the units of members depend on each other by the documents that they
// touch; nil if no two touch one document. It sorts members.
//
// Components are clusters if the largest has at most a tenth of the rows and there are at
// least eight effective ones, (Σ n_c)² / Σ n_c², or if a document is common to all units
// of each: then they are nothing but the documents. Of more than 100,000 rows pairs are
// counted over a sample of documents, drawn by seed and name: 2,000 of them, or where each
// is touched by many units fewer, but no less than 1,000. It takes a time that grows as the
// rows do.
func (t *Touching) Depend(members []Member, seed uint64) *Dependence {
	slices.SortFunc(members, func(a, b Member) int {
		if c := cmp.Compare(a.Unit, b.Unit); c != 0 { // of nearly all
			return c
		}
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Row, b.Row))
	})
	g := t.graph(members)
	units, rows, touched := make([]int, len(g.keys)), make([]int64, len(g.keys)), make([]int, len(g.keys)) // by root
	in := make([]int, len(g.keys))                                                                         // units of each document
	for i := range g.unit {
		docs := g.of(i)
		root := g.root(docs[0])
		units[root]++
		rows[root] += g.rows[i]
		for _, doc := range docs {
			in[doc]++
		}
	}
	for doc, n := range in {
		root := g.root(int32(doc))
		touched[root] = max(touched[root], n)
	}
	shared, same, largest, squares := false, true, int64(0), 0.0
	for root, n := range units {
		shared, same = shared || n > 1, same && (n == 0 || n == touched[root])
		largest, squares = max(largest, rows[root]), squares+float64(rows[root])*float64(rows[root])
	}
	if !shared {
		return nil
	}
	d := &Dependence{Documents: len(g.keys), Sampled: len(g.keys), rate: 1}
	n := float64(len(members))
	d.component(g)
	if d.Components = same || float64(largest) <= largestComponent*n && n*n >= fewestComponents*squares; d.Components {
		return d
	}
	d.pairs(g, len(members) > sampledRows, seed)
	return d
}

// component numbers the components in the order of their first units.
func (d *Dependence) component(g *graph) {
	number := make([]int32, len(g.keys))
	d.Of = make([]int32, len(g.unit))
	for i, key := range g.unit {
		root := g.root(g.of(i)[0])
		if number[root] == 0 {
			d.Keys = append(d.Keys, key)
			number[root] = int32(len(d.Keys))
		}
		d.Of[i] = number[root] - 1
	}
}

// pairs lists the sums that each unit is in: one for each document, and for pairs, by
// inclusion and exclusion, one for each set of its documents.
func (d *Dependence) pairs(g *graph, sample bool, seed uint64) {
	for i := range g.unit {
		d.wide = d.wide || len(g.of(i)) > pairDocuments
	}
	drawn := make([]bool, len(g.keys))
	for doc := range drawn {
		drawn[doc] = true
	}
	if most := g.sample(); sample && len(g.keys) > most {
		order := make([]uint64, len(g.keys))
		for i, key := range g.keys {
			s := NewStream(seed, key)
			order[i] = s.Uint64()
		}
		sorted := slices.Sorted(slices.Values(order))
		last := sorted[most-1]
		for doc := range drawn {
			drawn[doc] = order[doc] <= last
		}
		d.Sampled, _ = slices.BinarySearch(sorted, last+1)
		d.rate = float64(d.Sampled) / float64(d.Documents)
	}
	place := make([]int32, len(g.keys)) // the sum of each document that was drawn
	for doc := range place {
		if drawn[doc] {
			place[doc] = int32(d.sums)
			d.sums++
		}
	}
	d.first, d.alone, d.minus = append(d.first, 0), make([]int32, len(g.unit)), make([]bool, d.sums)
	var sets counted
	if !d.wide {
		sets = make(counted, min(8*len(g.docs), 1<<24)+1)
		for i := range g.unit {
			docs := g.of(i)
			slices.Sort(docs)
			g.sets(docs, drawn, func(s set, _ int) { sets.add(s) })
		}
	}
	numbers := make(map[set]int32)
	for i := range g.unit {
		docs := g.of(i)
		for _, doc := range docs {
			if drawn[doc] {
				d.terms = append(d.terms, place[doc])
			}
		}
		if !d.wide {
			g.sets(docs, drawn, func(s set, size int) {
				even := size%2 == 0 // which are subtracted
				switch once := sets.once(s); {
				case once && even:
					d.alone[i]--
					return
				case once:
					d.alone[i]++
					return
				}
				number, ok := numbers[s]
				if !ok {
					number = int32(d.sums)
					numbers[s] = number
					d.sums++
					d.minus = append(d.minus, even)
				}
				d.terms = append(d.terms, number)
			})
		}
		d.first = append(d.first, uint32(len(d.terms)))
	}
}

// sample is how many documents a sample has.
func (g *graph) sample() int {
	return min(max(sampledTouches*len(g.keys)/len(g.docs), fewestSampled), mostSampled)
}

// A set are the documents of a set, in order, each more by one; 0 behind them.
type set [pairDocuments]int32

// sets calls f with the sets of two or more of documents, which are sorted, and their sizes: a
// set is drawn with the one of its documents that has the least key.
func (g *graph) sets(docs []int32, drawn []bool, f func(s set, size int)) {
	if !slices.ContainsFunc(docs, func(doc int32) bool { return drawn[doc] }) {
		return
	}
	var owner [1 << pairDocuments]int32 // of the documents that are chosen
	for chosen := 1; chosen < 1<<len(docs); chosen++ {
		owner[chosen] = docs[bits.TrailingZeros(uint(chosen))]
		others := chosen & (chosen - 1)
		if others == 0 {
			continue
		}
		if of := owner[others]; g.keys[of] < g.keys[owner[chosen]] {
			owner[chosen] = of
		}
		if !drawn[owner[chosen]] {
			continue
		}
		var s set
		size := 0
		for rest := chosen; rest != 0; rest &= rest - 1 {
			s[size] = docs[bits.TrailingZeros(uint(rest))] + 1
			size++
		}
		f(s, size)
	}
}

// counted says of which sets there is one only: of most, since few units touch the same two
// documents. Sets that meet in a counter count as several, which costs a sum of their own.
type counted []uint8

func (c counted) at(s set) *uint8 {
	h := uint64(0)
	for _, doc := range s {
		h = mix(h ^ uint64(doc))
	}
	return &c[h%uint64(len(c))]
}

func (c counted) add(s set) {
	if n := c.at(s); *n < 2 {
		*n++
	}
}

func (c counted) once(s set) bool { return *c.at(s) == 1 }

// Sample leaves units out of d that no document which was drawn touches, and returns the
// members that are left, in the order that Depend gave them; d then serves [Clusters.Rest]
// alone. Where all documents were drawn, or components are clusters, nothing is left out.
func (d *Dependence) Sample(members []Member) []Member {
	if d.Components || d.Sampled == d.Documents {
		return members
	}
	d.sampled = true
	kept, of, first, alone := members[:0], d.Of[:0], d.first[:1], d.alone[:0]
	from, unit := 0, 0
	for from < len(members) {
		to := from + 1
		for to < len(members) && members[to].Unit == members[from].Unit {
			to++
		}
		if end := d.first[unit+1]; end > d.first[unit] {
			kept, of = append(kept, members[from:to]...), append(of, d.Of[unit])
			first, alone = append(first, end), append(alone, d.alone[unit])
		}
		from, unit = to, unit+1
	}
	d.Of, d.first, d.alone = slices.Clone(of), slices.Clone(first), slices.Clone(alone)
	return kept
}

// Len is how many sums [Clusters.Rest] keeps, 8 bytes each.
func (d *Dependence) Len() int { return d.sums }

// A Spread is what stands in place of clusters where units depend on each other as no
// clusters do.
type Spread struct {
	SE        float64 // of Σy/Σx
	Known     bool    // there are two effective documents
	Effective float64 // documents: (Σ n_d)² / Σ n_d², with n_d the rows that touch one
	How       string  // ByPairs or ByDocuments
}

// A Sum is what a unit adds to a quotient Σy/Σx, over so many of its rows; none if the
// quotient is not defined for it.
type Sum struct{ Y, X, Rows float64 }

// Spread is the standard error of ratio = Σy/Σx over units, in their order, of which
// total is Σx. With e = y - ratio x, it is the root of
//
//	Σ e_i e_j D*/(D*-1) / total²
//
// over all pairs of units that share a document, a unit with itself included, and never
// less than Σ e². With fewer than 40 effective documents, or where a unit touches more
// than four, Σ_d (Σ_{i∋d} e_i)² is in place of the sum over pairs.
func (d *Dependence) Spread(sums []Sum, ratio, total float64) Spread {
	return d.spread(d.errors(slices.Values(sums), ratio), total)
}

// unitErrors are what the errors of units add up to.
type unitErrors struct {
	of, rows      []float64 // in each sum; rows in each document
	others, alone float64   // squares in sums that one unit is in, and of all units
}

// errors adds up e = y - ratio x of units, in their order.
func (d *Dependence) errors(sums iter.Seq[Sum], ratio float64) *unitErrors {
	u := &unitErrors{of: make([]float64, d.sums), rows: make([]float64, d.Sampled)}
	i := -1
	for s := range sums {
		if i++; s.Rows == 0 {
			continue
		}
		e := s.Y - float64(ratio*s.X)
		u.alone += float64(e * e)
		u.others += float64(float64(d.alone[i]) * float64(e*e))
		for _, term := range d.terms[d.first[i]:d.first[i+1]] {
			u.of[term] += e
			if int(term) < d.Sampled {
				u.rows[term] += s.Rows
			}
		}
	}
	return u
}

func (d *Dependence) spread(u *unitErrors, total float64) Spread {
	var documents, sum, squares float64
	others := u.others
	for i, v := range u.of {
		switch v = float64(v * v); {
		case i < d.Sampled:
			documents += v
			sum, squares = sum+u.rows[i], squares+float64(u.rows[i]*u.rows[i])
		case d.minus[i]:
			others -= v
		default:
			others += v
		}
	}
	out := Spread{How: ByPairs}
	if squares == 0 {
		return out
	}
	out.Effective = sum * sum / squares / d.rate
	if out.Known = out.Effective >= 2; !out.Known {
		return out
	}
	variance := max((documents+others)/d.rate, u.alone)
	if d.wide || out.Effective < fewestDocuments {
		out.How, variance = ByDocuments, documents/d.rate
	}
	out.SE = math.Sqrt(variance*out.Effective/(out.Effective-1)) / math.Abs(total)
	return out
}
