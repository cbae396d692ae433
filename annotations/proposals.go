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
	Shown, Withheld stats.Estimate // one value for each person and item
	Gap             stats.Unpaired // Shown less Withheld
}

// Follow compares marks with proposals; items are by rows of a dataset. Items without a
// proposal, and those of which nobody marked places, say nothing. Items that share a
// document belong to one cluster; such a cluster with items of both kinds counts in both,
// which makes the interval wider, if anything. ok is false if nothing was proposed.
func Follow(said map[int64][]BlindItem, level float64) (f Following, ok bool) {
	type value struct {
		document string
		withheld bool
		jaccard  float64
	}
	var values []value
	joined := make(map[string]string) // document to another of its cluster
	root := func(doc string) string {
		for joined[doc] != "" {
			doc = joined[doc]
		}
		return doc
	}
	for _, row := range slices.Sorted(maps.Keys(said)) {
		for i := range said[row] {
			it := &said[row][i]
			if it.Truth == nil || len(it.Proposals) == 0 {
				continue
			}
			ok = true
			first := root(it.Proposals[0].Doc)
			for _, p := range it.Proposals {
				if other := root(p.Doc); other != first {
					joined[other] = first
				}
			}
			values = append(values, value{first, it.Withheld, it.proposalJaccard()})
		}
	}
	arm := func(withheld bool) stats.Estimate {
		sums, rows := make(map[string]float64), make(map[string]int64)
		for _, v := range values {
			if v.withheld == withheld {
				cluster := root(v.document)
				sums[cluster] += v.jaccard
				rows[cluster]++
			}
		}
		var c stats.Clusters
		for _, cluster := range slices.Sorted(maps.Keys(sums)) {
			c.AddCluster(sums[cluster], float64(rows[cluster]), rows[cluster])
		}
		return c.Mean(level)
	}
	f.Shown, f.Withheld = arm(false), arm(true)
	f.Gap = stats.NewUnpaired(&f.Shown, &f.Withheld, level)
	return f, ok
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
		fillRow(&row, x.Estimate, false)
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
