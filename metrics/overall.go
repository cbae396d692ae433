package metrics

import (
	"ibid"
)

var overallDefinitions = map[Metric]Definition{
	AbstentionCorrect: {
		Name: "abstention_correct", Group: "answer", Kind: Binary, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary:       "1 if an answer to what no source answers claims and cites nothing",
		Formula:       "1 if citations and claims are empty, else 0",
		UndefinedWhen: "truth not known, or not empty; citations not known; the answer cites nothing and its claims are not known",
		Source:        "specificity of abstaining",
	},
	WrongAbstention: {
		Name: "wrong_abstention", Group: "answer", Kind: Binary, Direction: LowerIsBetter, Min: 0, Max: 1,
		Summary:       "1 if an answer abstains although sources answer",
		Formula:       "abstained, where truth is not empty",
		UndefinedWhen: "truth not known, or empty; it is not known whether the answer abstains",
		Source:        "1 − sensitivity of answering",
		Derived:       true,
	},
	OverallCitationAccuracy: {
		Name: "overall_citation_accuracy", Aliases: []string{"overall"}, Group: "overall", Kind: Score, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary:       "weighted mean of the components that the run has: truth gives the first, a judge the others",
		Formula:       "Σ w·score / Σ w over the components of the run; one that is undefined because the answer cites nothing although something should be cited counts 0; 0 if something is to be cited and the answer claims nothing",
		UndefinedWhen: "nothing is to be cited and nothing is, data of a component is missing, or the run has neither truth nor judge",
		Source:        specification,
		Items:         []Items{allCitations, needingClaims, outcomeClaims},
	},
}

// components are the parts of the overall score, in the order of the weights.
var components = [...]Metric{SpanAccuracyScore, CitationQualityScore, AnswerConsistencyScore, HallucinationScore}

// list returns the weights in the order of the components.
func (w Weights) list() [len(components)]float64 {
	return [...]float64{w.Span, w.Quality, w.Consistency, w.Hallucination}
}

// runWeights are the weights of the components that the run has, 0 of others.
func (o *Options) runWeights() [len(components)]float64 {
	w := o.Weights.list()
	for i, m := range components {
		has := o.JudgeComponents
		if m == SpanAccuracyScore {
			// Specification 1.0 counts truth that is missing as 0.
			has = o.SpanComponent || o.Compat && o.JudgeComponents
		}
		if !has {
			w[i] = 0
		}
	}
	return w
}

// Components are the names of the components that the overall score of a run is made of.
func (o *Options) Components() (names []string) {
	weights := o.runWeights()
	for i, m := range components {
		if weights[i] > 0 {
			names = append(names, m.String())
		}
	}
	return names
}

// scoreOverall combines the components.
func (s *Scorer) scoreOverall(r *Row, e expectation, out *Scores) {
	if s.opt.Compat {
		s.copyComponents(out)
		s.fillComponents(out)
	}
	given := len(r.Citations) > 0
	switch {
	case !r.HasCitations:
		out.undefined(OverallCitationAccuracy, ibid.NoCitations)
	case s.opt.Compat:
		s.combineComponents(e, given, out)
	case s.weights[0] > 0 && !out.Known[TruthDocs]:
		out.undefined(OverallCitationAccuracy, ibid.NoTruth)
	case !given && e.known && !e.cite:
		out.undefined(OverallCitationAccuracy, ibid.NothingToCite)
	case s.opt.JudgeComponents && e.known && e.cite && s.claimsNothing(r):
		out.quotient(OverallCitationAccuracy, 0, 1, ibid.Defined)
	default:
		s.combineComponents(e, given, out)
	}
}

// copyComponents gives the components the values of the metrics that specification 1.0
// makes them of.
func (s *Scorer) copyComponents(out *Scores) {
	if s.opt.JudgeComponents {
		out.copyMetric(CitationQualityScore, CitationCorrectness)
		out.copyMetric(AnswerConsistencyScore, MeanConsistency)
		out.invert(HallucinationScore, HallucinationRate)
	}
}

// invert gives one metric 1 less the value and bounds of another.
func (s *Scores) invert(to, from Metric) {
	s.copyMetric(to, from)
	if s.Reasons[to] == ibid.Defined {
		s.Values[to] = 1 - s.Values[to]
	}
	if s.HasBounds[to] {
		s.bound(to, 1-s.High[from], 1-s.Low[from])
	}
}

