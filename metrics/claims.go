package metrics

import (
	"slices"

	"ibid"
	"ibid/metrics/span"
)

// What metrics over claims are shares or means of.
var (
	needingClaims = Items{NeedingItems, NeedingClaims, OpenAmong}
	factualClaims = Items{FactualItems, FactualClaims, OpenAmong}
	outcomeClaims = Items{OutcomeItems, FactualClaims, OpenAmong}
	citedClaims   = Items{CitedItems, ConsistencyClaims, OpenBeside}
)

// define completes the definition of a metric over the items. Its bounds are [0, 1]
// unless it has a Max.
func (i Items) define(d Definition) Definition {
	if d.Max == 0 {
		d.Max = 1
	}
	d.UndefinedWhen = "no judge or no verdict on the row, claims or citations not known, or " + d.UndefinedWhen
	d.Items, d.Judged = []Items{i}, true
	return d
}

var claimDefinitions = map[Metric]Definition{
	CitationCompleteness: Items{NeedingItems, NeedingClaims, OpenInstead}.define(Definition{
		Name: "citation_completeness", Group: "claims", Kind: Ratio, Direction: HigherIsBetter,
		Summary:       "share of claims needing a citation that have one",
		Formula:       "claims needing a citation that have one, valid or not / claims needing a citation",
		UndefinedWhen: "no claim needs a citation", Source: specification,
		Num: term(CitedClaims), Den: term(NeedingClaims), Derived: true,
	}),
	SupportedCompleteness: needingClaims.define(Definition{
		Name: "supported_completeness", Aliases: []string{"completeness"}, Group: "claims", Kind: Ratio, Direction: HigherIsBetter,
		Summary:       "share of claims needing a citation that their citations support (attribution recall)",
		Formula:       "claims needing a citation with joined support ≥ supported / scored claims needing a citation",
		UndefinedWhen: "no claim needs a citation, or none is scored", Source: liu,
		Num: term(SupportedClaims), Den: NeedingClaims.less(NeedingItems), Derived: true,
	}),
	CitedClaimPrecision: Items{NeedingItems, CitedClaims, OpenAmong}.define(Definition{
		Name: "cited_claim_precision", Group: "claims", Kind: Ratio, Direction: HigherIsBetter,
		Summary:       "share of cited claims that their citations support (attribution precision)",
		Formula:       "claims needing a citation with joined support ≥ supported / scored claims needing a citation that have one",
		UndefinedWhen: "no claim needing a citation has one, or none is scored", Source: rashkin,
		Num: term(SupportedClaims), Den: CitedClaims.less(NeedingItems), Derived: true,
	}),
	FactualConsistency: factualClaims.define(Definition{
		Name: "factual_consistency", Group: "claims", Kind: Ratio, Direction: HigherIsBetter,
		Summary:       "share of factual claims that agree with their sources",
		Formula:       "factual claims with joined support ≥ consistent and not contradicted / scored factual claims",
		UndefinedWhen: "no claim is factual, or none of these is scored", Source: specification,
		Num: term(ConsistentClaims), Den: FactualClaims.less(FactualItems), Derived: true,
	}),
	MeanConsistency: citedClaims.define(Definition{
		Name: "mean_consistency", Aliases: []string{"consistency"}, Group: "claims", Kind: Mean, Direction: HigherIsBetter,
		Summary:       "mean joined support of cited claims",
		Formula:       "mean of joined support over scored claims that have a citation",
		UndefinedWhen: "no claim has a citation, or none of these is scored", Source: specification,
		Num: sumOf("mean_consistency", ConsistencyClaims), Den: term(ConsistencyClaims),
	}),
	ConsistencyVariance: citedClaims.define(Definition{
		Name: "consistency_variance", Group: "claims", Kind: Score, Direction: LowerIsBetter, Max: 0.5,
		Summary:       "spread of joined support over cited claims",
		Formula:       "sample variance (n − 1) of joined support over scored claims that have a citation",
		UndefinedWhen: "fewer than two claims that have a citation are scored", Source: specification,
	}),
	HallucinationRate: outcomeClaims.define(Definition{
		Name: "hallucination_rate", Aliases: []string{"hallucination"}, Group: "claims", Kind: Ratio, Direction: LowerIsBetter,
		Summary:       "share of factual claims that no evidence supports",
		Formula:       "factual claims with outcome contradicted or unsupported / factual claims whose outcome is scored",
		UndefinedWhen: "no claim is factual, or none of these is scored", Source: specification,
		Num: term(HallucinatedClaims), Den: FactualClaims.less(OutcomeItems),
	}),
	ContradictionRate: factualClaims.define(Definition{
		Name: "contradiction_rate", Group: "claims", Kind: Ratio, Direction: LowerIsBetter,
		Summary:       "share of factual claims that their cited evidence contradicts",
		Formula:       "factual claims with outcome contradicted / scored factual claims",
		UndefinedWhen: "no claim is factual, or none of these is scored, or the judge does not ask (protocol score, people, small verifiers)", Source: rashkin,
		Num: term(ContradictedClaims), Den: FactualClaims.less(FactualItems), Derived: true,
	}),
	CitationCoverage: {
		Name: "citation_coverage", Group: "answer", Kind: Score, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary:       "share of the answer's claims, by length, that carry a citation",
		Formula:       "answer code points in claims that carry a citation / answer code points in claims",
		UndefinedWhen: "no judge, for which claims are cut; or citations or the place of a claim in the answer not known, or no claim",
		Source:        liu, Judged: true,
	},
}

