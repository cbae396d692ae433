package metrics

// An Outcome says how a claim stands to its evidence, and so why a citation is
// bad.
type Outcome uint8

// The outcomes, in the order in which they are tried.
const (
	NotFactual         Outcome = iota // states no fact
	Unscored                          // should have been judged and was not
	SupportedByCited                  // joined support of at least Options.Supported, and not contradicted
	Contradicted                      // by the evidence it cites
	SupportedElsewhere                // by evidence it does not cite
	Unsupported                       // by no evidence
)

var outcomeNames = [...]string{
	"not_factual", "unscored", "supported_by_cited", "contradicted", "supported_elsewhere", "unsupported",
}

// String returns the name used in files, such as "supported_by_cited".
func (o Outcome) String() string { return outcomeNames[o] }
