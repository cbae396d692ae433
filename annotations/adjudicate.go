package annotations

import (
	"slices"
	"strings"

	"ibid"
	"ibid/metrics/span"
	"ibid/metrics/stats"
)

// Policies are those that adjudication takes. [ibid.PolicyBest] takes over the
// annotator who agrees best with the others on the item; of equals the first by
// name.
var Policies = []ibid.Policy{ibid.PolicyMajority, ibid.PolicyUnion, ibid.PolicyIntersection, ibid.PolicyBest}

// CombineMarks are the marks that stand for those of several annotators, sorted and
// disjoint. Touching marks stay apart only under [ibid.PolicyBest].
func CombineMarks(policy ibid.Policy, marks []Mark) []stats.Unit {
	if policy == ibid.PolicyBest {
		return bestMarks(marks)
	}
	sets := make([][]span.Interval, len(marks))
	for i, m := range marks {
		for _, u := range m.Units {
			sets[i] = append(sets[i], span.Interval{Start: u.Start, End: u.End})
		}
	}
	var out []stats.Unit
	for _, x := range new(span.Comparer).CombineIntervals(policy, sets) {
		out = append(out, stats.Unit{Start: x.Start, End: x.End, Category: 1})
	}
	return out
}

// bestMarks are those of the annotator with the highest mean Jaccard.
func bestMarks(marks []Mark) []stats.Unit {
	sorted := slices.Clone(marks)
	slices.SortStableFunc(sorted, func(a, b Mark) int { return strings.Compare(a.Annotator, b.Annotator) })
	var length int64
	m := stats.Marked{}
	for _, x := range sorted {
		m.Annotators = append(m.Annotators, append([]stats.Unit{}, x.Units...))
		for _, u := range x.Units {
			length = max(length, u.End)
		}
	}
	m.Length = length
	score := make([]float64, len(sorted))
	m.Pairs(func(i, j int, p stats.PairScore) {
		v := 1.0 // both marked nothing
		if d := p.Jaccard(); d.Known() {
			v = d.Value
		}
		score[i] += v
		score[j] += v
	})
	best := 0
	for i := range score {
		if score[i] > score[best] {
			best = i
		}
	}
	return stats.MergeUnits(sorted[best].Units, length)
}
