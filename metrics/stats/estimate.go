// Package stats summarises scores over rows: estimates with intervals that
// respect clusters, from states that can be merged.
//
// The unit of analysis is the row; rows that share a cluster (a question, a
// document, a batch) are not independent, so every standard error here is a
// standard error over clusters. A state ([Clusters], [Grouper], [Exact]) holds
// exact sums: its estimates are the same bits whatever the order of the rows and
// however they were split over workers and merged.
//
// What is not defined is said to be not defined, with its reason; it is never 0
// and never NaN. Levels are two-sided and lie in (0, 1), such as 0.95.
package stats

import "slices"

// A Method names how an interval was computed.
type Method string

const (
	// CR1T is mean ± t(G-1) times the CR1 clustered standard error.
	CR1T Method = "cr1-t"
	// CR1Effective is CR1T with fewer degrees of freedom the more clusters differ in
	// size.
	CR1Effective Method = "cr1-t-effective"
	// DeltaT is ratio ± t(G-1) times the linearised standard error.
	DeltaT Method = "delta-t"
	// DeltaZ is ratio ± z times the linearised standard error.
	DeltaZ Method = "delta-z"
	// LogitT is DeltaT on the logit scale, carried back to (0, 1).
	LogitT Method = "logit-t"
	// WilsonScore is Wilson's score interval of a proportion.
	WilsonScore Method = "wilson"
	// WilsonCluster is Wilson's score interval at an effective sample size.
	WilsonCluster Method = "wilson-cluster"
	// WilsonClusterT is WilsonCluster with fewer degrees of freedom the fewer clusters
	// there are.
	WilsonClusterT Method = "wilson-cluster-t"
	// ClopperPearsonExact is the exact binomial interval.
	ClopperPearsonExact Method = "clopper-pearson"
	// AgrestiCoullAdjusted is the adjusted Wald interval, clipped to [0, 1].
	AgrestiCoullAdjusted Method = "agresti-coull"
	// PercentileBootstrap is the percentile interval of a cluster bootstrap.
	PercentileBootstrap Method = "percentile"
	// BCaBootstrap is the bias-corrected and accelerated interval of a cluster
	// bootstrap.
	BCaBootstrap Method = "bca"
	// WelchInterval is a difference ± t times the standard error of two samples that
	// have nothing in common, with Welch's degrees of freedom.
	WelchInterval Method = "welch-t"
)

// A Reason says why an estimate has no value.
type Reason string

const (
	// Defined is the reason of an estimate that has a value.
	Defined Reason = ""
	// NoData means that nothing was added.
	NoData Reason = "no_data"
	// ZeroDenominator means that the denominators sum to zero.
	ZeroDenominator Reason = "zero_denominator"
	// OutOfRange means that an addend was not finite or too large to sum exactly.
	OutOfRange Reason = "out_of_range"
	// BadArgument means a level outside (0, 1) or counts that are no proportion.
	BadArgument Reason = "bad_argument"
	// NoVariation means that a test has no standard error to divide by.
	NoVariation Reason = "no_variation"
)

// An Estimate is a number over rows with its interval.
//
// A field that is not defined is 0, and its flag is false: Value and SE can be
// read only if Reason is Defined and HasSE is true, Low and High only if
// HasInterval is.
type Estimate struct {
	Value  float64
	Reason Reason // Defined, or why there is no Value

	SE    float64 // standard error over clusters, at least 0
	HasSE bool

	Low, High   float64 // Low <= High; not clipped to the bounds of the metric
	HasInterval bool
	Level       float64 // nominal two-sided level of the interval
	Method      Method  // how Low and High were computed, also if they are undefined

	// Num and Den are the sums whose ratio Value is: of values and rows for a
	// mean, of numerators and denominators for a ratio.
	Num, Den float64

	N         int64   // rows
	Clusters  int64   // clusters those rows came from
	Effective float64 // sample size used by a Wilson method, else 0

	// Degenerate says that SE is 0 and the interval has no width: all clusters
	// agree. It is not evidence of certainty.
	Degenerate bool

	Warnings []Warning
}

// Defined reports whether e has a value.
func (e *Estimate) Defined() bool { return e.Reason == Defined }

// WithInterval is e with the interval, method and further warnings of o, another
// estimate of the same number.
func (e Estimate) WithInterval(o Estimate) Estimate {
	e.Low, e.High, e.HasInterval, e.Method = o.Low, o.High, o.HasInterval, o.Method
	warnings := slices.Clone(e.Warnings)
	for _, w := range o.Warnings {
		if !slices.Contains(warnings, w) {
			warnings = append(warnings, w)
		}
	}
	e.Warnings = warnings
	return e
}

func (e *Estimate) setInterval(low, high float64) {
	e.Low, e.High, e.HasInterval = low, high, true
}

func validLevel(level float64) bool { return level > 0 && level < 1 }
