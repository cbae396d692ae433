package metrics

import "ibid"

// A Problem is the worst that is wrong with a citation or with an answer. A
// greater one is worse. The zero Problem is none.
//
// An answer fails from ProblemLowScore on. That is the one meaning of "fails":
// in the column fails of rows.parquet, on the terminal, on the page and in JUnit.
type Problem uint8

// The problems, the least first.
const (
	NoProblem                 Problem = iota // nothing that could be checked speaks against it
	ProblemUnjudged                          // there is no verdict
	ProblemQuoteMoved                        // the quote was found elsewhere in its document
	ProblemPartly                            // overlaps the marked place, by less than a good match
	ProblemQuoteReworded                     // a quotation differs in words from what stands there
	ProblemLowScore                          // overall score below FailsBelow; of answers only
	ProblemElsewhere                         // other evidence supports the claim, what is cited does not
	ProblemWrongPlace                        // touches nothing that was marked
	ProblemQuoteMisattributed                // a quotation stands in a document that is not cited
	ProblemUncited                           // something should be cited, and nothing is
	ProblemTooLong                           // longer than max_span_length
	ProblemUnsupported                       // no evidence supports the claim
	ProblemQuoteChanged                      // a quotation differs in a number or a negation
	ProblemMalformed                         // the span is empty, inverted or negative
	ProblemMisquoted                         // the quote is not the text of the place
	ProblemOutOfBounds                       // ends after its document or page
	ProblemNoPage                            // the document has no such page
	ProblemQuoteFabricated                   // a quotation stands nowhere, or is made of pieces of several places
	ProblemNoDocument                        // there is no such document
	ProblemContradicted                      // the cited text says the opposite
	ProblemError                             // the row could not be read or scored

	NumProblems = int(ProblemError) + 1
)

// FailsBelow is the overall score under which an answer fails whatever else is
// known of it.
const FailsBelow = 0.5

var problemNames = [NumProblems]string{
	NoProblem: "none", ProblemUnjudged: "unjudged", ProblemQuoteMoved: "quote_moved", ProblemPartly: "partly", ProblemLowScore: "low_score",
	ProblemElsewhere: ibid.SupportedElsewhere.String(), ProblemWrongPlace: "wrong_place", ProblemUncited: "uncited",
	ProblemQuoteReworded: "quote_reworded", ProblemQuoteMisattributed: "quote_misattributed", ProblemQuoteChanged: "quote_changed", ProblemQuoteFabricated: "quote_fabricated",
	ProblemTooLong: ibid.StatusTooLong.String(), ProblemUnsupported: ibid.Unsupported.String(), ProblemMalformed: "span_malformed",
	ProblemMisquoted: ibid.StatusQuoteMismatch.String(), ProblemOutOfBounds: ibid.StatusOutOfBounds.String(), ProblemNoPage: ibid.StatusPageNotFound.String(),
	ProblemNoDocument: ibid.StatusDocumentNotFound.String(), ProblemContradicted: ibid.Contradicted.String(), ProblemError: "error",
}

// String returns the name used in files, such as "wrong_place".
func (p Problem) String() string { return problemNames[p] }

// ParseProblem returns the problem of that name.
func ParseProblem(name string) (p Problem, ok bool) {
	for p, n := range problemNames {
		if n == name {
			return Problem(p), true
		}
	}
	return NoProblem, false
}

// Fails reports whether an answer with this as its worst problem fails.
func (p Problem) Fails() bool { return p >= ProblemLowScore }

var problemOfStatus = [ibid.NumStatuses]Problem{
	ibid.StatusDocumentNotFound: ProblemNoDocument,
	ibid.StatusPageNotFound:     ProblemNoPage,
	ibid.StatusOutOfBounds:      ProblemOutOfBounds,
	ibid.StatusTooLong:          ProblemTooLong,
	ibid.StatusQuoteMismatch:    ProblemMisquoted,
	ibid.StatusQuoteNotFound:    ProblemMisquoted,
	ibid.StatusQuoteRepaired:    ProblemQuoteMoved,
	ibid.StatusEmpty:            ProblemMalformed,
	ibid.StatusInverted:         ProblemMalformed,
	ibid.StatusNegative:         ProblemMalformed,
}

