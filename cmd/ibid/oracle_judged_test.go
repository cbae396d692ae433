package main

import (
	"fmt"
	"slices"
	"strings"
)

// oracleLinks are the claims of a citation: the one that it names, else those that its
// place in the answer overlaps, else all.
func oracleLinks(r *oracleRow, i int) (claims []int) {
	c := r.Citations[i]
	for k, claim := range r.Claims {
		if c.ClaimID != nil && claim.ClaimID != *c.ClaimID ||
			c.ClaimID == nil && c.AnswerStart != nil && (*c.AnswerStart >= claim.End || claim.Start >= *c.AnswerEnd) {
			continue
		}
		claims = append(claims, k)
	}
	return claims
}

// An oracleOpinion is what a judge says of a claim: nil where nothing is known.
type oracleOpinion struct {
	factual, needs, contradicted, settled bool // settled: contradicted is known
	textless                              bool // no text that it cites is known
	joint, elsewhere                      *float64
	support                               map[int]*float64 // of each citation
	relevant                              map[int]*bool
	cites                                 []int
}

// opinion reads the verdicts on claim k.
func (o *oracle) opinion(r *oracleRow, k int) *oracleOpinion {
	s := &oracleOpinion{support: map[int]*float64{}, relevant: map[int]*bool{}}
	id := r.Claims[k].ClaimID
	var factual, needs *bool
	for i := range r.Citations {
		if slices.Contains(oracleLinks(r, i), k) {
			s.cites = append(s.cites, i)
		}
	}
	for _, v := range r.verdicts {
		switch number, _ := strings.CutPrefix(v.Evidence, "citation:"); {
		case v.ClaimID != id:
		case v.Evidence == "claim":
			factual, needs = v.Factual, v.NeedsCitation
		case v.Evidence == "joint":
			s.joint, s.contradicted, s.settled = v.Support, *v.Contradicted, true
		case v.Evidence == "elsewhere":
			s.elsewhere = v.Support
		default:
			for _, i := range s.cites {
				if fmt.Sprint(i) == number {
					s.support[i], s.relevant[i] = v.Support, v.Relevant
				}
			}
		}
	}
	s.factual = factual == nil || *factual
	s.needs = needs == nil && s.factual || val(needs)
	return s
}