// combineComponents is the weighted mean. A component that is undefined because
// the answer cites nothing although something should be cited counts 0, so that
// not citing never pays; any other makes the row undefined.
func (s *Scorer) combineComponents(e expectation, given bool, out *Scores) {
	var sum, low, high, weights float64
	why := ibid.Defined
	bounded, open := true, false
	for i, m := range components {
		w := s.weights[i]
		if w == 0 {
			continue
		}
		weights += w
		reason := out.Reasons[m]
		if out.HasBounds[m] {
			low, high, open = low+w*out.Low[m], high+w*out.High[m], true
		}
		switch {
		case reason == ibid.Defined:
			sum += w * out.Values[m]
			if !out.HasBounds[m] {
				low, high = low+w*out.Values[m], high+w*out.Values[m]
			}
		case e.cite && (reason == ibid.NoCitations || !given && (reason == ibid.NoClaims || reason == ibid.NothingToCite)):
			if !e.known && bounded { // it only counts 0 if claims turn out to need a citation
				why, open = e.why, true
			}
		case !out.HasBounds[m]: // no verdict could give it a value
			if bounded {
				why, bounded = reason, false
			}
		case why == ibid.Defined:
			why = reason
		}
	}
	if why == ibid.Defined {
		out.quotient(OverallCitationAccuracy, sum, weights, ibid.Defined)
	} else {
		out.undefined(OverallCitationAccuracy, why)
	}
	if bounded && open {
		out.bound(OverallCitationAccuracy, low/weights, high/weights)
	}
}

// copyMetric gives one metric the value, reason and bounds of another.
func (s *Scores) copyMetric(to, from Metric) {
	s.Values[to], s.Reasons[to] = s.Values[from], s.Reasons[from]
	if s.HasBounds[from] {
		s.bound(to, s.Low[from], s.High[from])
	}
}

// An expectation says whether an answer should cite something.
type expectation struct {
	known bool
	cite  bool        // taken to be so where it hangs on claims that nobody judged, and not known
	why   ibid.Reason // if not known
}

// expected asks truth, and claims if the run has a judge. Truth that is not
// empty is enough; where it is empty or not known, a claim may need a citation.
func (s *Scorer) expected(r *Row, out *Scores) expectation {
	truthKnown := out.Known[TruthDocs]
	switch {
	case truthKnown && out.Counts[TruthDocs] > 0:
		return expectation{known: true, cite: true}
	case !s.opt.JudgeComponents:
		return expectation{known: truthKnown, why: ibid.NoTruth}
	case !r.HasClaims:
		return expectation{known: truthKnown, why: ibid.NoClaims}
	case r.unjudged() && len(r.Claims) > 0:
		return expectation{cite: true, why: whyOpen(r, false)}
	}
	for i := range s.judged.claims {
		if s.judged.claims[i].needs {
			return expectation{known: true, cite: true}
		}
	}
	return expectation{known: true}
}

// scoreAbstention says whether the answer abstains, and whether it should: where truth is known
// and empty, nothing is to be said.
func (s *Scorer) scoreAbstention(r *Row, out *Scores) {
	given := len(r.Citations) > 0
	known := r.HasCitations && (given || r.HasClaims)
	if known {
		out.count(Abstained, int64(truth(!given && r.Abstains)))
	}
	why := ibid.NoClaims
	if !r.HasCitations {
		why = ibid.NoCitations
	}
	switch {
	case !out.Known[TruthDocs]:
		out.undefined(AbstentionCorrect, ibid.NoTruth)
		out.undefined(WrongAbstention, ibid.NoTruth)
	case out.Counts[TruthDocs] > 0:
		out.undefined(AbstentionCorrect, ibid.NoTruth)
		if out.undefined(WrongAbstention, why); known {
			out.binary(WrongAbstention, out.Counts[Abstained] > 0)
		}
	default:
		if out.undefined(AbstentionCorrect, why); known {
			out.binary(AbstentionCorrect, !given && len(r.Claims) == 0)
		}
		out.undefined(WrongAbstention, ibid.NothingToCite)
	}
}

// fillComponents gives the components the values that specification 1.0 has for
// missing data: 0 without truth, citations or cited claims, and no
// hallucination without claims.
func (s *Scorer) fillComponents(out *Scores) {
	if out.Reasons[SpanAccuracyScore] == ibid.NoTruth {
		out.quotient(SpanAccuracyScore, 0, 1, ibid.Defined)
	}
	for _, m := range []Metric{CitationQualityScore, AnswerConsistencyScore} {
		if out.Reasons[m] == ibid.NoCitations || out.Reasons[m] == ibid.NoClaims {
			out.quotient(m, 0, 1, ibid.Defined)
		}
	}
	if out.Reasons[HallucinationRate] == ibid.NoClaims {
		out.quotient(HallucinationRate, 0, 1, ibid.Defined)
		out.quotient(HallucinationScore, 1, 1, ibid.Defined)
	}
}
