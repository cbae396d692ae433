package report

import (
	"fmt"
	"slices"
)

// Bars show how often each state occurs, in all rows and by system.
type Bars struct {
	Title, Desc string
	Of          string // what is counted, in words
	Systems     []string
	Bars        []Bar
}

// A Bar is one state. Its link filters the rows.
type Bar struct {
	Word    Word
	Count   string
	Share   string
	Width   string // in percent of the longest bar
	Link    string
	Systems []BarCell
}

// A BarCell is one state in one system.
type BarCell struct{ Count, Share, Link string }

// A WorstCitation is one of the worst citations, with the reason in words.
type WorstCitation struct {
	Key, ID, System, Question string
	Link                      string // opens its row
	Claim                     string // that it was cited for, "" if it is not known
	Place                     string
	Word                      Word
	Why                       []string
	Number                    string
	Cited                     *PassageText // nil if the texts are not at hand
	Instead                   *PassageText // nil if nobody knows what should have been cited
}

// A PassageText is a passage of a document.
type PassageText struct {
	Source, Whose string
	Text          string // "" if there is no such text
}

// why fills the bars and the worst citations.
func (b *pageBuilder) why() {
	p := b.page
	if p.Judged && !b.parts().NoHallucinations {
		p.Outcomes = b.bars("outcome", outcomeWords, b.totals.outcome, b.totals.claims)
		p.Outcomes.Title, p.Outcomes.Of = "What became of the claims", plural(sum(b.totals.claims), "claim", "claims")
	}
	p.Statuses = b.bars("status", statusWords, b.totals.status, b.totals.citations)
	p.Statuses.Title, p.Statuses.Of = "What is known of the cited places", plural(sum(b.totals.citations), "citation", "citations")
	for _, w := range b.worst {
		p.Worst = append(p.Worst, b.worstCitation(w.row, w.citation, w.problem))
	}
}

// bars counts the states that occur, in the order of words.
func (b *pageBuilder) bars(facet string, words []Word, counts map[string][]int64, of []int64) *Bars {
	out := &Bars{}
	if len(b.systems) > 1 {
		for _, s := range b.systems {
			out.Systems = append(out.Systems, line(s, 40))
		}
	}
	var most int64
	for _, list := range counts {
		most = max(most, sum(list))
	}
	for _, w := range words {
		n := sum(counts[w.Code])
		if n == 0 {
			continue
		}
		link := "#f=" + escapeLink(facet+":"+w.Code)
		bar := Bar{Word: w, Count: Thousands(n), Share: percent(n, sum(of)), Width: percentText(100 * float64(n) / float64(most)), Link: link}
		for k := range out.Systems {
			c := counts[w.Code][k]
			bar.Systems = append(bar.Systems, BarCell{Thousands(c), percent(c, of[k]), link + "&f=" + escapeLink("system:"+line(b.systems[k], 80))})
		}
		out.Bars = append(out.Bars, bar)
		out.Desc += fmt.Sprintf("%s: %s (%s). ", w.Short, bar.Count, bar.Share)
	}
	return out
}

// shownWorst is how many of the worst citations are named.
const shownWorst = 3

// A badCitation is one of the worst citations: which of which row, and why.
type badCitation struct {
	row, citation int
	problem       problem
}

// findWorst finds the worst citations, of different kinds where there are such.
func (b *pageBuilder) findWorst() (worst []badCitation) {
	var byProblem [numProblems][]badCitation
	for n := range b.rows {
		row := &b.rows[n]
		r := b.results[row.run]
		l := b.limits[row.run]
		list := r.citationsOf(row.index)
		for k := range list {
			p := l.ofCitation(r, row.index, &list[k])
			if p > partly && len(byProblem[p]) < shownWorst {
				byProblem[p] = append(byProblem[p], badCitation{n, k, p})
			}
		}
	}
	slices.Reverse(byProblem[:])
	for round := range shownWorst {
		for _, list := range byProblem {
			if round < len(list) && len(worst) < shownWorst {
				worst = append(worst, list[round])
			}
		}
	}
	return worst
}

// isWorst reports whether a row of a run has one of the worst citations.
func (b *pageBuilder) isWorst(run, index int) bool {
	return slices.ContainsFunc(b.worst, func(w badCitation) bool { return b.rows[w.row].run == run && b.rows[w.row].index == index })
}

func (b *pageBuilder) worstCitation(n, k int, p problem) WorstCitation {
	row := &b.rows[n]
	r := b.results[row.run]
	c := &r.citationsOf(row.index)[k]
	d := b.newDetailer(r)
	out := WorstCitation{
		Key: r.key(row.index), Link: "#row=" + r.key(row.index), ID: line(r.id[row.index], 60), System: line(r.system[row.index], 60), Question: clip(row.question, 140),
		Place: c.place(), Word: problemWords[p], Why: d.citation(r, row.index, c, nil, k).Why, Number: count(c.number + 1),
	}
	if claims := r.claimsOf(row.index); len(c.claims) > 0 && c.claims[0] >= 0 && c.claims[0] < int64(len(claims)) {
		out.Claim = line(claims[c.claims[0]].text, 200)
	}
	if detail := b.held.detail(n); detail != nil {
		out.Cited, out.Instead = b.passages(detail, row.run, k, c)
	}
	return out
}

// passages are the text that citation k of a row cites, and the text that it
// should have cited.
func (b *pageBuilder) passages(detail *rowDetail, run, k int, c *citation) (cited, instead *PassageText) {
	view := &detail.View
	if len(view.Sources) == 0 || k >= len(view.Citations) {
		return nil, nil
	}
	cited = b.passage(view, run, markPredicted, int32(k))
	if cited == nil {
		cited = &PassageText{Source: wordOf(statusWords, c.status).Short}
	}
	if want := view.Citations[k].Instead; want != nil {
		if instead = b.passage(view, run, want[0], want[1]); instead != nil {
			instead.Whose = view.Citations[k].Whose
		}
	}
	return cited, instead
}

// passage is the text of a mark, nil if it is not held.
func (b *pageBuilder) passage(view *rowShown, run int, kind, of int32) *PassageText {
	for _, s := range view.Sources {
		i := slices.IndexFunc(s.marks, func(m mark) bool { return m.kind == kind && m.of == of })
		if i < 0 {
			continue
		}
		m := s.marks[i]
		for _, p := range b.held.detailers[run].sources.byKey[s.key].pieces {
			if m.start >= p.start && m.start < p.end {
				at := bytesBefore(p.text, []int64{m.start - p.start, min(m.end, p.end) - p.start})
				return &PassageText{Source: s.Name, Text: ellipsis(p.text[at[0]:at[1]])}
			}
		}
	}
	return nil
}

// ellipsis leaves out the middle of a long passage.
func ellipsis(text string) string {
	const head, tail = 220, 80
	points := []rune(text)
	if len(points) <= head+tail+40 {
		return text
	}
	return string(points[:head]) + " … " + string(points[len(points)-tail:])
}
