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
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// A Result is how some sides compare. It holds plain values, to be shown as they
// are.
type Result struct {
	Schema   string     `json:"schema"`   // ibid.compare/v1
	By       string     `json:"by"`       // "run", or what the sides are within one: "system", "model" or "provider"
	Level    float64    `json:"level"`    // of intervals; 1-Level is the alpha of tests
	Power    float64    `json:"power"`    // that minimum detectable effects are for
	Headline []string   `json:"headline"` // metrics that were declared to decide
	Notes    []string   `json:"notes"`    // what a reader of all of it must know, such as why the sides should not be compared
	Sides    []Side     `json:"sides"`    // the first is the base
	Pairs    []Pair     `json:"pairs"`
	Rankings []Ranking  `json:"rankings"` // of three or more sides, by headline metric
	Failures []Failures `json:"failures"` // of the base and each run; none within a run
}

// A Side is what is compared: a run, or a system of a run.
type Side struct {
	Name   string `json:"name"`   // as shown, different for each side
	Run    string `json:"run"`    // id
	System string `json:"system"` // "" is all systems of the run that the sides have in common
	Rows   int64  `json:"rows"`
	Took
}

// A Pair is one side against another.
type Pair struct {
	Base   int    `json:"base"` // index of a side
	New    int    `json:"new"`
	System string `json:"system"` // of both sides, "" if they differ in it or all are pooled

	Paired   bool  `json:"paired"`    // rows are paired; else the sides share no question
	Rows     int64 `json:"rows"`      // pairs, or rows of both sides
	OnlyBase Named `json:"only_base"` // rows without a counterpart, which were left out
	OnlyNew  Named `json:"only_new"`

	Differences []Difference `json:"differences"` // headline metrics first, whole before slices

	offsets Difference // of offset_accuracy
}

// Named are rows, the first of them by name.
type Named struct {
	Rows int64    `json:"rows"`
	IDs  []string `json:"ids"` // the first of them, in the order of their names
}

// maxListed is how many of them are named.
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
	Slice     string `json:"slice" doc:"key=value of the rows; empty for all rows"`
	Metric    string `json:"metric" doc:"name of the metric"`
	Agg       string `json:"agg" doc:"macro: mean of the rows' values; micro: quotient of sums over rows"`
	Headline  bool   `json:"headline" doc:"the metric was declared to decide"`
	Paired    bool   `json:"-" col:"paired" doc:"rows are paired; else the sides share no question"` // of a line
	Direction int    `json:"direction" col:"-"`                                                      // 1 if more is better, -1 if less is, 0 if neither

	Outcome   Outcome `json:"outcome" doc:"what the difference means, by p_adjusted and level"`
	N         int64   `json:"n" doc:"pairs compared, or rows of both sides"`
	Undefined int64   `json:"undefined" doc:"pairs left out because a side is undefined"`
	Clusters  int64   `json:"clusters" unit:"clusters" doc:"independent documents, or questions without, that the standard error rests on, rounded"`
	Higher    int64   `json:"higher" unit:"rows" doc:"rows where the new side has more"`
	Lower     int64   `json:"lower" unit:"rows" doc:"rows where the new side has less"`
	Same      int64   `json:"same" unit:"rows" doc:"rows where both have the same"`

	Base *float64 `json:"base" col:"base_estimate" doc:"value of the base over the rows that are compared" null:"undefined"`
	New  *float64 `json:"new" col:"new_estimate" doc:"value of the new side over the rows that are compared" null:"undefined"`
	Diff *float64 `json:"diff" doc:"the new side less the base" null:"undefined, see reason"`
	Low  *float64 `json:"ci_low" doc:"lower end of the interval of the difference" null:"no interval"`
	High *float64 `json:"ci_high" doc:"upper end of the interval of the difference" null:"no interval"`
	SE   *float64 `json:"se" doc:"standard error of the difference" null:"undefined"`

	P        *float64 `json:"p" range:"[0, 1]" doc:"two-sided p-value of no difference" null:"no test"`
	Adjusted *float64 `json:"p_adjusted" range:"[0, 1]" doc:"p, adjusted for the other tests" null:"no test"`
	MDE      *float64 `json:"mde" doc:"least difference that would probably have been found" null:"undefined, or larger than any difference can be"`
	Level    float64  `json:"-" col:"level" range:"(0, 1)" doc:"confidence level of intervals; 1 less it is the alpha of tests"` // of a line
	Method   string   `json:"method" doc:"how the interval was computed" null:"no interval"`
	Test     string   `json:"test" doc:"how p was computed: t or score" null:"no test"`
	// Adjustment is holm over the headline metrics of the pair, or bh (Benjamini &
	// Hochberg) over everything else in the result, such as slices.
	Adjustment string `json:"adjustment" doc:"holm over the headline metrics of the pair, bh over everything else" null:"no test"`

	Reason   string              `json:"reason,omitempty" doc:"why there is no difference" null:"there is one"`
	Warnings runs.ListOf[string] `json:"warnings" doc:"what a reader of the number must know"`

	// Doubt says why there can be no verdict on the difference; "" if there can be one.
	Doubt string `json:"-" col:"-"`

	// Corrected is of means that rest on a judge, where people judged rows of both
	// sides.
	Corrected *Corrected `json:"corrected,omitempty" prefix:"corrected_"`
}

