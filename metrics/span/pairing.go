package span

import (
	"cmp"
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
		for i, x := range spans {
			twin[i] = slices.Contains(spans[:i], x)
			if !twin[i] {
				distinct++
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

// solve matches the considered pairs.
func (p *pairing) solve() []Pair {
	if p.isMatching() {
		for _, e := range p.edges {
			p.pairs = append(p.pairs, Pair{int(e.truth), int(e.pred)})
		}
		return p.pairs
	}
	slices.SortFunc(p.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.truth, b.truth), cmp.Compare(a.pred, b.pred))
	})
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
