package ibid

import "fmt"

// A Degree is a degree of support in words.
type Degree uint8

// The degrees. The zero Degree is Unsure.
const (
	Unsure      Degree = iota // unscored: unreadable, cut off, or open to both readings
	None                      // nothing backs the claim
	Partial                   // a substantial part follows and a substantial part does not
	Mostly                    // the essential statement follows, a minor detail is missing
	Full                      // every part follows
	Contradicts               // something said cannot be true together with the claim

	// NumDegrees is the number of degrees: every Degree is below it.
	NumDegrees
)

var (
	degreeNames  = [NumDegrees]string{"unsure", "none", "partial", "mostly", "full", "contradicts"}
	degreeScores = [NumDegrees]float64{None: 0, Partial: 0.5, Mostly: 0.8, Full: 1, Contradicts: 0}
)

// ParseDegree returns the degree of that name.
func ParseDegree(name string) (Degree, error) {
	for d, n := range degreeNames {
		if n == name {
			return Degree(d), nil
		}
	}
	return Unsure, fmt.Errorf("label %q: not one of full, mostly, partial, none, contradicts, unsure", name)
}

// String returns the name that [ParseDegree] takes.
func (d Degree) String() string { return degreeNames[d] }

// Support returns the degree with the number that stands for it: full 1, mostly
// 0.8, partial 0.5, none and contradicts 0. Unsure has no number.
func (d Degree) Support() Support {
	return Support{Degree: d, Number: SomeIf(degreeScores[d], d != Unsure)}
}

// Backs reports whether the degree says that something follows.
func (d Degree) Backs() bool { return d == Full || d == Mostly || d == Partial }

// A Support says how far evidence bears out a claim. Its number is in [0, 1].
// The zero Support is unscored: something should have been judged and was not.
type Support struct {
	Number
	Degree Degree // the word for it; Unsure if only a number was given
}

// Scored returns the support of score v, in [0, 1], with the degree nearest to
// it; halfway between two it is the lower one.
func Scored(v float64) Support {
	d := None
	switch {
	case v > (degreeScores[Full]+degreeScores[Mostly])/2:
		d = Full
	case v > (degreeScores[Mostly]+degreeScores[Partial])/2:
		d = Mostly
	case v > degreeScores[Partial]/2:
		d = Partial
	}
	return Support{Number: Some(v), Degree: d}
}

// Undecidable is the support of which what was read says neither that it is there nor that
// it is not.
func Undecidable() Support { return Support{Number: Undefined[float64](Unsettled)} }

// Undecided reports whether s is [Undecidable].
func (s Support) Undecided() bool { return !s.Known() && s.Why == Unsettled }

// Word is the word for the support: that of its degree, or undecided.
func (s Support) Word() string {
	if s.Undecided() {
		return Undecided.String()
	}
	return s.Degree.String()
}

// An Outcome says how a claim stands to its evidence, and so why a citation is
// bad.
type Outcome uint8

// The outcomes, in the order in which they are tried.
const (
	NotFactual         Outcome = iota // states no fact
	Unscored                          // should have been judged and was not
	NoText                            // could not be judged: no text that it cites is known
	Undecided                         // was judged, and what was read cannot settle it
	SupportedByCited                  // support at the threshold or above, and not contradicted
	Contradicted                      // by the evidence it cites
	SupportedElsewhere                // by evidence it does not cite
	Unsupported                       // by no evidence
)

var outcomeNames = [...]string{
	"not_factual", "unscored", "no_text", "undecided", "supported_by_cited", "contradicted", "supported_elsewhere", "unsupported",
}

// String returns the name used in files, such as "supported_by_cited".
func (o Outcome) String() string { return outcomeNames[o] }

// Outcomes returns all outcomes in order.
func Outcomes() []Outcome {
	all := make([]Outcome, len(outcomeNames))
	for i := range all {
		all[i] = Outcome(i)
	}
	return all
}

// Whether the material tries to steer the judge who reads it, and from where.
const (
	TamperingNone       = "none"
	TamperingInAnswer   = "in_answer"
	TamperingInEvidence = "in_evidence"
)

// TamperingSuspected is said without a judge: the material looks as if it were to steer
// one. What a judge says of tampering counts more.
const TamperingSuspected = "suspected"

// Tamperings returns all words for tampering that a judge has.
func Tamperings() []string { return []string{TamperingNone, TamperingInAnswer, TamperingInEvidence} }

// Tampered reports whether a word, which is "" if nobody looked, says that the
// material tries to steer its judge.
func Tampered(word string) bool { return word != "" && word != TamperingNone }
