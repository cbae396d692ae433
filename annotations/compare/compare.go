// Package compare says how finished runs differ, or systems within a run, and
// whether that is more than chance.
//
// Rows are paired where both sides answered the same question; the difference of
// a metric is then a mean of differences, or a difference of two ratios of sums
// over the same rows, which is far more certain than two separate estimates. Where
// no question is shared, two samples are compared that have nothing in common, and
// the result says so.
//
// The unit that chance is about is the cluster: rows that share a question, or
// what statistics.cluster of the base run names. Every result is a function of the
// rows and the seed; neither their order nor the number of workers changes it.
package compare

import (
	"ibid/metrics"
)

// A Result is how some sides compare. It holds plain values, to be shown as they
// are.
type Result struct {
	Schema    string    `json:"schema"` // ibid.compare/v1
	By        string    `json:"by"`     // "run" or "system"
	Level     float64   `json:"level"`  // of intervals; 1-Level is the alpha of tests
	Power     float64   `json:"power"`  // that minimum detectable effects are for
	Method    string    `json:"method"` // of intervals of means: analytic, bca or percentile
	Resamples int       `json:"resamples"`
	Seed      uint64    `json:"seed"`
	Headline  []string  `json:"headline"` // metrics that were declared to decide
	Notes     []string  `json:"notes"`    // what a reader of all of it must know, such as why the sides should not be compared
	Sides     []Side    `json:"sides"`    // the first is the base
	Pairs     []Pair    `json:"pairs"`
	Rankings  []Ranking `json:"rankings"` // of three or more sides, by headline metric
	Drifts    []*Drift  `json:"drifts"`   // of the judge, from the base to each run, where one of the two has anchors
}

// A Side is what is compared: a run, or a system of a run.
type Side struct {
	Name   string `json:"name"`   // as shown, different for each side
	Run    string `json:"run"`    // id
	System string `json:"system"` // "" is all systems of the run that the sides have in common
	Rows   int64  `json:"rows"`
}

// A Pair is one side against another.
type Pair struct {
	Base   int    `json:"base"` // index of a side
	New    int    `json:"new"`
	System string `json:"system"` // of both sides, "" if they differ in it or all are pooled

	Paired   bool    `json:"paired"`    // rows are paired; else the sides share no question
	Rows     int64   `json:"rows"`      // pairs, or rows of both sides
	OnlyBase Dropped `json:"only_base"` // rows without a counterpart, which were left out
	OnlyNew  Dropped `json:"only_new"`

	Differences []Difference `json:"differences"` // headline metrics first, whole before slices
}

// Dropped are rows that have no counterpart.
type Dropped struct {
	Rows int64    `json:"rows"`
	IDs  []string `json:"ids"` // the first of them, in the order of their names
}

// maxListed is how many dropped rows are named.
const maxListed = 20

// An Outcome is what the data say of a difference.
type Outcome string

// The outcomes.
const (
	Better    Outcome = "better" // significant, in the direction that the metric calls better
	Worse     Outcome = "worse"
	Different Outcome = "different" // significant, of a metric for which more is neither
	Undecided Outcome = "~"         // not significant; MDE says what would have been
	Unknown   Outcome = "?"         // no test
)

// A Difference is one metric of the new side less that of the base. What is not
// defined is nil.
type Difference struct {
	Metric    string `json:"metric"`
	Agg       string `json:"agg"`   // macro or micro
	Slice     string `json:"slice"` // "" or key=value
	Headline  bool   `json:"headline"`
	Direction int    `json:"direction"` // 1 if more is better, -1 if less is, 0 if neither

	Base   *float64 `json:"base"` // over the rows that are compared
	New    *float64 `json:"new"`
	Diff   *float64 `json:"diff"`
	Low    *float64 `json:"ci_low"`
	High   *float64 `json:"ci_high"`
	SE     *float64 `json:"se"`
	Method string   `json:"method"` // of the interval

	P        *float64 `json:"p"`
	Test     string   `json:"test"` // how P was computed
	Adjusted *float64 `json:"p_adjusted"`
	// Adjustment is holm over the headline metrics of the pair, or bh (Benjamini &
	// Hochberg) over everything else in the result, such as slices.
	Adjustment string   `json:"adjustment"`
	Outcome    Outcome  `json:"outcome"` // at Adjusted <= 1-Level
	MDE        *float64 `json:"mde"`     // least difference that would have been found with chance Power

	N         int64 `json:"n"`         // pairs compared, or rows of both sides
	Undefined int64 `json:"undefined"` // pairs left out because a side is undefined
	Clusters  int64 `json:"clusters"`
	Higher    int64 `json:"higher"` // rows where the new side has more
	Lower     int64 `json:"lower"`
	Same      int64 `json:"same"`

	McNemar   *McNemar   `json:"mcnemar,omitempty"`   // of 0/1 metrics
	Corrected *Corrected `json:"corrected,omitempty"` // of means that rest on a judge, where people judged rows of both sides
	Reason    string     `json:"reason,omitempty"`    // why there is no difference
	Warnings  []string   `json:"warnings"`
}

