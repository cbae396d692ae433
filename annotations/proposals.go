package annotations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/span"
	"ibid/metrics/stats"
)

// A Following says whether people follow what was proposed to them: the mean Jaccard of
// marks and proposals where these were shown, and where they were withheld. Who marks what
// is there marks the same in both.
type Following struct {
	Shown, Withheld stats.Estimate   // one value for each person and item
	Gap             stats.Comparison // Shown less Withheld
}

// Follow compares marks with proposals; items are by rows of a dataset. Items without a
// proposal, and those of which nobody marked places, say nothing. Items of one row are one
// unit. ok is false if nothing was proposed.
func Follow(said map[int64][]BlindItem, level float64) (f Following, ok bool) {
	var rows []int64
	var jaccard []float64
	var withheld []bool
	var documents stats.Documents
	var numbers stats.Numbering[string]
	for _, row := range slices.Sorted(maps.Keys(said)) {
		for i := range said[row] {
			it := &said[row][i]
			if it.Truth == nil || len(it.Proposals) == 0 {
				continue
			}
			for _, p := range it.Proposals {
				documents.Touch(numbers.Number(p.Doc))
			}
			documents.Add()
			rows, jaccard, withheld = append(rows, row), append(jaccard, it.proposalJaccard()), append(withheld, it.Withheld)
		}
	}
	units := stats.NewRows(rows, &documents)
	arm := func(of bool) (*stats.Quotient, stats.Estimate, stats.Spread) {
		y, x := make([]float64, len(rows)), make([]float64, len(rows))
		n := int64(0)
		for i, v := range jaccard {
			if withheld[i] == of {
				y[i], x[i] = v, 1
				n++
			}
		}
		q := stats.NewQuotient(units.Sums(y), units.Sums(x))
		touched := units.Documents(func(row int) bool { return x[row] != 0 })
		e := q.Within(touched, 0, 1, level)
		if e.N = n; q == nil {
			return nil, e, stats.Spread{}
		}
		return q, e, q.Spread(touched)
	}
	shown, e, s := arm(false)
	apart, o, w := arm(true)
	f.Shown, f.Withheld = e, o
	f.Gap.Level, f.Gap.Reason = level, ibid.NoData
	if shown != nil && apart != nil {
		both := s.Beside(&w)
		f.Gap = both.Difference(shown.Value-apart.Value, 1, level)
		f.Gap.N = e.N + o.N
	}
	return f, len(rows) > 0
}

// proposalJaccard is the Jaccard of the marks of an item and its proposals, of which there
// are some, over all documents.
func (it *BlindItem) proposalJaccard() float64 {
	marked, proposed := make(map[string][]span.Interval), make(map[string][]span.Interval)
	for _, m := range it.Truth {
		marked[m.Doc] = append(marked[m.Doc], span.Interval{Start: *m.Start, End: *m.End})
	}
	for _, p := range it.Proposals {
		proposed[p.Doc] = append(proposed[p.Doc], span.Interval{Start: p.Start, End: p.End})
	}
	docs := maps.Clone(marked)
	maps.Copy(docs, proposed)
	var both, either int64
	var c span.Comparer
	length := func(policy ibid.Policy, doc string) (n int64) {
		for _, x := range c.CombineIntervals(policy, [][]span.Interval{marked[doc], proposed[doc]}) {
			n += x.End - x.Start
		}
		return n
	}
	for doc := range docs {
		both += length(ibid.PolicyIntersection, doc)
		either += length(ibid.PolicyUnion, doc)
	}
	return stats.FractionOf(float64(both), float64(either)).Value
}

// Follows reports whether people surely follow proposals: the interval of the gap lies
// above 0.
func (f *Following) Follows() bool { return f.Gap.HasInterval && f.Gap.Low > 0 }

// rows are the numbers as rows of agreement.
func (f *Following) rows() []runs.AgreementRow {
	var out []runs.AgreementRow
	for _, x := range []struct {
		name string
		*stats.Estimate
	}{{"proposals_shown", &f.Shown}, {"proposals_withheld", &f.Withheld}, {"proposals_gap", &f.Gap.Estimate}} {
		row := runs.AgreementRow{Statistic: x.name, Kind: runs.SpanAgreement, Annotators: runs.AllAnnotators, Items: x.N, Documents: x.Clusters}
		fillRow(&row, x.Estimate)
		out = append(out, row)
	}
	return out
}

// AddFollowing adds whether people follow proposals, and says it in words.
func (a *Agreement) AddFollowing(f *Following) {
	a.Statistics = append(a.Statistics, f.rows()...)
	runs.SortAgreement(a.Statistics)
	g := &f.Gap
	text := "whether they follow proposals is not known: "
	switch {
	case !g.HasInterval:
		text += cmp.Or(map[bool]string{true: "none was withheld"}[f.Withheld.N == 0], "too few items")
	case f.Follows():
		text = fmt.Sprintf("annotators follow proposals: with them, marks are nearer to them by %.3f [%.3f, %.3f] of Jaccard, so that they are no judgement of their own", g.Value, g.Low, g.High)
	default:
		text = fmt.Sprintf("no sign that annotators follow proposals: with them, marks are nearer to them by %.3f [%.3f, %.3f] of Jaccard", g.Value, g.Low, g.High)
	}
	a.Warnings = append(a.Warnings, text)
}
