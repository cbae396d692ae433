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

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid"
)

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
	// LogitT is DeltaT on the logit scale, carried back to (0, 1).
	LogitT Method = "logit-t"
	// LogitEffective is LogitT with fewer degrees of freedom and a larger standard error
	// the more clusters differ in size.
	LogitEffective Method = "logit-t-effective"
	// WilsonScore is Wilson's score interval of a proportion.
	WilsonScore Method = "wilson"
	// WilsonCluster is Wilson's score interval at an effective sample size.
	WilsonCluster Method = "wilson-cluster"
	// WilsonClusterT is WilsonCluster with fewer degrees of freedom the fewer clusters
	// there are.
	WilsonClusterT Method = "wilson-cluster-t"
	// ClopperPearsonExact is the exact binomial interval.
	ClopperPearsonExact Method = "clopper-pearson"
	// PercentileBootstrap is the percentile interval of a cluster bootstrap.
	PercentileBootstrap Method = "percentile"
	// BCaBootstrap is the bias-corrected and accelerated interval of a cluster
	// bootstrap.
	BCaBootstrap Method = "bca"
	// WelchInterval is a difference ± t times the standard error of two samples that
	// have nothing in common, with Welch's degrees of freedom.
	WelchInterval Method = "welch-t"
)

// An Estimate is a number over rows with its interval.
//
// A field that is not defined is 0, and its flag is false: Value and SE can be
// read only if Reason is ibid.Defined and HasSE is true, Low and High only if
// HasInterval is.
type Estimate struct {
	Value  float64
	Reason ibid.Reason // ibid.Defined, or why there is no Value

	SE    float64 // standard error over clusters, at least 0
	HasSE bool

	Low, High   float64 // Low <= High; the methods of bounded metrics keep within their bounds
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

	how    string // at the end of the name of the method
	spread *Spread
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
	e.Method, e.how = e.Method.By(e.how), ""
}

// By is the name of the method over rows that depend on each other, such as ByComponents;
// "" if they do not.
func (m Method) By(how string) Method {
	if how == "" {
		return m
	}
	return m + "/" + Method(how)
}

// Base is the method without what its rows depend by.
func (m Method) Base() Method {
	base, _, _ := strings.Cut(string(m), "/")
	return Method(base)
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

// around is v ± half.
func around(v, half float64) Bounds { return Bounds{Of(v - half), Of(v + half)} }

// A WarningCode names a kind of warning.
type WarningCode string

const (
	// OneCluster: an interval needs at least two clusters.
	OneCluster WarningCode = "one_cluster"
	// FewClusters: too few clusters for a trustworthy interval at this level.
	FewClusters WarningCode = "few_clusters"
	// ZeroWidth: all clusters agree, so the interval has no width.
	ZeroWidth WarningCode = "zero_width"
	// AtBoundary: the ratio is 0 or 1, where the logit does not exist.
	AtBoundary WarningCode = "at_boundary"
	// OutsideUnit: the ratio is outside [0, 1], where the logit does not exist.
	OutsideUnit WarningCode = "outside_unit"
	// NoDesignEffect: rows share clusters, but the effect on the variance cannot be
	// estimated, so every cluster counts as one row.
	NoDesignEffect WarningCode = "no_design_effect"
	// VarianceRange: squares too large to sum exactly, so no standard error.
	VarianceRange WarningCode = "variance_range"
	// NoBCa: the bias or the acceleration of a bootstrap is undefined.
	NoBCa WarningCode = "no_bca"
	// DroppedResamples: the statistic was undefined in some resamples.
	DroppedResamples WarningCode = "dropped_resamples"
	// NotExchangeable: rows share documents as no clusters do, so that signs cannot be
	// flipped and clusters not be resampled.
	NotExchangeable WarningCode = "not_exchangeable"
	// SmallestP: too few clusters for any p-value below alpha.
	SmallestP WarningCode = "smallest_p"
)

// NotExchangeableText is said of rows that are not resampled: see [NotExchangeable].
const NotExchangeableText = "not_exchangeable: rows share documents and fall into no clusters, so nothing is resampled or flipped"

// A Warning is something a reader of an estimate must know.
type Warning struct {
	Code WarningCode
	Text string // for people: one line, lower case, no full stop
	Have int64  // clusters there are, for OneCluster and FewClusters
	Need int64  // clusters there should be, for OneCluster and FewClusters
}

// String is the text of w.
func (w Warning) String() string { return w.Text }

func (e *Estimate) warn(code WarningCode, text string) {
	e.Warnings = append(e.Warnings, Warning{Code: code, Text: text})
}

// warnClusters records that have clusters are fewer than an interval at e.Level
// needs.
func (e *Estimate) warnClusters(have int64) {
	if have < 2 {
		e.Warnings = append(e.Warnings, Warning{
			Code: OneCluster, Have: have, Need: 2,
			Text: fmt.Sprintf("need >= 2 clusters for an interval, have %d", have),
		})
		return
	}
	if need := ClustersNeeded(e.Level); have < need {
		e.Warnings = append(e.Warnings, Warning{
			Code: FewClusters, Have: have, Need: need,
			Text: fmt.Sprintf("need >= %d clusters for an interval at level %v, have %d", need, e.Level, have),
		})
	}
}

// RestsOn says that only so many clusters tell something of the value. Too few are
// warned of, and fewer than two leave no interval.
func (e *Estimate) RestsOn(clusters int64) {
	if clusters >= e.Clusters {
		return
	}
	e.Clusters = clusters
	e.Warnings = slices.DeleteFunc(e.Warnings, func(w Warning) bool { return w.Code == OneCluster || w.Code == FewClusters })
	e.warnClusters(clusters)
	if clusters < 2 {
		e.Low, e.High, e.HasInterval = 0, 0, false
	}
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
