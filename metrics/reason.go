package metrics

// A Reason says why a metric has no value for a row. Undefined is a value of
// its own: such rows are left out of means and counted next to them.
type Reason uint8

// The reasons, in the order of their numbers.
const (
	Defined       Reason = iota // the metric has a value
	NoTruth                     // truth is unknown, or holds nothing that the metric divides by
	NoCitations                 // citations are unknown, or there is none to divide by
	NoClaims                    // the claims of the answer are unknown, or there is none
	NoDocuments                 // a text or a page boundary that is needed is not known
	NoJudge                     // the run has no judge
	NothingToCite               // nothing was to be cited and nothing was
	JudgeFailed                 // the judge was asked and could not answer
	RowError                    // the row could not be read or scored
)

var reasonNames = [...]string{
	"", "no_truth", "no_citations", "no_claims", "no_documents", "no_judge", "nothing_to_cite", "judge_failed", "row_error",
}

// String returns the name used in files, such as "no_truth", and "" for
// [Defined].
func (r Reason) String() string { return reasonNames[r] }