var problemOfOutcome = map[ibid.Outcome]Problem{
	ibid.Contradicted:       ProblemContradicted,
	ibid.Unsupported:        ProblemUnsupported,
	ibid.SupportedElsewhere: ProblemElsewhere,
	ibid.Unscored:           ProblemUnjudged,
	ibid.NoText:             ProblemUnjudged,
	ibid.Undecided:          ProblemUnjudged,
}

// StatusProblem is the problem that a status alone means.
func StatusProblem(s ibid.Status) Problem { return problemOfStatus[s] }

// ProblemLimits are the settings that decide what is a problem.
type ProblemLimits struct {
	Supported float64 // support, in [0, 1], from which a citation is not why its claim fails
}

// A CitationFinding is what is known of one citation.
type CitationFinding struct {
	Status         ibid.Status
	HasTruth       bool    // places were marked as right, so Exact and Snapped are known
	Exact, Snapped float64 // Jaccard with the best of them
	Support        ibid.Number
	Contradicts    bool    // the judge says that it contradicts a claim
	Claims         []int32 // that it belongs to, as positions in a list of ClaimFinding
}

// A ClaimFinding is what is known of one claim.
type ClaimFinding struct {
	Outcome ibid.Outcome
	Cited   int // number of its citations
}

// An AnswerFinding is what is known of one answer.
type AnswerFinding struct {
	Error      bool // it could not be read or scored; nothing else is known
	Citations  []CitationFinding
	Claims     []ClaimFinding
	Quotations Problem // the worst of them
	ToCite     bool    // something should be cited: somebody marked a place, or a claim needs a citation
	HasOverall bool
	Overall    float64 // overall_citation_accuracy
}

// OfCitation is the worst about a citation, given the claims of its answer.
// Claims out of range are skipped. It is never ProblemLowScore.
func (l ProblemLimits) OfCitation(c *CitationFinding, claims []ClaimFinding) Problem {
	p := problemOfStatus[c.Status]
	if c.HasTruth {
		switch {
		case c.Exact == 0:
			p = max(p, ProblemWrongPlace)
		case max(c.Exact, c.Snapped) < GoodMatch:
			p = max(p, ProblemPartly)
		}
	}
	if c.Contradicts {
		p = max(p, ProblemContradicted)
	}
	if c.Support.Known() && c.Support.Value >= l.Supported {
		return p // this citation is not why a claim fails
	}
	for _, k := range c.Claims {
		if k < 0 || int(k) >= len(claims) {
			continue
		}
		claim := &claims[k]
		of := problemOfOutcome[claim.Outcome]
		if of == ProblemContradicted && !c.Contradicts && claim.Cited != 1 {
			continue // another citation contradicts
		}
		p = max(p, of)
	}
	return p
}

// OfAnswer is the worst about an answer.
func (l ProblemLimits) OfAnswer(a *AnswerFinding) Problem {
	if a.Error {
		return ProblemError
	}
	worst := NoProblem
	if a.HasOverall && a.Overall < FailsBelow {
		worst = ProblemLowScore
	}
	if len(a.Citations) == 0 && a.ToCite {
		worst = max(worst, ProblemUncited)
	}
	worst = max(worst, a.Quotations)
	for i := range a.Citations {
		worst = max(worst, l.OfCitation(&a.Citations[i], a.Claims))
	}
	for _, c := range a.Claims {
		p := problemOfOutcome[c.Outcome]
		if c.Cited == 0 && (p == ProblemUnsupported || p == ProblemElsewhere) {
			p = ProblemUncited // nothing is cited that could be the wrong thing
		}
		worst = max(worst, p)
	}
	return worst
}
