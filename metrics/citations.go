package metrics

import (
	"slices"

	"ibid"
	"ibid/metrics/dialect"
	"ibid/metrics/span"
)

var (
	allCitations      = Items{CitationItems, ScoredCitations, OpenBeside}
	relevantCitations = Items{RelevanceItems, RelevanceCitations, OpenBeside}
)

var citationDefinitions = map[Metric]Definition{
	CitationCorrectness: allCitations.define(Definition{
		Name: "citation_correctness", Aliases: []string{"citation_validity_rate", "correctness"}, Group: "citations", Kind: Ratio, Direction: HigherIsBetter,
		Summary:       "share of citations that support what they are cited for",
		Formula:       "citations with support ≥ supported / scored citations",
		UndefinedWhen: "no citation, or none is scored", Source: specification,
		Num: term(CorrectCitations), Den: term(ScoredCitations),
	}),
	CitationRelevance: relevantCitations.define(Definition{
		Name: "citation_relevance", Group: "citations", Kind: Ratio, Direction: HigherIsBetter,
		Summary:       "share of citations that are relevant",
		Formula:       "citations relevant for any linked claim / citations whose relevance is scored",
		UndefinedWhen: "no citation, or none is scored, or the judge does not ask (small verifiers)", Source: specification,
		Num: term(RelevantCitations), Den: term(RelevanceCitations), Derived: true,
	}),
	MeanSupportScore: allCitations.define(Definition{
		Name: "mean_support_score", Group: "citations", Kind: Mean, Direction: HigherIsBetter,
		Summary:       "mean support of citations",
		Formula:       "mean over scored citations of the best support over linked claims",
		UndefinedWhen: "no citation, or none is scored", Source: specification,
		Num: sumOf("mean_support_score", ScoredCitations), Den: term(ScoredCitations),
	}),
}

// judgedScratch is the memory of the judged metrics.
type judgedScratch struct {
	claims       []claimItem
	textless     bool        // claims are unscored, each for want of the texts it cites
	citationLack lack        // why metrics over citations have no value
	spans, cited []span.Span // of claims in the answer
	table        dialect.Table
	citations    []dialect.Citation // of all statements of table
}

// What is undefined together.
var (
	citationMetrics = []Metric{CitationCorrectness, CitationRelevance, MeanSupportScore}
	claimMetrics    = []Metric{
		CitationCompleteness, SupportedCompleteness, CitedClaimPrecision, FactualConsistency,
		MeanConsistency, ConsistencyVariance, HallucinationRate, ContradictionRate, CitationCoverage,
	}
)

func (s *Scores) allUndefined(metrics []Metric, why ibid.Reason) {
	for _, m := range metrics {
		s.undefined(m, why)
	}
}

// scoreJudged measures what needs claims, and verdicts on them.
func (s *Scorer) scoreJudged(r *Row, out *Scores) {
	if r.HasClaims {
		out.count(Claims, int64(len(r.Claims)))
	}
	s.shareVerdicts(r)
	for i := range r.Citations {
		out.Citations[i].VerdictOf = int(s.component.source[i])
	}
	s.readClaims(r, out)
	switch {
	case !r.HasCitations:
		out.allUndefined(citationMetrics, ibid.NoCitations)
	default:
		s.scoreCitations(r, out)
	}
	switch {
	case !r.HasClaims:
		out.allUndefined(claimMetrics, ibid.NoClaims)
	case !r.HasCitations:
		out.allUndefined(claimMetrics, ibid.NoCitations)
	default:
		s.scoreClaims(r, out)
		s.scoreCoverage(r, out)
	}
	s.scoreDialects(r, out)
}

// nameAbstained gives the judged metrics of an answer that abstains their reason.
func (s *Scores) nameAbstained() {
	for m := range definitions {
		if d := &definitions[m]; d.Judged && s.Reasons[m] != ibid.Defined {
			s.Reasons[m] = ibid.Abstained
		}
	}
}

