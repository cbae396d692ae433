package span

import (
	"cmp"
	"math/bits"
	"slices"
)

// A Pair is a truth span and the one predicted span matched with it, both as
// indices.
type Pair struct{ Truth, Pred int }

// pairing finds the one-to-one matching of a row: most pairs, then largest
// total Jaccard, then lexicographically lowest (truth, prediction) indices.
type pairing struct {
	minOverlap                  float64
	truthTwin, predTwin         []bool // the span repeats an earlier one
	distinctTruth, distinctPred int

	edges      []edge  // by truth, then prediction, once solve has sorted them
	predDegree []int32 // edges of each prediction
	pairs      []Pair
	order      []int32
	assignment assignment
}

// An edge is a truth span and a prediction that may be matched.
type edge struct {
	truth, pred int32
	jaccard     Jaccard
}

// keptEdges bounds the memory that one crowded row leaves behind: 4 MB of edges.
const keptEdges = 1 << 18

func (p *pairing) reset(truth, pred []Span, minOverlap float64) {
	p.minOverlap = minOverlap
	if cap(p.edges) > keptEdges {
		p.edges, p.assignment = nil, assignment{}
	}
	p.edges, p.pairs = p.edges[:0], p.pairs[:0]
	p.truthTwin, p.distinctTruth = p.findTwins(p.truthTwin[:0], truth)
	p.predTwin, p.distinctPred = p.findTwins(p.predTwin[:0], pred)
	p.predDegree = fill(p.predDegree[:0], len(pred), 0)
}

// findTwins marks every span that repeats an earlier one and counts the others.
func (p *pairing) findTwins(twin []bool, spans []Span) (marked []bool, distinct int) {
	twin = fill(twin, len(spans), false)
	if len(spans) <= windowLimit {
		distinct = len(spans)
		for i := 1; i < len(spans); i++ {
			for j := range i {
				if spans[j].Start == spans[i].Start && spans[j] == spans[i] {
					twin[i] = true
					distinct--
					break
				}
			}
		}
		return twin, distinct
	}
	p.order = p.order[:0]
	for i := range spans {
		p.order = append(p.order, int32(i))
	}
	slices.SortFunc(p.order, func(a, b int32) int {
		return cmp.Or(compare(spans[a], spans[b]), cmp.Compare(a, b))
	})
	distinct = len(spans)
	for k, i := range p.order {
		if k > 0 && spans[i] == spans[p.order[k-1]] {
			twin[i] = true
			distinct--
		}
	}
	return twin, distinct
}

// consider adds the pair of truth i and prediction j if it may be matched.
func (p *pairing) consider(i, j int32, exact Jaccard) {
	if p.truthTwin[i] || p.predTwin[j] || exact.Float() < p.minOverlap {
		return
	}
	p.edges = append(p.edges, edge{i, j, exact})
	p.predDegree[j]++
}

// solve matches the considered pairs. inOrder says that they came by truth, then
// prediction.
func (p *pairing) solve(inOrder bool) []Pair {
	alone := p.isMatching()
	if !inOrder {
		slices.SortFunc(p.edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.truth, b.truth), cmp.Compare(a.pred, b.pred)) })
	}
	if alone {
		for _, e := range p.edges {
			p.pairs = append(p.pairs, Pair{int(e.truth), int(e.pred)})
		}
		return p.pairs
	}
	a := &p.assignment
	a.solve(p.edges, len(p.predDegree))
	for r, j := range a.colOf {
		if j >= 0 {
			p.pairs = append(p.pairs, Pair{int(a.rowTruth[r]), int(j)})
		}
	}
	return p.pairs
}

// isMatching reports whether no two edges share a span, as is usual. Edges come
// grouped by truth span.
func (p *pairing) isMatching() bool {
	for k, e := range p.edges {
		if p.predDegree[e.pred] > 1 || k > 0 && p.edges[k-1].truth == e.truth {
			return false
		}
	}
	return true
}

