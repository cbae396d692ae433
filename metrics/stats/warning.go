package stats

import (
	"fmt"
	"math"
	"slices"
)

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
	// SmallestP: too few clusters for any p-value below alpha.
	SmallestP WarningCode = "smallest_p"
)

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

// droppedText says what share of resamples had no statistic.
func droppedText(share float64) string {
	return fmt.Sprintf("%.2g of the resamples left out: nothing to divide by", share)
}