// withholdUnread makes undefined what needs evidence of a row of which no source is
// known: whether a claim has a citation is known, what it is worth is not.
func (s *Scorer) withholdUnread(r *Row, out *Scores) {
	if !r.Textless || s.opt.Human {
		return
	}
	for _, m := range s.reading {
		if out.Reasons[m] != ibid.Defined {
			continue
		}
		out.undefined(m, ibid.NoDocuments)
		if d := &definitions[m]; d.Derived { // from a count that is not known either
			for _, t := range d.Num {
				c, _ := CountByName(t.Column)
				out.Counts[c], out.Known[c] = 0, false
			}
		}
	}
}

// withholdUndecided makes metrics undefined of which too many items are undecided; their bounds
// and counts stay. Without a value it is the reason where most items are undecided.
func (s *Scorer) withholdUndecided(out *Scores) {
	undecided := false
	for kind := range numItemKinds {
		undecided = undecided || out.Open[OpenOf(OpenUndecided, kind)] > 0
	}
	for m := range definitions {
		d := &definitions[m]
		if !undecided || len(d.Items) != 1 {
			continue
		}
		if !out.HasBounds[m] && Metric(m) != ConsistencyVariance && Metric(m) != DRBEffectiveCitations { // no open item changes it
			continue
		}
		of := d.Items[0]
		t := of.Tally(float64(out.Counts[of.Count]), out.Known[of.Count], func(o Open) float64 { return float64(out.Open[o]) })
		why := out.Reasons[m]
		none := t.Scored == 0 && t.Undecided > t.Unscored && t.Undecided >= t.NoText && (why == ibid.JudgeFailed || why == ibid.NoDocuments)
		if t.Undecidable(s.opt.MinCoverage) && (why == ibid.Defined || why == ibid.JudgeFailed && t.Unscored == 0) || none {
			out.undefined(Metric(m), ibid.Unsettled)
		}
	}
}

// unjudged reports whether no verdict of the row may be read.
func (r *Row) unjudged() bool { return r.JudgeFailed || !r.Judged }

// counts reports whether verdicts on citation i count: those of a citation that
// is not valid do only if people gave them.
func (s *Scorer) counts(r *Row, i int32) bool {
	return s.opt.Human || r.Citations[i].Place.Status.Valid()
}

// verdict returns the verdict on citation i as it counts, perhaps that of an identical one.
func (s *Scorer) verdict(r *Row, i int) CitationVerdict {
	switch {
	case !s.counts(r, int32(i)):
		return CitationVerdict{Support: ibid.Scored(0), Relevant: ibid.No, Necessary: ibid.No}
	case r.unjudged() || i >= len(r.Verdicts):
		return CitationVerdict{}
	}
	v, of := r.Verdicts[i], &r.Verdicts[s.component.source[i]]
	v.Support, v.Relevant, v.Quoted = of.Support, of.Relevant, of.Quoted
	return v
}

// whyOpen is the reason of a metric of which no item is scored; textless says
// that each of these lacks the text that a judge would have read.
func whyOpen(r *Row, textless bool) ibid.Reason {
	switch {
	case !r.HasClaims || len(r.Claims) == 0:
		return ibid.NoClaims
	case r.JudgeFailed:
		return ibid.JudgeFailed
	case !r.Judged:
		return ibid.NoJudge
	case textless:
		return ibid.NoDocuments
	}
	return ibid.JudgeFailed
}

// openClass says why something of citation i has no verdict, whose support is that one.
func (s *Scorer) openClass(r *Row, i int, support ibid.Support) OpenClass {
	switch {
	case support.Undecided():
		return OpenUndecided
	case !support.Known() && s.unread(r, i):
		return OpenNoText
	}
	return OpenUnscored
}