// Improved is how many rows got better, Declined how many worse; both are 0 for a
// metric without direction.
func (d *Difference) Improved() int64 {
	switch d.Direction {
	case 1:
		return d.Higher
	case -1:
		return d.Lower
	}
	return 0
}

// Declined is how many rows got worse.
func (d *Difference) Declined() int64 {
	switch d.Direction {
	case 1:
		return d.Lower
	case -1:
		return d.Higher
	}
	return 0
}

// Corrected is a difference without the judge's errors: prediction-powered means
// (PPI++) of what people said of some pairs and the judge of all. It holds if the
// labelled pairs are a random part of all. What is not defined is nil; with fewer
// labelled pairs than [stats.FewestLabels], or where labels do not vary, there is
// no correction.
type Corrected struct {
	Base     *float64 `json:"base"` // over the rows that are compared
	New      *float64 `json:"new"`
	Diff     float64  `json:"diff"`
	Low      float64  `json:"ci_low"`
	High     float64  `json:"ci_high"`
	Labelled int64    `json:"labelled"` // pairs that people judged on both sides
	Method   string   `json:"method"`
}

// McNemar compares rows that are right or wrong.
type McNemar struct {
	OnlyNew  int64   `json:"only_new"` // rows where only the new side has a 1
	OnlyBase int64   `json:"only_base"`
	Exact    float64 `json:"p_exact"`
	MidP     float64 `json:"p_midp"`
}

// A Ranking orders the sides by one headline metric.
type Ranking struct {
	Metric    string `json:"metric"`
	Agg       string `json:"agg"`
	Direction int    `json:"direction"`
	// Places are the sides from the best on (from the largest, for a metric without
	// direction). Sides without a value are left out.
	Places []Place `json:"places"`
}

// A Place is where a side stands among the others. All statements of a ranking
// hold together with a chance of Level.
type Place struct {
	Side     int      `json:"side"`
	Estimate float64  `json:"estimate"`
	Low      *float64 `json:"ci_low"` // simultaneous interval
	High     *float64 `json:"ci_high"`
	// Best and Worst bound the rank: 1 plus the sides that are surely better, and all
	// sides less those that are surely worse.
	Best  int `json:"rank_best"`
	Worst int `json:"rank_worst"`
	// Sure says that the side is better than every other; Tied that no other is surely
	// better, but it is not surely the best.
	Sure bool `json:"sure_best"`
	Tied bool `json:"tied_best"`
}

// Options say how to compare. The zero Options take everything from the base run.
type Options struct {
	Metrics []Quantity // headline; nil for overall and its components
	All     bool       // compare every other metric, too
	Slices  []string   // keys to slice by, beside those that both runs have; see Result
	Force   bool       // compare what should not be compared, and say so
	Base    string     // system of the base; with New, when runs name theirs differently
	New     string     // system of the others
	Power   float64    // 0 is 0.8
	Workers int        // goroutines of a bootstrap

	Level     float64 // 0 is the base run's
	Method    string  // "" is the base run's
	Resamples int     // 0 is the base run's
}

// A Quantity is what is compared: a metric, as the mean over rows or pooled.
type Quantity struct {
	Metric metrics.Definition
	Micro  bool
}

// String is the name that [ParseQuantity] reads, such as micro(char_f1).
func (q Quantity) String() string {
	if q.Micro {
		return "micro(" + q.Metric.Name + ")"
	}
	return q.Metric.Name
}
