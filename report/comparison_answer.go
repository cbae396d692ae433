package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/report/doc"
)

// comparisonJSON is a comparison with its headline.
type comparisonJSON struct {
	*compare.Result
	Headline string `json:"answer"`
}

// headline is what came of the comparison in a sentence, by the first metric that decides; the
// terminal, the page and JSON have it. It has differences alone: the level of a side depends
// on whose questions it is over.
func (c *Comparison) headline() string {
	if len(c.Rankings) > 0 && len(c.Rankings[0].Places) > 0 && (c.By != "run" || len(c.Sides) > 2) {
		first := rankingShown(&c.Rankings[0])
		return c.ranked(&first)
	}
	prefix := "Against "
	if c.By == "run" {
		prefix = "Since "
	}
	prefix += CleanLine(c.Sides[0].Name) + ": "
	said := make(map[compare.Outcome][]string)
	paired, why := false, ""
	for _, k := range pagePairs(c.Result) {
		p := &c.Pairs[k]
		if p.Base != 0 || !p.Paired || len(p.Differences) == 0 {
			continue
		}
		paired = true
		d := &shownDifferences(p)[0]
		if d.Diff == nil {
			why = d.Reason
			continue
		}
		said[d.Outcome] = append(said[d.Outcome], CleanLine(cmp.Or(p.System, c.Sides[p.New].Name))+" "+differs(d))
	}
	switch all := slices.Concat(said[compare.Worse], said[compare.Better], said[compare.Different]); {
	case !paired && len(c.Sides) > 2:
		return "No two of them answered a question in common: there is nothing to compare."
	case !paired:
		return prefix + "no question in common, so there is nothing to compare."
	case len(all) > namedAnswers:
		return fmt.Sprintf("%s%s and %d others.", prefix, strings.Join(all[:namedAnswers], ", "), len(all)-namedAnswers)
	case len(all) > 0:
		return prefix + list(all) + "."
	case len(said[compare.Undecided]) > 0:
		return prefix + "no difference found."
	case len(said[compare.Unknown]) > 0:
		return prefix + "too few questions to tell."
	}
	return prefix + "not comparable (" + why + ")."
}

// namedAnswers is how many sides the headline names.
const namedAnswers = 3

// differs is how much a side is better or worse, and how sure that is.
func differs(d *compare.Difference) string {
	word := "differs"
	if d.Outcome == compare.Better || d.Outcome == compare.Worse {
		word = "is " + string(d.Outcome)
	}
	text := fmt.Sprintf("%s on %s by %s", word, shortQuantity(d), number(math.Abs(*d.Diff)))
	switch {
	case d.Adjusted == nil:
	case *d.Adjusted < 0.001:
		text += " (p < 0.001)"
	default:
		text += fmt.Sprintf(" (p %.3f)", *d.Adjusted)
	}
	return text
}

// ranked is who is best of several.
func (c *Comparison) ranked(r *compare.Ranking) string {
	var best []string
	for i := range r.Places {
		if p := &r.Places[i]; p.Sure || p.Tied {
			best = append(best, CleanLine(c.Sides[p.Side].Name))
		}
	}
	metric := shortQuantity(&compare.Difference{Metric: r.Metric, Agg: r.Agg})
	text := ""
	switch n := len(best); {
	case r.Places[0].Sure || n == 1:
		text = best[0] + " is best on " + metric
	case n == 0:
		text = "Nobody is best on " + metric
	case n > namedAnswers:
		text = fmt.Sprintf("%s and %d others are tied for best on %s", strings.Join(best[:namedAnswers], ", "), n-namedAnswers, metric)
	default:
		text = list(best) + " are tied for best on " + metric
	}
	if n := len(r.Places); n > 2 && r.Places[n-1].Best == n && !r.Places[n-1].Tied {
		text += "; " + CleanLine(c.Sides[r.Places[n-1].Side].Name) + " is last"
	}
	return text + "."
}

// namedFailures is how many rows are named that fail anew or were fixed.
const namedFailures = 10

// failureLists are the rows that fail in one run and not in another. Link finds a row of a
// run on the page, "" where there is none; nil links nothing.
func failureLists(r *compare.Result, link func(run, name string) string) []doc.Block {
	var out []doc.Block
	for i := range r.Failures {
		f := &r.Failures[i]
		of := ""
		if len(r.Failures) > 1 {
			of = r.Sides[f.New].Name + ": "
		}
		for _, list := range []struct {
			what, code string
			rows       compare.Named
			n          int // that are named
		}{{"new failures", "new", f.Newly, namedFailures}, {"fixed", "fixed", f.Fixed, namedFailures}, {"still failing", "still", f.Still, namedIDs}} {
			head := doc.Span{Text: fmt.Sprintf("%s%s: %s", of, list.what, Thousands(list.rows.Rows))}
			if link != nil && list.rows.Rows > 0 {
				head.Link = rowsLink("since:" + list.code)
			}
			text := doc.Text{head}
			for k, id := range list.rows.IDs[:min(len(list.rows.IDs), list.n)] {
				before, span := ", ", doc.Span{Text: id}
				if k == 0 {
					before = " ("
				}
				if link != nil {
					span.Link = link(r.Sides[f.New].Run, id)
				}
				text = append(text, doc.Span{Text: before}, span)
			}
			switch n := int64(min(len(list.rows.IDs), list.n)); {
			case n > 0 && n < list.rows.Rows:
				text = append(text, doc.Span{Text: ", …)"})
			case n > 0:
				text = append(text, doc.Span{Text: ")"})
			}
			out = append(out, doc.Para{Kind: doc.Item, Text: text})
		}
	}
	return out
}
