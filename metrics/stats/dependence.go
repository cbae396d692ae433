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
	sampledSets      = 10_000  // about how many sets of documents are drawn of those that few units share
	manyUnits        = 16      // share a set that is always drawn
)

// Touches are the documents that the units of a group touch. They are read several times,
// and need not be in memory.
type Touches interface {
	// Each calls f with every unit, always in the same order: how many rows it has, and the
	// numbers of the documents that it touches, each once, good until f returns. Documents
	// have the numbers from 0 on, in the order in which they are first met. The key of a unit
	// may be 0 where it touches some, unless keys is set.
	Each(keys bool, f func(key uint64, rows int, documents []int32)) error
	// Keys are those of the documents that were met, by number.
	Keys() []uint64
}

// Touching says which documents each of some rows touches. The zero Touching has no
// rows. It is not safe for concurrent use.
type Touching struct {
	docs  []int32 // row after row
	first []uint32
	codes Codes
	keys  []uint64 // of each document
	local []int32  // scratch: the number of a document in a group, less one; else 0

	linked *Touching // see link
	same   []int32
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

// Gather reads n units into memory, each as a row, to which none can be added.
func Gather(of Touches, n int) (*Touching, error) {
	t := &Touching{first: make([]uint32, 1, n+1)}
	err := of.Each(false, func(_ uint64, _ int, documents []int32) {
		if len(t.docs)+len(documents) > cap(t.docs) { // for as many as units had so far
			done := len(t.first)
			t.docs = slices.Grow(t.docs, len(documents)+(len(t.docs)+1024)*max(0, n-done)/(done+1024))
		}
		t.docs = append(t.docs, documents...)
		t.end()
	})
	t.keys = of.Keys()
	return t, err
}

// Together are units that each are a row of t beside one of o: the i-th touches what
// rows[i] of t touches, and what others[i] of o does, and has the i-th key. Rows of nil touch
// nothing.
func Together(t *Touching, rows []int32, o *Touching, others []int32, key func(i int) uint64) Touches {
	if t == nil {
		t, rows, o, others = o, others, nil, nil
	}
	out := &together{of: [2]*Touching{t, o}, rows: [2][]int32{rows, others}, key: key}
	out.numbers[0] = numberingOf(t, len(rows))
	if o != nil && o != t {
		out.numbers[1] = numberingOf(o, len(rows))
		out.same = t.link(o)
	}
	return out
}

// link is, of each document of o, that of t, or -1. That of the last o is kept.
func (t *Touching) link(o *Touching) []int32 {
	if t.linked == o {
		return t.same
	}
	at := make(map[uint64]int32, len(t.keys))
	for doc, key := range t.keys {
		at[key] = int32(doc)
	}
	t.linked, t.same = o, make([]int32, len(o.keys))
	for doc, key := range o.keys {
		var ok bool
		if t.same[doc], ok = at[key]; !ok {
			t.same[doc] = -1
		}
	}
	return t.same
}

type together struct {
	of      [2]*Touching
	rows    [2][]int32
	key     func(i int) uint64
	same    []int32      // see link; nil if both are one
	numbers [2]numbering // of the documents of either
	keys    []uint64
	open    []int32 // of the open unit
}

// A numbering has the numbers of the documents that were met, + 1: in a map if few rows touch
// many documents.
type numbering struct {
	all []int32
	few map[int32]int32
}

func numberingOf(t *Touching, rows int) numbering {
	if 16*rows < len(t.keys) {
		return numbering{few: make(map[int32]int32)}
	}
	return numbering{all: make([]int32, len(t.keys))}
}

func (t *together) Keys() []uint64 { return t.keys }

func (t *together) Each(_ bool, f func(key uint64, rows int, documents []int32)) error {
	for i, row := range t.rows[0] {
		t.open = t.open[:0]
		for _, doc := range t.of[0].of(row) {
			t.touch(0, doc)
		}
		if t.of[1] != nil {
			for _, doc := range t.of[1].of(t.rows[1][i]) {
				side := 0
				if t.same != nil {
					if same := t.same[doc]; same >= 0 {
						doc = same
					} else {
						side = 1
					}
				}
				t.touch(side, doc)
			}
		}
		f(t.key(i), 1, t.open)
	}
	return nil
}

func (t *together) touch(side int, doc int32) {
	n := &t.numbers[side]
	number := int32(0)
	if n.all != nil {
		number = n.all[doc]
	} else {
		number = n.few[doc]
	}
	if number == 0 {
		t.keys = append(t.keys, t.of[side].keys[doc])
		if number = int32(len(t.keys)); n.all != nil {
			n.all[doc] = number
		} else {
			n.few[doc] = number
		}
	}
	if !slices.Contains(t.open, number-1) {
		t.open = append(t.open, number-1)
	}
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
	return t.docs[t.first[row]:t.first[row+1]]
}

// Equal reports whether the rows of t and o touch the same documents, and these were met in
// the same order; nil equals nil alone.
func (t *Touching) Equal(o *Touching) bool {
	if t == nil || o == nil {
		return t == o
	}
	return slices.Equal(t.keys, o.keys) && slices.Equal(t.first, o.first) && slices.Equal(t.docs, o.docs)
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

// A Member is a row of a group: which row of a [Touching], and the key of the unit that it is
// of. Rows of a unit, such as the answers of several systems to a question, depend on each
// other whatever they touch.
type Member struct {
	Unit uint64
	Row  int32
}

// Depend is [Depend] of the units of members, which it sorts by the keys of these; and which
// component each is in. If every member is a unit of its own, single, they stay as they are.
func (t *Touching) Depend(members []Member, single bool, seed uint64) *Dependence {
	if !single {
		slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.Unit, b.Unit) })
	}
	u := t.units(members, single)
	d, _ := Depend(u, seed) // units in memory have no error
	if d != nil {
		_ = d.Connect(u)
	}
	return d
}

