package metrics

import (
	"cmp"
	"slices"
	"strings"

	"ibid"
	"ibid/metrics/span"
)

// componentDefinitions are the parts of the overall score. They differ from the plain
// metrics in what cannot be bought: citing the same place twice, citing much more than
// is needed, leaving claims uncited.
var componentDefinitions = map[Metric]Definition{
	SpanAccuracyScore: {
		Name: "span_accuracy_score", Aliases: []string{"span_accuracy", "citation_span_accuracy"}, Group: "overall", Kind: Score, Direction: HigherIsBetter, Min: 0, Max: 1,
		Summary:       "component: are the right places cited, and no others",
		Formula:       "harmonic mean of mean_snapped_jaccard and the mean best snapped Jaccard of distinct predicted spans; spans that touch no truth do not count if they support what they are cited for and have concision 1",
		UndefinedWhen: "no truth span", Source: specification + ", and precision beside recall",
	},
	CitationQualityScore: allCitations.define(Definition{
		Name: "citation_quality_score", Group: "overall", Kind: Score, Direction: HigherIsBetter,
		Summary:       "component: do citations support what they are cited for, and point closely",
		Formula:       "Σ concision over distinct citations with support ≥ supported / distinct citations; those without a verdict support as often as the scored, each at its own concision; concision = min(1, max(concise_chars, 4·E) / L), L the code points cited, E those of the judge's quote or of the truth it overlaps",
		UndefinedWhen: "no citation, or none is scored", Source: specification + ", weighed by concision",
	}),
	AnswerConsistencyScore: needingClaims.define(Definition{
		Name: "answer_consistency_score", Group: "overall", Kind: Score, Direction: HigherIsBetter,
		Summary:       "component: does what needs a citation agree with what it cites",
		Formula:       "mean over claims needing a citation of joined support × concision; 0 without a citation; those without a verdict are supported as the scored that cite, each at its own concision; concision = min(1, max(concise_chars, 4·E) / code points in the union of its cited spans)",
		UndefinedWhen: "no claim needs a citation, or none is scored", Source: specification + ", over all claims that need a citation, weighed by concision",
	}),
	HallucinationScore: outcomeClaims.define(Definition{
		Name: "hallucination_score", Group: "overall", Kind: Score, Direction: HigherIsBetter,
		Summary: "component: is the answer free of unsupported claims", Formula: "1 − hallucination_rate", Derived: true,
		UndefinedWhen: "no claim is factual, or none of these is scored", Source: specification,
	}),
}

// essentialShare is how many times as long as what matters in it a citation may be.
const essentialShare = 4

// componentScratch is the memory of the components.
type componentScratch struct {
	spans  []span.Span
	first  []int32  // of each citation: the first that is identical to it, perhaps itself
	source []int32  // of each citation: the one whose verdict it has
	backed []uint64 // of each citation: tells what it backs in the answer, and for which claims, from other such
	order  []int32  // citations, identical ones side by side
}

// scoreComponents fills in the components of a run that is not under Compat.
func (s *Scorer) scoreComponents(r *Row, out *Scores) {
	if s.opt.JudgeComponents {
		for i := range r.Citations {
			out.Citations[i].Concision = s.concision(r, i)
		}
		s.scoreQuality(r, out)
		s.scoreConsistency(r, out)
		out.invert(HallucinationScore, HallucinationRate)
	}
	s.scoreSpanAccuracy(r, out)
}

// findRepeats finds identical citations: they point to the same place for the same text
// of the answer and the same claims.
func (s *Scorer) findRepeats(r *Row) {
	n := len(r.Citations)
	c := &s.component
	c.first = append(c.first[:0], s.counted...)
	if n < 2 {
		return
	}
	c.backed = slices.Grow(c.backed[:0], n)[:n]
	clear(c.backed)
	mix := func(i int32, v int64) { c.backed[i] = (c.backed[i] + uint64(v) + 1) * 0x9e3779b97f4a7c15 }
	for i := range min(n, len(r.Scopes)) {
		for _, part := range r.Scopes[i] {
			mix(int32(i), part.Start.Value)
			mix(int32(i), part.End.Value)
		}
	}
	for k := range r.Claims {
		for _, i := range r.Claims[k].Citations {
			mix(i, int64(k))
		}
	}
	s.matchRepeats(r)
}