// scoreCitations measures the support by single citations.
func (s *Scorer) scoreCitations(r *Row, out *Scores) {
	var relevant share
	var support mean
	var correct int64
	textless := !s.opt.Human
	asked, unasked := false, false // whether the text has to do with the claim, where its support is known
	for _, k := range s.counted {
		i := int(k)
		if r.Citations[i].NoClaim {
			continue
		}
		v := s.verdict(r, i)
		class := s.openClass(r, i, v.Support)
		support.add(v.Support, class)
		switch {
		case !v.Support.Known():
			textless = textless && class == OpenNoText
		case s.counts(r, k):
			if v.Support.Value >= s.opt.Supported {
				correct++
			}
			asked, unasked = asked || v.Relevant != ibid.Unset, unasked || v.Relevant == ibid.Unset
		}
		if v.Relevant == ibid.Unset {
			relevant.addOpen(class, false, true)
		} else {
			relevant.add(v.Relevant == ibid.Yes)
		}
	}
	out.open(CitationItems, support.open)
	out.open(RelevanceItems, relevant.open)
	out.count(CorrectCitations, correct)
	out.count(ScoredCitations, support.scored)
	open := support.open.all()
	why := lack{ibid.NoCitations, whyOpen(r, textless && open > 0), r.unjudged()}
	s.judged.citationLack = why
	right := share{yes: correct, scored: support.scored, most: open, open: support.open}
	out.share(CitationCorrectness, right, why)
	out.mean(MeanSupportScore, support, why)
	out.share(CitationRelevance, relevant, why)
	out.count(RelevanceCitations, relevant.scored)
	switch {
	case unasked && !asked:
		out.undefined(CitationRelevance, ibid.NotAsked)
	case !why.failed || relevant.open.all() == 0:
		out.count(RelevantCitations, relevant.yes)
	}
}

// Necessity fills in what the minimal sufficient sets of a claim say of its
// citations: Necessary and Without of pairs, which is parallel to citations.
// Each set holds indices in the row's citations; no sets mean that not even all
// citations together support the claim.
func Necessity(pairs []PairVerdict, citations []int32, sets [][]int32) {
	for i, c := range citations {
		needed, spare := ibid.No, ibid.Scored(0)
		for _, set := range sets {
			if slices.Contains(set, c) {
				needed = ibid.Yes
			} else {
				spare = ibid.Scored(1)
			}
		}
		pairs[i].Necessary, pairs[i].Without = needed, spare
	}
}

// scoreNecessity measures which citations are needed, if the judge says so.
func (s *Scorer) scoreNecessity(r *Row, out *Scores) {
	if !s.opt.Necessity {
		out.undefined(ALCEPrecision, ibid.NoJudge)
		out.HasBounds[ALCEPrecision] = false
		out.undefined(NecessityShared, ibid.NoJudge)
		return
	}
	var supported, unsure [ibid.Yes + 1]int64 // citations of claims that are supported, and may be, by Necessary
	for i := range s.judged.claims {
		it := &s.judged.claims[i]
		if it.joint.Known() && !s.supported(it) {
			continue
		}
		for k := range r.Claims[i].Citations {
			if v := s.pair(r, i, k); it.joint.Known() {
				supported[v.Necessary]++
			} else {
				unsure[v.Necessary]++
			}
		}
	}
	yes, scored := supported[ibid.Yes], supported[ibid.Yes]+supported[ibid.No]
	open := supported[ibid.Unset] + unsure[ibid.Unset] + unsure[ibid.Yes] + unsure[ibid.No]
	why := lack{ibid.NoClaims, whyOpen(r, s.judged.textless), r.unjudged()}
	if len(r.Citations) == 0 {
		why.items = ibid.NoCitations
	}
	out.settle(NecessityShared, float64(yes), scored, open, why)
	if open == 0 {
		return
	}
	// At worst, of the claims that may be supported those are whose citations are
	// not needed; at best, the others.
	low, high := 1.0, 0.0
	if n := scored + supported[ibid.Unset] + unsure[ibid.Unset] + unsure[ibid.No]; n > 0 {
		low = float64(yes) / float64(n)
	}
	if n := scored + supported[ibid.Unset] + unsure[ibid.Unset] + unsure[ibid.Yes]; n > 0 {
		high = 1 - float64(supported[ibid.No])/float64(n)
	}
	out.bound(NecessityShared, low, high)
}
