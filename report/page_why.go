package report

import (
	"cmp"
	"fmt"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// barsView show how often each state occurs, in all rows and by system.
type barsView struct {
	Title, Desc string
	Of          string // what is counted, in words
	Systems     []string
	Bars        []barView
}

// A barView is one state. Its link filters the rows.
type barView struct {
	Word    word
	Count   string
	Share   string
	Width   string // in percent of the longest bar
	Link    string
	Systems []barCell
}

// A barCell is one state in one system.
type barCell struct{ Count, Share, Link string }

// A worstCitation is one of the worst citations, with the reason in words.
type worstCitation struct {
	Key, ID, System, Question string
	Link                      string // opens its row
	Claim                     string // that it was cited for, "" if it is not known
	Place                     string
	Word                      word
	Why                       []string
	Number                    string       // of the citation, "" if the problem is of the whole answer
	Answer                    string       // of such a problem, "" if the texts are not at hand
	Cited                     *passageText // nil if the texts are not at hand
	Instead                   *passageText // nil if nobody knows what should have been cited
}

type passageText struct {
	Source, Whose string
	Text          string // "" if there is no such text
}

// A whyView counts what is known of citations and claims, and where they go wrong.
type whyView struct {
	Problems  *barsView // of rows that fail: the worst of each
	Outcomes  *barsView // of claims; nil without a judge
	Statuses  *barsView // of citations
	Kinds     *kindTable
	Documents []documentLine // those most often cited wrongly
}

// whySection says why citations are bad.
func whySection(data *pageData) *section {
	p := &whyView{Kinds: newKindTable(data), Documents: documentLines(data)}
	p.Problems = bars(data, "problem", failingWords(data), data.totals.problem, data.totals.rows)
	p.Problems.Title, p.Problems.Of = "What fails most", Plural(sum(data.totals.failing), "failing row", "failing rows")
	if data.judged() && !data.partsLeftOut().NoHallucinations {
		p.Outcomes = bars(data, "outcome", outcomeWords, data.totals.outcome, data.totals.claims)
		p.Outcomes.Title, p.Outcomes.Of = "What became of the claims", Plural(sum(data.totals.claims), "claim", "claims")
	}
	p.Statuses = bars(data, "status", statusWords, data.totals.status, data.totals.citations)
	p.Statuses.Title, p.Statuses.Of = "What is known of the cited places", Plural(sum(data.totals.citations), "citation", "citations")
	return &section{"why", "Why", p}
}

// failingWords are the problems of rows that fail, the most frequent first, then the gravest.
func failingWords(data *pageData) []word {
	words := slices.Clone(problemWords[:])
	slices.Reverse(words)
	words = slices.DeleteFunc(words, func(w word) bool { return w.Tone != toneWarn && w.Tone != toneBad })
	slices.SortStableFunc(words, func(x, y word) int {
		return cmp.Compare(sum(data.totals.problem[y.Code]), sum(data.totals.problem[x.Code]))
	})
	return words
}

// bars counts the states that occur, in the order of words.
func bars(data *pageData, facet string, words []word, counts map[string][]int64, of []int64) *barsView {
	out := &barsView{}
	if len(data.systems) > 1 {
		for _, s := range data.systems {
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
		bar := barView{Word: w, Count: Thousands(n), Share: percent(n, sum(of)), Width: percentText(100 * float64(n) / float64(most)), Link: link}
		for k := range out.Systems {
			c := counts[w.Code][k]
			bar.Systems = append(bar.Systems, barCell{Thousands(c), percent(c, of[k]), link + "&f=" + escapeLink("system:"+line(data.systems[k], 80))})
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
	run      int
	row      int64 // position in the input
	citation int   // -1: the problem is of the whole answer, as where nothing is cited
	problem  metrics.Problem
}

func (w badCitation) sameRow(x badCitation) bool { return w.run == x.run && w.row == x.row }

// findWorst are the worst citations, each of another row, and of different kinds where
// there are such. Rows that fail newly go before the others.
func (c *chooser) findWorst() (worst []badCitation) {
	for _, found := range []*[metrics.NumProblems][]badCitation{&c.newly, &c.found} {
		for range shownWorst {
			for p := len(found) - 1; p >= 0 && len(worst) < shownWorst; p-- {
				if k := slices.IndexFunc(found[p], func(w badCitation) bool { return !slices.ContainsFunc(worst, w.sameRow) }); k >= 0 {
					worst = append(worst, found[p][k])
				}
			}
		}
	}
	return worst
}

func isWorst(data *pageData, run int, row int64) bool {
	return slices.ContainsFunc(data.worst, func(w badCitation) bool { return w.run == run && w.row == row })
}

func newWorstCitation(data *pageData, w badCitation) worstCitation {
	n, _ := data.find(w.run, w.row)
	row, k := &data.rows[n], w.citation
	r := data.results[row.run]
	opened, detail := r.opened[row.index], data.held.detail(n)
	out := worstCitation{
		Key: r.key(row.index), Link: "#row=" + r.key(row.index), ID: line(r.id[row.index], 60), System: line(r.system[row.index], 60), Question: clip(row.question, 140),
		Word: problemWords[w.problem],
	}
	if k < 0 {
		out.Why = []string{out.Word.Long}
		if detail != nil {
			out.Answer = line(detail.Record.Answer, 300)
		}
		return out
	}
	c := &opened.citations[k]
	view := &r.view(row.index, nil).Citations[k]
	out.Place, out.Why, out.Number = view.Place, view.why(), count(int64(c.Number)+1)
	if claims := opened.claims; len(c.Claims) > 0 && c.Claims[0] >= 0 && int(c.Claims[0]) < len(claims) {
		out.Claim = line(claims[c.Claims[0]].Text, 200)
	}
	if detail != nil {
		out.Cited, out.Instead = passagesOf(data, detail, row.run, k, c)
	}
	return out
}

// passages are the text that citation k of a row cites, and the text that it
// should have cited.
func passagesOf(data *pageData, detail *rowDetail, run, k int, c *runs.Citation) (cited, instead *passageText) {
	view := &detail.View
	if len(view.Sources) == 0 || k >= len(view.Citations) {
		return nil, nil
	}
	cited = passageOf(data, view, run, markPredicted, int32(k))
	if cited == nil {
		cited = &passageText{Source: wordOf(statusWords, c.Status).Short}
	}
	if want := view.Citations[k].Instead; want != nil {
		if instead = passageOf(data, view, run, want[0], want[1]); instead != nil {
			instead.Whose = view.Citations[k].Whose
		}
	}
	return cited, instead
}

// passage is the text of a mark, nil if it is not held.
func passageOf(data *pageData, view *rowShown, run int, kind, of int32) *passageText {
	for _, s := range view.Sources {
		i := slices.IndexFunc(s.marks, func(m mark) bool { return m.kind == kind && m.of == of })
		if i < 0 {
			continue
		}
		m := s.marks[i]
		for _, p := range data.held.detailers[run].sources.byKey[s.key].pieces {
			if m.start >= p.start && m.start < p.end {
				at := bytesBefore(p.text, []int64{m.start - p.start, min(m.end, p.end) - p.start})
				return &passageText{Source: s.Name, Text: ellipsis(p.text[at[0]:at[1]])}
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

type documentLine struct{ Name, Link, Cited, Wrong, Share, Absent string }

// shownDocuments is how many documents the table has.
const shownDocuments = 10

func documentLines(data *pageData) []documentLine {
	var out []documentLine
	for _, d := range data.docs[:min(len(data.docs), shownDocuments)] {
		if d.wrong == 0 {
			break
		}
		name := line(d.name, 120)
		l := documentLine{Name: name, Link: rowsLink("doc:" + name), Cited: Thousands(d.cited), Wrong: Thousands(d.wrong), Share: percent(d.wrong, d.cited)}
		if d.absent > 0 {
			l.Absent = "no such document"
		}
		out = append(out, l)
	}
	return out
}
