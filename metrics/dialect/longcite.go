package dialect

import "ibid"

// longCiteStatements is how many statements of an answer LongCite scores.
const longCiteStatements = 40

func longCite(t Table) Table { return t[:min(len(t), longCiteStatements)] }

// LongCiteRecall is the mean over statements of the support by their citations
// together, a fraction in [0, 1]; a statement without a citation counts 1 if it
// needs none, else 0. Only the first 40 statements are scored, and a dangling
// citation supports nothing, so a statement with no other counts 0. It is
// undefined if no statement is scored, which LongCite calls 0.
//
// LongCite knows full (1), partial (0.5) and no support (0); a Score between
// them counts as it is.
//
// Source: Zhang et al., LongCite, 2024, §2.2.
func LongCiteRecall(t Table) (recall float64, ok bool) {
	var sum, statements float64
	for _, s := range longCite(t) {
		switch {
		case len(s.Citations) == 0 && s.NeedsCitation == ibid.Unset:
			continue
		case len(s.Citations) == 0:
			if s.NeedsCitation == ibid.No {
				sum++
			}
		case s.allDangle():
		case !s.Support.Known():
			continue
		default:
			sum += s.Support.Value
		}
		statements++
	}
	return ratio(sum, statements)
}

// allDangle reports whether no source that s cites exists.
func (s *Statement) allDangle() bool {
	for _, c := range s.Citations {
		if !c.Dangling {
			return false
		}
	}
	return true
}

// LongCitePrecision is the share of citations that are relevant to their
// statement, a fraction in [0, 1], over the first 40 statements; a dangling one
// is not. It is undefined if no citation is scored, which LongCite calls 0.
//
// Source: as [LongCiteRecall].
func LongCitePrecision(t Table) (precision float64, ok bool) {
	var relevant, citations float64
	for _, s := range longCite(t) {
		for _, c := range s.Citations {
			switch {
			case c.Dangling:
			case c.Relevant == ibid.Unset:
				continue
			case c.Relevant == ibid.Yes:
				relevant++
			}
			citations++
		}
	}
	return ratio(relevant, citations)
}

// LongCiteF1 is the harmonic mean of [LongCiteRecall] and [LongCitePrecision],
// 0 if both are 0. It is undefined if either is, which LongCite calls 0.
func LongCiteF1(t Table) (f1 float64, ok bool) {
	recall, ok := LongCiteRecall(t)
	if !ok {
		return 0, false
	}
	precision, ok := LongCitePrecision(t)
	if !ok || recall+precision == 0 {
		return 0, ok
	}
	return 2 * recall * precision / (recall + precision), true
}
