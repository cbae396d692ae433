package judge

import (
	"fmt"
	"slices"
	"strings"
)

// A LabelPolicy makes one value of what several annotators said of an item.
// An annotator who labelled an item more than once counts once, with the mean.
type LabelPolicy struct {
	kind policyKind
	name string // of the annotator
}

type policyKind uint8

const (
	policyMean policyKind = iota
	policyMajority
	policyAnnotator
)

const annotatorPrefix = "annotator:"

// ParseLabelPolicy returns the policy of that name:
//
//	mean            the mean of the annotators' values
//	majority        the value that more annotators gave than any other
//	annotator:NAME  the value of one annotator
func ParseLabelPolicy(name string) (LabelPolicy, error) {
	switch {
	case name == "mean":
		return LabelPolicy{}, nil
	case name == "majority":
		return LabelPolicy{kind: policyMajority}, nil
	case strings.HasPrefix(name, annotatorPrefix) && len(name) > len(annotatorPrefix):
		return LabelPolicy{kind: policyAnnotator, name: name[len(annotatorPrefix):]}, nil
	}
	return LabelPolicy{}, fmt.Errorf("label policy %q: not one of mean, majority, annotator:NAME", clip(name))
}

// String returns the name that [ParseLabelPolicy] takes.
func (p LabelPolicy) String() string {
	switch p.kind {
	case policyMajority:
		return "majority"
	case policyAnnotator:
		return annotatorPrefix + p.name
	}
	return "mean"
}

// An opinion is what one annotator said of one item.
type opinion struct {
	annotator string
	sum       float64
	n         int
}

func (o *opinion) value() float64 { return o.sum / float64(o.n) }

// opinions collects what was said of one item, one element per annotator.
type opinions []opinion

func (o *opinions) add(annotator string, value float64) {
	for i := range *o {
		if (*o)[i].annotator == annotator {
			(*o)[i].sum += value
			(*o)[i].n++
			return
		}
	}
	*o = append(*o, opinion{annotator, value, 1})
}

// A Said is what one annotator said of one item.
type Said struct {
	Annotator string
	Value     float64
}

// Value is what several opinions of one item come to; ok is false if the policy
// finds nothing in them.
func (p LabelPolicy) Value(said []Said) (v float64, ok bool) {
	var o opinions
	for _, x := range said {
		o.add(x.Annotator, x.Value)
	}
	v, votes := p.value(o)
	return v, votes > 0
}

// value applies the policy and returns how many annotators it rests on. It is
// undefined (votes = 0) if nobody it asks said anything, and for a majority
// that no value has.
func (p LabelPolicy) value(said opinions) (v float64, votes int) {
	switch p.kind {
	case policyMajority:
		return majority(said)
	case policyAnnotator:
		for i := range said {
			if said[i].annotator == p.name {
				return said[i].value(), 1
			}
		}
		return 0, 0
	}
	if len(said) == 0 {
		return 0, 0
	}
	// Sorted, so that the sum does not depend on the order of the labels.
	values := sorted(said)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return min(sum/float64(len(values)), 1), len(values)
}

// majority returns the most frequent value, undefined (votes = 0) if two are.
func majority(said opinions) (v float64, votes int) {
	values := sorted(said)
	tied := false
	most := 0
	for i := 0; i < len(values); {
		j := i
		for j < len(values) && values[j] == values[i] {
			j++
		}
		switch n := j - i; {
		case n > most:
			v, most, tied = values[i], n, false
		case n == most:
			tied = true
		}
		i = j
	}
	if most == 0 || tied {
		return 0, 0
	}
	return v, len(values)
}

func sorted(said opinions) []float64 {
	values := make([]float64, len(said))
	for i := range said {
		values[i] = said[i].value()
	}
	slices.Sort(values)
	return values
}
