package dialect

// weight is the support of a citation; a dangling one supports nothing.
func (c *Citation) weight() Score {
	if c.Dangling {
		return Known(0)
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
			if w := t[i].Citations[j].weight(); w.Known {
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
		} else if w := t[i].Citations[0].weight(); w.Known {
			sum += w.Value
			scored++
		}
	}
	return sum, scored, uncited
}