// A claimItem is one claim as it counts.
type claimItem struct {
	cited          bool // has a citation, valid or not
	decided        bool // it is known whether it is factual and needs a citation; else both are taken to be so
	factual, needs bool
	backed         bool         // something it cites counts
	joint          ibid.Support // 0 if nothing it cites counts
	open           OpenClass    // why joint is not known
	outcome        ibid.Outcome
	revocable      bool // unsupported, and a verdict on other passages is missing
}

func (s *Scorer) supported(c *claimItem) bool {
	return c.backed && c.joint.Known() && c.joint.Value >= s.opt.Supported
}

// openOutcomes are the outcomes of claims without a verdict, by its class.
var openOutcomes = [numOpenClasses]ibid.Outcome{OpenUnscored: ibid.Unscored, OpenUndecided: ibid.Undecided, OpenNoText: ibid.NoText}

// readClaims fills s.judged.claims and the outcomes. Without citations nothing
// is known of the support by them.
func (s *Scorer) readClaims(r *Row, out *Scores) {
	items := s.judged.claims[:0]
	if r.HasClaims {
		for i := range r.Claims {
			c := s.readClaim(r, &r.Claims[i])
			items = append(items, c)
			out.Outcomes = append(out.Outcomes, c.outcome)
		}
	}
	s.judged.claims = items
}

func (s *Scorer) readClaim(r *Row, c *ibid.Claim) claimItem {
	it := claimItem{cited: len(c.Citations) > 0, decided: !r.unjudged(), factual: true, needs: true}
	if it.decided {
		it.factual = c.Factual != ibid.No
		it.needs = c.NeedsCitation == ibid.Yes || c.NeedsCitation == ibid.Unset && it.factual
	}
	for _, i := range c.Citations {
		it.backed = it.backed || s.counts(r, i)
	}
	switch {
	case !r.HasCitations:
	case !it.backed:
		it.joint = ibid.Scored(0)
	case it.decided:
		switch it.joint = c.Joint; {
		case it.joint.Undecided():
			it.open = OpenUndecided
		case !it.joint.Known() && s.lacksText(r, c):
			it.open = OpenNoText
		}
	}
	if it.outcome = s.outcome(&it, c); r.Textless && it.factual {
		it.outcome = ibid.NoText
	}
	it.revocable = it.outcome == ibid.Unsupported && s.opt.AsksElsewhere && !c.Elsewhere.Known()
	return it
}

