package ibid

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A Policy makes one opinion of several people's: one label of their labels, see
// [Policy.Label], or one set of marked places of theirs.
type Policy string

// The policies. The zero Policy is none of them.
const (
	// PolicyMean takes the mean of what the annotators gave.
	PolicyMean Policy = "mean"
	// PolicyMajority takes the value that more annotators gave than any other, and
	// the places that more than half of them marked.
	PolicyMajority Policy = "majority"
	// PolicyUnion takes the highest value, and what anybody marked.
	PolicyUnion Policy = "union"
	// PolicyIntersection takes the lowest value, and what everybody marked.
	PolicyIntersection Policy = "intersection"
	// PolicyBest takes the value that most annotators gave, and of equally frequent
	// ones that of the first annotator by name. Of marked places it takes those of
	// the one annotator who agrees best; with whom is up to its user.
	PolicyBest Policy = "best"
	// PolicyAnnotator is the start of the policies that listen to one annotator. The
	// name of the annotator follows it, as in annotator:ada.
	PolicyAnnotator Policy = "annotator:"
)

// Adjudicated is the annotator of marks and labels that stand for several opinions.
const Adjudicated = "adjudicated"

// ParsePolicy returns the policy of that name if it is one of those allowed.
// [PolicyAnnotator] among them allows every annotator's name.
func ParsePolicy(name string, allowed ...Policy) (Policy, error) {
	names := make([]string, len(allowed))
	for i, p := range allowed {
		names[i] = string(p)
		if p == PolicyAnnotator {
			names[i] += "NAME"
			if who, ok := strings.CutPrefix(name, string(p)); ok && who != "" {
				return Policy(name), nil
			}
		} else if name == string(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("policy %.80q: not one of %s", name, strings.Join(names, ", "))
}

// Annotator is the one annotator whom the policy listens to; ok is false if it
// listens to all.
func (p Policy) Annotator() (name string, ok bool) {
	return strings.CutPrefix(string(p), string(PolicyAnnotator))
}

// An Opinion is the label that one annotator gave to one item.
type Opinion struct {
	Annotator string
	Value     float64
}

// UnnamedAnnotator is a name for whoever gave label k without one, for users to whom
// every label without a name is another person's. No annotator has such a name.
func UnnamedAnnotator(k int) string { return fmt.Sprintf("\x00%09d", k) }

// Label makes one value of several opinions on one item, and says how many
// annotators it rests on: 0 if there is no value. There is none without opinions,
// if the policy's annotator gave none, and for a majority that no value has: where
// the two most frequent values are equally frequent, nobody decides between them.
//
// An annotator with several opinions counts once, with their mean. Opinions
// without a name are one annotator's, but see [UnnamedAnnotator]. Those that are not
// finite do not count. The order of opinions does not matter.
//
// Means are exact: a value is the decimal number that people wrote, 0.7 is 7/10,
// and only the result is rounded, to the nearest float64. So however many
// annotators all say 0.7, their mean is 0.7 and reaches a threshold of 0.7, as
// does the mean of 0.6, 0.7 and 0.8.
func (p Policy) Label(opinions []Opinion) (value float64, annotators int) {
	only, one := p.Annotator()
	said := make([]Opinion, 0, len(opinions))
	for _, o := range opinions {
		if !math.IsNaN(o.Value) && !math.IsInf(o.Value, 0) && (!one || o.Annotator == only) {
			said = append(said, o)
		}
	}
	if len(said) == 0 {
		return 0, 0
	}
	slices.SortStableFunc(said, func(a, b Opinion) int { return strings.Compare(a.Annotator, b.Annotator) })
	// One mean of each annotator, in the order of their names.
	var means []*big.Rat
	for i := 0; i < len(said); {
		first := i
		for i < len(said) && said[i].Annotator == said[first].Annotator {
			i++
		}
		own := make([]*big.Rat, i-first)
		for k := range own {
			own[k] = exact(said[first+k].Value)
		}
		means = append(means, exactMean(own))
	}
	if p == PolicyMean {
		return rounded(exactMean(means)), len(means)
	}
	values := make([]float64, len(means))
	for i, m := range means {
		values[i] = rounded(m)
	}
	switch p {
	case PolicyUnion:
		return slices.Max(values), len(values)
	case PolicyIntersection:
		return slices.Min(values), len(values)
	case PolicyMajority, PolicyBest:
		votes := make(map[float64]int, len(values))
		most := 0
		for _, v := range values {
			votes[v]++
			most = max(most, votes[v])
		}
		first := slices.IndexFunc(values, func(v float64) bool { return votes[v] == most })
		tied := slices.ContainsFunc(values, func(v float64) bool { return votes[v] == most && v != values[first] })
		if tied && p == PolicyMajority {
			return 0, 0
		}
		return values[first], len(values)
	}
	if one {
		return values[0], 1
	}
	return 0, 0
}

// MeanLabel is the exact mean of values, rounded once; see [Policy.Label]. It is 0
// for no values. They must be finite.
func MeanLabel(values []float64) float64 {
	opinions := make([]Opinion, len(values))
	for i, v := range values {
		opinions[i].Value = v
	}
	v, _ := PolicyMean.Label(opinions)
	return v
}

// exact is the decimal number that a finite value is written as in the fewest
// digits.
func exact(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	return r
}

func exactMean(values []*big.Rat) *big.Rat {
	if len(values) == 1 {
		return values[0]
	}
	sum := new(big.Rat)
	for _, v := range values {
		sum.Add(sum, v)
	}
	return sum.Quo(sum, new(big.Rat).SetInt64(int64(len(values))))
}

func rounded(r *big.Rat) float64 {
	v, _ := r.Float64()
	return v
}
