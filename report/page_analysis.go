package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Finding is a sentence that counts back, in parts: what is counted links to its
// rows.
type Finding []Part

// A Part of a sentence is text, or a link to rows.
type Part struct{ Text, Link string }

// Text is the whole sentence.
func (f Finding) Text() string {
	var b strings.Builder
	for _, p := range f {
		b.WriteString(p.Text)
	}
	return b.String()
}

// say adds text to the sentence.
func (f *Finding) say(format string, args ...any) {
	*f = append(*f, Part{Text: fmt.Sprintf(format, args...)})
}

// link adds a link to the rows that meet all filters.
func (f *Finding) link(text string, filters ...string) {
	*f = append(*f, Part{text, rowsLink(filters...)})
}

// list adds n parts with commas between them and "and" before the last one.
func (f *Finding) list(n int, add func(k int)) {
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

// rowsLink is the link to the rows that meet all filters.
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

// analysis says what stands out and what to look at first.
func (b *pageBuilder) analysis() {
	if len(b.rows) == 0 {
		return
	}
	p := b.page
	p.Findings = slices.Concat(b.commonest(), b.groupsThatStandOut(), b.documentsCitedWrongly(), b.documentsNotThere())
	p.Advice = b.advice()
	p.Documents = b.documentLines()
	p.Kinds = b.kindTable()
}

// byProblem counts the rows of each worst problem.
func (b *pageBuilder) byProblem() (counts [numProblems]int64) {
	for i := range b.rows {
		counts[b.rows[i].problem]++
	}
	return counts
}

// serious reports whether a problem makes a row fail.
func (p problem) serious() bool { return problemWords[p].Tone == Bad || problemWords[p].Tone == Warn }

// commonest names the commonest of the serious problems.
func (b *pageBuilder) commonest() []Finding {
	counts := b.byProblem()
	var order []problem
	for p := range numProblems {
		if p.serious() && p != failed && counts[p] > 0 {
			order = append(order, p)
		}
	}
	slices.SortStableFunc(order, func(x, y problem) int { return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(y, x)) })
	if len(order) == 0 {
		return nil
	}
	var f Finding
	f.say("The commonest problem of failing rows is ")
	f.list(min(len(order), 3), func(k int) {
		w := problemWords[order[k]]
		if k == 1 {
			f.say("then ")
		}
		f.link(w.Short, "problem:"+w.Code)
		if k == 0 {
			f.say(" (the worst in %s of %s)", Thousands(counts[order[k]]), Thousands(sum(b.totals.failing)))
		} else {
			f.say(" (%s)", Thousands(counts[order[k]]))
		}
	})
	f.say(".")
	return []Finding{f}
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
func (b *pageBuilder) groupsThatStandOut() []Finding {
	all := group{rows: int64(len(b.rows)), failing: sum(b.totals.failing)}
	found := b.failingGroups()
	found = slices.DeleteFunc(found, func(g *group) bool { return g.rows < leastGroup || g.distance(&all) < standsOutFrom })
	slices.SortStableFunc(found, func(x, y *group) int {
		return cmp.Or(cmp.Compare(y.distance(&all), x.distance(&all)), cmp.Compare(x.filter, y.filter))
	})
	var out []Finding
	for _, g := range found[:min(len(found), 4)] {
		others := group{rows: all.rows - g.rows, failing: all.failing - g.failing}
		var f Finding
		f.say("%s stands out: ", g.name)
		f.link(fmt.Sprintf("%s of its %s", Thousands(g.failing), plural(g.rows, "row", "rows")), g.filter, "is:failing")
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

// failingGroups counts rows by system, tag and annotator, in order of their first
// row.
func (b *pageBuilder) failingGroups() []*group {
	var order []*group
	byFilter := make(map[string]*group)
	add := func(filter, name string, failing bool) {
		g := byFilter[filter]
		if g == nil {
			g = &group{name: name, filter: filter}
			byFilter[filter] = g
			order = append(order, g)
		}
		g.rows++
		if failing {
			g.failing++
		}
	}
	for i := range b.rows {
		row := &b.rows[i]
		r := b.results[row.run]
		failing := b.failing(row)
		if len(b.systems) > 1 {
			name := line(b.systems[row.system], 80)
			add("system:"+name, "The system "+name, failing)
		}
		for _, t := range r.tags[row.index] {
			name := line(t.Key, 60) + "=" + line(t.Value, 60)
			add("tag:"+name, name, failing)
		}
		if a := line(r.annotator[row.index], 80); a != "" {
			add("annotator:"+a, "What is scored against annotator "+a, failing)
		}
	}
	return order
}

// A docCount is how often a document is cited, and how often wrongly.
type docCount struct {
	name                 string
	cited, wrong, absent int64
}

// countDocuments counts citations by the document they name.
func (b *pageBuilder) countDocuments() []*docCount {
	var order []*docCount
	byName := make(map[string]*docCount)
	for i := range b.rows {
		row := &b.rows[i]
		r := b.results[row.run]
		l := b.limits[row.run]
		b.kinds.count(&l, r, row.index)
		citations := r.citationsOf(row.index)
		for k := range citations {
			c := &citations[k]
			if c.docNull {
				continue
			}
			d := byName[c.doc]
			if d == nil {
				d = &docCount{name: c.doc}
				byName[c.doc] = d
				order = append(order, d)
			}
			d.cited++
			if l.ofCitation(r, row.index, c).serious() {
				d.wrong++
			}
			if c.status == "document_not_found" {
				d.absent++
			}
		}
	}
	slices.SortStableFunc(order, func(x, y *docCount) int {
		return cmp.Or(cmp.Compare(y.wrong, x.wrong), cmp.Compare(x.cited, y.cited), cmp.Compare(x.name, y.name))
	})
	return order
}

func (b *pageBuilder) documentsCitedWrongly() []Finding {
	return b.documentsFinding("Documents most often cited wrongly: ", func(d *docCount) (n, of int64) {
		if d.absent > 0 {
			return 0, 0
		}
		return d.wrong, d.cited
	})
}

func (b *pageBuilder) documentsNotThere() []Finding {
	return b.documentsFinding("Cited, but there is no such document: ", func(d *docCount) (n, of int64) { return d.absent, 0 })
}

// documentsFinding names the first documents that have a count.
func (b *pageBuilder) documentsFinding(text string, of func(d *docCount) (n, of int64)) []Finding {
	found := slices.DeleteFunc(slices.Clone(b.docs), func(d *docCount) bool { n, _ := of(d); return n == 0 })
	if len(found) == 0 {
		return nil
	}
	const named = 3
	var f Finding
	f.say("%s", text)
	f.list(min(len(found), named+1), func(k int) {
		if k == named {
			f.say("%s", plural(int64(len(found)-named), "other", "others"))
			return
		}
		n, all := of(found[k])
		name := line(found[k].name, 120)
		f.link(clip(name, 60), "doc:"+name)
		if all > 0 {
			f.say(" (%s of %s)", Thousands(n), plural(all, "citation", "citations"))
		} else {
			f.say(" (%s)", Thousands(n))
		}
	})
	f.say(".")
	return []Finding{f}
}

// A DocumentLine is a document in the table of documents.
type DocumentLine struct{ Name, Link, Cited, Wrong, Share, Absent string }

// shownDocuments is how many documents the table has.
const shownDocuments = 10

func (b *pageBuilder) documentLines() []DocumentLine {
	var out []DocumentLine
	for _, d := range b.docs[:min(len(b.docs), shownDocuments)] {
		if d.wrong == 0 {
			break
		}
		name := line(d.name, 120)
		l := DocumentLine{Name: name, Link: rowsLink("doc:" + name), Cited: Thousands(d.cited), Wrong: Thousands(d.wrong), Share: percent(d.wrong, d.cited)}
		if d.absent > 0 {
			l.Absent = "no such document"
		}
		out = append(out, l)
	}
	return out
}
