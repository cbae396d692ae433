package metrics

import (
	"slices"

	"ibid"
	"ibid/metrics/dialect"
)

// A dialectMetric is a column named after a paper: its definition, its formula over
// the verdict table of a row, and the kinds of verdict without which it is open.
type dialectMetric struct {
	metric     Metric
	score      func(t dialect.Table, supported float64) (value float64, ok bool)
	needs      gaps
	definition Definition // but for group, kind and direction, which all share
}

// anySupport makes a formula that asks for no threshold one that ignores it.
func anySupport(f func(dialect.Table) (float64, bool)) func(dialect.Table, float64) (float64, bool) {
	return func(t dialect.Table, _ float64) (float64, bool) { return f(t) }
}

const (
	alce     = "Gao et al., ALCE, EMNLP 2023"
	longcite = "Zhang et al., LongCite, 2024"
	trec     = "Thakur et al., TREC 2024 RAG Track support evaluation, arXiv 2504.15205"
	drb      = "Du et al., DeepResearch Bench, 2025"

	noClaimScored    = "no claim, or none is scored"
	noCitationScored = "no citation, or none is scored"
)

var statements = Items{CitedItems, Claims, OpenAmong}

var dialectMetrics = [...]dialectMetric{
	{
		metric: ALCERecall, score: dialect.ALCERecall, needs: jointGap,
		definition: statements.define(Definition{
			Name: "alce_recall", Summary: "share of statements that their citations jointly support",
			Formula:       "statements with joined support ≥ supported / statements; one that cites a document that does not exist is not supported",
			UndefinedWhen: noClaimScored, Source: alce,
		}),
	},
	{
		metric: ALCEPrecision, score: dialect.ALCEPrecision, needs: jointGap | supportGap | spareGap,
		definition: statements.define(Definition{
			Name: "alce_precision", Summary: "share of citations that are not irrelevant for their statement",
			Formula:       "citations of supported statements that support alone, or without which the others do not / citations",
			UndefinedWhen: noCitationScored + ", or judge.necessity is false", Source: alce,
		}),
	},
	{
		metric: LongCiteRecall, score: anySupport(dialect.LongCiteRecall), needs: jointGap | needGap,
		definition: statements.define(Definition{
			Name: "longcite_recall", Summary: "mean joined support of statements",
			Formula:       "mean over the first 40 statements of joined support; without a citation 1 if none is needed, else 0",
			UndefinedWhen: noClaimScored, Source: longcite,
		}),
	},
	{
		metric: LongCitePrecision, score: anySupport(dialect.LongCitePrecision), needs: relevantGap,
		definition: relevantCitations.define(Definition{
			Name: "longcite_precision", Summary: "share of citations that are relevant for their statement",
			Formula:       "relevant citations / citations, over the first 40 statements",
			UndefinedWhen: noCitationScored, Source: longcite,
		}),
	},
	{
		metric: LongCiteF1, score: anySupport(dialect.LongCiteF1), needs: jointGap | needGap | relevantGap,
		definition: relevantCitations.define(Definition{
			Name: "longcite_f1", Summary: "harmonic mean of LongCite recall and precision",
			Formula:       "2PR / (P + R)",
			UndefinedWhen: "either is undefined", Source: longcite,
		}),
	},
	{
		metric: TRECWeightedPrecision, score: anySupport(dialect.TRECWeightedPrecision), needs: supportGap,
		definition: allCitations.define(Definition{
			Name: "trec_weighted_precision", Summary: "mean support per citation",
			Formula:       "Σ support / citations, each for its statement",
			UndefinedWhen: noCitationScored, Source: trec,
		}),
	},
	{
		metric: TRECWeightedRecall, score: anySupport(dialect.TRECWeightedRecall), needs: supportGap,
		definition: allCitations.define(Definition{
			Name: "trec_weighted_recall", Summary: "mean support per statement by its first citation",
			Formula:       "Σ support by the first citation / statements",
			UndefinedWhen: noClaimScored, Source: trec,
		}),
	},
	{
		metric: DRBAccuracy, score: dialect.DRBAccuracy, needs: supportGap,
		definition: allCitations.define(Definition{
			Name: "drb_accuracy", Summary: "share of pairs of statement and source in which the source supports the statement",
			Formula:       "supported pairs of a statement and a document it cites / such pairs, best citation per pair",
			UndefinedWhen: noCitationScored, Source: drb,
		}),
	},
	{
		metric: DRBEffectiveCitations, score: dialect.DRBEffectiveCitations, needs: supportGap,
		definition: allCitations.define(Definition{
			Name: "drb_effective_citations", Max: unbounded, Summary: "supported pairs of statement and source; 0 if nothing is cited",
			Formula:       "count of pairs of a statement and a document it cites that supports it",
			UndefinedWhen: "there are such pairs and none is scored", Source: drb,
		}),
	},
}