// judged computes the judged metrics of a row over the places of its citations.
func (o *oracle) judged(r *oracleRow, e *oracleExpected) {
	claims := make([]*oracleOpinion, len(r.Claims))
	for k := range claims {
		claims[k] = o.opinion(r, k)
	}
	n := map[string]int{}
	add := func(counts map[string]bool) {
		for name, when := range counts {
			n[name] += map[bool]int{true: 1}[when]
		}
	}
	lack := func(items string, reason string) string { // why nothing of these items has a value
		if n[items] > 0 {
			return "unscored judge_failed no_text no_documents not_asked"
		}
		return reason
	}
	valid := func(i int) bool { return oracleValid(e.places[i]) }
	support, own, relevance, total := make([]*float64, len(r.Citations)), make([]*float64, len(r.Citations)), make([]*bool, len(r.Citations)), 0.
	for i := range r.Citations {
		var relevant *bool
		for _, k := range oracleLinks(r, i) {
			if v := claims[k].support[i]; v != nil {
				support[i] = new(max(*v, val(support[i])))
			}
			if w := claims[k].relevant[i]; w != nil {
				relevant = new(*w || val(relevant))
			}
		}
		if !valid(i) {
			support[i], relevant = new(0.), new(false)
		}
		own[i], relevance[i] = support[i], relevant
	}
	first := oracleFirst(r, e)
	for i := range r.Citations { // a verdict belongs to what is cited
		for j := len(r.Citations) - 1; j >= 0 && own[i] == nil && valid(i); j-- {
			if first[j] == first[i] && own[j] != nil && valid(j) {
				support[i], relevance[i] = own[j], relevance[j]
			}
		}
		e.item("citations.support", i, support[i])
		e.item("citations.relevant", i, relevance[i])
		v := support[i]
		total += val(v)
		add(map[string]bool{
			"scored_citations": v != nil, "correct_citations": v != nil && *v >= o.c.supported, "relevance_citations": relevance[i] != nil,
			"relevant_citations": val(relevance[i]), "items": len(claims) > 0,
		})
	}
	why := lack("items", map[bool]string{true: "no_citations", false: "no_claims"}[len(r.Citations) == 0])
	e.ratio("citation_correctness", n["correct_citations"], n["scored_citations"], why)
	e.ratio("citation_relevance", n["relevant_citations"], n["relevance_citations"], why)
	e.quotient("mean_support_score", total, n["scored_citations"], why)

	var joints []float64
	var carried, length int
	for k, s := range claims {
		cited := len(s.cites) > 0
		if !slices.ContainsFunc(s.cites, valid) {
			s.joint, s.contradicted = new(0.), false
		}
		var best *float64
		all := s.joint == nil
		s.textless = s.joint == nil && slices.ContainsFunc(s.cites, valid)
		for _, i := range s.cites {
			v := s.support[i]
			if !valid(i) {
				v = new(0.)
			}
			all, s.textless = all && v != nil, s.textless && !(valid(i) && o.known(e.places[i].doc))
			best = new(max(val(v), val(best)))
		}
		if all {
			s.joint = best
		}
		known := s.joint != nil
		joint, outcome := val(s.joint), o.outcome(s)
		e.item("claims.outcome", k, outcome)
		e.item("claims.support", k, s.joint)
		e.item("claims.factual", k, s.factual)
		e.item("claims.needs_citation", k, s.needs)
		if s.factual && known && !s.settled {
			// What cites nothing is not contradicted; the program leaves it undefined.
			e.skip("contradiction_rate", "contradicted_claims")
		}
		add(map[string]bool{
			"needing_claims": s.needs, "scored needing": s.needs && known, "supported_claims": s.needs && joint >= o.c.supported,
			"cited_claims": s.needs && cited, "scored cited": s.needs && cited && known, "supported cited": s.needs && cited && joint >= o.c.supported,
			"factual_claims": s.factual, "scored factual": s.factual && known, "consistent_claims": s.factual && joint >= o.c.agreeing && !s.contradicted,
			"contradicted_claims": outcome == "contradicted", "hallucinated_claims": outcome == "contradicted" || outcome == "unsupported",
			"unscored_outcomes": outcome == "unscored", "no_text_outcomes": outcome == "no_text", "elsewhere_outcomes": outcome == "unsupported" && s.elsewhere == nil, "stating claims": s.factual || s.needs,
		})
		if known && cited {
			joints = append(joints, joint)
		}
		size := int(r.Claims[k].End - r.Claims[k].Start)
		length += size
		carried += min(len(s.cites), 1) * size
	}
	for name, count := range n {
		if strings.Contains(name, "_") {
			e.counts(map[string]int{name: count})
		}
	}
	sum, squares := 0., 0.
	for _, v := range joints {
		for _, w := range joints {
			squares += (v - w) * (v - w) / 2 / float64(len(joints))
		}
		sum += v
	}
	e.counts(map[string]int{"claims": len(claims), "consistency_claims": len(joints)})
	e.ratio("citation_completeness", n["cited_claims"], n["needing_claims"])
	e.ratio("supported_completeness", n["supported_claims"], n["scored needing"], lack("needing_claims", "no_claims nothing_to_cite"))
	e.ratio("cited_claim_precision", n["supported cited"], n["scored cited"], lack("cited_claims", "no_claims no_citations nothing_to_cite"))
	e.ratio("factual_consistency", n["consistent_claims"], n["scored factual"], lack("factual_claims", "no_claims"))
	e.ratio("hallucination_rate", n["hallucinated_claims"], n["scored factual"], lack("factual_claims", "no_claims"))
	e.ratio("contradiction_rate", n["contradicted_claims"], n["scored factual"], lack("factual_claims", "no_claims"))
	e.ratio("citation_coverage", carried, length, "no_claims")
	e.quotient("mean_consistency", sum, len(joints))
	e.quotient("consistency_variance", squares, max(0, len(joints)-1))
	o.overall(r, e, claims, support, n["stating claims"] > 0)
}

// outcome is the first that holds.
func (o *oracle) outcome(s *oracleOpinion) string {
	joint, supported := val(s.joint), o.c.supported
	when := []bool{!s.factual, s.joint == nil && s.textless, s.joint == nil, joint >= supported && !s.contradicted, s.contradicted, val(s.elsewhere) >= supported, true}
	return strings.Fields("not_factual no_text unscored supported_by_cited contradicted supported_elsewhere unsupported")[slices.Index(when, true)]
}

// oracleFirst finds of each citation the first that is identical to it: of the same place, the
// same part of the answer and the same claims.
func oracleFirst(r *oracleRow, e *oracleExpected) []int {
	first := make([]int, len(r.Citations))
	for i, x := range e.places {
		for j := i; j >= 0; j-- {
			y := e.places[j]
			if y.status = x.status; !x.exact && !y.exact {
				y.start, y.end = x.start, x.end
			}
			if x == y && slices.Equal(oracleLinks(r, i), oracleLinks(r, j)) && val(r.Citations[i].AnswerEnd) == val(r.Citations[j].AnswerEnd) {
				first[i] = j
			}
		}
	}
	return first
}

