package report

// Display says what the view of a row shows of its citations.
type Display struct {
	Provenance   bool // where a citation comes from, as its provider says
	Relevance    bool // the provider's relevance score
	Tokens       bool // how many tokens the source contributed
	BySourceType bool // citations are grouped by kind of source
	MaxCitations int  // most citations that are seen at once; the rest is seen on request
	Markers      bool // citations are numbered in the answer
}

// DefaultDisplay is what is shown unless somebody wants it otherwise.
func DefaultDisplay() Display {
	return Display{Provenance: true, BySourceType: true, MaxCitations: 10, Markers: true}
}

// Parts are the parts that a report leaves out. The zero value leaves out none.
type Parts struct {
	NoSpans          bool // what is cited and true, in the texts of the documents
	NoHallucinations bool // which claims lack support, and why
}
