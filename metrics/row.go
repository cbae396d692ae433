package metrics

import (
	"ibid"
	"ibid/metrics/token"
)

// A Row is one answer by one system, after its places have been resolved, with
// its claims and the verdicts on them if there is a judge. A [Scorer] reads it and
// keeps nothing of it.
//
// Of the answer, it reads the places of citations and marks; Claims and HasClaims
// of the Row stand in place of those that the answer was given with.
type Row struct {
	ibid.Answer

	// Claims are the claims of the answer, with their extents, their links to
	// Citations and the verdicts on them.
	Claims    []ibid.Claim
	HasClaims bool // false: not known, whatever Claims holds
	Abstains  bool // the answer abstains: it says that it cannot answer, and claims and cites nothing

	// Scopes are parallel to Citations: the stretches of the answer that each backs. nil:
	// not known.
	Scopes [][]ibid.Interval

	// Quotations are what is known of the quotations in the answer.
	Quotations Quotations

	// Judged: the row has been put to a judge. JudgeFailed: the judge could not
	// answer, and no verdict in this row is read.
	Judged, JudgeFailed bool

	// Textless: no text of the answer's sources is known, so that nothing was asked.
	// What needs evidence is undefined.
	Textless bool

	// Verdicts are parallel to Citations; nil: none is scored.
	Verdicts []CitationVerdict
	// Pairs are parallel to Claims, and each element to the Citations of its
	// claim: the verdicts on one claim and one citation, which only the dialects
	// and necessity_shared need. nil: what holds of a citation holds for each of
	// its claims.
	Pairs [][]PairVerdict

	// Tokens gives the tokens of source texts; nil when the run has no texts.
	Tokens TokenSource
}

// A TokenSource knows the tokens of source texts.
type TokenSource interface {
	// Tokens appends to x the tokens of the text of the key (doc, page) that the
	// code points [start, end) touch, with offsets that count as those of the key
	// do, and perhaps others around them; but none that begins before the last
	// token of x ends. Calls about one key come in ascending order, with x empty
	// before the first. ok is false if there is no such text.
	Tokens(x *token.Index, doc string, page, start, end int32) (ok bool)
}

// A CitationVerdict is what a judge says of one citation, over all claims that
// it is linked to. The zero CitationVerdict is unscored.
type CitationVerdict struct {
	Support   ibid.Support // the best over its claims
	Relevant  ibid.Tri     // Yes if it is for any of its claims
	Necessary ibid.Tri     // Yes if it is for any of its claims, see [PairVerdict]
	NoText    bool         // no text of it is known, so that it could not be judged
	Quoted    int64        // code points of the passage that the judge quoted; 0 if it quoted none
}

// A PairVerdict is what a judge says of one claim and one citation of it. The
// zero PairVerdict is unscored.
type PairVerdict struct {
	Support  ibid.Support // by this citation alone
	Without  ibid.Support // by the other citations of the claim taken together
	Relevant ibid.Tri

	// Necessary: the citation is in at least one minimal sufficient set, a set
	// of the claim's citations that supports the claim and of which no smaller
	// part does. See [Necessity].
	Necessary ibid.Tri
}