// An oracleItem is a citation or a claim: its score, nil if it has none, and the weight that
// it can add at most.
type oracleItem struct {
	score  *float64
	weight float64
}

// weigh averages items over all of them: those without a score score as the others do, each at
// its own weight. Without any that tells, there is no value.
func (e *oracleExpected) weigh(name string, items []oracleItem) {
	sum, weight, open := 0., 0., 0.
	for _, it := range items {
		if it.score == nil {
			open += it.weight
		} else {
			sum, weight = sum+*it.score*it.weight, weight+it.weight
		}
	}
	if n := float64(len(items)); open == 0 || weight == 0 {
		e.quotient(name, sum, map[bool]int{true: 0, false: len(items)}[open > 0])
	} else {
		e.set(name, sum/weight*(weight+open)/n, "")
	}
}

// overall computes the components of the overall score and their weighted mean.
func (o *oracle) overall(r *oracleRow, e *oracleExpected, claims []*oracleOpinion, support []*float64, states bool) {
	first, kappa := oracleFirst(r, e), make([]float64, len(r.Citations))
	for i, x := range e.places {
		essential := oracleSet{} // the truth that it overlaps, whoever marked it
		for _, t := range e.truth {
			if t.meet(x) > 0 {
				t.cells(essential)
			}
		}
		kappa[i] = 1
		if x.length() > o.c.concise {
			kappa[i] = min(1, float64(max(o.c.concise, 4*int64(len(essential))))/float64(x.length()))
		}
	}
	if o.c.judged {
		var items []oracleItem
		for i, v := range support {
			if e.item("citations.concision", i, kappa[i]); first[i] == i {
				it := oracleItem{weight: kappa[i]}
				if v != nil {
					it.score = new(map[bool]float64{true: 1}[*v >= o.c.supported])
				}
				items = append(items, it)
			}
		}
		e.weigh("citation_quality_score", items)
		items = nil
		for _, s := range claims {
			if !s.needs {
				continue
			}
			factor, length := 1., int64(0)
			for _, i := range s.cites {
				length += e.places[i].length()
			}
			if length > o.c.concise {
				factor = kappa[s.cites[0]]
				if v := support[s.cites[0]]; len(s.cites) > 1 || val(v) < o.c.supported {
					// What matters in several citations, or in one that does not support, is not defined.
					e.skip("answer_consistency_score", "overall_citation_accuracy")
				}
			}
			items = append(items, oracleItem{s.joint, factor * float64(min(1, len(s.cites)))})
		}
		e.weigh("answer_consistency_score", items)
		e.set("hallucination_score", 1-e.value("hallucination_rate"), e.reasons["hallucination_rate"])
	}
	o.spanAccuracy(e, support, kappa, first)
	if o.c.settings["judge"] == "" {
		return
	}
	wanted := e.side != nil && len(e.side.docs) > 0 // something should be cited
	for _, s := range claims {
		wanted = wanted || s.needs
	}
	unplaced := slices.ContainsFunc(e.truth, func(t oracleSpan) bool { return t.usable() && !t.exact })
	cites, overall := len(r.Citations) > 0, "overall_citation_accuracy"
	switch {
	case !o.c.noTruth && e.side == nil:
		e.set(overall, 0, "no_truth")
	case !cites && e.side != nil && len(e.side.spans) == 0 && (wanted || unplaced), len(claims) == 0 && !wanted && unplaced, len(claims) > 0 && !states:
		// Whether a component counts 0 for want of citations is not clear where truth is empty
		// or has no code points, and where claims state nothing.
		e.skip(overall)
	case o.c.judged && len(claims) == 0 && wanted:
		e.set(overall, 0, "")
	case !wanted && !cites:
		e.set(overall, 0, "nothing_to_cite")
	default:
		sum, weights, reason := 0., 0., ""
		for i, name := range []string{"span_accuracy_score", "citation_quality_score", "answer_consistency_score", "hallucination_score"} {
			if w := o.c.weights[i]; w > 0 && !(i == 0 && o.c.noTruth) && (i == 0 || o.c.judged) {
				weights += w
				if e.reasons[name] == "" {
					sum += w * e.value(name)
				} else if cites { // else it should have cited, and counts 0
					reason = "?"
				}
			}
		}
		e.set(overall, sum/weights, reason)
	}
}
