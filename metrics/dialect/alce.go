package dialect

import (
	"slices"

	"ibid"
)

// dangles reports whether s cites a source that does not exist.
func (s *Statement) dangles() bool {
	return slices.ContainsFunc(s.Citations, func(c Citation) bool { return c.Dangling })
}

// entailed reports whether the citations of s together support it: a score of
// threshold or more. Without a citation, or with one that dangles, they do not.
func (s *Statement) entailed(threshold float64) (yes, known bool) {
	if len(s.Citations) == 0 || s.dangles() {
		return false, true
	}
	return s.Support.Value >= threshold, s.Support.Known()
}

// ALCERecall is the share of statements that their citations together support,
// a fraction in [0, 1]. It is undefined if no statement is scored.
//
// Support is a Score of at least threshold, in (0, 1]. A statement without a
// citation counts as unsupported, and so does one with a dangling citation.
// ALCE looks at the first three citations of a statement only; the Table holds
// the ones to be looked at.
//
// Source: Gao et al., Enabling Large Language Models to Generate Text with
// Citations, EMNLP 2023, §3.3; its scores are percentages, averaged over
// answers.
func ALCERecall(t Table, threshold float64) (recall float64, ok bool) {
	var supported, statements float64
	for i := range t {
		yes, known := t[i].entailed(threshold)
		if !known {
			continue
		}
		statements++
		if yes {
			supported++
		}
	}
	return ratio(supported, statements)
}

// ALCEPrecision is the share of citations that are not irrelevant, a fraction
// in [0, 1]. It is undefined if no citation counts, which ALCE calls 0, and if
// a verdict about the other citations is needed and missing.
//
// A citation of a supported statement is irrelevant if it does not support the
// statement alone and the others do without it. The citations of an unsupported
// statement all count as irrelevant; those of a statement with a dangling
// citation do not count at all. Support.Value of a citation and Without are read
// only where the definition needs them: of statements with two citations or
// more, and Without only of citations that do not support alone. A citation
// counts as soon as what is known settles it, even if other verdicts on it or
// its statement are missing.
//
// Source: as [ALCERecall].
func ALCEPrecision(t Table, threshold float64) (precision float64, ok bool) {
	var relevant, citations float64
	for i := range t {
		s := &t[i]
		supported, known := s.entailed(threshold)
		if s.dangles() {
			continue
		}
		for k := range s.Citations {
			c := &s.Citations[k]
			need := c.needed(threshold, len(s.Citations))
			switch {
			case known && supported && need == ibid.Unset && c.Support.Known():
				return 0, false
			case known && !supported, need == ibid.No: // irrelevant, the latter whether s is supported or not
				citations++
			case known && need == ibid.Yes:
				citations++
				relevant++
			}
		}
	}
	return ratio(relevant, citations)
}

// needed reports whether c, one of n citations of a statement that they support
// together, supports it alone, or the others do not without it.
func (c *Citation) needed(threshold float64, n int) ibid.Tri {
	switch {
	case n == 1, c.Support.Known() && c.Support.Value >= threshold, c.Without.Known() && c.Without.Value < threshold:
		return ibid.Yes
	case c.Support.Known() && c.Without.Known():
		return ibid.No
	}
	return ibid.Unset
}