// dialectDefinitions are those of all columns named after papers, and of
// necessity_shared, which needs the same table of verdicts.
func dialectDefinitions() map[Metric]Definition {
	all := map[Metric]Definition{
		NecessityShared: statements.define(Definition{
			Name: "necessity_shared", Group: "dialects", Kind: Score, Direction: HigherIsBetter,
			Summary:       "share of citations of supported claims that some minimal sufficient set needs",
			Formula:       "citations in at least one minimal sufficient set of their claim / citations of claims with joined support ≥ supported",
			UndefinedWhen: "no supported claim, or judge.necessity is false",
			Source:        "leave-out sets; Gao et al., ALCE, EMNLP 2023, with redundant citations not punished",
		}),
	}
	for _, d := range dialectMetrics {
		d.definition.Group, d.definition.Kind, d.definition.Direction = "dialects", Score, HigherIsBetter
		all[d.metric] = d.definition
	}
	return all
}

// A filling says what stands in a verdict table where a verdict is missing.
type filling uint8

const (
	missingVerdicts filling = iota // nothing
	worstVerdicts
	bestVerdicts
)

func (f filling) score(s ibid.Support) ibid.Number {
	switch {
	case s.Known():
		return ibid.Some(s.Value)
	case f == worstVerdicts:
		return ibid.Some[float64](0)
	case f == bestVerdicts:
		return ibid.Some[float64](1)
	}
	return ibid.Number{}
}

// spare is the support by the other citations: the less, the better for one.
func (f filling) spare(s ibid.Support) ibid.Number {
	switch f {
	case worstVerdicts:
		return bestVerdicts.score(s)
	case bestVerdicts:
		return worstVerdicts.score(s)
	}
	return f.score(s)
}

func (f filling) verdict(v ibid.Tri) ibid.Tri {
	switch {
	case v == ibid.Yes, v == ibid.Unset && f == bestVerdicts:
		return ibid.Yes
	case v == ibid.No, v == ibid.Unset && f == worstVerdicts:
		return ibid.No
	}
	return ibid.Unset
}

// gaps are the kinds of verdict that a table lacks.
type gaps uint8

const (
	jointGap    gaps = 1 << iota // joined support of a claim
	supportGap                   // support by a citation
	relevantGap                  // relevance of a citation
	spareGap                     // support by the other citations of a claim, where it matters
	needGap                      // whether a claim without a citation needs one
)

// pair returns the verdict on claim i and its k-th citation as it counts. If
// only citations have verdicts, what holds of a citation holds for each claim.
func (s *Scorer) pair(r *Row, i, k int) PairVerdict {
	c := r.Claims[i].Citations[k]
	if !s.counts(r, c) {
		// The others are then all that supports the claim.
		return PairVerdict{Support: ibid.Scored(0), Without: s.judged.claims[i].joint, Relevant: ibid.No, Necessary: ibid.No}
	}
	if !r.unjudged() && i < len(r.Pairs) {
		return s.sharedPair(r, i, k)
	}
	v := s.verdict(r, int(c))
	return PairVerdict{Support: v.Support, Relevant: v.Relevant, Necessary: v.Necessary}
}

// sharedPair is the verdict on claim i and its k-th citation, with the support and the
// relevance of the first identical citation that has one if it has none itself.
func (s *Scorer) sharedPair(r *Row, i, k int) PairVerdict {
	pairs, cited, first := r.Pairs[i], r.Claims[i].Citations, s.component.first
	v := pairs[k]
	for n := 0; n < len(pairs) && !v.Support.Known(); n++ {
		if first[cited[n]] == first[cited[k]] && pairs[n].Support.Known() && s.counts(r, cited[n]) {
			v.Support, v.Relevant = pairs[n].Support, pairs[n].Relevant
		}
	}
	return v
}