// units reads the units of members.
func (t *Touching) units(members []Member, single bool) *unitsTouch {
	u := &unitsTouch{first: make([]uint32, 1, len(members)+1), members: members}
	if len(t.local) < len(t.keys) {
		t.local = make([]int32, len(t.keys))
	}
	for i, m := range members {
		from := u.first[len(u.first)-1]
		for _, doc := range t.of(m.Row) {
			if t.local[doc] == 0 {
				u.keys = append(u.keys, t.keys[doc])
				t.local[doc] = int32(len(u.keys))
			}
			if number := t.local[doc] - 1; !slices.Contains(u.docs[from:], number) {
				u.docs = append(u.docs, number)
			}
		}
		if single || i+1 == len(members) || members[i+1].Unit != m.Unit {
			u.first, u.ends = append(u.first, uint32(len(u.docs))), append(u.ends, int32(i+1))
		}
	}
	for _, m := range members {
		for _, doc := range t.of(m.Row) {
			t.local[doc] = 0
		}
	}
	return u
}

// unitsTouch are the units of members in memory.
type unitsTouch struct {
	members []Member // unit after unit
	ends    []int32  // of each unit: where its members end
	docs    []int32  // numbers of documents, unit after unit
	first   []uint32
	keys    []uint64 // of documents
}

func (u *unitsTouch) Keys() []uint64 { return u.keys }

func (u *unitsTouch) Each(_ bool, f func(key uint64, rows int, documents []int32)) error {
	from := int32(0)
	for i, end := range u.ends {
		f(u.members[from].Unit, int(end-from), u.docs[u.first[i]:u.first[i+1]])
		from = end
	}
	return nil
}

// A Dependence says how the units of a group depend on each other. Nothing of it but the
// numbers of units depends on their order.
type Dependence struct {
	// Components says that rows which documents connect are clusters, else pairs of
	// rows that share a document are counted.
	Components bool
	// Of is the component of each unit, and Keys are those of the components: the least of
	// their units. They are there after [Dependence.Connect].
	Of   []int32
	Keys []uint64

	// Units are how many there are, Documents how many documents, Sampled how many of
	// these the variance is computed from.
	Units, Documents, Sampled int
	// Kept are the units that touch one of these, in ascending order.
	Kept []int32

	root    []int32  // of each document: what stands for its component
	several bool     // some unit has several rows
	wide    bool     // some unit touches too many documents to count pairs
	terms   []int32  // of each kept unit: sums that it is in, those of documents first
	ends    []uint32 // of each kept unit, where its terms end
	alone   []int8   // of each kept unit, how often its square is added for sets that were not drawn, or that are its own, less how often it is subtracted
	sparse  []int8   // likewise for sets that were drawn at the rate, the other way round
	signs   []int8   // of each sum: what its square is multiplied by; of sets drawn at the rate 2 or -2
	rows    []int32  // of each document of the sample
	rate    float64
	setRate float64
}

