package harness

import (
	"slices"

	"ibid/metrics"
)

// necessity fills in which citations of claim k are needed, if the judge says so,
// in pairs and in the verdicts on citations.
func (j *judging) necessity(k int, pairs []metrics.PairVerdict) {
	sets := j.verdict.Claims[k].Sufficient
	if sets == nil {
		return
	}
	cited := j.claims[k].Citations
	metrics.Necessity(pairs, cited, j.alternatives(k, sets))
	for n, c := range cited {
		if v := &j.verdicts[c]; v.Necessary != metrics.Yes {
			v.Necessary = pairs[n].Necessary
		}
	}
}

// alternatives turns sets of a request's evidence into sets of the row's
// citations. The judge sees the same text once, so that a set which holds one
// citation of it is as good with any other.
func (j *judging) alternatives(k int, sets [][]int) [][]int32 {
	evidence := j.request.Evidence
	var out [][]int32
	for _, set := range sets {
		base := make([]int32, len(set))
		for i, e := range set {
			base[i] = int32(evidence[e].Citation)
		}
		out = append(out, base)
		for i, e := range set {
			for _, other := range j.request.Claims[k].Evidence {
				if other == e || evidence[other].Text != evidence[e].Text {
					continue
				}
				same := slices.Clone(base)
				same[i] = int32(evidence[other].Citation)
				out = append(out, same)
			}
		}
	}
	return out
}
