// Package metrics scores one row: an answer's citations against the spans that
// annotators marked.
//
// It takes plain values and knows neither files nor run settings, so a pair of
// span sets can be scored with nothing but this package. Every number has one
// [Definition]; results, summaries, gates and help texts all use it. Sums over rows, with their intervals, are the business of package
// metrics/stats.
//
// Offsets are half-open intervals of code points; see package metrics/span.
//
// # How to add a metric
//
// A metric is one file with its test: a constant, a definition under that constant, and
// a value set in a function that [Scorer.Score] calls. It then has a column in results,
// a line in summaries and help texts, and gates take it.
package metrics

import (
	"math"
)

// A Metric is the index of a metric in [Definitions], in [Scores.Values] and in
// [Scores.Reasons]. The constants are in column order.
type Metric int

// The metrics.
const (
	CharPrecision Metric = iota
	CharRecall
	CharF1
	CharJaccard
	ExactMatch
	AnyOverlap
	TokenPrecision
	TokenRecall
	TokenF1
	TokenJaccard
	PagePrecision
	PageRecall
	PageF1
	DocPrecision
	DocRecall
	DocF1
	MeanExactJaccard
	MeanToleranceJaccard
	MeanSnappedJaccard
	SpanPrecision
	SpanRecall
	SpanF1
	BoundaryErrorStart
	BoundaryErrorEnd
	OverCitation

	CitationCompleteness
	SupportedCompleteness
	CitedClaimPrecision
	CitationCorrectness
	CitationRelevance
	MeanSupportScore
	FactualConsistency
	MeanConsistency
	ConsistencyVariance
	HallucinationRate
	ContradictionRate
	CitationDensity
	CitationCoverage
	AbstentionCorrect
	WrongAbstention

	SpanAccuracyScore
	CitationQualityScore
	AnswerConsistencyScore
	HallucinationScore
	OverallCitationAccuracy

	ALCERecall
	ALCEPrecision
	LongCiteRecall
	LongCitePrecision
	LongCiteF1
	TRECWeightedPrecision
	TRECWeightedRecall
	DRBAccuracy
	DRBEffectiveCitations
	NecessityShared

	CitationPresence

	OffsetAccuracy

	FabricatedCitationRate
	QuoteFidelity
	MisattributedRate
	QuoteFabricationRate

	numMetrics
)

// NumMetrics is the number of metrics.
const NumMetrics = int(numMetrics)

// A Kind says how a metric is made of a row and how it is pooled over rows.
type Kind uint8

// The kinds.
const (
	Ratio    Kind = iota // quotient of two sums of the row; micro is the quotient of the sums over rows
	Mean                 // mean over items of the row; micro is the mean over the items of all rows, if Num and Den say how
	Binary               // 0 or 1; micro = macro
	Score                // a number with no parts to pool: macro only
	Quantity             // a count: macro (its mean over rows) only
)

var kindNames = [...]string{"ratio", "mean", "binary", "score", "count"}

// String returns "ratio", "mean", "binary", "score" or "count".
func (k Kind) String() string { return kindNames[k] }

// A Direction says which of two values of a metric is better.
type Direction int8

// The directions.
const (
	LowerIsBetter  Direction = -1
	Neutral        Direction = 0
	HigherIsBetter Direction = 1
)

// String returns "lower is better", "neutral" or "higher is better".
func (d Direction) String() string {
	switch d {
	case LowerIsBetter:
		return "lower is better"
	case HigherIsBetter:
		return "higher is better"
	}
	return "neutral"
}

// A Term is one summand of a pooled numerator or denominator: Factor times the column named
// Column, and times the count named Times unless that is "".
type Term struct {
	Column string
	Factor float64
	Times  string
}

// A Definition says what one number means. It is what results, summaries,
// gates and help texts know of a metric.
type Definition struct {
	Name    string   // column name
	Aliases []string // other names that gates and commands take
	Group   string   // heading in help texts, such as "characters"

	Kind      Kind
	Direction Direction
	Min, Max  float64 // bounds of the value of a row, infinite when there is none

	Summary       string // one line
	Formula       string
	UndefinedWhen string // "" if the metric is always defined
	Source        string // where the formula comes from

	// The micro value is the sum of Num over the sum of Den, both over the rows
	// where the metric is defined. Both are empty when there is none but the
	// macro value; for Binary, micro is the macro value.
	Num, Den []Term

	// Items are what the metric needs verdicts on; none where it needs none. Its coverage over
	// some rows is the share of those that are scored among those that are scored or unscored.
	Items []Items

	Judged  bool // needs a judge
	Derived bool // follows from other columns of the row, see [Definition.Derive], and is no column itself
}

// Corrigible reports whether the values of rows are as good as the judge that gave
// the verdicts: judged metrics, and the overall score, which they are a part of
// where there is a judge.
func (d *Definition) Corrigible() bool {
	return d.Judged || d.Name == "overall_citation_accuracy"
}

// HasBounds reports whether the metric of a row with open items has bounds in the results.
func (d *Definition) HasBounds() bool {
	switch d.Name {
	case "citation_completeness", "citation_coverage", "consistency_variance":
		return false
	}
	return d.Judged && d.Group != "dialects" || d.Group == "overall"
}

// ReadsTexts reports whether the metric looks at texts that are cited: a text that is not
// known may change it.
func (d *Definition) ReadsTexts() bool {
	switch d.Name {
	case "citation_completeness", "citation_coverage":
		return false
	}
	return d.Judged || d.Group == "tokens"
}

// ComparesTruth reports whether the metric compares what is cited with truth.
func (d *Definition) ComparesTruth() bool {
	switch d.Group {
	case "pages", "documents":
		return true
	}
	return d.OfSpans() || d.Name == "over_citation"
}

// The bounds of a number that has none.
var (
	unbounded = math.Inf(1)
	anyNumber = math.Inf(-1)
)

// Where formulas come from that several metrics share.
const (
	specification = "citation accuracy specification 1.0"
	rashkin       = "Rashkin et al., AIS, Computational Linguistics 2023"
	liu           = "Liu et al., Evaluating Verifiability in Generative Search Engines, Findings of EMNLP 2023"
	squad         = "Rajpurkar et al., SQuAD, EMNLP 2016, over code points instead of bags of tokens"
	jaccard       = "Jaccard 1912"
	dice          = "Dice 1945; Sørensen 1948"
	setTheory     = "precision and recall of sets; van Rijsbergen 1979"
)