// A graph is what documents connect.
type graph struct {
	parent []int32 // of each document
	units  []int32 // that touch each document
	first  []int32 // units whose first document each is
	rows   []int64 // of these
	own    []int64 // rows of each unit without documents, which has one of its own
	keys   []uint64
	most   int // documents that a unit touches
}

func (g *graph) root(doc int32) int32 {
	for g.parent[doc] != doc {
		g.parent[doc] = g.parent[g.parent[doc]]
		doc = g.parent[doc]
	}
	return doc
}

// add adds a unit.
func (g *graph) add(rows int, docs []int32) {
	for _, doc := range docs {
		for int(doc) >= len(g.parent) {
			g.parent = append(g.parent, int32(len(g.parent)))
			g.units, g.first, g.rows = append(g.units, 0), append(g.first, 0), append(g.rows, 0)
		}
		g.units[doc]++
	}
	g.first[docs[0]]++
	g.rows[docs[0]] += int64(rows)
	g.most = max(g.most, len(docs))
	root := g.root(docs[0])
	for _, doc := range docs[1:] {
		if other := g.root(doc); other != root {
			g.parent[other] = root
		}
	}
}

// Depend says how units depend on each other by the documents that they touch; nil if no
// two touch one document. The error is one of t.
//
// Components are clusters if the largest has at most a tenth of the rows and there are at
// least eight effective ones, (Σ n_c)² / Σ n_c², or if a document is common to all units
// of each: then they are nothing but the documents. Of more than 100,000 rows pairs are
// counted over a sample of documents, drawn by seed and name: 2,000 of them, or where each
// is touched by many units fewer, but no less than 1,000. It takes a time that grows as the
// rows do, and memory for documents and for the units that touch one of the sample.
func Depend(t Touches, seed uint64) (*Dependence, error) {
	d := &Dependence{rate: 1}
	var g graph
	rows := int64(0)
	err := t.Each(false, func(key uint64, n int, docs []int32) {
		d.Units++
		rows += int64(n)
		d.several = d.several || n > 1
		if len(docs) == 0 {
			g.own, g.keys = append(g.own, int64(n)), append(g.keys, mix(^key))
		} else {
			g.add(n, docs)
		}
	})
	if err != nil {
		return nil, err
	}
	shared, same, largest, squares := false, true, int64(0), 0.0
	for doc := range g.parent { // of each component: its units, its rows, and the units of the document that most touch
		if root := g.root(int32(doc)); int(root) != doc {
			g.first[root], g.rows[root] = g.first[root]+g.first[doc], g.rows[root]+g.rows[doc]
		}
	}
	touched := make([]int32, len(g.parent))
	for doc, n := range g.units {
		root := g.root(int32(doc))
		touched[root] = max(touched[root], n)
	}
	for doc, parent := range g.parent {
		if int(parent) == doc {
			shared, same = shared || g.first[doc] > 1, same && g.first[doc] == touched[doc]
			g.own = append(g.own, g.rows[doc])
		}
	}
	for _, n := range g.own {
		largest, squares = max(largest, n), squares+float64(n)*float64(n)
	}
	if !shared {
		return nil, nil
	}
	d.root = g.parent
	for doc := range d.root {
		d.root[doc] = g.root(int32(doc))
	}
	keys := append(slices.Clone(t.Keys()), g.keys...)
	d.Documents, d.Sampled = len(keys), len(keys)
	n := float64(rows)
	if d.Components = same || float64(largest) <= largestComponent*n && n*n >= fewestComponents*squares; d.Components {
		return d, nil
	}
	d.wide = g.most > pairDocuments
	for range g.keys {
		g.units = append(g.units, 1)
	}
	return d, d.pairs(t, keys, g.units, rows > sampledRows, seed)
}