// assignment finds a matching of rows (truth spans) and columns (predictions)
// with the most pairs and, among those, the largest sum of Jaccards. Giving
// every edge the weight B + Jaccard, with B larger than any sum of Jaccards,
// makes both one maximum-weight matching.
//
// Rows bid for columns first. It inserts those that got none, one after the other, along a shortest augmenting path (the
// Hungarian method of Kuhn 1955 and Munkres 1957 in the form of Edmonds and
// Karp 1972), keeping duals u ≥ 0 and v ≥ 0 with u[r] + v[c] ≥ weight on every
// edge, equality on matched ones, and u = 0, v = 0 wherever nothing is matched.
// A path ends at a free column, or at a row that is left unmatched. Time is
// O(n³) in the spans that compete, never exponential.
type assignment struct {
	edges    []edge
	weights  []fixed // of the edges
	first    []int32 // edges of row r are edges[first[r]:first[r+1]]
	rowTruth []int32 // truth span of row r

	colOf, rowOf []int32 // partner, or -1
	u, v         []fixed

	dist    []fixed // shortest slack from the inserted row to a column; far if not reached
	from    []int32 // row before the column on that path
	settled []bool
	reached []int32 // columns with a finite dist
	tree    []int32 // settled columns in order of distance

	free, bidding []int32 // rows that have no column yet

	lowest lowest
}

// solve matches the edges, which are sorted by truth and prediction; columns
// are numbered as predictions.
func (a *assignment) solve(edges []edge, columns int) {
	a.load(edges, columns)
	for range biddingRounds {
		a.bid()
	}
	for _, r := range a.free {
		a.insert(r)
	}
	a.lowest.choose(a)
}

// biddingRounds is how often the rows without a column bid before paths are looked for.
const biddingRounds = 3

// bid lets every free row take its best column for what that is worth to it more than its
// second best, or than none: the dual of the column rises by it. The row that had the
// column is free again. Where nothing is gained, only a free column is taken. This keeps
// what [assignment] says of its duals and saves most of the paths where many compete.
//
// Source: the augmenting row reduction of Jonker and Volgenant 1987.
func (a *assignment) bid() {
	a.free, a.bidding = a.bidding[:0], a.free
	for _, r := range a.bidding {
		best, second, at := fixed{}, fixed{}, int32(-1)
		for k := a.first[r]; k < a.first[r+1]; k++ {
			switch gain := a.weights[k].sub(a.v[a.edges[k].pred]); {
			case best.less(gain):
				best, second, at = gain, best, a.edges[k].pred
			case second.less(gain):
				second = gain
			}
		}
		if at < 0 || !second.less(best) && a.rowOf[at] >= 0 {
			a.free = append(a.free, r)
			continue
		}
		a.u[r], a.v[at] = second, a.v[at].add(best.sub(second))
		if before := a.rowOf[at]; before >= 0 {
			a.colOf[before], a.u[before] = -1, fixed{}
			a.free = append(a.free, before)
		}
		a.rowOf[at], a.colOf[r] = r, at
	}
}

func (a *assignment) load(edges []edge, columns int) {
	a.edges = edges
	a.first, a.rowTruth = a.first[:0], a.rowTruth[:0]
	a.colOf, a.u = a.colOf[:0], a.u[:0]
	for k, e := range edges {
		if k == 0 || edges[k-1].truth != e.truth {
			a.first = append(a.first, int32(k))
			a.rowTruth = append(a.rowTruth, e.truth)
			a.colOf = append(a.colOf, -1)
			a.u = append(a.u, fixed{})
		}
	}
	a.first = append(a.first, int32(len(edges)))
	a.rowOf, a.v = fill(a.rowOf[:0], columns, -1), fill(a.v[:0], columns, fixed{})
	a.dist, a.from = fill(a.dist[:0], columns, far), fill(a.from[:0], columns, -1)
	a.settled = fill(a.settled[:0], columns, false)
	a.free = a.free[:0]
	for r := range a.rowTruth {
		a.free = append(a.free, int32(r))
	}
	bonus := whole(len(a.rowTruth) + 1)
	a.weights = a.weights[:0]
	for _, e := range edges {
		a.weights = append(a.weights, bonus.add(quotient(e.jaccard)))
	}
}

