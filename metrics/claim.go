package metrics

// A Flag is a yes or no that may be unknown.
type Flag uint8

// The values of a Flag; the zero value is Unset.
const (
	Unset Flag = iota // nobody said
	No
	Yes
)

// A Support is how far evidence bears out a claim: Value is in [0, 1], and means
// nothing unless Known. The zero Support is unscored: something should have been
// judged and was not.
type Support struct {
	Value float64
	Known bool
}

// A Claim is one claim of an answer, the citations linked to it, and the verdict
// on it.
type Claim struct {
	ID string

	// Start and End are half-open code points of the answer, both known or
	// both not.
	Start, End int64
	HasExtent  bool

	// Citations are the linked citations, valid or not, as ascending indices in
	// the row's citations. A [Linker] fills it.
	Citations []int32

	Factual       Flag // Unset counts as Yes
	NeedsCitation Flag // Unset counts as Factual

	Joint        Support // by its cited evidence taken together
	Contradicted bool    // by its cited evidence
	Elsewhere    Support // the best by evidence that it does not cite
}
