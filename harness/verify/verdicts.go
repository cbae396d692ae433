package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/runs"
)

// An opinion is what a judge says of a claim and one piece of evidence. support is null if
// nobody knows.
type opinion struct {
	support      ibid.Number
	label        string
	relevant     ibid.Tri
	why, settled string
	quote        string
	at           stretch // of the quote in what was judged
	start        int64   // of what was judged, in its key
	placed       bool
}

// A claimWork is one claim of a row, the citations linked to it, and what was said of it.
type claimWork struct {
	ibid.Claim
	pairs map[int]opinion // by citation

	votes          ibid.Integer
	label, why     string
	asked          bool // there is a verdict on it
	elsewhereAt    record
	needs, factual bool
	cited, backed  bool        // by a citation; by one that counts
	joint          ibid.Number // as it counts
	open           bool        // joint is not known
	noText         bool        // and that for want of texts
	outcome        ibid.Outcome
}

// A citationWork is one citation of a row and what was said of it.
type citationWork struct {
	opinion
	judged    bool
	relevant  ibid.Tri
	missing   bool // it has a place, and no text of it is known
	noClaim   bool
	counts    bool // verdicts on it count
	claims    []int
	repeat    bool // an earlier one says the same
	concision float64
}

func triOf(v any) ibid.Tri {
	b, known := v.(bool)
	if !known {
		return ibid.Unset
	}
	return ibid.TriOf(b)
}

// readVerdicts puts what counts of the verdicts on the row to its claims and citations.
func (w *rowWork) readVerdicts() error {
	for _, v := range w.verdicts {
		if v["vote"] != nil || v["annotator"] != nil {
			continue // what the verdict that counts is made of
		}
		if v["unscored"] != nil {
			w.failed = true
			continue
		}
		k, known := v["claim"].(int64)
		if !known || k < 0 || int(k) >= len(w.claims) {
			return fmt.Errorf("verdicts.parquet has a verdict on claim %v of %d", v["claim"], len(w.claims))
		}
		c := &w.claims[k]
		c.asked = true
		w.asked = true
		support := numberOf(v["support"])
		switch evidence := textOf(v["evidence"]); evidence {
		case runs.ClaimEvidence:
			c.Factual, c.NeedsCitation = triOf(v["factual"]), triOf(v["needs_citation"])
			w.tampering = textOf(v["tampering"])
		case runs.JointEvidence:
			c.Joint.Number, c.Contradicted = support, triOf(v["contradicted"])
			c.label, c.why, c.votes = textOf(v["label"]), textOf(v["why"]), integerOf(v["votes"])
		case runs.ElsewhereEvidence:
			c.Elsewhere.Number, c.elsewhereAt = support, v
		default:
			number, ok := strings.CutPrefix(evidence, runs.CitationEvidence)
			i, err := strconv.Atoi(number)
			if !ok || err != nil || i < 0 || i >= len(w.citations) {
				return fmt.Errorf("verdicts.parquet has evidence %q", evidence)
			}
			o := opinion{
				support: support, label: textOf(v["label"]), relevant: triOf(v["relevant"]), why: textOf(v["why"]), settled: textOf(v["settled"]),
				quote: textOf(v["quote"]), start: integerOf(v["start"]).Value, placed: v["start"] != nil,
			}
			if v["quote_start"] != nil && v["quote_end"] != nil {
				o.at = stretch{integerOf(v["quote_start"]).Value, integerOf(v["quote_end"]).Value}
			}
			c.pairs[i] = o
			w.takeOpinion(i, o)
		}
	}
	return nil
}

// takeOpinion keeps the best support of a citation over the claims that it is linked to.
func (w *rowWork) takeOpinion(i int, o opinion) {
	c := &w.citations[i]
	if o.relevant == ibid.Yes || c.relevant == ibid.Unset {
		c.relevant = o.relevant
	}
	if !c.judged || o.support.Known() && (!c.support.Known() || o.support.Value > c.support.Value) {
		c.opinion = o
	}
	c.judged = true
}

// textKnown reports whether a judge could read something at the place of citation i.
func (w *rowWork) textKnown(i int) bool {
	c := &w.row.Citations[i]
	p := &c.Place
	if p.Level != ibid.LevelNowhere {
		if text, known := w.evidence(p); known {
			n := int64(len(text))
			if p.Level != ibid.LevelCharacters || w.s.Judge.Evidence == "document" {
				if n > 0 {
					return true
				}
			} else if p.Start < n && p.Start < p.End {
				return true
			}
		}
	}
	return c.CitedText != "" && c.Method != "located"
}

// evidence is the text that a place is in: the whole document where it is in no page.
func (w *rowWork) evidence(p *ibid.Place) ([]rune, bool) {
	d := w.resolver.document(p.Doc)
	if p.Page == 0 && d != nil {
		return d.text, d.hasText
	}
	return d.key(p.Page, w.in.base)
}