// insert matches row r, or leaves some row unmatched, so that the matching of
// all rows up to r has the largest weight.
func (a *assignment) insert(r int32) {
	for k := a.first[r]; k < a.first[r+1]; k++ {
		if w := a.weights[k].sub(a.v[a.edges[k].pred]); a.u[r].less(w) {
			a.u[r] = w
		}
	}
	// Leaving a row of the tree unmatched costs its dual; the cheapest so far
	// is the inserted row itself.
	giveUp, giveUpRow := a.u[r], r
	delta, end := giveUp, int32(-1)
	current, base := r, fixed{}
	for {
		a.relax(current, base)
		c := a.nearest()
		if c < 0 || !a.dist[c].less(giveUp) {
			delta = giveUp
			break
		}
		if a.rowOf[c] < 0 {
			delta, end = a.dist[c], c
			break
		}
		a.settled[c] = true
		a.tree = append(a.tree, c)
		current, base = a.rowOf[c], a.dist[c]
		if cost := base.add(a.u[current]); cost.less(giveUp) {
			giveUp, giveUpRow = cost, current
		}
	}
	a.updateDuals(r, delta)
	if end < 0 {
		end = a.colOf[giveUpRow]
		a.colOf[giveUpRow] = -1
	}
	a.augment(r, end)
	a.forget()
}

// relax updates the distances of the columns of row r, which lies at base.
func (a *assignment) relax(r int32, base fixed) {
	reach := base.add(a.u[r])
	for k := a.first[r]; k < a.first[r+1]; k++ {
		c := a.edges[k].pred
		if a.settled[c] {
			continue
		}
		d := reach.add(a.v[c]).sub(a.weights[k])
		if !d.less(a.dist[c]) {
			continue
		}
		if a.dist[c] == far {
			a.reached = append(a.reached, c)
		}
		a.dist[c], a.from[c] = d, r
	}
}

// nearest returns the unsettled column with the smallest distance, -1 if none
// is reached.
func (a *assignment) nearest() int32 {
	best := int32(-1)
	for _, c := range a.reached {
		if !a.settled[c] && (best < 0 || a.dist[c].less(a.dist[best])) {
			best = c
		}
	}
	return best
}

// updateDuals makes the path of length delta from row r tight.
func (a *assignment) updateDuals(r int32, delta fixed) {
	a.u[r] = a.u[r].sub(delta)
	for _, c := range a.tree {
		gain := delta.sub(a.dist[c])
		row := a.rowOf[c]
		a.u[row] = a.u[row].sub(gain)
		a.v[c] = a.v[c].add(gain)
	}
}

// augment gives column end, which is free, to the row before it on the path,
// and so on back to row r. end is -1 if r itself stays unmatched.
func (a *assignment) augment(r, end int32) {
	for c := end; c >= 0; {
		row := a.from[c]
		a.rowOf[c] = row
		a.colOf[row], c = c, a.colOf[row]
		if row == r {
			return
		}
	}
}

func (a *assignment) forget() {
	for _, c := range a.reached {
		a.dist[c], a.settled[c] = far, false
	}
	a.reached, a.tree = a.reached[:0], a.tree[:0]
}

// fixed is a signed fixed-point number with fracBits bits after the point. The
// matching adds and compares Jaccards of different denominators with it.
type fixed struct {
	hi int64
	lo uint64
}

// fracBits leaves room before the point for 2^31 times the number of spans that
// one side can hold in memory.
const fracBits = 95

var (
	one = fixed{hi: 1 << (fracBits - 64)}
	// slack absorbs the rounding of up to 2^20 terms. Different sums of Jaccards
	// differ by more than that unless their denominators were chosen for it.
	slack = fixed{lo: 1 << 20}
	far   = fixed{hi: 1<<63 - 1}
)

func (x fixed) add(y fixed) fixed {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	return fixed{x.hi + y.hi + int64(carry), lo}
}

func (x fixed) sub(y fixed) fixed {
	lo, borrow := bits.Sub64(x.lo, y.lo, 0)
	return fixed{x.hi - y.hi - int64(borrow), lo}
}

func (x fixed) less(y fixed) bool {
	return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo
}

// negligible reports whether x, which is not negative but for rounding, is 0
// but for rounding.
func (x fixed) negligible() bool { return !slack.less(x) }

// quotient is j rounded down.
func quotient(j Jaccard) fixed {
	if j.Exact() {
		return one
	}
	scaled, d := uint64(j.Overlap)<<(fracBits-64), uint64(j.Union)
	lo, _ := bits.Div64(scaled%d, 0, d)
	return fixed{int64(scaled / d), lo}
}

// whole is the number n.
func whole(n int) fixed { return fixed{hi: int64(n) << (fracBits - 64)} }
