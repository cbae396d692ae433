package openrouter

import (
	"cmp"
	"slices"

	"ibid/judge"
)

// An Agreement counts on how many items the models of a panel agree, pair by
// pair. The zero Agreement is empty; parts of a run can be merged. It is not
// safe for concurrent use.
type Agreement struct {
	pairs map[[2]string]*PairAgreement
}

// A PairAgreement is that of two models. An item is the joint support of one
// claim that has evidence, or of one claim with one citation, on which both
// gave a label other than unsure.
type PairAgreement struct {
	A, B    string // A before B in the order of the alphabet
	Items   int64
	Same    int64       // with the same label
	Unsure  int64       // that at least one of them did not label; not part of Items
	AbsDiff float64     // sum of the differences of their scores
	Counts  [6][6]int64 // by the labels of A and B, for a coefficient of agreement
}

// Share is the fraction of items with the same label; undefined (ok is false)
// without items.
func (p *PairAgreement) Share() (v float64, ok bool) {
	if p.Items == 0 {
		return 0, false
	}
	return float64(p.Same) / float64(p.Items), true
}

// Add counts the opinions of a verdict; the first vote of each model.
func (g *Agreement) Add(v *judge.Verdict) {
	for i := range v.Opinions {
		for k := range v.Opinions[:i] {
			a, b := &v.Opinions[k], &v.Opinions[i]
			if a.Vote != 0 || b.Vote != 0 || a.Model == b.Model {
				continue
			}
			if a.Model > b.Model {
				a, b = b, a
			}
			g.pair(a.Model, b.Model).add(a, b)
		}
	}
}

// Merge adds the counts of another part of a run.
func (g *Agreement) Merge(o *Agreement) {
	for _, p := range o.pairs {
		into := g.pair(p.A, p.B)
		into.Items += p.Items
		into.Same += p.Same
		into.Unsure += p.Unsure
		into.AbsDiff += p.AbsDiff
		for i := range p.Counts {
			for k := range p.Counts[i] {
				into.Counts[i][k] += p.Counts[i][k]
			}
		}
	}
}

// Pairs are the counts in the order of the models' names.
func (g *Agreement) Pairs() []PairAgreement {
	out := make([]PairAgreement, 0, len(g.pairs))
	for _, p := range g.pairs {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b PairAgreement) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return out
}

func (g *Agreement) pair(a, b string) *PairAgreement {
	if g.pairs == nil {
		g.pairs = make(map[[2]string]*PairAgreement)
	}
	p := g.pairs[[2]string{a, b}]
	if p == nil {
		p = &PairAgreement{A: a, B: b}
		g.pairs[[2]string{a, b}] = p
	}
	return p
}

func (p *PairAgreement) add(a, b *judge.Opinion) {
	for c := range a.Claims {
		x, y := &a.Claims[c], &b.Claims[c]
		if len(x.Checks) == 0 {
			continue // nothing was asked
		}
		p.item(x.Joint, y.Joint)
		for i := range x.Checks {
			p.item(x.Checks[i].Support, y.Checks[i].Support)
		}
	}
}

func (p *PairAgreement) item(x, y judge.Support) {
	if !x.Known || !y.Known {
		p.Unsure++
		return
	}
	p.Items++
	p.Counts[x.Label][y.Label]++
	p.AbsDiff += max(x.Score-y.Score, y.Score-x.Score)
	if x.Label == y.Label {
		p.Same++
	}
}
