package metrics

import "strings"

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

// componentNames are the names of the components with a weight.
func componentNames(weights [len(components)]float64, all []Definition) string {
	var names []string
	for i, m := range components {
		if weights[i] > 0 {
			names = append(names, all[m].Name)
		}
	}
	return strings.Join(names, ",")
}

// scoreOverall combines the components.
func (s *Scorer) scoreOverall(r *Row, e expectation, out *Scores) {
	out.Components = s.components
	if s.opt.JudgeComponents {
		out.copyMetric(CitationQualityScore, CitationCorrectness)
		out.copyMetric(AnswerConsistencyScore, MeanConsistency)
		out.copyMetric(HallucinationScore, HallucinationRate)
		out.invert(HallucinationScore)
	}
	if s.opt.Compat {
		s.fillComponents(out)
	}
	given := len(r.Citations) > 0
	switch {
	case !r.HasCitations:
		out.undefined(OverallCitationAccuracy, NoCitations)
	case s.opt.Compat:
		s.combineComponents(e, given, out)
	case s.weights[0] > 0 && !out.Known[TruthDocs]:
		out.undefined(OverallCitationAccuracy, NoTruth)
	case !given && e.known && !e.cite:
		out.undefined(OverallCitationAccuracy, NothingToCite)
	default:
		s.combineComponents(e, given, out)
	}
}

// combineComponents is the weighted mean. A component that is undefined because
// the answer cites nothing although something should be cited counts 0, so that
// not citing never pays; any other makes the row undefined.
func (s *Scorer) combineComponents(e expectation, given bool, out *Scores) {
	var sum, low, high, weights float64
	why := Defined
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
		case reason == Defined:
			sum += w * out.Values[m]
			if !out.HasBounds[m] {
				low, high = low+w*out.Values[m], high+w*out.Values[m]
			}
		case e.cite && (reason == NoCitations || reason == NoClaims && !given):
			if !e.known && bounded { // it only counts 0 if claims turn out to need a citation
				why, open = e.why, true
			}
		case !out.HasBounds[m]: // no verdict could give it a value
			if bounded {
				why, bounded = reason, false
			}
		case why == Defined:
			why = reason
		}
	}
	if why == Defined {
		out.quotient(OverallCitationAccuracy, sum, weights, Defined)
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

// invert replaces x by 1 - x.
func (s *Scores) invert(m Metric) {
	if s.Reasons[m] == Defined {
		s.Values[m] = 1 - s.Values[m]
	}
	if s.HasBounds[m] {
		s.bound(m, 1-s.High[m], 1-s.Low[m])
	}
}
