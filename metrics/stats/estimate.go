// Package stats has estimates with intervals over units that share documents, comparisons,
// and what agreement and calibration are made of.
//
// The unit of analysis is the question; questions whose rows touch a document are not
// independent. A [Quotient] is a mean or a ratio of sums over units, [Shares] are the weights
// of units and what follows from them and from their documents, and a [Spread] says how far
// a number may be from what it estimates, and makes its interval. Sums are over units in
// their order.
//
// What is not defined is said to be not defined, with its reason; it is never 0
// and never NaN. Levels are two-sided and lie in (0, 1), such as 0.95.
package stats

import (
	"math"

	"ibid"
)

// A Method names how an interval was computed.
type Method string

const (
	// LogitT is value ± t times the standard error on the logit scale, carried back to the
	// bounds of the value.
	LogitT Method = "logit-t"
	// TanhT is the same for a difference, on the scale of atanh.
	TanhT Method = "atanh-t"
	// PlainT is value ± t times the standard error.
	PlainT Method = "t"
	// WilsonScore is Wilson's score interval of a proportion.
	WilsonScore Method = "wilson"
	// ConstantValue is an interval without width: no unit differs from another.
	ConstantValue Method = "constant"
)

// An Estimate is a number over rows with its interval.
//
// A field that is not defined is 0, and its flag is false: Value and SE can be
// read only if Reason is ibid.Defined and HasSE is true, Low and High only if
// HasInterval is.
type Estimate struct {
	Value  float64
	Reason ibid.Reason // ibid.Defined, or why there is no Value

	SE    float64 // standard error, at least 0
	HasSE bool

	Low, High   float64 // Low <= High; the methods of bounded metrics keep within their bounds
	HasInterval bool
	Level       float64 // nominal two-sided level of the interval
	Method      Method  // how Low and High were computed; "" without

	// Num and Den are the sums whose ratio Value is: of values and rows for a
	// mean, of numerators and denominators for a ratio.
	Num, Den float64

	N         int64   // rows, where whoever made the estimate counted them
	Clusters  int64   // independent groups of units, rounded
	Effective float64 // independent units that would know as much, for Wilson's interval

	DF     ibid.Number // degrees of freedom of the interval
	Effect ibid.Number // variance over that of independent units

	Given      []int32 // documents that the value speaks of, see [Shares]
	GivenShare float64 // the least share of them, of the weight of the units that touch any

	// Degenerate says that SE is 0: no unit differs. It is not evidence of certainty.
	Degenerate bool

	Warnings []Warning
}

// Defined reports whether e has a value.
func (e *Estimate) Defined() bool { return e.Reason == ibid.Defined }

// Nullable are the value and the ends of the interval, nil where they are not defined.
func (e *Estimate) Nullable() (value, low, high *float64) {
	if e.Defined() {
		value = new(e.Value)
	}
	if e.HasInterval {
		low, high = new(e.Low), new(e.High)
	}
	return value, low, high
}

// Texts are warnings in words.
func Texts(all []Warning) []string {
	var texts []string
	for _, w := range all {
		texts = append(texts, w.Text)
	}
	return texts
}

func validLevel(level float64) bool { return level > 0 && level < 1 }

// Of is the defined number v; a v that is not finite is not defined.
func Of(v float64) ibid.Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ibid.Number{}
	}
	return ibid.Some(v)
}

// FractionOf is num/den, undefined if den is 0.
func FractionOf(num, den float64) ibid.Number {
	if den == 0 {
		return ibid.Number{}
	}
	return Of(num / den)
}

// Bounds are the ends of an interval that may not be defined.
type Bounds struct{ Low, High ibid.Number }

// Defined reports whether there is an interval.
func (b Bounds) Defined() bool { return b.Low.Known() && b.High.Known() }

// A WarningCode names a kind of warning.
type WarningCode string

const (
	// FewClusters: too few independent units for an interval to rest on the data alone.
	FewClusters WarningCode = "few_clusters"
	// GivenDocuments: nearly all units touch a document, so nothing is said of others.
	GivenDocuments WarningCode = "given_documents"
	// OneUnit: no interval, because one unit has nearly all the weight.
	OneUnit WarningCode = "one_unit"
	// AllAlike: no unit differs, or the value is at a bound: a Wilson interval.
	AllAlike WarningCode = "all_alike"
	// NoWidth: no unit differs, and there are no bounds: an interval without width.
	NoWidth WarningCode = "constant"
)

// A Warning is something a reader of an estimate must know.
type Warning struct {
	Code WarningCode
	Text string // for people: one line, lower case, no full stop
}

// String is the text of w.
func (w Warning) String() string { return w.Text }

func (e *Estimate) warn(code WarningCode, text string) {
	e.Warnings = append(e.Warnings, Warning{code, text})
}

// ClustersNeeded is the fewest clusters with which a difference could be
// significant at the two-sided level: the least G with 2/2^G <= 1-level, which is
// 6 at 0.95. Fewer cannot carry that much confidence without assumptions about
// the distribution. It is at least 2, for any level.
func ClustersNeeded(level float64) int64 {
	if !validLevel(level) {
		return 2
	}
	need := int64(2)
	for math.Ldexp(2, -int(need)) > 1-level {
		need++
	}
	return need
}
