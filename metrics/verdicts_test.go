package metrics

import (
	"math/rand/v2"

	"ibid"
)

// judgedOptions are those of a run with truth and a judge.
func judgedOptions() Options {
	o := DefaultOptions()
	o.SpanComponent, o.JudgeComponents, o.AsksElsewhere = true, true, true
	return o
}

func known(v float64) ibid.Support { return ibid.Scored(v) }

// says is a claim with its joined support, or an unscored one below 0, and what
// it cites. Nothing else supports it.
func says(joint float64, citations ...int32) ibid.Claim {
	c := ibid.Claim{Citations: citations, Elsewhere: known(0), Contradicted: ibid.No}
	if joint >= 0 {
		c.Joint = known(joint)
	}
	return c
}

// judgedRow is a row put to a judge, whose citations are of code points of
// documents a, b and so on, each with the support given, unscored below 0.
func judgedRow(support []float64, claims ...ibid.Claim) *Row {
	r := &Row{Answer: ibid.Answer{HasCitations: true}, HasClaims: true, Claims: claims, Judged: true}
	for i, v := range support {
		r.Citations = append(r.Citations, ibid.Citation{Place: at(string(rune('a'+i)), 0, 10)})
		verdict := CitationVerdict{Relevant: ibid.Yes}
		if v >= 0 {
			verdict.Support = known(v)
		}
		r.Verdicts = append(r.Verdicts, verdict)
	}
	return r
}

// judge gives a row with citations n claims, links and verdicts. Each verdict is
// missing with the given probability.
func judge(rng *rand.Rand, r *Row, n int, missing float64) {
	support := func() ibid.Support {
		if rng.Float64() < missing {
			if rng.IntN(3) == 0 {
				return ibid.Undecidable()
			}
			return ibid.Support{}
		}
		return known([]float64{0, 0.5, 0.8, 1}[rng.IntN(4)])
	}
	flag := func() ibid.Tri {
		if rng.Float64() < missing {
			return ibid.Unset
		}
		return ibid.No + ibid.Tri(rng.IntN(2))
	}
	r.HasClaims, r.Judged = true, true
	r.Claims, r.Verdicts, r.Pairs = nil, nil, nil
	for i := range n {
		c := ibid.Claim{
			Extent:  ibid.Between(int64(20*i), int64(20*i+10+rng.IntN(15))),
			Factual: flag(), NeedsCitation: flag(), Joint: support(), Elsewhere: support(),
		}
		c.Contradicted = ibid.TriOf(rng.IntN(4) == 0)
		var pairs []PairVerdict
		for k := range r.Citations {
			if rng.IntN(3) == 0 {
				c.Citations = append(c.Citations, int32(k))
				pairs = append(pairs, PairVerdict{Support: support(), Without: support(), Relevant: flag(), Necessary: flag()})
			}
		}
		r.Claims, r.Pairs = append(r.Claims, c), append(r.Pairs, pairs)
	}
	for i := range r.Citations {
		r.Citations[i].Place.Status = []ibid.Status{ibid.StatusOK, ibid.StatusOK, ibid.StatusUnchecked, ibid.StatusDocumentNotFound, ibid.StatusOutOfBounds}[rng.IntN(5)]
		r.Verdicts = append(r.Verdicts, CitationVerdict{Support: support(), Relevant: flag(), Necessary: flag()})
	}
}
