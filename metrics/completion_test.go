package metrics

import (
	"slices"

	"ibid"
)

// An open verdict is one that is missing, with all ways in which it can turn
// out.
type open struct {
	ways int
	set  func(way int)
}

var degrees = []float64{0, 0.5, 0.75, 1}

// openVerdicts returns the missing verdicts of r, which it has to itself. A
// claim of which nobody said whether it needs a citation is taken to need one;
// a judge may not be asked for evidence that is not cited.
func openVerdicts(r *Row, asksElsewhere bool) []open {
	var all []open
	support := func(s *ibid.Support) {
		if !s.Known() {
			all = append(all, open{len(degrees), func(way int) { *s = known(degrees[way]) }})
		}
	}
	flag := func(f *ibid.Tri) {
		if *f == ibid.Unset {
			all = append(all, open{2, func(way int) { *f = ibid.No + ibid.Tri(way) }})
		}
	}
	for i := range r.Claims {
		c := &r.Claims[i]
		if !c.Joint.Known() {
			all = append(all, open{2, func(way int) { c.Contradicted = ibid.TriOf(way == 1) }})
		}
		support(&c.Joint)
		if asksElsewhere || c.Elsewhere.Undecided() {
			support(&c.Elsewhere)
		}
		for k := range r.Pairs[i] {
			p := &r.Pairs[i][k]
			support(&p.Support)
			support(&p.Without)
			flag(&p.Relevant)
			flag(&p.Necessary)
		}
	}
	for i := range r.Verdicts {
		support(&r.Verdicts[i].Support)
		flag(&r.Verdicts[i].Relevant)
	}
	return all
}

// copyRow copies what a judge says of a row.
func copyRow(r *Row) *Row {
	c := *r
	c.Claims, c.Verdicts, c.Pairs = slices.Clone(r.Claims), slices.Clone(r.Verdicts), slices.Clone(r.Pairs)
	for i := range c.Pairs {
		c.Pairs[i] = slices.Clone(c.Pairs[i])
	}
	return &c
}

// loseVerdicts makes the row one that the judge could not answer.
func loseVerdicts(r *Row) {
	for i := range r.Claims {
		c := &r.Claims[i]
		*c = ibid.Claim{Extent: c.Extent, Citations: c.Citations}
	}
	clear(r.Verdicts)
	for _, pairs := range r.Pairs {
		clear(pairs)
	}
	r.JudgeFailed = true
}
