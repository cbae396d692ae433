package judge

// A Request puts the claims of one answer to a judge.
//
// Indices between its lists must be in range. It is not changed while a judge
// reads it.
type Request struct {
	// Row names the row, as "id/system". It finds saved replies and stands in
	// messages; it is never shown to a model.
	Row string

	Question string
	Answer   string
	Claims   []Claim

	// Evidence is the text that citations point to.
	Evidence []Evidence

	// Sources are the whole texts known to the row, for what a claim could have
	// cited and did not.
	Sources []Source

	Labels []HumanLabel

	// Invalid are the citations that point nowhere, with the reason. No judge is
	// asked about them; those that pass verdicts on citations say none, not
	// relevant, and the reason.
	Invalid []InvalidCitation
}

// An InvalidCitation is a citation that was found wrong before judging.
type InvalidCitation struct {
	Citation int    // index of the row's citation
	Reason   string // such as document_not_found
}

// A Claim is one statement of an answer.
type Claim struct {
	ID   string // the caller's, may be ""; a judge counts claims by their position
	Text string

	// Evidence is what the claim cites: indices of Request.Evidence, ascending,
	// of valid citations only.
	Evidence []int

	// Citations are the row's citations linked to the claim, valid or not,
	// ascending.
	Citations []int
}

// Evidence is the text one citation points to.
type Evidence struct {
	Text     string
	Citation int // index of the row's citation
}

// A Source is one whole text: a page, or a document without pages.
type Source struct {
	Doc   string
	Page  int32 // one-based; 0 if the document has no pages
	Text  string
	Cited []Interval // what citations point to in it, in any order
}

// An Interval is the half-open interval [Start, End) of code points of a text.
type Interval struct {
	Start, End int32
	Citation   int // index of the row's citation; read in Source.Cited only
}

// A HumanLabel is what one person said of a claim, of a citation, or of a claim
// with a citation.
type HumanLabel struct {
	Annotator string
	Claim     int    // index of Request.Claims, -1 if the label is on a citation alone
	Citation  int    // index of the row's citation, -1 if the label is on a claim alone
	Kind      string // "support", "relevant", "needs_citation" or "factual"
	Value     float64
}
