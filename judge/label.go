package judge

import "fmt"

// A Label is a degree of support in words.
type Label uint8

// The labels. The zero Label is Unsure.
const (
	Unsure      Label = iota // unscored: unreadable, cut off, or open to both readings
	None                     // nothing backs the claim
	Partial                  // a substantial part follows and a substantial part does not
	Mostly                   // the essential statement follows, a minor detail is missing
	Full                     // every part follows
	Contradicts              // something said cannot be true together with the claim
	numLabels
)

var (
	labelNames  = [numLabels]string{"unsure", "none", "partial", "mostly", "full", "contradicts"}
	labelScores = [numLabels]float64{None: 0, Partial: 0.5, Mostly: 0.8, Full: 1, Contradicts: 0}
)

// ParseLabel returns the label of that name.
func ParseLabel(name string) (Label, error) {
	for l, n := range labelNames {
		if n == name {
			return Label(l), nil
		}
	}
	return Unsure, fmt.Errorf("label %q: not one of full, mostly, partial, none, contradicts, unsure", clip(name))
}

// String returns the name that [ParseLabel] takes.
func (l Label) String() string { return labelNames[l] }

// Score is the number that stands for the label: full 1, mostly 0.8, partial
// 0.5, none and contradicts 0. It is undefined (ok is false) for unsure.
func (l Label) Score() (v float64, ok bool) { return labelScores[l], l != Unsure }

// Support returns the label with its score.
func (l Label) Support() Support {
	v, known := l.Score()
	return Support{Label: l, Score: v, Known: known}
}

// backs reports whether the label says that something follows.
func (l Label) backs() bool { return l == Full || l == Mostly || l == Partial }

// Support is a degree of support. The zero Support is unscored.
type Support struct {
	Label Label
	Score float64 // in [0, 1]; 0 if not Known
	Known bool
}

// Scored returns the support of score v, in [0, 1], with the label nearest to
// it; halfway between two it is the lower one.
func Scored(v float64) Support { return Support{Label: nearest(v), Score: v, Known: true} }

func nearest(v float64) Label {
	switch {
	case v > (labelScores[Full]+labelScores[Mostly])/2:
		return Full
	case v > (labelScores[Mostly]+labelScores[Partial])/2:
		return Mostly
	case v > labelScores[Partial]/2:
		return Partial
	}
	return None
}

// A Tri is a yes or no that may be missing.
type Tri uint8

// The zero Tri is Unset.
const (
	Unset Tri = iota
	No
	Yes
)

// String returns "yes", "no" or "".
func (t Tri) String() string { return [...]string{Unset: "", No: "no", Yes: "yes"}[t] }

// tri returns Yes or No.
func tri(yes bool) Tri {
	if yes {
		return Yes
	}
	return No
}
