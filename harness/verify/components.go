package verify

import (
	"fmt"
	"slices"

	"ibid"
)

// findRepeats finds citations that say what an earlier one says: the same place for the
// same text and the same claims.
func (w *rowWork) findRepeats() {
	says := func(i int) string {
		p := &w.row.Citations[i].Place
		return fmt.Sprintf("%q %d %d %d %d %d %d %v %v", p.Doc, p.Page, p.Level, p.Start, p.End, p.FirstPage, p.LastPage, w.scopes[i], w.citations[i].claims)
	}
	seen := make(map[string]bool)
	for i := range w.citations {
		s := says(i)
		w.citations[i].repeat = seen[s]
		seen[s] = true
	}
}

func (w *rowWork) placeLength(i int) int64 {
	p := &w.row.Citations[i].Place
	if p.Level != ibid.LevelCharacters || !p.Status.Usable() {
		return 0
	}
	return lengthOf(p)
}

// enough is how many code points of citation i are no more than its unit is: those of one
// of the pages or blocks that it cites.
func (w *rowWork) unitLength(i int) int64 {
	c := &w.row.Citations[i]
	n := int64(1)
	switch {
	case c.Unit != "page" && c.Unit != "block":
		return 0
	case c.Unit == "page" && c.Place.FirstPage > 0:
		n = int64(c.Place.LastPage-c.Place.FirstPage) + 1
	case c.Start.Known() && c.End.Known():
		n = max(1, c.End.Value-c.Start.Value)
	}
	return w.placeLength(i) / n
}

// essential is how many code points of citation i matter: those that the judge quotes, or
// those of truth that it overlaps.
func (w *rowWork) essential(i int) int64 {
	quoted := int64(0)
	if !w.failed && (w.human || w.row.Citations[i].Place.Status.Valid() || w.citations[i].noClaim) {
		quoted = w.citations[i].at.end - w.citations[i].at.start
	}
	p := &w.row.Citations[i].Place
	var marked []span
	for k := range w.row.Truth {
		t := &w.row.Truth[k].Place
		if w.row.Truth[k].DocNull || !inSets(t) || t.Start >= ibid.MaxEnd || t.Doc != p.Doc || t.Page != p.Page || t.Start >= p.End || t.End <= p.Start {
			continue
		}
		for _, part := range partsOf(t) {
			if part.start < ibid.MaxEnd {
				marked = append(marked, span{key{}, part.start, min(part.end, ibid.MaxEnd), 0})
			}
		}
	}
	n, _, _ := measure(marked, nil)
	return max(quoted, n)
}

// scoreComponents computes the parts of the overall score.
func (w *rowWork) scoreComponents(out *result, ofSpan []cited) {
	w.findRepeats()
	if w.judged {
		concise := w.s.ConciseChars
		for i := range w.citations {
			length := w.placeLength(i)
			w.citations[i].concision = 1
			if length > concise {
				w.citations[i].concision = min(1, float64(max(concise, w.unitLength(i), 4*w.essential(i)))/float64(length))
			}
		}
		w.scoreQuality(out)
		w.scoreConsistency(out)
		if v, ok := out.values["hallucination_rate"]; ok {
			out.set("hallucination_score", 1-v)
		} else {
			out.undefined["hallucination_score"] = out.undefined["hallucination_rate"]
		}
		if high, ok := out.high["hallucination_rate"]; ok {
			out.bound("hallucination_score", 1-high, 1-out.low["hallucination_rate"])
		}
	}
	w.scoreAccuracy(out, ofSpan)
}

func (w *rowWork) scoreQuality(out *result) {
	const metric = "citation_quality_score"
	var of items
	for i := range w.citations {
		c := &w.citations[i]
		if c.repeat || c.noClaim {
			continue
		}
		if s, _ := w.verdictOn(i); s.Known() {
			of.add(c.concision * yes(c.counts && s.Value >= w.s.Thresholds.Supported))
		} else {
			of.addOpen(0, c.concision)
		}
	}
	if of.open > 0 {
		out.bound(metric, of.sum/(of.n+of.open), (of.sum+of.most)/(of.n+of.open))
	}
	if why, lacks := out.undefined["citation_correctness"]; lacks {
		out.undefined[metric] = why
		return
	}
	out.share(metric, of.sum, of.n, ibid.NoCitations)
}

func (w *rowWork) scoreConsistency(out *result) {
	const metric = "answer_consistency_score"
	switch {
	case !w.claimsKnown:
		out.lack(ibid.NoClaims, metric)
		return
	case !w.row.HasCitations:
		out.lack(ibid.NoCitations, metric)
		return
	}
	var of items
	for k := range w.claims {
		c := &w.claims[k]
		if !c.needs {
			continue
		}
		concision := 1.0
		if c.cited {
			concision = w.claimConcision(c)
		}
		if c.open || w.failed {
			of.addOpen(0, concision*yes(c.cited))
		} else {
			of.add(c.joint.Value * concision)
		}
	}
	none := ibid.NoClaims
	if len(w.claims) > 0 && len(w.citations) == 0 {
		none = ibid.NothingToCite
	}
	w.settle(out, metric, of, none, w.openReason(w.onlyTexts))
}