// matchRepeats finds, for each citation that counts, the first identical one.
func (s *Scorer) matchRepeats(r *Row) {
	c, all := &s.component, s.counted
	for _, i := range all {
		c.first[i] = i
	}
	compare := func(a, b int32) int {
		p, q := &r.Citations[a].Place, &r.Citations[b].Place
		if d := cmp.Compare(p.Start, q.Start); d != 0 {
			return d
		}
		return cmp.Or(
			cmp.Compare(p.End, q.End), strings.Compare(p.Doc, q.Doc), cmp.Compare(c.backed[a], c.backed[b]), cmp.Compare(p.Level, q.Level),
			cmp.Compare(p.Page, q.Page), cmp.Compare(p.FirstPage, q.FirstPage), cmp.Compare(p.LastPage, q.LastPage),
		)
	}
	if len(all) <= scanLimit {
		for k, i := range all {
			for n := 0; n < k && !s.repeats(int(i)); n++ {
				if compare(all[n], i) == 0 {
					c.first[i] = all[n]
				}
			}
		}
		return
	}
	c.order = append(c.order[:0], all...)
	slices.SortStableFunc(c.order, compare)
	for k := 1; k < len(c.order); k++ {
		if compare(c.order[k-1], c.order[k]) == 0 {
			c.first[c.order[k]] = c.first[c.order[k-1]]
		}
	}
}

// repeats reports whether an earlier citation is identical to citation i.
func (s *Scorer) repeats(i int) bool { return s.component.first[i] != int32(i) }

// shareVerdicts finds the citation whose verdict each citation has: itself, or without
// a verdict of its own the first identical citation that has one. A verdict belongs to
// what is cited.
func (s *Scorer) shareVerdicts(r *Row) {
	c := &s.component
	c.source = slices.Grow(c.source[:0], len(c.first))[:len(c.first)]
	scored := func(i int32) bool {
		return !r.unjudged() && int(i) < len(r.Verdicts) && r.Verdicts[i].Support.Known() && s.counts(r, i)
	}
	for i, first := range c.first { // of the first of identical citations: the first with a verdict
		if first == int32(i) || scored(int32(i)) && !scored(c.source[first]) {
			c.source[first] = int32(i)
		}
	}
	for i, first := range slices.Backward(c.first) { // the first is the last that is overwritten
		if c.source[i] = c.source[first]; scored(int32(i)) || !s.counts(r, int32(i)) || !scored(c.source[i]) {
			c.source[i] = int32(i)
		}
	}
}

// concision is how closely citation i points: 1 up to the length of a usual chunk, of a
// page or block that is cited as a whole, or of four times what matters in it; beyond
// that, this length over its own. A citation without a place in a text has 1.
func (s *Scorer) concision(r *Row, i int) float64 {
	length := placeLength(&r.Citations[i])
	if length <= conciseChars {
		return 1
	}
	enough := max(conciseChars, unitLength(&r.Citations[i], length), essentialShare*s.essential(r, i))
	return min(1, float64(enough)/float64(length))
}

// placeLength is how many code points a citation points to, 0 if that is not known.
func placeLength(c *ibid.Citation) int64 {
	if c.Place.Level != ibid.LevelCharacters || !c.Place.Status.Usable() {
		return 0
	}
	return c.Place.Length()
}

// unitLength is the mean length of the pages or blocks that a citation of such units
// points to, 0 for another.
func unitLength(c *ibid.Citation, length int64) int64 {
	units := int64(1)
	switch {
	case c.Unit == "page" && c.Place.FirstPage > 0:
		units = int64(c.Place.LastPage-c.Place.FirstPage) + 1
	case c.Unit == "page" || c.Unit == "block":
		if c.Start.Known() && c.End.Known() {
			units = max(units, c.End.Value-c.Start.Value)
		}
	default:
		return 0
	}
	return length / units
}

// essential is how many code points of what citation i points to matter: those that the
// judge quoted, or those of truth spans that it overlaps, whoever marked them.
func (s *Scorer) essential(r *Row, i int) int64 {
	quoted := s.verdict(r, i).Quoted
	at, spans := &r.Citations[i].Place, s.component.spans[:0]
	for k := range r.Truth {
		t := &r.Truth[k].Place
		if !r.Truth[k].DocNull && t.InSets() && t.Start < ibid.MaxEnd && t.Doc == at.Doc && t.Page == at.Page && t.Start < at.End && t.End > at.Start {
			for i := range t.Parts() {
				spans = append(spans, span.Of(t.Part(i), 0))
			}
		}
	}
	s.component.spans = spans
	return max(quoted, s.compare.Sizes(spans, nil, 0).Truth)
}