// Connect finds the component of each unit of t, those that d is of.
func (d *Dependence) Connect(t Touches) error {
	number := make([]int32, len(d.root)) // of the component that a document stands for, + 1
	d.Of, d.Keys = make([]int32, 0, d.Units), nil
	return t.Each(true, func(key uint64, _ int, docs []int32) {
		component := int32(len(d.Keys))
		if len(docs) > 0 {
			if known := &number[d.root[docs[0]]]; *known > 0 {
				component = *known - 1
			} else {
				*known = component + 1
			}
		}
		if int(component) == len(d.Keys) {
			d.Keys = append(d.Keys, key)
		}
		d.Keys[component] = min(d.Keys[component], key)
		d.Of = append(d.Of, component)
	})
}

// pairs lists the sums that each unit is in: one for each document, and for pairs, by
// inclusion and exclusion, one for each set of its documents. Documents have keys, and so
// many units touch them.
func (d *Dependence) pairs(t Touches, keys []uint64, units []int32, sample bool, seed uint64) error {
	touches, drawn := 0, 0
	for _, n := range units {
		touches += int(n)
	}
	place := make([]int32, len(keys)) // the sum of each document, less one; 0 if it was not drawn
	last := uint64(math.MaxUint64)
	order := make([]uint64, len(keys))
	if most := min(max(sampledTouches*len(keys)/touches, fewestSampled), mostSampled); sample && len(keys) > most {
		for i, key := range keys {
			s := NewStream(seed, key)
			order[i] = s.Uint64()
		}
		last = slices.Sorted(slices.Values(order))[most-1]
	}
	sums := int32(0)
	for doc, v := range order {
		if v <= last {
			sums++
			place[doc] = sums
			drawn += int(units[doc])
		}
	}
	d.Sampled = int(sums)
	d.rate = float64(d.Sampled) / float64(d.Documents)
	d.signs, d.rows = slices.Repeat([]int8{1}, int(sums)), make([]int32, sums)
	sets := documentSets{place: place, keys: keys, last: math.MaxUint64}
	if !d.wide {
		sets.counts = make([]uint8, 1<<min(bits.Len(uint(8*drawn)), 24))
		if err := t.Each(false, func(_ uint64, _ int, docs []int32) { sets.of(docs, sets.count) }); err != nil {
			return err
		}
	}
	d.setRate = 1
	if several := sets.several(); sample && several > sampledSets {
		d.setRate = sampledSets / float64(several)
		sets.last = uint64(d.setRate * (1 << 63) * 2)
	}
	d.terms = make([]int32, 0, drawn+drawn/2)
	numbers := make(map[uint64]int32)
	unit, own := int32(-1), len(t.Keys())
	return t.Each(false, func(_ uint64, rows int, docs []int32) {
		unit++
		from := len(d.terms)
		for _, doc := range docs {
			if n := place[doc]; n > 0 {
				d.terms = append(d.terms, n-1)
			}
		}
		if len(docs) == 0 {
			if n := place[own]; n > 0 {
				d.terms = append(d.terms, n-1)
			}
			own++
		}
		for _, term := range d.terms[from:] {
			d.rows[term] += int32(rows)
		}
		alone, sparse := int8(0), int8(0)
		if !d.wide {
			sets.of(docs, func(set uint64, size int) {
				sign := int8(1)
				if size%2 == 0 {
					sign = -1
				}
				n := sets.counts[set&uint64(len(sets.counts)-1)]
				few := n < manyUnits && d.setRate < 1
				if n == 1 || few {
					alone += sign
				}
				if n == 1 || few && mix(set^seed) > sets.last {
					return
				}
				if few {
					sparse, sign = sparse-sign, 2*sign
				}
				number, ok := numbers[set]
				if !ok {
					number = int32(len(d.signs))
					numbers[set] = number
					d.signs = append(d.signs, sign)
				}
				d.terms = append(d.terms, number)
			})
		}
		if len(d.terms) > from {
			d.Kept, d.ends = append(d.Kept, unit), append(d.ends, uint32(len(d.terms)))
			d.alone, d.sparse = append(d.alone, alone), append(d.sparse, sparse)
		}
	})
}