// claimConcision is how closely all that a claim cites points, taken together.
func (w *rowWork) claimConcision(c *claimWork) float64 {
	enough, essential := w.s.ConciseChars, int64(0)
	var union []span
	for _, i := range c.Citations {
		for _, s := range w.pred.spans {
			if s.from == int(i) {
				union = append(union, s)
			}
		}
		if v, _ := w.verdictOn(int(i)); w.citations[i].repeat || !v.Known() || v.Value < w.s.Thresholds.Supported {
			continue
		}
		essential += w.essential(int(i))
		enough = max(enough, w.unitLength(int(i)))
	}
	length, _, _ := measure(union, nil)
	return min(1, float64(max(enough, 4*essential))/float64(max(length, 1)))
}

// scoreAccuracy sets precision of places beside their recall.
func (w *rowWork) scoreAccuracy(out *result, ofSpan []cited) {
	const metric = "span_accuracy_score"
	recall, ok := out.values["mean_snapped_jaccard"]
	if !ok {
		out.undefined[metric] = out.undefined["mean_snapped_jaccard"]
		return
	}
	var sum, n, open float64
	for j, c := range ofSpan {
		i := w.pred.spans[j].from
		x := &w.citations[i]
		if x.repeat {
			continue
		}
		if w.judged && !c.touches && x.concision == 1 {
			s, _ := w.verdictOn(i)
			if s.Known() && x.counts && s.Value >= w.s.Thresholds.Supported {
				continue // it supports its claim as well as the marked place
			}
			if !s.Known() && !w.unread(i) {
				open++
			}
		}
		n++
		sum += c.snapped.float()
	}
	if recall == 0 {
		open = 0
	}
	if w.judged {
		out.counts["unscored_extra_citations"] = int64(open)
	}
	harmonic := func(n float64) float64 {
		precision := sum / n
		return 2 * recall * precision / (recall + precision)
	}
	if recall == 0 {
		out.set(metric, 0)
		return
	}
	out.set(metric, harmonic(n))
	if open > 0 {
		out.bound(metric, harmonic(n), harmonic(n-open))
	}
}

// An expectation says whether the answer should cite something.
type expectation struct {
	known, cite bool
	why         ibid.Reason
}

func (w *rowWork) expected(out *result) expectation {
	docs, known := out.counts["truth_docs"]
	switch {
	case known && docs > 0:
		return expectation{true, true, ibid.Defined}
	case !w.judged:
		return expectation{known: known, why: ibid.NoTruth}
	case !w.claimsKnown:
		return expectation{known: known, why: ibid.NoClaims}
	case w.failed && len(w.claims) > 0:
		return expectation{cite: true, why: ibid.JudgeFailed}
	}
	return expectation{known: true, cite: slices.ContainsFunc(w.claims, func(c claimWork) bool { return c.needs })}
}

// scoreOverall computes abstention_correct and the overall score.
func (w *rowWork) scoreOverall(out *result) {
	e := w.expected(out)
	given := len(w.row.Citations) > 0
	switch {
	case !w.row.HasCitations:
		out.lack(ibid.NoCitations, "abstention_correct")
	case e.known:
		out.set("abstention_correct", yes(given == e.cite))
	default:
		out.lack(e.why, "abstention_correct")
		if e.cite {
			out.bound("abstention_correct", yes(given), yes(given))
		}
	}
	w.withhold(out)
	const metric = "overall_citation_accuracy"
	_, truthKnown := out.counts["truth_docs"]
	if len(w.weights) == 0 {
		out.lack(ibid.NoJudge, metric)
		return
	}
	_, spans := w.weights["span_accuracy_score"]
	claimless := w.claimsKnown && !(w.failed && len(w.claims) > 0) && !slices.ContainsFunc(w.claims, func(c claimWork) bool { return c.factual || c.needs })
	switch {
	case !w.row.HasCitations:
		out.lack(ibid.NoCitations, metric)
	case spans && !truthKnown:
		out.lack(ibid.NoTruth, metric)
	case !given && e.known && !e.cite:
		out.lack(ibid.NothingToCite, metric)
	case w.judged && e.known && e.cite && claimless:
		out.set(metric, 0)
	default:
		w.combine(out, e, given)
	}
}

// withhold takes the values from what needs evidence, in a row of which no text is known.
func (w *rowWork) withhold(out *result) {
	if !w.blind || w.human {
		return
	}
	for i := range metrics {
		m := &metrics[i]
		if _, has := out.values[m.name]; has && m.judged && m.name != "citation_completeness" && m.name != "citation_coverage" {
			out.lack(ibid.NoDocuments, m.name)
		}
	}
}

// combine is the weighted mean of the components.
func (w *rowWork) combine(out *result, e expectation, given bool) {
	const metric = "overall_citation_accuracy"
	var sum, low, high, total float64
	why := ""
	bounded, open := true, false
	for _, c := range components {
		weight, has := w.weights[c]
		if !has {
			continue
		}
		total += weight
		v, defined := out.values[c]
		l, hasBounds := out.low[c]
		reason := out.undefined[c]
		nothing := e.cite && (reason == ibid.NoCitations.String() || !given && (reason == ibid.NoClaims.String() || reason == ibid.NothingToCite.String()))
		switch {
		case hasBounds:
			low, high, open = low+weight*l, high+weight*out.high[c], true
		case defined:
			low, high = low+weight*v, high+weight*v
		}
		switch {
		case defined:
			sum += weight * v
		case nothing: // counts 0: not citing must never pay
			if !e.known && bounded {
				why, open = e.why.String(), true
			}
		case !hasBounds:
			if bounded {
				why, bounded = reason, false
			}
		case why == "":
			why = reason
		}
	}
	if why == "" {
		out.set(metric, sum/total)
	} else {
		delete(out.values, metric)
		out.undefined[metric] = why
	}
	if bounded && open {
		out.bound(metric, low/total, high/total)
	}
}