// claimConcision is [Scorer.concision] of all that a claim cites, taken together.
func (s *Scorer) claimConcision(r *Row, claim *ibid.Claim) float64 {
	var total int64
	for _, i := range claim.Citations {
		total += placeLength(&r.Citations[i])
	}
	if total <= conciseChars {
		return 1
	}
	enough := int64(conciseChars)
	var essential int64
	for _, i := range claim.Citations {
		if v := s.verdict(r, int(i)); s.repeats(int(i)) || !v.Support.Known() || v.Support.Value < s.opt.Supported {
			continue // what does not support the claim does not make more of it essential
		}
		essential += s.essential(r, int(i))
		enough = max(enough, unitLength(&r.Citations[i], placeLength(&r.Citations[i])))
	}
	spans, k := s.component.spans[:0], 0
	for j, x := range s.pred.spans { // in the order of the citations, as the claim's are
		for k < len(claim.Citations) && claim.Citations[k] < s.pred.source[j] {
			k++
		}
		if k < len(claim.Citations) && claim.Citations[k] == s.pred.source[j] {
			spans = append(spans, x)
		}
	}
	s.component.spans = spans
	return min(1, float64(max(enough, essentialShare*essential))/float64(max(s.compare.Sizes(spans, nil, 0).Truth, 1)))
}

// scoreQuality weighs the citations that support what they are cited for.
func (s *Scorer) scoreQuality(r *Row, out *Scores) {
	if !r.HasCitations {
		out.undefined(CitationQualityScore, ibid.NoCitations)
		return
	}
	var all weighted
	for _, k := range s.counted {
		i := int(k)
		if s.repeats(i) || r.Citations[i].NoClaim {
			continue
		}
		switch v := s.verdict(r, i); {
		case !v.Support.Known():
			all.addOpen(out.Citations[i].Concision)
		case s.counts(r, k) && v.Support.Value >= s.opt.Supported:
			all.add(1, out.Citations[i].Concision)
		default:
			all.add(0, out.Citations[i].Concision)
		}
	}
	out.weighted(CitationQualityScore, all, s.judged.citationLack)
}

// scoreConsistency weighs the joint support of claims that need a citation; one without
// a citation counts 0.
func (s *Scorer) scoreConsistency(r *Row, out *Scores) {
	switch {
	case !r.HasClaims:
		out.undefined(AnswerConsistencyScore, ibid.NoClaims)
		return
	case !r.HasCitations:
		out.undefined(AnswerConsistencyScore, ibid.NoCitations)
		return
	}
	var all weighted
	for k := range s.judged.claims {
		it := &s.judged.claims[k]
		if !it.needs {
			continue
		}
		concision := 0.0 // no verdict makes an uncited claim count
		if it.cited {
			concision = s.claimConcision(r, &r.Claims[k])
		}
		if it.decided && it.joint.Known() {
			all.add(it.joint.Value, concision)
		} else {
			all.addOpen(concision)
		}
	}
	items := ibid.NoClaims
	if len(r.Claims) > 0 && len(r.Citations) == 0 {
		items = ibid.NothingToCite
	}
	out.weighted(AnswerConsistencyScore, all, lack{items, whyOpen(r, s.judged.textless), r.unjudged()})
}

// scoreSpanAccuracy sets precision beside the recall of places: a place that is cited
// beside the truth costs, unless a judge found that it supports its claim as well.
func (s *Scorer) scoreSpanAccuracy(r *Row, out *Scores) {
	out.copyMetric(SpanAccuracyScore, MeanSnappedJaccard)
	if out.Reasons[SpanAccuracyScore] != ibid.Defined {
		return
	}
	var sum float64
	var n, open int64
	for j := range s.cited {
		i := s.pred.source[j]
		if s.repeats(int(i)) {
			continue
		}
		m := &s.cited[j]
		if s.opt.JudgeComponents && !m.Touches && out.Citations[i].Concision == 1 {
			v := s.verdict(r, int(i))
			if v.Support.Known() && v.Support.Value >= s.opt.Supported && s.counts(r, i) {
				continue
			}
			if !v.Support.Known() && !s.unread(r, int(i)) {
				open++
			}
		}
		n++
		sum += m.Snapped.Float()
	}
	found := out.Values[MeanSnappedJaccard]
	if found == 0 {
		return
	}
	// Some span was found, so that one touches truth and counts.
	mean := func(n int64) float64 { return 2 * found * sum / (found*float64(n) + sum) }
	out.Values[SpanAccuracyScore] = mean(n)
	if open > 0 {
		out.bound(SpanAccuracyScore, mean(n), mean(n-open))
	}
}

// claimsNothing reports whether a judged answer states nothing: it is empty, holds only
// marks, or refuses.
func (s *Scorer) claimsNothing(r *Row) bool {
	if !r.HasClaims || r.unjudged() && len(r.Claims) > 0 {
		return false
	}
	return !slices.ContainsFunc(s.judged.claims, func(it claimItem) bool { return it.factual || it.needs })
}
