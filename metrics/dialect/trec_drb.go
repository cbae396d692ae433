package dialect

import "ibid"

// weight is the support of a citation; a dangling one supports nothing.
func (c *Citation) weight() ibid.Number {
	if c.Dangling {
		return ibid.Some[float64](0)
	}
	return c.Support
}

// TRECWeightedPrecision is the mean support of citations, each judged alone
// against its statement, a fraction in [0, 1]: full support weighs 1, partial
// 0.5, none 0. A dangling citation weighs 0. Every citation counts once, however
// often its source is cited. It is undefined if no citation is scored.
//
// Source: Thakur et al., Support Evaluation for the TREC 2024 RAG Track,
// arXiv 2504.15205.
func TRECWeightedPrecision(t Table) (precision float64, ok bool) {
	var sum, citations float64
	for i := range t {
		for j := range t[i].Citations {
			if w := t[i].Citations[j].weight(); w.Known() {
				sum += w.Value
				citations++
			}
		}
	}
	return ratio(sum, citations)
}

// TRECFirstPrecision is [TRECWeightedPrecision] over the first citation of each
// statement only, the ones that the track's assessors judge.
func TRECFirstPrecision(t Table) (precision float64, ok bool) {
	sum, scored, _ := firstCitations(t)
	return ratio(sum, scored)
}

// TRECWeightedRecall is the mean over statements of the support by their first
// citation, a fraction in [0, 1]; a statement without a citation counts 0. It is
// undefined if no statement is scored.
//
// Source: as [TRECWeightedPrecision].
func TRECWeightedRecall(t Table) (recall float64, ok bool) {
	sum, scored, uncited := firstCitations(t)
	return ratio(sum, scored+uncited)
}

// firstCitations sums the weights of the first citations that are scored, and
// counts them and the statements without any.
func firstCitations(t Table) (sum, scored, uncited float64) {
	for i := range t {
		if len(t[i].Citations) == 0 {
			uncited++
		} else if w := t[i].Citations[0].weight(); w.Known() {
			sum += w.Value
			scored++
		}
	}
	return sum, scored, uncited
}

// DRBAccuracy is the share of pairs of a statement and a source it cites in
// which the source supports the statement, a fraction in [0, 1]. Support is a
// Score of at least threshold, in (0, 1]. Pairs without a verdict are dropped:
// the page could not be read, or does not tell. It is undefined if no pair is
// left.
//
// A source that a statement cites twice makes one pair, which its best citation
// decides. A dangling citation makes none.
//
// Source: Du et al., DeepResearch Bench, 2025, FACT: citation accuracy.
func DRBAccuracy(t Table, threshold float64) (accuracy float64, ok bool) {
	supported, judged, _ := drbPairs(t, threshold)
	return ratio(float64(supported), float64(judged))
}

// DRBEffectiveCitations is the number of such pairs in which the source supports
// the statement. It is 0 for an answer that cites nothing, so that not citing
// does not pay, and undefined if there are pairs and none has a verdict.
//
// Source: as [DRBAccuracy]: average effective citations, a mean over answers.
func DRBEffectiveCitations(t Table, threshold float64) (citations float64, ok bool) {
	supported, judged, pairs := drbPairs(t, threshold)
	return float64(supported), judged > 0 || pairs == 0
}

// drbPairs counts pairs, those with a verdict, and those that are supported.
func drbPairs(t Table, threshold float64) (supported, judged, pairs int) {
	add := func(best ibid.Number) {
		pairs++
		if best.Known() {
			judged++
			if best.Value >= threshold {
				supported++
			}
		}
	}
	for i := range t {
		best := make(map[string]ibid.Number) // by source
		for _, c := range t[i].Citations {
			switch {
			case c.Dangling:
			case c.Source == "":
				add(c.Support)
			default:
				best[c.Source] = higher(best[c.Source], c.Support)
			}
		}
		for _, score := range best {
			add(score)
		}
	}
	return supported, judged, pairs
}

// higher is the higher of two scores, and a known one before a missing one.
func higher(a, b ibid.Number) ibid.Number {
	if !a.Known() || b.Known() && b.Value > a.Value {
		return b
	}
	return a
}