// documentSets are the sets of two or more documents that units touch.
type documentSets struct {
	place  []int32
	keys   []uint64
	docs   [pairDocuments]int32 // scratch
	last   uint64               // of sets of few units those with a hash up to it are drawn
	counts []uint8              // of units, at most manyUnits; sets that meet in a counter have more, which costs sums
}

// several is how many counters are of several units.
func (s *documentSets) several() (n int) {
	for _, c := range s.counts {
		if c > 1 {
			n++
		}
	}
	return n
}

// of calls f with a hash of each set of two or more of docs, and its size: a set is drawn with
// the one of its documents that has the least key.
func (s *documentSets) of(docs []int32, f func(set uint64, size int)) {
	if len(docs) < 2 || !slices.ContainsFunc(docs, func(doc int32) bool { return s.place[doc] > 0 }) {
		return
	}
	docs = s.docs[:copy(s.docs[:], docs)]
	slices.SortFunc(docs, func(a, b int32) int { return cmp.Compare(s.keys[a], s.keys[b]) })
	var hash [1 << pairDocuments]uint64 // of the documents that are chosen
	for chosen := 1; chosen < 1<<len(docs); chosen++ {
		least := bits.TrailingZeros(uint(chosen))
		others := chosen & (chosen - 1)
		hash[chosen] = mix(hash[others] ^ s.keys[docs[least]])
		if others != 0 && s.place[docs[least]] > 0 {
			f(hash[chosen], bits.OnesCount(uint(chosen)))
		}
	}
}

func (s *documentSets) count(set uint64, _ int) {
	if n := &s.counts[set&uint64(len(s.counts)-1)]; *n < manyUnits {
		*n++
	}
}

// Bytes is about how much memory [UnitErrors] of d take.
func (d *Dependence) Bytes() int {
	n := 8 * (len(d.signs) + d.Sampled)
	if d.several {
		n += 8 * len(d.Kept)
	}
	return n
}

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
	squares := 0.0
	for i := range sums {
		if s := &sums[i]; s.Rows > 0 {
			squares += (s.Y - ratio*s.X) * (s.Y - ratio*s.X)
		}
	}
	var u UnitErrors
	u.begin(d, ratio, squares)
	u.addSums(slices.Values(sums))
	return u.spread(total)
}

// UnitErrors are what the errors e = y - ratio x of units add up to, in numbers of fixed
// point, so that their order does not matter. [Clusters.Errors] begins them, and
// [Clusters.Rest] ends them; every row of every kept unit is added or skipped. They are not safe for concurrent use.
type UnitErrors struct {
	*Dependence
	ratio   float64
	squares float64 // Σ e² of all units
	scale   float64 // what stands for 1: a power of two

	of     []int64 // in each sum
	rows   []int32 // in each document
	alone  int192  // squares of the kept units
	sparse int192
	unit   []int64 // of kept units with several rows; what passes 64 bits on the way comes back
}

// begin empties the sums. A sum over units is at most √(n Σ e²), which is to have 62 bits.
func (u *UnitErrors) begin(d *Dependence, ratio, squares float64) {
	u.Dependence, u.ratio, u.squares, u.scale, u.alone, u.sparse = d, ratio, squares, 0, int192{}, int192{}
	if bound := math.Sqrt(squares * float64(d.Units)); bound > 0 && !math.IsInf(bound, 1) {
		u.scale = math.Ldexp(1, max(-500, min(60-math.Ilogb(bound), 500)))
	}
	u.of, u.rows = cleared(u.of, len(d.signs)), append(u.rows[:0], d.rows...)
	several := 0
	if d.several {
		several = len(d.Kept)
	}
	u.unit = cleared(u.unit, several)
}

