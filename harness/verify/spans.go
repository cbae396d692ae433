package verify

import (
	"cmp"
	"math/big"
	"slices"

	"ibid"
)

// A key is where offsets count: a document, or one page of it.
type key struct {
	doc  string
	page int32
}

// A span is [start, end) of a key. from is the citation or mark that it is of.
type span struct {
	key        key
	start, end int64
	from       int
}

func (s span) len() int64 { return s.end - s.start }

// setLimit is how many code points two sides have at most to be compared as sets of code
// points; beyond it boundaries are sorted.
const setLimit = 1 << 14

// measure returns how many code points are in a, in b, and in both.
func measure(a, b []span) (inA, inB, both int64) {
	total := int64(0)
	for _, s := range slices.Concat(a, b) {
		total += s.len()
	}
	if total > setLimit {
		return measureSorted(a, b)
	}
	type point struct {
		key key
		at  int64
	}
	first, second := make(map[point]bool), make(map[point]bool)
	for _, s := range a {
		for at := s.start; at < s.end; at++ {
			first[point{s.key, at}] = true
		}
	}
	for _, s := range b {
		for at := s.start; at < s.end; at++ {
			second[point{s.key, at}] = true
		}
	}
	for p := range first {
		if second[p] {
			both++
		}
	}
	return int64(len(first)), int64(len(second)), both
}

// measureSorted is measure over the stretches between neighbouring boundaries.
func measureSorted(a, b []span) (inA, inB, both int64) {
	bounds := make(map[key][]int64)
	for _, s := range slices.Concat(a, b) {
		bounds[s.key] = append(bounds[s.key], s.start, s.end)
	}
	covers := func(of []span, k key, start, end int64) bool {
		return slices.ContainsFunc(of, func(s span) bool { return s.key == k && s.start <= start && end <= s.end })
	}
	for k, at := range bounds {
		slices.Sort(at)
		for i := 1; i < len(at); i++ {
			n := at[i] - at[i-1]
			if n == 0 {
				continue
			}
			x, y := covers(a, k, at[i-1], at[i]), covers(b, k, at[i-1], at[i])
			if x {
				inA += n
			}
			if y {
				inB += n
			}
			if x && y {
				both += n
			}
		}
	}
	return inA, inB, both
}

// A side is what the citations cite, or what truth marks.
type side struct {
	spans []span

	// What of it lies beyond the last offset that a text can have, each distinct one a
	// place of its own, and quotes that stand nowhere.
	beyond                            map[span]bool
	beyondSpans, distinct, beyondSize int64

	docs         map[string]bool
	pages        []span // of a document; page 1 is [0, 1)
	pagesUnknown bool
	nowhere      map[[2]string]int64 // quotes that stand nowhere, by document
}

func newSide() *side {
	return &side{beyond: make(map[span]bool), docs: make(map[string]bool)}
}

// usable is what belongs to the span sets at all.
func usable(p *ibid.Place) bool {
	switch p.Status {
	case ibid.StatusEmpty, ibid.StatusInverted, ibid.StatusNegative:
		return false
	}
	return !p.Excluded
}

func inSets(p *ibid.Place) bool { return p.Level == ibid.LevelCharacters && usable(p) }

// add enters place number i. quote is what it quotes.
func (s *side) add(i int, p *ibid.Place, quote string) {
	if p.Level == ibid.LevelNowhere || !usable(p) {
		return
	}
	k := key{p.Doc, p.Page}
	if inSets(p) {
		for _, part := range partsOf(p) {
			if part.start < ibid.MaxEnd {
				s.spans = append(s.spans, span{k, part.start, min(part.end, ibid.MaxEnd), i})
			}
		}
		if p.End > ibid.MaxEnd {
			s.loose(span{k, max(p.Start, ibid.MaxEnd), p.End, 0}, p.Start >= ibid.MaxEnd)
		}
	} else if p.Status == ibid.StatusQuoteNotFound {
		if s.nowhere == nil {
			s.nowhere = make(map[[2]string]int64)
		}
		if s.nowhere[[2]string{p.Doc, quote}]++; s.nowhere[[2]string{p.Doc, quote}] == 1 {
			s.distinct++
		}
		s.beyondSpans++
	}
	s.docs[p.Doc] = true
	switch {
	case p.Level == ibid.LevelDocument:
	case p.FirstPage < 1:
		s.pagesUnknown = true
	default:
		s.pages = append(s.pages, span{key{p.Doc, 0}, int64(p.FirstPage) - 1, int64(p.LastPage), i})
	}
}

