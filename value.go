package ibid

import (
	"encoding/json"
	"slices"
)

// A Maybe is a value, or the reason why there is none. The zero Maybe has none:
// nobody gave it. As JSON it is the value or null.
type Maybe[T comparable] struct {
	Value T // means nothing unless Known
	known bool
	Why   Reason // why there is no value, where somebody knows
}

// A Number is a double that may be missing or undefined.
type Number = Maybe[float64]

// An Integer is an integer that may be missing or undefined.
type Integer = Maybe[int64]

// Some is the value v.
func Some[T comparable](v T) Maybe[T] { return Maybe[T]{Value: v, known: true} }

// SomeIf is the value v if known, and otherwise none, because nobody gave it.
func SomeIf[T comparable](v T, known bool) Maybe[T] {
	if !known {
		return Maybe[T]{}
	}
	return Some(v)
}

// Undefined is no value, for that reason.
func Undefined[T comparable](why Reason) Maybe[T] { return Maybe[T]{Why: why} }

// Known reports whether there is a value.
func (m Maybe[T]) Known() bool { return m.known }

// Equal reports whether both have the same value, or none for the same reason.
func (m Maybe[T]) Equal(n Maybe[T]) bool { return m == n }

// Pointer is nil if there is no value.
func (m Maybe[T]) Pointer() *T {
	if !m.Known() {
		return nil
	}
	return &m.Value
}

// MarshalJSON writes the value, or null if there is none.
func (m Maybe[T]) MarshalJSON() ([]byte, error) { return json.Marshal(m.Pointer()) }

// UnmarshalJSON reads null as no value.
func (m *Maybe[T]) UnmarshalJSON(data []byte) error {
	var v *T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*m = Maybe[T]{}
	if v != nil {
		*m = Some(*v)
	}
	return nil
}

// A Reason says why there is no value. A metric that is undefined is left out of
// means and counted next to them; it is never 0.
type Reason uint8

// The reasons. The zero Reason is Defined.
const (
	Defined       Reason = iota // there is a value
	NoTruth                     // truth is unknown, or holds nothing that the metric divides by
	TruthNotFound               // truth is known, but a quote of it is not where it says, or its offsets are beyond [MaxEnd]
	NoCitations                 // citations are unknown, or there is none to divide by
	NoClaims                    // the claims of the answer are unknown, or there is none
	NoDocuments                 // a text or a page boundary that is needed is not known
	NoJudge                     // the run has no judge
	NothingToCite               // nothing was to be cited and nothing was
	JudgeFailed                 // the judge was asked and could not answer
	RowError                    // the row could not be read or scored
	NotFetched                  // a URL that is to be live is not among the fetched pages
	NotAsked                    // the judge says nothing of it: nobody asked
	Abstained                   // the answer abstains: it says that it cannot, and claims and cites nothing
	NoQuotations                // the answer has no quotation that counts
	Unsettled                   // what was read cannot settle it, or too many of its items

	// Of statistics.

	NoData          // nothing was added
	ZeroDenominator // the denominators sum to zero
	OutOfRange      // an addend was not finite or too large to sum exactly
	BadArgument     // a level outside (0, 1), or counts that are no proportion
	NoVariation     // a test has no standard error to divide by
)

var reasonNames = [...]string{
	"", "no_truth", "truth_not_found", "no_citations", "no_claims", "no_documents", "no_judge", "nothing_to_cite", "judge_failed", "row_error", "not_fetched", "not_asked", "abstained", "no_quotations", "undecided",
	"no_data", "zero_denominator", "out_of_range", "bad_argument", "no_variation",
}

// String returns the name used in files, such as "no_truth"; "" for [Defined].
func (r Reason) String() string { return reasonNames[r] }

// ReasonOf is the reason of a name, Defined of one that is none.
func ReasonOf(name string) Reason { return Reason(max(0, slices.Index(reasonNames[:], name))) }

// A Tri is a yes or no that may be missing.
type Tri uint8

// The zero Tri is Unset.
const (
	Unset Tri = iota // nobody said
	No
	Yes
)

// TriOf is Yes or No.
func TriOf(yes bool) Tri {
	if yes {
		return Yes
	}
	return No
}

// String returns "yes", "no" or "".
func (t Tri) String() string { return [...]string{Unset: "", No: "no", Yes: "yes"}[t] }
