package judge

// A Verdict is what a judge says of one request.
type Verdict struct {
	Claims []ClaimVerdict // one per claim, in the order of the request
	Calls  []Call         // what was asked of a model; nil if none was

	// Tampering says whether the material tries to steer its review: "none",
	// "in_answer", "in_evidence", or "" if the judge does not look.
	Tampering string

	// Opinions are the verdicts that this one was combined from, if there were
	// several: of the models of a panel, or of votes.
	Opinions []Opinion
}

// An Opinion is one of several verdicts on a request.
type Opinion struct {
	Model  string // as it was asked for
	Vote   int    // from 0, in the order in which they were asked
	Claims []ClaimVerdict
}

// A ClaimVerdict is what a judge says of one claim.
type ClaimVerdict struct {
	Factual       Tri // whether the claim can be checked
	NeedsCitation Tri // Unset: as Factual

	// Joint is the support by all cited evidence taken together. It is None,
	// without being asked, for a claim that cites nothing.
	Joint        Support
	JointWhy     string
	Contradicted bool // by its cited evidence

	// Checks has one element per citation that the judge was asked about:
	// those of Claim.Evidence, in its order; for [Human] those of
	// Claim.Citations.
	Checks []Check

	// Sufficient are the smallest sets of the claim's evidence (indices of
	// Request.Evidence, ascending) of which each carries the claim alone; nil if
	// the judge was not asked.
	Sufficient [][]int

	// Elsewhere is the best support by evidence that the claim does not cite,
	// unscored if the judge does not look.
	Elsewhere Support
	// ElsewherePlace is where that is, if it is in Request.Sources.
	ElsewherePlace *Place
	// ElsewhereEvidence is the element of Request.Evidence that it is in, -1 if
	// none; ElsewhereAt is where in its text.
	ElsewhereEvidence int
	ElsewhereAt       Interval
	ElsewhereQuote    string

	Votes int // how many opinions Joint is made of; 0 if it was not asked

	// Precheck says by what the claim was settled before a model was asked, as
	// "contained"; "" if it was not.
	Precheck string
}

// A Place is a passage of one source in code points.
type Place struct {
	Doc        string
	Page       int32 // one-based; 0 if the document has no pages
	Start, End int32
}

// A Check is what a judge says of one claim and one citation of it.
type Check struct {
	Evidence int // index of Request.Evidence, -1 if the request has no text of the citation
	Citation int // index of the row's citation
	Support  Support
	Relevant Tri
	// Quote is the passage that decides, copied from the evidence; "" if none.
	// QuoteAt is where it stands in Evidence's text, empty if it is not there.
	Quote   string
	QuoteAt Interval
	Why     string

	// Precheck says by what the check was settled before a model was asked: the
	// reason of [Request.Invalid], or "contained"; "" if it was not.
	Precheck string
}

// A Call is one question to a model, however often it had to be asked.
type Call struct {
	Model, Provider  string // who answered; the model asked for if nobody did
	Cached, Repaired bool
	Attempts         int // requests sent for it; 0 if it was cached
	// Tokens, cost, latency and generation are those of the answer, whenever it
	// was given.
	PromptTokens     int64
	CompletionTokens int64
	CostNanoUSD      int64
	LatencyMillis    int64
	GenerationID     string
	Status           string // "ok", or why there is no answer
}