func (s *side) loose(x span, whole bool) {
	if whole {
		s.beyondSpans++
	}
	if s.beyond[x] {
		return
	}
	s.beyond[x] = true
	s.beyondSize += x.len()
	if whole {
		s.distinct++
	}
}

// shared counts what two sets have, and have in common.
func shared[K comparable](a, b map[K]bool) (inA, inB, both int64) {
	for k := range a {
		if b[k] {
			both++
		}
	}
	return int64(len(a)), int64(len(b)), both
}

// widened are spans widened by a tolerance, with no start below 0.
func widened(spans []span, tolerance int64) []span {
	out := slices.Clone(spans)
	for i := range out {
		out[i].start, out[i].end = max(0, out[i].start-tolerance), out[i].end+tolerance
	}
	return out
}

// A ratio is an exact quotient of two numbers of code points.
type ratio struct{ num, den int64 }

func (r ratio) float() float64 { return float64(r.num) / float64(r.den) }

func (r ratio) compare(o ratio) int {
	a := new(big.Int).Mul(big.NewInt(r.num), big.NewInt(o.den))
	return a.Cmp(new(big.Int).Mul(big.NewInt(o.num), big.NewInt(r.den)))
}

// jaccard is |x∩y| / |x∪y| of two spans.
func jaccard(x, y span) ratio {
	both := int64(0)
	if x.key == y.key {
		both = max(0, min(x.end, y.end)-max(x.start, y.start))
	}
	return ratio{both, x.len() + y.len() - both}
}

// snap forgives small boundary errors of a prediction.
func snap(x, y span, tolerance int64) ratio {
	t := min(tolerance, x.len()/4)
	z := y
	if y.start-x.start <= t && x.start-y.start <= t {
		z.start = x.start
	}
	if y.end-x.end <= t && x.end-y.end <= t {
		z.end = x.end
	}
	if z.start >= z.end {
		return jaccard(x, y)
	}
	return jaccard(x, z)
}

// wide is a span widened.
func wide(y span, tolerance int64) span {
	y.start, y.end = max(0, y.start-tolerance), y.end+tolerance
	return y
}

// A found says how well one truth span was found.
type found struct {
	exact, tolerance ratio // of the best match by tolerance Jaccard
	best, snapped    ratio // the best there are
	hit, boundary    bool
}

var zero = ratio{0, 1}

// findTruth looks for one truth span among all predictions of its key.
func findTruth(x span, pred []span, tolerance int64) found {
	f := found{zero, zero, zero, zero, false, false}
	overlap := int64(0) // of the best match
	for _, y := range pred {
		if y.key != x.key {
			continue
		}
		e, t, s := jaccard(x, y), jaccard(x, wide(y, tolerance)), snap(x, y, tolerance)
		if t.num > 0 && cmp.Or(t.compare(f.tolerance), e.compare(f.exact), cmp.Compare(e.num, overlap)) > 0 {
			f.tolerance, f.exact, overlap = t, e, e.num
		}
		if e.compare(f.best) > 0 {
			f.best = e
		}
		if s.compare(f.snapped) > 0 {
			f.snapped = s
		}
		f.hit = f.hit || x.start == y.start && x.end == y.end
		near := func(a, b int64) bool { return a-b <= tolerance && b-a <= tolerance }
		f.boundary = f.boundary || near(x.start, y.start) && near(x.end, y.end)
	}
	return f
}

// A cited says where one predicted span belongs.
type cited struct {
	truth                     int // index in the truth spans, -1 if it is near none
	exact, tolerance, snapped ratio
	touches                   bool
}

// findPred looks for one predicted span among all truth spans of its key.
func findPred(y span, truth []span, tolerance int64) cited {
	c := cited{truth: -1, exact: zero, tolerance: zero, snapped: zero}
	for i, x := range truth {
		t := jaccard(x, wide(y, tolerance))
		if x.key != y.key || t.num == 0 {
			continue
		}
		e, s := jaccard(x, y), snap(x, y, tolerance)
		c.touches = c.touches || e.num > 0
		if c.truth < 0 || cmp.Or(s.compare(c.snapped), e.compare(c.exact)) > 0 {
			c.truth, c.exact, c.tolerance, c.snapped = i, e, t, s
		}
	}
	return c
}