// Improved is how many rows got better, Declined how many worse; both are 0 for a
// metric without direction.
func (d *Difference) Improved() int64 { return d.moved(d.Direction) }

// Declined is how many rows got worse.
func (d *Difference) Declined() int64 { return d.moved(-d.Direction) }

// moved is how many rows went up (1) or down (-1).
func (d *Difference) moved(direction int) int64 {
	switch direction {
	case 1:
		return d.Higher
	case -1:
		return d.Lower
	}
	return 0
}

// Corrected is a difference without the judge's errors: prediction-powered means
// (PPI++) of what people said of some pairs and the judge of all. It holds if the
// labelled pairs are a random part of all. What is not defined is nil; with fewer
// labelled pairs than [stats.FewestLabels] there is no correction.
type Corrected struct {
	Base     *float64 `json:"base" doc:"value of the base, corrected for the errors of the judge by people's labels" null:"not corrected"`
	New      *float64 `json:"new" doc:"value of the new side, corrected" null:"not corrected"`
	Diff     float64  `json:"diff" doc:"difference, corrected" null:"not corrected"`
	Low      float64  `json:"ci_low" col:"low" doc:"lower end of the interval of the corrected difference" null:"not corrected"`
	High     float64  `json:"ci_high" col:"high" doc:"upper end of the interval of the corrected difference" null:"not corrected"`
	Labelled int64    `json:"labelled" col:"^labelled" doc:"pairs that people judged on both sides" null:"not corrected"`
	Method   string   `json:"method" doc:"how the difference was corrected" null:"not corrected"`
}

// A Ranking orders the sides by one headline metric.
type Ranking struct {
	Metric    string `json:"metric"`
	Agg       string `json:"agg"`
	Direction int    `json:"direction"`
	// Places are the sides from the best on (from the largest, for a metric without
	// direction), over the Rows that all of them have a value for; none if there is no
	// such row.
	Places []Place `json:"places"`
	Rows   int64   `json:"rows"`
	// Aside are the sides without a rank: the metric is known of too few of the
	// questions that at least half of all sides answered ([metrics.MinDefined]), or the
	// mean of the side lies outside its bounds.
	Aside []Aside `json:"aside"`
}

// An Aside is a side that is not ranked, with the questions that its metric is known
// of, among those that count.
type Aside struct {
	Side int `json:"side"`
	// Defined counts a question in part where some claims or citations have no known text.
	Defined float64 `json:"defined"`
	Rows    int64   `json:"rows"`
	// Reason is why a side with enough of these questions is not ranked; "" if it has not.
	Reason string `json:"reason,omitempty"`
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
	More    []Quantity // compare these, too
	All     bool       // compare every other metric, too
	Whole   bool       // compare no slices
	Slices  []string   // keys to slice by, beside those that both runs have; see Result
	Force   bool       // compare what should not be compared, and say so
	Base    string     // system of the base; with New, when runs name theirs differently
	New     string     // system of the others

	Level float64 // 0 is the base run's
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

// overall is the score that a run is judged by unless other metrics are declared.
const overall = "overall_citation_accuracy"

// headlineOf are overall and its components; of the hallucination score the rate, which is
// 1 less the score. Of a run with one component overall is that component, and only the
// latter is left out.
func headlineOf(components []string) []Quantity {
	names := []string{overall}
	if len(components) > 1 {
		names = append(names, components...)
	}
	var all []Quantity
	for _, name := range names {
		if name == metrics.HallucinationScore.String() {
			name = metrics.HallucinationRate.String()
		}
		if d, ok := metrics.Lookup(name); ok {
			all = append(all, Quantity{Metric: d})
		}
	}
	return all
}

// without are the quantities of a list that are not in another.
func without(all, others []Quantity) []Quantity {
	return slices.DeleteFunc(slices.Clone(all), func(q Quantity) bool {
		return slices.ContainsFunc(others, func(h Quantity) bool { return h.Metric.Name == q.Metric.Name && h.Micro == q.Micro })
	})
}

// everything are all quantities.
func everything() []Quantity {
	var all []Quantity
	add := func(q Quantity) { all = append(all, q) }
	for _, d := range metrics.Definitions() {
		add(Quantity{Metric: d})
		if len(d.Num) > 0 {
			add(Quantity{Metric: d, Micro: true})
		}
	}
	for _, d := range runs.SummaryCounts() {
		add(Quantity{Metric: d})
	}
	return all
}
