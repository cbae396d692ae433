// Package annotations is about what people said of answers: how far they agree
// with each other and with a judge, which answers to show a second person, what
// becomes of several opinions, and what a judge's scores are worth.
//
// It takes items and gives results; reading datasets is left to others, except
// for the verdicts of finished runs, plain tables of labels, and what was said of a
// blind sample.
//
// An annotator who did not see an item is not one who saw it and marked nothing:
// the first has no [Mark], the second one without units.
package annotations

import (
	"fmt"
	"slices"

	"ibid/metrics/stats"
)

// Options say how agreement is measured.
type Options struct {
	Level     float64 // of intervals
	Resamples int     // of documents
	Seed      uint64
	Workers   int // goroutines; results do not depend on it
	Quality   Quality
	Worst     int // disagreements to keep
}

func (o *Options) resampling() stats.Resampling {
	return stats.Resampling{Resamples: o.Resamples, Seed: o.Seed, Workers: o.Workers}
}

// maxPairs is how many pairs of annotators are compared two by two, in each slice.
// Nobody reads more, and they are as many as the square of the annotators.
const maxPairs = 5000

func tooManyPairs() string {
	return fmt.Sprintf("more than %d pairs of annotators: only all of them together", maxPairs)
}

// Quality are the targets of agreement.
type Quality struct {
	Target        float64 // that the lower end of the interval must reach
	Recalibrate   float64 // below which annotators should meet
	MinAnnotators int     // that an item needs to be counted
}

// enough reports whether an item has the annotators that it needs.
func (q *Quality) enough(annotators int) bool { return annotators >= max(2, q.MinAnnotators) }

// Verdicts on a statistic that has a target. All but NoVerdict are about the
// lower end of its interval.
const (
	MeetsTarget = "meets target"
	BelowTarget = "below target" // but not below the threshold of recalibration
	Recalibrate = "recalibrate"
	NoVerdict   = "no verdict" // there is no interval, or one without width, or too few documents for one to be trusted

	// Krippendorff's reading of alpha: at least 0.8, at least 0.667, less.
	Reliable   = "reliable"
	Tentative  = "tentative"
	Unreliable = "unreliable"
)

// ReliableAlpha and TentativeAlpha are Krippendorff's (2004) thresholds of alpha.
const (
	ReliableAlpha  = 0.8
	TentativeAlpha = 0.667
)

// raw judges agreement that is not corrected for chance.
func (q *Quality) raw(e *stats.Estimate) string {
	return graded(e, q.Target, q.Recalibrate, MeetsTarget, BelowTarget, Recalibrate)
}

func gradedAlpha(e *stats.Estimate) string {
	return graded(e, ReliableAlpha, TentativeAlpha, Reliable, Tentative, Unreliable)
}

func graded(e *stats.Estimate, good, fair float64, best, middle, worst string) string {
	// Where all documents agree well enough, a low end says only that they are few.
	undecided := e.Method == stats.WilsonCluster && e.Value >= good && e.Low < good
	few := slices.ContainsFunc(e.Warnings, func(w stats.Warning) bool { return w.Code == stats.FewClusters })
	switch {
	case !e.HasInterval || e.Degenerate || few || undecided:
		return NoVerdict
	case e.Low >= good:
		return best
	case e.Low >= fair:
		return middle
	}
	return worst
}