// distinctSpans are the spans without those that repeat an earlier one, by their indices.
func distinctSpans(spans []span) []int {
	var out []int
	for i, s := range spans {
		same := func(o span) bool { return o.key == s.key && o.start == s.start && o.end == s.end }
		if !slices.ContainsFunc(spans[:i], same) {
			out = append(out, i)
		}
	}
	return out
}

// mostPaired is how many predictions that hang together are matched by trying everything.
const mostPaired = 14

// A matching is the one-to-one matching of spans.
type matching struct {
	pairs     [][2]int // truth, prediction
	distinct  [2]int64 // truth, predictions
	unordered bool     // too many spans hang together to try everything: the pairs are not known, their number is
}

// match pairs spans one to one: most pairs, then the largest total Jaccard, then the lowest
// indices. It tries everything.
func match(truth, pred []span, least float64) matching {
	ts, ps := distinctSpans(truth), distinctSpans(pred)
	m := matching{distinct: [2]int64{int64(len(ts)), int64(len(ps))}}
	edges := make(map[int][]int)
	for _, i := range ts {
		for _, j := range ps {
			if r := jaccard(truth[i], pred[j]); r.num > 0 && r.float() >= least {
				edges[i] = append(edges[i], j)
			}
		}
	}
	seen := make(map[int]bool)
	for _, i := range ts {
		if seen[i] || len(edges[i]) == 0 {
			continue
		}
		group, preds := together(i, ts, edges)
		for _, t := range group {
			seen[t] = true
		}
		if len(preds) > mostPaired {
			m.unordered = true
			for range largest(group, edges) {
				m.pairs = append(m.pairs, [2]int{-1, -1})
			}
			continue
		}
		best := bestPairs(group, preds, edges, func(i, j int) *big.Rat { r := jaccard(truth[i], pred[j]); return big.NewRat(r.num, r.den) })
		m.pairs = append(m.pairs, best...)
	}
	return m
}

// together are the truth spans and predictions that hang together with truth span i.
func together(i int, ts []int, edges map[int][]int) (group, preds []int) {
	group = []int{i}
	for changed := true; changed; {
		changed = false
		for _, t := range ts {
			near := slices.ContainsFunc(edges[t], func(j int) bool { return slices.Contains(preds, j) })
			if slices.Contains(group, t) || near {
				if !slices.Contains(group, t) {
					group, changed = append(group, t), true
				}
				for _, j := range edges[t] {
					if !slices.Contains(preds, j) {
						preds, changed = append(preds, j), true
					}
				}
			}
		}
	}
	slices.Sort(group)
	slices.Sort(preds)
	return group, preds
}

// largest is the size of the largest matching, by augmenting paths.
func largest(group []int, edges map[int][]int) int {
	of := make(map[int]int) // prediction -> truth
	n := 0
	for _, t := range group {
		tried := make(map[int]bool)
		var augment func(int) bool
		augment = func(t int) bool {
			for _, j := range edges[t] {
				if tried[j] {
					continue
				}
				tried[j] = true
				if owner, taken := of[j]; !taken || augment(owner) {
					of[j] = t
					return true
				}
			}
			return false
		}
		if augment(t) {
			n++
		}
	}
	return n
}

// bestPairs tries all matchings of a group, truth span by truth span, remembering the best
// for every set of predictions that are taken.
func bestPairs(group, preds []int, edges map[int][]int, weight func(i, j int) *big.Rat) [][2]int {
	type state struct {
		at    int
		taken uint32
	}
	type choice struct {
		pairs [][2]int
		sum   *big.Rat
	}
	known := make(map[state]choice)
	var solve func(state) choice
	solve = func(s state) choice {
		if s.at == len(group) {
			return choice{nil, new(big.Rat)}
		}
		if c, ok := known[s]; ok {
			return c
		}
		t := group[s.at]
		var best choice
		consider := func(c choice) {
			if best.sum == nil || cmp.Or(cmp.Compare(len(c.pairs), len(best.pairs)), c.sum.Cmp(best.sum), -slices.CompareFunc(c.pairs, best.pairs, func(a, b [2]int) int {
				return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
			})) > 0 {
				best = c
			}
		}
		for _, j := range edges[t] {
			bit := uint32(1) << slices.Index(preds, j)
			if s.taken&bit == 0 {
				rest := solve(state{s.at + 1, s.taken | bit})
				consider(choice{append([][2]int{{t, j}}, rest.pairs...), new(big.Rat).Add(weight(t, j), rest.sum)})
			}
		}
		consider(solve(state{s.at + 1, s.taken}))
		known[s] = best
		return best
	}
	return solve(state{}).pairs
}