// fillTable makes the verdict table of the row.
func (s *Scorer) fillTable(r *Row, f filling) (dialect.Table, gaps) {
	var lacks gaps
	pairs := 0
	for i := range r.Claims {
		pairs += len(r.Claims[i].Citations)
	}
	cites := slices.Grow(s.judged.citations[:0], pairs)
	table := s.judged.table[:0]
	for i := range s.judged.claims {
		it := &s.judged.claims[i]
		if !it.joint.Known() {
			lacks |= jointGap
		}
		if !it.decided && !it.cited {
			lacks |= needGap
		}
		first := len(cites)
		for k := range r.Claims[i].Citations {
			cites = append(cites, s.dialectCitation(r, i, k, f, &lacks))
		}
		table = append(table, dialect.Statement{
			Support: f.score(it.joint), NeedsCitation: needVerdict(it, f), Citations: cites[first:len(cites):len(cites)],
		})
	}
	s.judged.citations, s.judged.table = cites, table
	return table, lacks
}

// needVerdict takes an undecided claim to need a citation.
func needVerdict(it *claimItem, f filling) ibid.Tri {
	switch {
	case !it.decided && f == missingVerdicts:
		return ibid.Unset
	case it.needs:
		return ibid.Yes
	}
	return ibid.No
}

func (s *Scorer) dialectCitation(r *Row, i, k int, f filling, lacks *gaps) dialect.Citation {
	c := r.Claims[i].Citations[k]
	place := &r.Citations[c].Place
	out := dialect.Citation{Source: place.Doc}
	if place.Status == ibid.StatusDocumentNotFound && !s.opt.Human {
		out.Dangling = true
		return out
	}
	v := s.pair(r, i, k)
	out.Support, out.Without, out.Relevant = f.score(v.Support), f.spare(v.Without), f.verdict(v.Relevant)
	if !v.Support.Known() {
		*lacks |= supportGap
	}
	if v.Relevant == ibid.Unset {
		*lacks |= relevantGap
	}
	it := &s.judged.claims[i]
	alone := v.Support.Known() && v.Support.Value >= s.opt.Supported
	matters := len(r.Claims[i].Citations) > 1 && !alone && (!it.joint.Known() || s.supported(it))
	if matters && !v.Without.Known() {
		*lacks |= spareGap
	}
	return out
}

// dialectScores are the values of dialectMetrics.
type dialectScores [len(dialectMetrics)]struct {
	value float64
	ok    bool
}

func (s *Scorer) computeDialects(t dialect.Table) (out dialectScores) {
	for i := range dialectMetrics {
		out[i].value, out[i].ok = dialectMetrics[i].score(t, s.opt.Supported)
	}
	return out
}

// scoreDialects computes the columns named after papers.
func (s *Scorer) scoreDialects(r *Row, out *Scores) {
	why := ibid.Defined
	switch {
	case !r.HasClaims || len(r.Claims) == 0:
		why = ibid.NoClaims
	case !r.HasCitations:
		why = ibid.NoCitations
	}
	if why != ibid.Defined {
		for i := range dialectMetrics {
			out.undefined(dialectMetrics[i].metric, why)
		}
		out.undefined(NecessityShared, why)
		return
	}
	table, lacks := s.fillTable(r, missingVerdicts)
	known := s.computeDialects(table)
	var worst, best dialectScores
	if lacks != 0 {
		table, _ = s.fillTable(r, worstVerdicts)
		worst = s.computeDialects(table)
		table, _ = s.fillTable(r, bestVerdicts)
		best = s.computeDialects(table)
	}
	for i := range dialectMetrics {
		d := &dialectMetrics[i]
		open := lacks&d.needs != 0 && worst[i].ok // else no verdict could give it a value
		switch {
		case open && d.needs&relevantGap != 0 && out.Reasons[CitationRelevance] == ibid.NotAsked:
			out.undefined(d.metric, ibid.NotAsked)
		case open && (!known[i].ok || r.unjudged()):
			out.undefined(d.metric, whyOpen(r, s.judged.textless))
		case !known[i].ok:
			out.undefined(d.metric, ibid.NoCitations)
		default:
			out.Values[d.metric], out.Reasons[d.metric] = known[i].value, ibid.Defined
		}
		if open && d.metric != DRBEffectiveCitations { // whose bounds would have no end
			out.bound(d.metric, worst[i].value, best[i].value)
		}
	}
	s.scoreNecessity(r, out)
}
