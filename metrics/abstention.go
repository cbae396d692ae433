package metrics

// An expectation says whether an answer should cite something.
type expectation struct {
	known bool
	cite  bool   // taken to be so where it hangs on claims that nobody judged, and not known
	why   Reason // if not known
}

// expected asks truth, and claims if the run has a judge. Truth that is not
// empty is enough; where it is empty or not known, a claim may need a citation.
func (s *Scorer) expected(r *Row, out *Scores) expectation {
	truthKnown := out.Known[TruthDocs]
	switch {
	case truthKnown && out.Counts[TruthDocs] > 0:
		return expectation{known: true, cite: true}
	case !s.opt.JudgeComponents:
		return expectation{known: truthKnown, why: NoTruth}
	case !r.HasClaims:
		return expectation{known: truthKnown, why: NoClaims}
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

// scoreAbstention asks whether the answer cites exactly if it should.
func (s *Scorer) scoreAbstention(r *Row, e expectation, out *Scores) {
	if !r.HasCitations {
		out.undefined(AbstentionCorrect, NoCitations)
		return
	}
	given := len(r.Citations) > 0
	if e.known {
		out.binary(AbstentionCorrect, given == e.cite)
		return
	}
	out.undefined(AbstentionCorrect, e.why)
	if e.cite {
		v := 0.0
		if given {
			v = 1
		}
		out.bound(AbstentionCorrect, v, v)
	}
}