func cleared[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// Add adds a row of the k-th kept unit.
func (u *UnitErrors) Add(k int, y, x float64) {
	e := fixed((y - float64(u.ratio*x)) * u.scale)
	if u.several {
		u.unit[k] += e
		return
	}
	u.add(k, e)
}

// Skip says that the quotient is not defined for a row of the k-th kept unit.
func (u *UnitErrors) Skip(k int) { u.addRows(k, -1) }

func (u *UnitErrors) addRows(k int, rows int32) {
	for _, term := range u.in(k) {
		if int(term) >= u.Sampled {
			return
		}
		u.rows[term] += rows
	}
}

// in are the sums that the k-th kept unit is in.
func (d *Dependence) in(k int) []int32 {
	from := uint32(0)
	if k > 0 {
		from = d.ends[k-1]
	}
	return d.terms[from:d.ends[k]]
}

// fixed is v without its fraction, as what is left of it in 64 bits.
func fixed(v float64) int64 {
	if math.Abs(v) < 1<<62 {
		return int64(v)
	}
	fraction, exponent := math.Frexp(v)
	return int64(fraction*(1<<53)) << min(uint(exponent-53), 64)
}

// add adds a kept unit with all its rows.
func (u *UnitErrors) add(k int, e int64) {
	for _, term := range u.in(k) {
		u.of[term] += e
	}
	if times := u.Dependence.alone[k]; times != 0 {
		u.alone.addSquare(e, int64(times))
	}
	if times := u.Dependence.sparse[k]; times != 0 {
		u.sparse.addSquare(e, int64(times))
	}
}

// addSums adds units, in their order, each with all its rows.
func (u *UnitErrors) addSums(sums iter.Seq[Sum]) {
	clear(u.rows)
	unit, k := int32(-1), 0
	for s := range sums {
		if unit++; k == len(u.Kept) || u.Kept[k] != unit {
			continue
		}
		if s.Rows > 0 {
			u.add(k, fixed((s.Y-float64(u.ratio*s.X))*u.scale))
			u.addRows(k, int32(s.Rows))
		}
		k++
	}
}

// spread ends the sums.
func (u *UnitErrors) spread(total float64) Spread {
	for k, e := range u.unit {
		u.add(k, e)
	}
	var documents int192
	others, sparse := u.alone, u.sparse
	var sum, squares float64
	for i, v := range u.of {
		switch sign := int64(u.signs[i]); {
		case i < u.Sampled:
			documents.addSquare(v, 1)
			rows := float64(u.rows[i])
			sum, squares = sum+rows, squares+rows*rows
		case sign%2 == 0:
			sparse.addSquare(v, sign/2)
		default:
			others.addSquare(v, sign)
		}
	}
	out := Spread{How: ByPairs}
	if squares == 0 {
		return out
	}
	out.Effective = sum * sum / squares / u.rate
	if out.Known = out.Effective >= 2; !out.Known {
		return out
	}
	unit := 1.0
	if u.scale > 0 {
		unit = u.scale * u.scale
	}
	variance := documents.float() / unit / u.rate
	if u.wide || out.Effective < fewestDocuments {
		out.How = ByDocuments
	} else {
		variance = max(variance+(others.float()+sparse.float()/u.setRate)/unit/u.rate, u.squares)
	}
	out.SE = math.Sqrt(variance*out.Effective/(out.Effective-1)) / math.Abs(total)
	return out
}

// An int192 is an integer in two's complement, the least bits first.
type int192 [3]uint64

// addSquare adds times v², where times is small.
func (w *int192) addSquare(v, times int64) {
	size := uint64(v)
	if v < 0 {
		size = -size
	}
	hi, lo := bits.Mul64(size, size)
	n := uint64(times)
	if times < 0 {
		n = -n
	}
	a, b := bits.Mul64(lo, n)
	c, more := bits.Mul64(hi, n)
	more, carry := bits.Add64(more, a, 0)
	c += carry
	if times < 0 {
		w[0], carry = bits.Sub64(w[0], b, 0)
		w[1], carry = bits.Sub64(w[1], more, carry)
		w[2], _ = bits.Sub64(w[2], c, carry)
		return
	}
	w[0], carry = bits.Add64(w[0], b, 0)
	w[1], carry = bits.Add64(w[1], more, carry)
	w[2], _ = bits.Add64(w[2], c, carry)
}

func (w *int192) float() float64 {
	v, sign := *w, 1.0
	if int64(v[2]) < 0 {
		var borrow uint64
		for i := range v {
			v[i], borrow = bits.Sub64(0, v[i], borrow)
		}
		sign = -1
	}
	return sign * (math.Ldexp(float64(v[2]), 128) + math.Ldexp(float64(v[1]), 64) + float64(v[0]))
}
