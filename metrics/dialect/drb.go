package dialect

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
	add := func(best Score) {
		pairs++
		if best.Known {
			judged++
			if best.Value >= threshold {
				supported++
			}
		}
	}
	for i := range t {
		best := make(map[string]Score) // by source
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
func higher(a, b Score) Score {
	if !a.Known || b.Known && b.Value > a.Value {
		return b
	}
	return a
}
