package verify

import (
	"fmt"
	"slices"
	"strings"

	"ibid"
)

// A statement is a claim as the papers see it.
type statement struct {
	support ibid.Number
	needs   ibid.Tri
	cites   []statementCitation
}

type statementCitation struct {
	doc      string
	dangling bool
	support  ibid.Number
	relevant ibid.Tri
}

// statements is the table of verdicts of the row. fill stands where a support is not known
// (null leaves it open), and taken where a relevance is not. lacks says what is open: joint,
// single supports, relevance, needs.
func (w *rowWork) statements(fill ibid.Number, taken ibid.Tri) (table []statement, lacks string) {
	or := func(n ibid.Number) ibid.Number {
		if n.Known() {
			return n
		}
		return fill
	}
	for k := range w.claims {
		c := &w.claims[k]
		s := statement{support: or(c.joint), needs: ibid.TriOf(c.needs)}
		if w.failed && !fill.Known() {
			s.needs = ibid.Unset
		}
		if c.open {
			lacks += "j"
		}
		if w.failed && !c.cited {
			lacks += "n"
		}
		for _, i := range c.Citations {
			x := statementCitation{doc: w.row.Citations[i].Place.Doc, support: ibid.Some[float64](0), relevant: ibid.No}
			if x.dangling = w.row.Citations[i].Place.Status == ibid.StatusDocumentNotFound && !w.human; x.dangling {
				s.cites = append(s.cites, x)
				continue
			}
			if w.citations[i].counts {
				o := opinion{}
				if !w.failed {
					o = c.pairs[int(i)]
				}
				if !o.support.Known() {
					lacks += "s"
				}
				if o.relevant == ibid.Unset {
					lacks += "r"
				}
				x.support, x.relevant = or(o.support), o.relevant
				if x.relevant == ibid.Unset {
					x.relevant = taken
				}
			}
			s.cites = append(s.cites, x)
		}
		table = append(table, s)
	}
	return table, lacks
}

// scoreDialects computes the columns named after papers.
func (w *rowWork) scoreDialects(out *result) {
	why := ibid.Defined
	if !w.claimsKnown || len(w.claims) == 0 {
		why = ibid.NoClaims
	} else if !w.row.HasCitations {
		why = ibid.NoCitations
	}
	if why != ibid.Defined {
		out.lack(why, dialects...)
		out.lack(why, "necessity_shared")
		return
	}
	if !w.s.Judge.Necessity {
		out.lack(ibid.NoJudge, "alce_precision", "necessity_shared")
	}
	table, lacks := w.statements(ibid.Number{}, ibid.Unset)
	low, _ := w.statements(ibid.Some[float64](0), ibid.No)
	high, _ := w.statements(ibid.Some[float64](1), ibid.Yes)
	supported := w.s.Thresholds.Supported
	for _, d := range []struct {
		name, needs string
		of          func([]statement) (float64, bool)
	}{
		{"alce_recall", "j", func(t []statement) (float64, bool) { return alceRecall(t, supported) }},
		{"longcite_recall", "jn", longCiteRecall},
		{"longcite_precision", "r", longCitePrecision},
		{"longcite_f1", "jnr", func(t []statement) (float64, bool) {
			r, a := longCiteRecall(t)
			p, b := longCitePrecision(t)
			if r+p == 0 {
				return 0, a && b
			}
			return 2 * p * r / (p + r), a && b
		}},
		{"trec_weighted_precision", "s", func(t []statement) (float64, bool) { return trecWeighted(t, false) }},
		{"trec_weighted_recall", "s", func(t []statement) (float64, bool) { return trecWeighted(t, true) }},
		{"drb_accuracy", "s", func(t []statement) (float64, bool) {
			right, judged, _ := drbPairs(t, supported)
			return right / max(judged, 1), judged > 0
		}},
		{"drb_effective_citations", "s", func(t []statement) (float64, bool) {
			right, judged, all := drbPairs(t, supported)
			return right, judged > 0 || all == 0
		}},
	} {
		value, known := d.of(table)
		worst, could := d.of(low)
		best, _ := d.of(high)
		open := could && strings.ContainsAny(lacks, d.needs)
		switch {
		case open && strings.Contains(d.needs, "r") && out.undefined["citation_relevance"] == ibid.NotAsked.String():
			out.lack(ibid.NotAsked, d.name)
		case open && (!known || w.failed):
			out.lack(w.openReason(w.onlyTexts), d.name)
		case !known:
			out.lack(ibid.NoCitations, d.name)
		default:
			out.set(d.name, value)
		}
		if open && d.name != "drb_effective_citations" {
			out.bound(d.name, worst, best)
		}
	}
}

func alceRecall(t []statement, supported float64) (float64, bool) {
	var of items
	for _, s := range t {
		dangles := slices.ContainsFunc(s.cites, func(c statementCitation) bool { return c.dangling })
		if len(s.cites) == 0 || dangles {
			of.add(0)
		} else if s.support.Known() {
			of.add(yes(s.support.Value >= supported))
		}
	}
	return of.sum / max(of.n, 1), of.n > 0
}

// LongCite looks at so many statements.
const longCiteMost = 40

func longCiteRecall(t []statement) (float64, bool) {
	var of items
	for _, s := range t[:min(len(t), longCiteMost)] {
		there := slices.ContainsFunc(s.cites, func(c statementCitation) bool { return !c.dangling })
		switch {
		case len(s.cites) == 0 && s.needs == ibid.Unset:
		case len(s.cites) == 0:
			of.add(yes(s.needs == ibid.No))
		case !there:
			of.add(0)
		case s.support.Known():
			of.add(s.support.Value)
		}
	}
	return of.sum / max(of.n, 1), of.n > 0
}

func longCitePrecision(t []statement) (float64, bool) {
	var of items
	for _, s := range t[:min(len(t), longCiteMost)] {
		for _, c := range s.cites {
			if c.dangling || c.relevant != ibid.Unset {
				of.add(yes(!c.dangling && c.relevant == ibid.Yes))
			}
		}
	}
	return of.sum / max(of.n, 1), of.n > 0
}

// trecWeighted is the mean support per citation, or per statement by its first.
func trecWeighted(t []statement, first bool) (float64, bool) {
	var of items
	for _, s := range t {
		if first && len(s.cites) == 0 {
			of.add(0)
		}
		for i, c := range s.cites {
			if c.support.Known() && !(first && i > 0) {
				of.add(c.support.Value)
			}
		}
	}
	return of.sum / max(of.n, 1), of.n > 0
}

// drbPairs counts the pairs of a statement and a document that it cites.
func drbPairs(t []statement, supported float64) (right, judged, all float64) {
	for _, s := range t {
		best := make(map[string]ibid.Number)
		for i, c := range s.cites {
			if c.dangling {
				continue
			}
			name := c.doc
			if name == "" {
				name = fmt.Sprint("\x00", i)
			}
			if b, seen := best[name]; !seen || !b.Known() || c.support.Known() && c.support.Value > b.Value {
				best[name] = c.support
			}
		}
		for _, b := range best {
			all++
			judged += yes(b.Known())
			right += yes(b.Known() && b.Value >= supported)
		}
	}
	return right, judged, all
}
