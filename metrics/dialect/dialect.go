// Package dialect scores attribution the way well-known papers define it, so
// that ibid's numbers can be set beside theirs.
//
// Every score is a pure function of a verdict [Table]: which statements an
// answer makes, what each cites, and what a judge said of it. How an answer is
// split, which citations a paper looks at, and who judges are the caller's
// business.
//
// A score is taken over what was judged; verdicts that are missing are left
// out of numerator and denominator alike unless a function says otherwise. A
// score without a denominator is undefined and returned as (0, false); where
// the paper calls it 0 instead, the function says so.
package dialect

import "ibid"

// A Table holds the statements of one answer, in order.
type Table []Statement

// A Statement is one sentence or claim.
type Statement struct {
	// Support is the support by all citations together; not read if there is none.
	Support ibid.Number
	// NeedsCitation is read only if the statement has no citation.
	NeedsCitation ibid.Tri
	Citations     []Citation // in the order of the answer
}

// A Citation is one source cited by a statement. The same source cited twice is
// two citations.
type Citation struct {
	// Source identifies the source where citations of one source count once;
	// "" is a source of its own.
	Source string
	// Dangling: no such source exists. No verdict of it is read.
	Dangling bool
	// Support is the support by this citation alone.
	Support ibid.Number
	// Without is the support by the statement's other citations together.
	Without ibid.Number
	// Relevant says whether the cited passage has to do with the statement.
	Relevant ibid.Tri
}

// ratio is num / den, undefined if den is 0.
func ratio(num, den float64) (float64, bool) {
	if den == 0 {
		return 0, false
	}
	return num / den, true
}
