package harness

import (
	"cmp"
	"slices"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// kindNumbers are what a row has of its citations of one kind of source, where others are of
// another.
type kindNumbers struct {
	scores metrics.Scores
	all    []kindNumber

	keys, reasons []string // of the column undefined
	names         []string
	values        []float64
}

type kindNumber struct {
	key   string
	value float64
}

// read reads them from the row that s has scored, unless it failed.
func (n *kindNumbers) read(in *ibid.Answer, s *scorer, failure error) {
	n.all, n.keys, n.reasons, n.names, n.values = n.all[:0], n.keys[:0], n.reasons[:0], n.names[:0], n.values[:0]
	if failure != nil {
		return
	}
	runs.EachKind(in.Citations, func(slice string, part []int32) {
		of := &n.scores
		s.metrics.ScoreKind(&s.row, &s.scores, part, of)
		add := func(name string, value float64) {
			n.all = append(n.all, kindNumber{runs.KindKey(name, slice), value})
		}
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
	slices.SortFunc(n.all, func(a, b kindNumber) int { return cmp.Compare(a.key, b.key) })
	for _, of := range n.all {
		n.names, n.values = append(n.names, of.key), append(n.values, of.value)
	}
}