// outcome is the first that holds. Only a verdict makes a claim supported elsewhere.
func (s *Scorer) outcome(it *claimItem, c *ibid.Claim) ibid.Outcome {
	switch contradicted := c.Contradicted == ibid.Yes && it.backed; {
	case !it.decided:
		return ibid.Unscored
	case !it.factual:
		return ibid.NotFactual
	case !it.joint.Known():
		return openOutcomes[it.open]
	case s.supported(it) && !contradicted:
		return ibid.SupportedByCited
	case contradicted:
		return ibid.Contradicted
	case c.Elsewhere.Known() && c.Elsewhere.Value >= s.opt.Supported:
		return ibid.SupportedElsewhere
	case c.Elsewhere.Undecided():
		return ibid.Undecided
	}
	return ibid.Unsupported
}

// claimShares are the items of the metrics over claims.
type claimShares struct {
	cited, supported, precise               share // of the claims that need a citation; precise: of those that have one
	consistent, hallucinated, contradictory share // of the factual claims
	joint                                   mean  // of the claims that have a citation
	unasked                                 bool  // a factual claim has no verdict on contradiction
}

// scoreClaims measures the support of claims, and the lack of it.
func (s *Scorer) scoreClaims(r *Row, out *Scores) {
	var all claimShares
	for i := range s.judged.claims {
		s.addClaim(&all, &s.judged.claims[i], &r.Claims[i])
	}
	s.countClaims(&all, r.unjudged(), out)

	outcomes := &all.hallucinated.open
	s.judged.textless = outcomes[OpenNoText] > 0 && outcomes[OpenNoText] == outcomes.all()
	open := whyOpen(r, s.judged.textless)
	why := func(items ibid.Reason) lack { return lack{items, open, r.unjudged()} }
	toCite, cited := ibid.NoClaims, ibid.NoCitations
	if len(r.Claims) > 0 && len(r.Citations) == 0 {
		toCite = ibid.NothingToCite
	}
	if len(r.Claims) == 0 {
		cited = ibid.NoClaims
	}
	precise := cited
	if all.cited.scored+all.cited.open.all() == 0 {
		precise = toCite
	}
	out.share(CitationCompleteness, all.cited, why(toCite))
	out.share(SupportedCompleteness, all.supported, why(toCite))
	out.share(CitedClaimPrecision, all.precise, why(precise))
	out.share(FactualConsistency, all.consistent, why(ibid.NoClaims))
	out.share(HallucinationRate, all.hallucinated, why(ibid.NoClaims))
	if all.unasked {
		out.undefined(ContradictionRate, ibid.NotAsked)
	} else {
		out.share(ContradictionRate, all.contradictory, why(ibid.NoClaims))
	}
	out.mean(MeanConsistency, all.joint, why(cited))
	s.scoreVariance(all.joint, why(cited), out)
}

// addClaim enters one claim. Where its joint support is open, it can turn out
// either way; where only that it is factual and needs a citation is open, it is
// taken to be so.
func (s *Scorer) addClaim(all *claimShares, it *claimItem, c *ibid.Claim) {
	scored := it.decided && it.joint.Known()
	enter := func(h *share, known, yes, possibly bool) {
		if known {
			h.add(yes)
		} else {
			h.addOpen(it.open, false, possibly)
		}
	}
	if it.needs {
		if it.decided {
			all.cited.add(it.cited)
		} else {
			all.cited.addOpen(OpenUnscored, it.cited, it.cited)
		}
		enter(&all.supported, scored, s.supported(it), !it.joint.Known())
		if it.cited {
			enter(&all.precise, scored, s.supported(it), !it.joint.Known())
		}
	}
	if it.factual {
		contradicted := it.backed && c.Contradicted == ibid.Yes
		all.unasked = all.unasked || scored && c.Contradicted == ibid.Unset
		consistent := it.backed && !contradicted && it.joint.Value >= s.opt.Consistent
		enter(&all.consistent, scored, consistent, !it.joint.Known())
		enter(&all.contradictory, scored, it.outcome == ibid.Contradicted, !it.joint.Known())
		if class := slices.Index(openOutcomes[:], it.outcome); class >= 0 {
			all.hallucinated.addOpen(OpenClass(class), !it.decided && it.joint.Known() && !s.opt.AsksElsewhere, true)
		} else {
			all.hallucinated.add(it.outcome == ibid.Contradicted || it.outcome == ibid.Unsupported)
		}
		if it.revocable {
			all.hallucinated.revocable++
		}
	}
	if it.cited {
		all.joint.add(it.joint, it.open)
	}
}

