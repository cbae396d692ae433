package metrics

import (
	"slices"

	"ibid/metrics/dialect"
	"ibid/metrics/span"
)

// dialectMetrics need the verdict table of the row.
var dialectMetrics = []Metric{
	ALCERecall, ALCEPrecision, LongCiteRecall, LongCitePrecision, LongCiteF1,
	TRECWeightedPrecision, TRECWeightedRecall, DRBAccuracy, DRBEffectiveCitations, NecessityShared,
}

// A filling says what stands in a verdict table where a verdict is missing.
type filling uint8

const (
	missingVerdicts filling = iota // nothing
	worstVerdicts
	bestVerdicts
)

func (f filling) score(s Support) dialect.Score {
	switch {
	case s.Known:
		return dialect.Known(s.Value)
	case f == worstVerdicts:
		return dialect.Known(0)
	case f == bestVerdicts:
		return dialect.Known(1)
	}
	return dialect.Score{}
}

// spare is the support by the other citations: the less, the better for one.
func (f filling) spare(s Support) dialect.Score {
	switch f {
	case worstVerdicts:
		return bestVerdicts.score(s)
	case bestVerdicts:
		return worstVerdicts.score(s)
	}
	return f.score(s)
}

func (f filling) verdict(v Flag) dialect.Verdict {
	switch {
	case v == Yes, v == Unset && f == bestVerdicts:
		return dialect.Yes
	case v == No, v == Unset && f == worstVerdicts:
		return dialect.No
	}
	return dialect.Unknown
}

// gaps say which kinds of verdict a table lacks.
type gaps struct{ joint, support, relevant, spare, need bool }

// pair returns the verdict on claim i and its k-th citation as it counts. If
// only citations have verdicts, what holds of a citation holds for each claim.
func (s *Scorer) pair(r *Row, i, k int) PairVerdict {
	c := r.Claims[i].Citations[k]
	if !s.counts(r, c) {
		// The others are then all that supports the claim.
		return PairVerdict{Support: Support{Known: true}, Without: s.judged.claims[i].joint, Relevant: No, Necessary: No}
	}
	if !r.unjudged() && i < len(r.Pairs) {
		return r.Pairs[i][k]
	}
	v := s.verdict(r, int(c))
	return PairVerdict{Support: v.Support, Relevant: v.Relevant, Necessary: v.Necessary}
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
		lacks.joint = lacks.joint || !it.joint.Known
		lacks.need = lacks.need || !it.decided && !it.cited
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
func needVerdict(it *claimItem, f filling) dialect.Verdict {
	switch {
	case !it.decided && f == missingVerdicts:
		return dialect.Unknown
	case it.needs:
		return dialect.Yes
	}
	return dialect.No
}

func (s *Scorer) dialectCitation(r *Row, i, k int, f filling, lacks *gaps) dialect.Citation {
	c := r.Claims[i].Citations[k]
	place := &r.Citations[c]
	out := dialect.Citation{Source: place.Doc}
	if place.Status == span.DocumentNotFound && !s.opt.Human {
		out.Dangling = true
		return out
	}
	v := s.pair(r, i, k)
	out.Support, out.Without, out.Relevant = f.score(v.Support), f.spare(v.Without), f.verdict(v.Relevant)
	lacks.support = lacks.support || !v.Support.Known
	lacks.relevant = lacks.relevant || v.Relevant == Unset
	it := &s.judged.claims[i]
	alone := v.Support.Known && v.Support.Value >= s.opt.Supported
	matters := len(r.Claims[i].Citations) > 1 && !alone && (!it.joint.Known || s.supported(it))
	lacks.spare = lacks.spare || matters && !v.Without.Known
	return out
}

// A dialectScore is one column of the dialects.
type dialectScore struct {
	value float64
	ok    bool
}

// dialectScores are the columns in their order, without necessity_shared.
type dialectScores [NecessityShared - ALCERecall]dialectScore

func dialectValue(value float64, ok bool) dialectScore { return dialectScore{value, ok} }

func (s *Scorer) computeDialects(t dialect.Table) dialectScores {
	return dialectScores{
		dialectValue(dialect.ALCERecall(t, s.opt.Supported)),
		dialectValue(dialect.ALCEPrecision(t, s.opt.Supported)),
		dialectValue(dialect.LongCiteRecall(t)),
		dialectValue(dialect.LongCitePrecision(t)),
		dialectValue(dialect.LongCiteF1(t)),
		dialectValue(dialect.TRECWeightedPrecision(t)),
		dialectValue(dialect.TRECWeightedRecall(t)),
		dialectValue(dialect.DRBAccuracy(t, s.opt.Supported)),
		dialectValue(dialect.DRBEffectiveCitations(t, s.opt.Supported)),
	}
}

// scoreDialects computes the columns named after papers.
func (s *Scorer) scoreDialects(r *Row, out *Scores) {
	switch {
	case !r.HasClaims || len(r.Claims) == 0:
		out.allUndefined(dialectMetrics, NoClaims)
		return
	case !r.HasCitations:
		out.allUndefined(dialectMetrics, NoCitations)
		return
	}
	table, lacks := s.fillTable(r, missingVerdicts)
	known := s.computeDialects(table)
	open := [len(known)]bool{
		lacks.joint, lacks.joint || lacks.support || lacks.spare, lacks.joint || lacks.need, lacks.relevant,
		lacks.joint || lacks.need || lacks.relevant, lacks.support, lacks.support, lacks.support, lacks.support,
	}
	var worst, best dialectScores
	if lacks != (gaps{}) {
		table, _ = s.fillTable(r, worstVerdicts)
		worst = s.computeDialects(table)
		table, _ = s.fillTable(r, bestVerdicts)
		best = s.computeDialects(table)
	}
	for i, d := range known {
		m := ALCERecall + Metric(i)
		open[i] = open[i] && worst[i].ok // else no verdict could give it a value
		switch {
		case open[i] && (!d.ok || r.unjudged()):
			out.undefined(m, whyOpen(r, s.judged.textless))
		case !d.ok:
			out.undefined(m, NoCitations)
		default:
			out.Values[m], out.Reasons[m] = d.value, Defined
		}
		if open[i] && m != DRBEffectiveCitations {
			out.bound(m, worst[i].value, best[i].value)
		}
	}
	s.scoreNecessity(r, out)
}
