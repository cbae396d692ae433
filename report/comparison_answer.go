package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/report/doc"
)

// comparisonJSON is a comparison with its answer in words.
type comparisonJSON struct {
	*compare.Result
	Answer string `json:"answer"`
}

// answer is what came of the comparison in a sentence: by the first metric that decides,
// who is better, by how much and how sure that is.
func (c *Comparison) answer() string {
	if len(c.Rankings) > 0 && len(c.Rankings[0].Places) > 0 {
		first := rankingShown(&c.Rankings[0])
		return c.ranked(&first)
	}
	if len(c.Sides) > 2 && !slices.ContainsFunc(c.Pairs, func(p compare.Pair) bool { return p.Paired }) {
		return "No two of them share a question: nothing can be said of their differences."
	}
	var parts []string
	seen := make(map[int]bool)
	for i := range c.Pairs {
		p := &c.Pairs[i]
		if p.Base != 0 || seen[p.New] { // the first of each is over all systems
			continue
		}
		seen[p.New] = true
		if text := c.paired(p); text != "" {
			parts = append(parts, text+c.bySystem(p))
		}
	}
	if left := len(parts) - namedAnswers; left > 0 {
		parts = append(parts[:namedAnswers], fmt.Sprintf("%d more below.", left))
	}
	return strings.Join(parts, " ")
}

// headline is the answer; of runs, that of the first system which is worse, else better.
func (c *Comparison) headline() string {
	for _, outcome := range []compare.Outcome{compare.Worse, compare.Better} {
		for _, k := range pagePairs(c.Result) {
			p := &c.Pairs[k]
			if c.By == "run" && p.System != "" && len(p.Differences) > 0 && shownDifferences(p)[0].Outcome == outcome {
				return CleanLine(p.System) + ": " + c.paired(p)
			}
		}
	}
	return c.answer()
}

// namedAnswers is how many sides the answer is about, where they have no ranking.
const namedAnswers = 3

// paired is how the second side of a pair differs from the first.
func (c *Comparison) paired(p *compare.Pair) string {
	base, other := CleanLine(c.Sides[p.Base].Name), CleanLine(c.Sides[p.New].Name)
	if !p.Paired {
		return fmt.Sprintf("%s and %s share no question: nothing can be said of their difference.", base, other)
	}
	if len(p.Differences) == 0 {
		return ""
	}
	d := &shownDifferences(p)[0]
	if d.Diff == nil {
		return fmt.Sprintf("%s and %s cannot be compared by %s: %s.", base, other, d.Metric, d.Reason)
	}
	numbers := fmt.Sprintf("%s %s after %s, %s", quantityName(d), numberOrDash(d.New), numberOrDash(d.Base), strings.TrimSpace(signed(d.Diff)+" "+interval(d.Low, d.High)))
	if text := pValue(d); text != "" {
		numbers += ", " + text
	}
	switch d.Outcome {
	case compare.Better, compare.Worse:
		return fmt.Sprintf("%s is %s than %s: %s.", other, d.Outcome, base, numbers)
	case compare.Different:
		return fmt.Sprintf("%s differs from %s: %s.", other, base, numbers)
	case compare.Undecided:
		if d.Higher+d.Lower == 0 {
			return fmt.Sprintf("%s is as %s: %s is the same in every row (%s).", other, base, quantityName(d), numberOrDash(d.New))
		}
		text := fmt.Sprintf("%s cannot be told from %s: %s.", other, base, numbers)
		if d.MDE != nil {
			text += fmt.Sprintf(" A difference of %s would probably have been found.", numberOrDash(d.MDE))
		}
		return text
	}
	return fmt.Sprintf("%s beside %s, untested: %s.", other, base, numbers)
}

// bySystem says which systems of two runs differ, where the pair is of all of them.
func (c *Comparison) bySystem(of *compare.Pair) string {
	var differ []string
	systems := 0
	for i := range c.Pairs {
		p := &c.Pairs[i]
		if p.Base != of.Base || p.New != of.New || p.System == "" || !p.Paired || len(p.Differences) == 0 {
			continue
		}
		systems++
		switch d := &shownDifferences(p)[0]; d.Outcome {
		case compare.Better, compare.Worse:
			differ = append(differ, fmt.Sprintf("%s is %s (%s)", CleanLine(p.System), d.Outcome, signed(d.Diff)))
		case compare.Different:
			differ = append(differ, fmt.Sprintf("%s differs (%s)", CleanLine(p.System), signed(d.Diff)))
		}
	}
	switch left := systems - len(differ); {
	case systems < 2:
		return ""
	case len(differ) == 0:
		return " No single system differs by more than chance may."
	case len(differ) > namedAnswers:
		return fmt.Sprintf(" By system: %s and %d others.", strings.Join(differ[:namedAnswers], ", "), len(differ)-namedAnswers)
	case left > 0:
		return fmt.Sprintf(" By system: %s; no other differs by more than chance may.", strings.Join(differ, ", "))
	default:
		return fmt.Sprintf(" By system: %s.", strings.Join(differ, ", "))
	}
}

// ranked is who is best of several.
func (c *Comparison) ranked(r *compare.Ranking) string {
	name := rankingName(r)
	describe := func(p *compare.Place) string {
		return fmt.Sprintf("%s %s", CleanLine(c.Sides[p.Side].Name), strings.TrimSpace(number(p.Estimate)+" "+interval(p.Low, p.High)))
	}
	best := &r.Places[0]
	if best.Sure {
		text := fmt.Sprintf("%s is best by %s", describe(best), name)
		if len(r.Places) > 1 {
			text += ", then " + describe(&r.Places[1])
		}
		return text + c.last(r)
	}
	var tied []string
	for i := range r.Places {
		if r.Places[i].Tied {
			tied = append(tied, CleanLine(c.Sides[r.Places[i].Side].Name))
		}
	}
	if len(tied) > 3 {
		tied = append(tied[:3], fmt.Sprintf("%d others", len(tied)-3))
	}
	if len(tied) < 2 {
		return fmt.Sprintf("%s has the highest %s.", describe(best), name)
	}
	return fmt.Sprintf("Nobody is surely best by %s: it may be %s", name, either(tied)) + c.last(r)
}

// last ends a sentence about a ranking: with the side that is surely last.
func (c *Comparison) last(r *compare.Ranking) string {
	n := len(r.Places)
	if p := &r.Places[n-1]; n > 2 && p.Best == n && !p.Tied {
		return fmt.Sprintf("; %s is surely last.", CleanLine(c.Sides[p.Side].Name))
	}
	return "."
}

// either joins words: a, b or c.
func either(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
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
