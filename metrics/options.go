package metrics

import "ibid/metrics/presence"

const (
	// GoodMatch is the least Jaccard of a good match. A citation with less is partly right.
	GoodMatch = 0.8

	// conciseChars is how many code points a citation may point to, whatever of them
	// matters, before it counts less: about the length of a usual chunk.
	conciseChars = 2000

	// MinDefined is the share of a system's rows that a metric must be defined for, so that
	// gates and rankings use it.
	MinDefined = 0.5
)

// Options are the settings that change scores. Package configs checks their ranges.
type Options struct {
	// Tolerance is how far, in code points, an end may be off: predicted spans
	// are widened by it, and snapping and boundary hits use it. 0 to 2^31-1.
	Tolerance int64

	// RowPairs is how many pairs of a citation and a truth span of one row may overlap,
	// 0 for any number. Time and memory grow with them.
	RowPairs int64
	// MinOverlap is the least Jaccard of a matched pair, in (0, 1].
	MinOverlap float64

	// TruthPolicy says how several annotators of one row are used: "best",
	// "union", "majority", "intersection", "mean" or "annotator:NAME".
	TruthPolicy string

	// Supported and Consistent are the least support, in [0, 1], of a citation
	// or claim that is supported and of a claim that is consistent. What cites
	// nothing, or nothing valid, reaches neither, even if it is 0.
	Supported, Consistent float64

	// MinCoverage is the least share, in [0, 1], of the items of a judged metric that must
	// not be undecided for it to have a value.
	MinCoverage float64

	// Weights are those of the overall score's components.
	Weights Weights

	// SpanComponent: the run has truth. JudgeComponents: it has a judge. They
	// fix the components of the overall score for all rows of the run.
	SpanComponent, JudgeComponents bool

	// Human: the judge is people. Their labels count whatever the status of the
	// citation. Of any other judge, citations that are not valid have support 0, are
	// not relevant, and need no verdict.
	Human bool

	// AsksElsewhere: the judge is asked whether passages that a claim does not cite
	// support it. A claim below Supported without this verdict is unsupported either
	// way; with AsksElsewhere its outcome may still change.
	AsksElsewhere bool

	// Necessity: the judge says which citations are needed, see [PairVerdict].
	Necessity bool

	// Compat follows specification 1.0 to the letter where it differs: one best
	// match over all pairs stands for the row, the span component is
	// mean_tolerance_jaccard, and components of missing data count 0, of missing
	// claims 1. What it calls 0.5, an answer that cannot be read, is for the
	// caller to give.
	Compat bool

	// Presence decides citation_presence; nil looks for any citation.
	Presence *presence.Detector
}

// Weights weigh the components of the overall score. None may be negative; a
// component of weight 0 is no part of the score.
type Weights struct {
	Span, Quality, Consistency, Hallucination float64
}

// DefaultOptions returns the settings used when nothing is said: tolerance 10,
// minimal overlap 0.5, policy "best", supported from 0.7 and consistent from 0.8 on,
// weights 0.30, 0.30, 0.25 and 0.15, minimal coverage 0.98; a run with neither truth nor judge.
func DefaultOptions() Options {
	return Options{
		Tolerance: 10, MinOverlap: 0.5, TruthPolicy: "best",
		Supported: 0.7, Consistent: 0.8, MinCoverage: 0.98,
		Weights: Weights{Span: 0.30, Quality: 0.30, Consistency: 0.25, Hallucination: 0.15},
	}
}
