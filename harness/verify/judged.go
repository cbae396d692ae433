package verify

import (
	"strings"

	"ibid"
)

// Items are what a judged metric is a share or a mean of. An open one may turn out to be
// anything from its least to its most.
type items struct {
	sum, n            float64 // of the scored ones
	open, least, most float64
}

func (t *items) add(v float64) { t.sum, t.n = t.sum+v, t.n+1 }

func (t *items) addOpen(least, most float64) {
	t.open, t.least, t.most = t.open+1, t.least+least, t.most+most
}

// settle gives a metric the mean over its scored items, and its bounds.
func (w *rowWork) settle(out *result, metric string, t items, none, unscored ibid.Reason) {
	switch {
	case t.n+t.open == 0:
		out.lack(none, metric)
	case t.n == 0, w.failed && t.open > 0:
		out.lack(unscored, metric)
	default:
		out.set(metric, t.sum/t.n)
	}
	if t.open > 0 {
		out.bound(metric, (t.sum+t.least)/(t.n+t.open), (t.sum+t.most)/(t.n+t.open))
	}
}

var (
	citationMetrics = strings.Fields("citation_correctness citation_relevance mean_support_score")
	claimMetrics    = strings.Fields("citation_completeness supported_completeness cited_claim_precision factual_consistency mean_consistency consistency_variance hallucination_rate contradiction_rate citation_coverage")
	dialects        = strings.Fields("alce_recall alce_precision longcite_recall longcite_precision longcite_f1 trec_weighted_precision trec_weighted_recall drb_accuracy drb_effective_citations")
	components      = strings.Fields("span_accuracy_score citation_quality_score answer_consistency_score hallucination_score")
)

// judge fills out with all that needs a judge.
func (w *rowWork) judge(out *result) {
	if w.claimsKnown {
		out.counts["claims"] = int64(len(w.claims))
		if w.row.HasCitations {
			out.counts["unlinked_citations"] = w.unlinked
		}
	}
	w.readClaims()
	if w.row.HasCitations {
		w.judgeCitations(out)
	} else {
		out.lack(ibid.NoCitations, citationMetrics...)
	}
	switch {
	case !w.claimsKnown:
		out.lack(ibid.NoClaims, claimMetrics...)
	case !w.row.HasCitations:
		out.lack(ibid.NoCitations, claimMetrics...)
	default:
		w.judgeClaims(out)
		w.coverAnswer(out)
	}
	w.scoreDialects(out)
}

func (w *rowWork) judgeCitations(out *result) {
	var support, correct, relevant items
	var asked, unasked bool
	counts := map[string]int64{"no_claim_citations": 0, "no_text_citations": 0, "correct_citations": 0, "consistent_citations": 0, "scored_citations": 0, "relevant_citations": 0, "relevance_citations": 0}
	onlyTexts := !w.human
	for i := range w.citations {
		if w.citations[i].noClaim {
			counts["no_claim_citations"]++
			continue
		}
		s, r := w.verdictOn(i)
		if s.Known() {
			right := w.citations[i].counts && s.Value >= w.s.Thresholds.Supported
			support.add(s.Value)
			correct.add(yes(right))
			counts["scored_citations"]++
			counts["correct_citations"] += int64(yes(right))
			counts["consistent_citations"] += int64(yes(w.citations[i].counts && s.Value >= w.s.Thresholds.Consistent))
			if w.citations[i].counts {
				asked, unasked = asked || r != ibid.Unset, unasked || r == ibid.Unset
			}
		} else {
			support.addOpen(0, 1)
			correct.addOpen(0, 1)
			if w.unread(i) {
				counts["no_text_citations"]++
			} else {
				onlyTexts = false
			}
		}
		if r == ibid.Unset {
			relevant.addOpen(0, 1)
		} else {
			relevant.add(yes(r == ibid.Yes))
			counts["relevance_citations"]++
			counts["relevant_citations"] += int64(yes(r == ibid.Yes))
		}
	}
	for name, n := range counts {
		out.counts[name] = n
	}
	out.values["sum_support"] = support.sum
	unscored := w.openReason(onlyTexts && support.open > 0)
	w.settle(out, "citation_correctness", correct, ibid.NoCitations, unscored)
	w.settle(out, "mean_support_score", support, ibid.NoCitations, unscored)
	w.settle(out, "citation_relevance", relevant, ibid.NoCitations, unscored)
	if unasked && !asked {
		out.lack(ibid.NotAsked, "citation_relevance")
	}
}

