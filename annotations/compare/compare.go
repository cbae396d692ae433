// Package compare says how finished runs differ, or systems within a run, and
// whether that is more than chance.
//
// Rows are paired where both sides answered the same question; the difference of
// a metric is then a mean of differences, or a difference of two ratios of sums
// over the same rows, which is far more certain than two separate estimates. Sides
// that share no question stand side by side: there is no difference between them, and
// no rank.
//
// The unit that chance is about is the question; questions that share documents are not
// independent. Every result is a function of the rows and their order.
package compare

import (
	"fmt"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// A Result is how some sides compare. It holds plain values, to be shown as they are.
type Result struct {
	Schema   string     `json:"schema"`           // ibid.compare/v2
	By       string     `json:"by"`               // "run", or what the sides are within one: "system", "model" or "provider"
	Base     string     `json:"base"`             // name of the side that the others are compared with; "" if every two are
	Level    float64    `json:"level"`            // of intervals; 1-Level is the alpha of tests
	Notes    []string   `json:"notes"`            // what a reader of all of it must know, such as why the sides should not be compared
	Sides    []Side     `json:"sides"`            // of runs, in the order in which they were named
	SetAside []Aside    `json:"set_aside"`        // sides that deciding metrics leave out
	Unpaired []Unpaired `json:"unpaired"`         // rows of runs that the base, or the run, has alone
	Metrics  []Metric   `json:"metrics"`          // deciding ones first, whole before slices
	Failures []Failures `json:"failures"`         // of the base and each run; none within a run
	Moved    *Moved     `json:"verdicts_changed"` // nil unless two runs are over the same answers, by the same judge
}

// A Side is what is compared: a run, or a system of a run.
type Side struct {
	Name   string  `json:"name"`   // as shown, different for each side
	Run    string  `json:"run"`    // id
	System string  `json:"system"` // "" is all systems of the run that the sides have in common
	Rows   int64   `json:"rows"`
	Rank   *[2]int `json:"rank"` // by the first deciding metric: 1 plus the sides that are better, and all less those that are worse; nil with a base
	Took
}

// An Aside is a side that a metric leaves out: it is known of too few of the questions that at
// least half of the sides answered ([metrics.MinDefined]). Leaving out hard questions must not pay.
type Aside struct {
	Name   string `json:"name"`
	Metric string `json:"metric"`
	Why    string `json:"why"`
}

// Unpaired are rows of a system that one of two runs has alone. They count in nothing but in
// the run's own value.
type Unpaired struct {
	Name   string `json:"name"`   // of the side that has them
	System string `json:"system"` // "" if each run has one
	Named
}

// Named are rows, the first of them by name.
type Named struct {
	Rows int64    `json:"rows"`
	IDs  []string `json:"ids"` // the first of them, in the order of their names
}

// maxListed is how many of them are named.
const maxListed = 20

// A Metric is what the sides have of one quantity. All of its estimates and differences are
// over the questions that every side has a value for, but for those that are left out.
type Metric struct {
	Metric    string `json:"metric"`
	Agg       string `json:"agg"`    // macro: mean of the rows' values; micro: quotient of sums over rows
	System    string `json:"system"` // of the rows of all sides; "" if they differ in it
	Slice     string `json:"slice"`  // key=value of the rows; "" for all
	Direction int    `json:"direction"`
	Deciding  bool   `json:"deciding"`
	Questions int64  `json:"questions"`        // that every side has a value for
	Family    int    `json:"family"`           // number of deciding differences; their intervals have simultaneous coverage. 0 if the metric does not decide
	Reason    string `json:"reason,omitempty"` // why there are no differences; "" if there are

	Sides       []Value      `json:"sides"`
	Differences []Difference `json:"differences"`
	Leaders     []string     `json:"leaders"` // sides that do not differ significantly from the best; empty with a base, or if nothing was compared
}

// A Value is what one side has of a metric. What is not defined is nil.
type Value struct {
	Name     string   `json:"name"`
	Estimate *float64 `json:"estimate"` // over the questions of the metric
	Own      *float64 `json:"own"`      // over all rows of the side that have a value
	OwnRows  int64    `json:"own_rows"`
	// Reason is why there is no number: the value is a range from Low to High, or the metric is
	// known of too few questions.
	Reason string   `json:"reason,omitempty"`
	Low    *float64 `json:"low,omitempty"`
	High   *float64 `json:"high,omitempty"`
	// CILow and CIHigh are the interval of Own, or the lower end of that of Low and the upper end
	// of that of High. Those of all sides hold together.
	CILow  *float64 `json:"ci_low"`
	CIHigh *float64 `json:"ci_high"`
}

// A Word is what the data say of a difference, "" if nothing.
type Word string

// The words.
const (
	Better    Word = "better" // the interval leaves 0 out, in the direction that the metric calls better
	Worse     Word = "worse"
	Different Word = "different" // the interval leaves 0 out; more is neither better nor worse
	Same      Word = "same"      // no row differs
	Tied      Word = "tied"      // the interval has 0 in it; MDE says what would have been found
)

// A Difference is one metric of the new side less that of the base, over the same questions.
// What is not defined is nil.
type Difference struct {
	Base string `json:"base" doc:"the base: a run or a system"`
	New  string `json:"new" doc:"what is compared with it"`

	Word   Word  `json:"word" doc:"better, worse, different, same or tied, of a metric that decides" null:"it does not decide, or nobody knows"`
	N      int64 `json:"n" doc:"pairs of rows that are compared"`
	Better int64 `json:"better" unit:"rows" doc:"rows where the new side is better; of a metric without direction, where it has more"`
	Worse  int64 `json:"worse" unit:"rows" doc:"rows where the new side is worse, or has less"`
	Same   int64 `json:"same" unit:"rows" doc:"rows where both have the same"`

	Clusters int64    `json:"clusters" unit:"clusters" doc:"independent documents, or questions without, that the standard error rests on, rounded"`
	BaseMean *float64 `json:"base_estimate" doc:"value of the base over the rows that are compared" null:"undefined"`
	NewMean  *float64 `json:"new_estimate" doc:"value of the new side over the rows that are compared" null:"undefined"`
	Diff     *float64 `json:"diff" doc:"the new side less the base" null:"undefined, see reason"`
	Low      *float64 `json:"ci_low" doc:"lower end of the interval of the difference; those of deciding metrics hold together" null:"no interval"`
	High     *float64 `json:"ci_high" doc:"upper end of the interval of the difference" null:"no interval"`
	SE       *float64 `json:"se" doc:"standard error of the difference" null:"undefined"`
	P        *float64 `json:"p" range:"[0, 1]" doc:"two-sided p-value of no difference, times the differences of the family" null:"the metric does not decide, or there is no test"`
	MDE      *float64 `json:"mde" doc:"least difference that would probably have been found" null:"not tied, or larger than any difference can be"`

	// BoundLow and BoundHigh hold the difference where a side's value is a range.
	BoundLow  *float64            `json:"bound_low,omitempty" doc:"least difference that the undecided leave possible" null:"no side is a range"`
	BoundHigh *float64            `json:"bound_high,omitempty" doc:"greatest difference that the undecided leave possible" null:"no side is a range"`
	Reason    string              `json:"reason,omitempty" doc:"why there is no difference" null:"there is one"`
	Warnings  runs.ListOf[string] `json:"warnings" doc:"what a reader of the number must know"`

	Undefined int64  `json:"-" col:"-"` // pairs left out because a side has no value
	Doubt     string `json:"-" col:"-"` // why there can be no verdict on the difference; "" if there can be one
}

// Options say how to compare. The zero Options take everything from the base run.
type Options struct {
	Metrics []Quantity // that decide; none for the leading metric
	More    []Quantity // compare these, too; none, without Metrics, for the others that may lead and the components
	Whole   bool       // compare no slices
	Slices  []string   // keys to slice by, beside those of the base run
	Force   bool       // compare what should not be compared, and say so
	Base    string     // name of a side that the others are compared with; of runs, the first
	Systems []string   // compare these only; none for all
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

// ParseQuantity reads the name or alias of a metric or count, such as char_f1, or
// micro(char_f1) for its pooled value.
func ParseQuantity(text string) (Quantity, error) {
	name, micro := strings.CutPrefix(strings.TrimSpace(text), "micro(")
	if micro {
		inner, ok := strings.CutSuffix(name, ")")
		if !ok {
			return Quantity{}, fmt.Errorf("%s: a ) is missing", text)
		}
		name = strings.TrimSpace(inner)
	}
	d, ok := metrics.Lookup(name)
	if !ok {
		return Quantity{}, &UnknownMetricError{Name: name}
	}
	if micro && len(d.Num) == 0 && d.Kind != metrics.Binary {
		return Quantity{}, fmt.Errorf("%s has no micro value", d.Name)
	}
	return Quantity{Metric: d, Micro: micro && d.Kind != metrics.Binary}, nil
}

// An UnknownMetricError is a name that no metric has.
type UnknownMetricError struct{ Name string }

func (e *UnknownMetricError) Error() string { return "no metric " + e.Name }

// agg is how a quantity is named in a summary.
func (q Quantity) agg() string {
	if q.Micro {
		return runs.Micro
	}
	return runs.Macro
}

// leading are the metrics of which the first that is a number for all sides decides, unless
// others are named.
var leading = named(overall, "char_f1", "hallucination_rate", "supported_completeness", "citation_completeness", "citation_presence")

const overall = "overall_citation_accuracy"

func named(names ...string) (all []Quantity) {
	for _, name := range names {
		if d, ok := metrics.Lookup(name); ok {
			all = append(all, Quantity{Metric: d})
		}
	}
	return all
}
