package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/metrics"
)

// A finding is a sentence that counts back, in parts: what is counted links to its
// rows.
type finding []findingPart

// A findingPart of a sentence is text, or a link to rows.
type findingPart struct{ Text, Link string }

// Text is the whole sentence.
func (f finding) Text() string {
	var b strings.Builder
	for _, p := range f {
		b.WriteString(p.Text)
	}
	return b.String()
}

// say adds text to the sentence.
func (f *finding) say(format string, args ...any) {
	*f = append(*f, findingPart{Text: fmt.Sprintf(format, args...)})
}

// link adds a link to the rows that meet all filters.
func (f *finding) link(text string, filters ...string) {
	*f = append(*f, findingPart{text, rowsLink(filters...)})
}

// list adds n parts with commas between them and "and" before the last one.
func (f *finding) list(n int, add func(k int)) {
	for k := range n {
		switch {
		case k > 0 && k == n-1:
			f.say(" and ")
		case k > 0:
			f.say(", ")
		}
		add(k)
	}
}

func rowsLink(filters ...string) string {
	link := "#"
	for k, f := range filters {
		if k > 0 {
			link += "&"
		}
		link += "f=" + escapeLink(f)
	}
	return link
}

// An analysisView is what stands out and what to do first.
type analysisView struct{ Findings, Advice []finding }

// analysisSection says what stands out and what to look at first.
func analysisSection(data *pageData) *section {
	if sum(data.totals.rows) == 0 {
		return nil
	}
	view := &analysisView{
		Findings: slices.Concat(commonest(data), groupsThatStandOut(data), documentsCitedWrongly(data), documentsNotThere(data)),
		Advice:   advice(data),
	}
	if len(view.Findings)+len(view.Advice) == 0 {
		return nil
	}
	return &section{"analysis", "Analysis", view}
}

// commonest names the commonest of the serious problems.
func commonest(data *pageData) []finding {
	counts := &data.totals.problems
	var order []metrics.Problem
	for p := range metrics.Problem(metrics.NumProblems) {
		if p.Fails() && p != metrics.ProblemError && counts[p] > 0 {
			order = append(order, p)
		}
	}
	slices.SortStableFunc(order, func(x, y metrics.Problem) int { return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(y, x)) })
	if len(order) == 0 {
		return nil
	}
	var f finding
	f.say("The commonest problem of failing rows is ")
	f.list(min(len(order), 3), func(k int) {
		w := problemWords[order[k]]
		if k == 1 {
			f.say("then ")
		}
		f.link(w.Short, "problem:"+w.Code)
		if k == 0 {
			f.say(" (the worst in %s of %s)", Thousands(counts[order[k]]), Thousands(sum(data.totals.failing)))
		} else {
			f.say(" (%s)", Thousands(counts[order[k]]))
		}
	})
	f.say(".")
	return []finding{f}
}

// A group is rows that have something in common.
type group struct {
	name          string // as the subject of a sentence
	filter        string
	rows, failing int64
}

// leastGroup is how few rows a group may have to be named.
const leastGroup = 5

// groupsThatStandOut names systems, tags and annotators whose rows fail more
// often than the others'.
func groupsThatStandOut(data *pageData) []finding {
	all := group{rows: sum(data.totals.rows), failing: sum(data.totals.failing)}
	found := data.groups.list()
	found = slices.DeleteFunc(found, func(g *group) bool { return g.rows < leastGroup || g.distance(&all) < standsOutFrom })
	slices.SortStableFunc(found, func(x, y *group) int {
		return cmp.Or(cmp.Compare(y.distance(&all), x.distance(&all)), cmp.Compare(x.filter, y.filter))
	})
	var out []finding
	for _, g := range found[:min(len(found), 4)] {
		others := group{rows: all.rows - g.rows, failing: all.failing - g.failing}
		var f finding
		f.say("%s stands out: ", g.name)
		f.link(fmt.Sprintf("%s of its %s", Thousands(g.failing), Plural(g.rows, "row", "rows")), g.filter, "is:failing")
		f.say(" %s (%s), %s of the other %s %s (%s).", oneOrMany(g.failing, "fails", "fail"), percent(g.failing, g.rows),
			Thousands(others.failing), Thousands(others.rows), oneOrMany(others.failing, "does", "do"), percent(others.failing, others.rows))
		out = append(out, f)
	}
	return out
}

// standsOutFrom is how many standard errors a group's share of failing rows has
// to be above the others' for the group to be named. It screens; it tests nothing.
const standsOutFrom = 2

// distance is by how many binomial standard errors the share of failing rows is
// above that of the rest of all rows; 0 if there is no rest or no variation.
func (g *group) distance(all *group) float64 {
	n, rest := float64(g.rows), float64(all.rows-g.rows)
	p := float64(all.failing) / float64(all.rows)
	if rest == 0 || p == 0 || p == 1 {
		return 0
	}
	return (float64(g.failing)/n - float64(all.failing-g.failing)/rest) / math.Sqrt(p*(1-p)*(1/n+1/rest))
}

func documentsCitedWrongly(data *pageData) []finding {
	return documentsFinding(data, "Documents most often cited wrongly: ", func(d *docCount) (n, of int64) {
		if d.absent > 0 {
			return 0, 0
		}
		return d.wrong, d.cited
	})
}

func documentsNotThere(data *pageData) []finding {
	return documentsFinding(data, "Cited, but there is no such document: ", func(d *docCount) (n, of int64) { return d.absent, 0 })
}

// documentsFinding names the first documents that have a count.
func documentsFinding(data *pageData, text string, of func(d *docCount) (n, of int64)) []finding {
	found := slices.DeleteFunc(slices.Clone(data.docs), func(d *docCount) bool { n, _ := of(d); return n == 0 })
	if len(found) == 0 {
		return nil
	}
	const named = 3
	var f finding
	f.say("%s", text)
	f.list(min(len(found), named+1), func(k int) {
		if k == named {
			f.say("%s", Plural(int64(len(found)-named), "other", "others"))
			return
		}
		n, all := of(found[k])
		name := line(found[k].name, 120)
		f.link(clip(name, 60), "doc:"+name)
		if all > 0 {
			f.say(" (%s of %s)", Thousands(n), Plural(all, "citation", "citations"))
		} else {
			f.say(" (%s)", Thousands(n))
		}
	})
	f.say(".")
	return []finding{f}
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
