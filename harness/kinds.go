package harness

import (
	"maps"
	"slices"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// kindNumbers are the numbers of a row for each kind of source, computed over the citations of that
// kind. They are empty if all citations have the same kind.
type kindNumbers struct {
	scores metrics.Scores
	all    map[string]float64

	names         []string // of all, sorted, with their values
	values        []float64
	keys, reasons []string // of the column undefined
}

// read reads them from the row that s has scored, unless it failed.
func (n *kindNumbers) read(in *ibid.Answer, s *scorer, failure error) {
	n.names, n.values, n.keys, n.reasons = n.names[:0], n.values[:0], n.keys[:0], n.reasons[:0]
	if failure != nil {
		return
	}
	runs.EachKind(in.Citations, func(slice string, part []int32) {
		of := &n.scores
		s.metrics.ScoreKind(&s.row, &s.scores, part, of)
		if n.all == nil {
			n.all = make(map[string]float64)
		}
		add := func(name string, value float64) { n.all[runs.KindKey(name, slice)] = value }
		for _, c := range metrics.CitationCounts {
			if of.Known[c] {
				add(c.String(), float64(of.Counts[c]))
			}
		}
		for _, o := range metrics.CitationOpen {
			if of.Open[o] > 0 {
				add(o.String(), float64(of.Open[o]))
			}
		}
		row := s.scores.RowReasons()
		for _, m := range metrics.CitationMetrics {
			if v, ok := of.Value(m); ok {
				add(m.String(), v)
			} else if why := unusual(m, of, row); why != ibid.Defined {
				n.keys, n.reasons = append(n.keys, runs.KindKey(m.String(), slice)), append(n.reasons, why.String())
			}
			if of.HasBounds[m] {
				add(m.String()+runs.LowSuffix, of.Low[m])
				add(m.String()+runs.HighSuffix, of.High[m])
			}
		}
	})
	if len(n.all) > 0 {
		n.names = slices.AppendSeq(n.names, maps.Keys(n.all))
		slices.Sort(n.names)
	}
	for _, name := range n.names {
		n.values = append(n.values, n.all[name])
	}
	clear(n.all)
}

// blockRows are rows of a block, and the groups that each counts in.
type blockRows struct {
	*runs.Block
	signatures signatures
	members    [][]int // signature -> groups
	each       [][]int // of a part of the block: groups of each row
}

// groups are those that row i counts in.
func (b *blockRows) groups(i int) []int {
	if b.each != nil {
		return b.each[i]
	}
	return b.members[b.signatures.of(i)]
}

// alike reports whether two rows are known to count in the same groups.
func (b *blockRows) alike(i, j int) bool {
	return b.each == nil && b.signatures.of(i) == b.signatures.of(j)
}

// kindMembers are the groups of rows by signature: those that count every citation, and slices that
// count the citations of one kind.
type kindMembers struct {
	slices []string          // by kind of source
	others [][]int           // signature -> the groups of all citations
	of     [][]kindSignature // signature -> those of one kind
}

type kindSignature struct {
	slice  int
	groups []int
}

// findKinds finds the groups that are slices by kind of source.
func (s *groupSums) findKinds() (k kindMembers) {
	number := make(map[string]int)
	for _, all := range s.members {
		var others []int
		var of []kindSignature
		for _, g := range all {
			slice := s.groups.all[s.in[g]].slice
			if !runs.IsKind(slice) {
				others = append(others, g)
				continue
			}
			n, known := number[slice]
			if !known {
				n, number[slice] = len(k.slices), len(k.slices)
				k.slices = append(k.slices, slice)
			}
			at := slices.IndexFunc(of, func(o kindSignature) bool { return o.slice == n })
			if at < 0 {
				at, of = len(of), append(of, kindSignature{slice: n})
			}
			of[at].groups = append(of[at].groups, g)
		}
		k.others, k.of = append(k.others, others), append(k.of, of)
	}
	return k
}

// divide returns the rows of a block by the groups that they count in: all rows with the groups
// that count every citation, and for each slice by kind the rows in it.
func (k *kindMembers) divide(all *blockRows) []*blockRows {
	out := []*blockRows{{Block: all.Block, signatures: all.signatures, members: k.others}}
	if len(k.slices) == 0 {
		return out
	}
	rows, groups := make([][]int, len(k.slices)), make([][][]int, len(k.slices))
	for i := range all.Len() {
		for _, of := range k.of[all.signatures.of(i)] {
			rows[of.slice], groups[of.slice] = append(rows[of.slice], i), append(groups[of.slice], of.groups)
		}
	}
	for n, slice := range k.slices {
		if len(rows[n]) > 0 {
			out = append(out, &blockRows{Block: all.Of(slice, rows[n]), each: groups[n]})
		}
	}
	return out
}