func (w *rowWork) judgeClaims(out *result) {
	var complete, supported, precise, consistent, contradicted, hallucinated, joint items
	n := make(map[string]int64)
	unasked := false
	decided := !w.failed
	for k := range w.claims {
		c := &w.claims[k]
		scored := decided && !c.open
		right := c.backed && !c.open && c.joint.Value >= w.s.Thresholds.Supported
		n["unscored_claims"] += int64(yes(c.outcome == ibid.Unscored))
		n["no_text_claims"] += int64(yes(c.outcome == ibid.NoText))
		n["undecided_claims"] += int64(yes(!decided))
		n["undecided_cited_claims"] += int64(yes(!decided && c.cited))
		// An open one can turn out to be supported if something that it cites counts.
		enter := func(t *items, v bool) {
			if scored {
				t.add(yes(v))
			} else {
				t.addOpen(0, yes(c.open))
			}
		}
		if c.needs {
			if decided {
				complete.add(yes(c.cited))
			} else {
				complete.addOpen(yes(c.cited), yes(c.cited))
			}
			enter(&supported, right)
			n["no_text_needing_claims"] += int64(yes(c.noText))
			if c.cited {
				enter(&precise, right)
			}
		}
		if c.factual {
			against := c.backed && c.Contradicted == ibid.Yes
			unasked = unasked || scored && c.Contradicted == ibid.Unset
			enter(&consistent, c.backed && !against && c.joint.Value >= w.s.Thresholds.Consistent)
			enter(&contradicted, c.outcome == ibid.Contradicted)
			n["no_text_factual_claims"] += int64(yes(c.noText))
			if c.outcome == ibid.Unscored || c.outcome == ibid.NoText {
				hallucinated.addOpen(yes(!c.open && w.human), 1)
			} else {
				hallucinated.add(yes(c.outcome == ibid.Contradicted || c.outcome == ibid.Unsupported))
			}
		}
		if c.cited && c.open {
			joint.addOpen(0, 1)
		} else if c.cited {
			joint.add(c.joint.Value)
		}
		n["no_text_cited_claims"] += int64(yes(c.noText))
	}
	for _, name := range []string{"unscored_claims", "no_text_claims", "undecided_claims", "undecided_cited_claims", "no_text_cited_claims"} {
		out.counts[name] = n[name]
	}
	out.counts["consistency_claims"], out.counts["unscored_consistency_claims"] = int64(joint.n), int64(joint.open)
	out.values["sum_consistency"] = joint.sum
	if decided || len(w.claims) == 0 {
		out.counts["factual_claims"] = int64(consistent.n + consistent.open)
		out.counts["claims_needing_citation"], out.counts["cited_claims"] = int64(complete.n), int64(complete.sum)
		out.counts["supported_claims"], out.counts["consistent_claims"] = int64(supported.sum), int64(consistent.sum)
		out.counts["hallucinated_claims"] = int64(hallucinated.sum)
		if !unasked {
			out.counts["contradicted_claims"] = int64(contradicted.sum)
		}
		out.counts["unscored_needing_claims"], out.counts["unscored_factual_claims"] = int64(supported.open), int64(consistent.open)
		out.counts["no_text_needing_claims"], out.counts["no_text_factual_claims"] = n["no_text_needing_claims"], n["no_text_factual_claims"]
	}
	w.onlyTexts = n["unscored_claims"] == 0 && n["no_text_claims"] > 0
	unscored := w.openReason(w.onlyTexts)
	toCite, citing := ibid.NoClaims, ibid.NoCitations
	if len(w.claims) > 0 && len(w.citations) == 0 {
		toCite = ibid.NothingToCite
	}
	if len(w.claims) == 0 {
		citing = ibid.NoClaims
	}
	ofCited := citing
	if complete.n+complete.open == 0 {
		ofCited = toCite
	}
	w.settle(out, "citation_completeness", complete, toCite, unscored)
	w.settle(out, "supported_completeness", supported, toCite, unscored)
	w.settle(out, "cited_claim_precision", precise, ofCited, unscored)
	w.settle(out, "factual_consistency", consistent, ibid.NoClaims, unscored)
	w.settle(out, "hallucination_rate", hallucinated, ibid.NoClaims, unscored)
	if unasked {
		out.lack(ibid.NotAsked, "contradiction_rate")
	} else {
		w.settle(out, "contradiction_rate", contradicted, ibid.NoClaims, unscored)
	}
	w.settle(out, "mean_consistency", joint, citing, unscored)
	w.variance(out, joint, citing, unscored)
}

// variance is the sample variance of joined support over cited claims.
func (w *rowWork) variance(out *result, joint items, citing, unscored ibid.Reason) {
	const metric = "consistency_variance"
	switch {
	case joint.open > 0 && (joint.n < 2 || w.failed):
		out.lack(unscored, metric)
		return
	case joint.n < 2:
		out.lack(citing, metric)
		return
	}
	mean, squares := joint.sum/joint.n, 0.0
	for k := range w.claims {
		if c := &w.claims[k]; c.cited && !c.open {
			squares += (c.joint.Value - mean) * (c.joint.Value - mean)
		}
	}
	out.set(metric, squares/(joint.n-1))
}

// coverAnswer measures how much of what the answer claims carries a citation.
func (w *rowWork) coverAnswer(out *result) {
	var all, some []span
	for k := range w.claims {
		e := w.claims[k].Extent
		if !e.Known() {
			out.lack(ibid.NoClaims, "citation_coverage")
			return
		}
		if e.Start.Value < 0 || e.Start.Value >= e.End.Value || e.End.Value > ibid.MaxEnd {
			continue
		}
		s := span{start: e.Start.Value, end: e.End.Value}
		all = append(all, s)
		if len(w.claims[k].Citations) > 0 {
			some = append(some, s)
		}
	}
	cited, whole, _ := measure(some, all)
	out.counts["cited_answer_chars"], out.counts["claim_answer_chars"] = cited, whole
	out.share("citation_coverage", float64(cited), float64(whole), ibid.NoClaims)
}