// readClaims decides what became of every claim.
func (w *rowWork) readClaims() {
	supported := w.s.Thresholds.Supported
	for k := range w.claims {
		c := &w.claims[k]
		decided := !w.failed
		c.factual, c.needs = true, true
		if decided {
			c.factual = c.Factual != ibid.No
			c.needs = c.NeedsCitation == ibid.Yes || c.NeedsCitation == ibid.Unset && c.factual
		}
		c.cited = len(c.Citations) > 0
		missing := false
		for _, i := range c.Citations {
			c.backed = c.backed || w.citations[i].counts
			missing = missing || w.citations[i].missing && w.row.Citations[i].Place.Status.Valid()
		}
		if c.Joint.Known() && c.Joint.Value != 1 && missing && !w.human && !w.told {
			c.Joint = ibid.Support{} // what nobody could read may hold what is missing
		}
		switch {
		case !w.row.HasCitations:
		case !c.backed:
			c.joint = ibid.Some[float64](0)
		case decided:
			c.joint = c.Joint.Number
			c.noText = !c.joint.Known() && w.textless(c)
		}
		c.open = !c.joint.Known()
		contradicted := c.Contradicted == ibid.Yes && c.backed
		switch {
		case !decided:
			c.outcome = ibid.Unscored
		case !c.factual:
			c.outcome = ibid.NotFactual
		case w.blind: // no text of the row is known
			c.outcome = ibid.NoText
		case c.noText:
			c.outcome = ibid.NoText
		case c.open:
			c.outcome = ibid.Unscored
		case c.backed && c.joint.Value >= supported && !contradicted:
			c.outcome = ibid.SupportedByCited
		case contradicted:
			c.outcome = ibid.Contradicted
		case c.Elsewhere.Known() && c.Elsewhere.Value >= supported:
			c.outcome = ibid.SupportedElsewhere
		case !c.Elsewhere.Known() && !w.human:
			c.outcome = ibid.Unscored
		default:
			c.outcome = ibid.Unsupported
		}
		if w.blind && decided && c.factual {
			c.outcome = ibid.NoText
		}
	}
}

// textless reports whether all that a claim cites with a place is without a known text.
func (w *rowWork) textless(c *claimWork) bool {
	lacks := false
	for _, i := range c.Citations {
		if w.unread(int(i)) {
			lacks = true
		} else if w.row.Citations[i].Place.Status.Valid() {
			return false
		}
	}
	return lacks
}

// unread reports whether citation i could not be judged for want of its text.
func (w *rowWork) unread(i int) bool { return !w.human && w.citations[i].missing }

// verdictOn is the support of citation i and its relevance as they count.
func (w *rowWork) verdictOn(i int) (ibid.Number, ibid.Tri) {
	c := &w.citations[i]
	switch {
	case !c.counts:
		return ibid.Some[float64](0), ibid.No
	case w.failed:
		return ibid.Number{}, ibid.Unset
	}
	return c.support, c.relevant
}

// openReason is why a metric of whose items none is scored has no value.
func (w *rowWork) openReason(texts bool) ibid.Reason {
	switch {
	case !w.claimsKnown || len(w.claims) == 0:
		return ibid.NoClaims
	case w.failed:
		return ibid.JudgeFailed
	case texts:
		return ibid.NoDocuments
	}
	return ibid.JudgeFailed
}

// worst is the worst problem of the row, by its name; "" if there is none. scores are how
// bad each is: an answer fails from low_score on.
func (w *rowWork) worst(out *result, places []citedPlace) (name string, fails bool) {
	order := strings.Fields(`none unjudged quote_moved partly low_score supported_elsewhere wrong_place uncited span_too_long unsupported span_malformed quote_mismatch
		span_out_of_bounds page_not_found document_not_found contradicted error`)
	worst := "none"
	note := func(p string) {
		if slices.Index(order, p) > slices.Index(order, worst) {
			worst = p
		}
	}
	if v, ok := out.values["overall_citation_accuracy"]; ok && v < 0.5 {
		note("low_score")
	}
	if len(w.row.Citations) == 0 && out.counts["truth_spans"] > 0 {
		note("uncited")
	}
	ofOutcome := map[ibid.Outcome]string{
		ibid.Contradicted: "contradicted", ibid.Unsupported: "unsupported", ibid.SupportedElsewhere: ibid.SupportedElsewhere.String(), ibid.Unscored: "unjudged", ibid.NoText: "unjudged",
	}
	for i := range w.row.Citations {
		switch s := w.row.Citations[i].Place.Status; s {
		case ibid.StatusEmpty, ibid.StatusInverted, ibid.StatusNegative:
			note("span_malformed")
		case ibid.StatusQuoteMismatch, ibid.StatusQuoteNotFound:
			note(ibid.StatusQuoteMismatch.String())
		case ibid.StatusQuoteRepaired:
			if !w.citations[i].noClaim {
				note("quote_moved")
			}
		case ibid.StatusDocumentNotFound, ibid.StatusPageNotFound, ibid.StatusOutOfBounds, ibid.StatusTooLong:
			note(s.String())
		}
		if p := places[i]; p.known && p.exact.num == 0 {
			note("wrong_place")
		} else if p.known && max(p.exact.float(), p.snapped.float()) < w.s.Thresholds.GoodMatch {
			note("partly")
		}
		if !w.judged {
			continue
		}
		c := &w.citations[i]
		against := c.judged && c.label == ibid.Contradicts.String()
		if against {
			note("contradicted")
		}
		support := c.support
		if !c.counts {
			support = ibid.Some[float64](0)
		}
		if support.Known() && support.Value >= w.s.Thresholds.Supported {
			continue
		}
		for _, k := range c.claims {
			if p := ofOutcome[w.claims[k].outcome]; p != "" && (p != "contradicted" || against || len(w.claims[k].Citations) == 1) {
				note(p)
			}
		}
	}
	for k := range w.claims {
		p := ofOutcome[w.claims[k].outcome]
		if len(w.claims[k].Citations) == 0 && (p == "unsupported" || p == ibid.SupportedElsewhere.String()) {
			p = "uncited"
		}
		if p != "" {
			note(p)
		}
	}
	return worst, slices.Index(order, worst) >= slices.Index(order, "low_score")
}