// lacksText reports whether the support of a claim could not be judged for want
// of the texts that it cites. People need none.
func (s *Scorer) lacksText(r *Row, c *ibid.Claim) bool {
	lacks := false
	for _, i := range c.Citations {
		switch {
		case s.unread(r, int(i)):
			lacks = true
		case r.Citations[i].Place.Status.Valid():
			return false
		}
	}
	return lacks
}

// unread reports whether citation i could not be judged because its text is not known.
func (s *Scorer) unread(r *Row, i int) bool {
	switch {
	case s.opt.Human:
		return false
	case i < len(r.Verdicts):
		return r.Verdicts[i].NoText
	}
	return r.Citations[i].Place.Status == ibid.StatusUnchecked
}

// countClaims counts. What depends on which claims are factual and need a
// citation is not known of an unjudged row.
func (s *Scorer) countClaims(all *claimShares, unjudged bool, out *Scores) {
	out.open(NeedingItems, all.supported.open)
	out.open(FactualItems, all.consistent.open)
	out.open(CitedItems, all.joint.open)
	out.open(OutcomeItems, all.hallucinated.open)
	out.Open[ElsewhereOutcomes] = all.hallucinated.revocable
	out.count(ConsistencyClaims, all.joint.scored)
	if unjudged && len(s.judged.claims) > 0 {
		return
	}
	out.count(FactualClaims, all.consistent.scored+all.consistent.open.all())
	out.count(NeedingClaims, all.cited.scored)
	out.count(CitedClaims, all.cited.yes)
	out.count(SupportedClaims, all.supported.yes)
	out.count(ConsistentClaims, all.consistent.yes)
	if !all.unasked {
		out.count(ContradictedClaims, all.contradictory.yes)
	}
	out.count(HallucinatedClaims, all.hallucinated.yes)
}

// scoreVariance measures how much joined support differs between claims.
func (s *Scorer) scoreVariance(joint mean, why lack, out *Scores) {
	switch {
	case joint.open.all() > 0 && (joint.scored < 2 || why.failed):
		out.undefined(ConsistencyVariance, why.scored)
		return
	case joint.scored < 2:
		out.undefined(ConsistencyVariance, why.items)
		return
	}
	center := joint.sum / float64(joint.scored)
	var squares float64
	for i := range s.judged.claims {
		if it := &s.judged.claims[i]; it.cited && it.joint.Known() {
			d := it.joint.Value - center
			squares += d * d
		}
	}
	out.quotient(ConsistencyVariance, squares, float64(joint.scored-1), ibid.Defined)
}

// scoreCoverage measures how much of the claims' text carries a citation.
func (s *Scorer) scoreCoverage(r *Row, out *Scores) {
	all, cited := s.judged.spans[:0], s.judged.cited[:0]
	for i := range r.Claims {
		c := &r.Claims[i]
		if !c.Extent.Known() {
			out.undefined(CitationCoverage, ibid.NoClaims)
			return
		}
		if ibid.CheckSpan(c.Extent.Start.Value, c.Extent.End.Value) != ibid.StatusOK {
			continue
		}
		x := span.Span{Start: int32(c.Extent.Start.Value), End: int32(c.Extent.End.Value)}
		all = append(all, x)
		if len(c.Citations) > 0 {
			cited = append(cited, x)
		}
	}
	s.judged.spans, s.judged.cited = all, cited
	z := s.compare.Sizes(cited, all, 0)
	out.ratio(CitationCoverage, z.Truth, z.Pred, ibid.NoClaims)
}
