package report

import (
	"fmt"

	"ibid/annotations/compare"
)

// A changesView is what fails since an earlier run and did not in it, and the other way
// round.
type changesView struct{ Pairs []changedPair }

// A changedPair is one run since another.
type changedPair struct {
	Title string // "" where there is one pair
	Lists []changedList
}

// A changedList is answers that changed in one way.
type changedList struct {
	Title, Says string
	Rows        []changedRow
	Link        string // to all of them among the rows
	Left        string // how many are not named; "" if all are
	Open        bool
}

// A changedRow is an answer; Link is "" if the page does not hold it.
type changedRow struct{ Name, Link string }

// changesSection lists the answers that fail newly, no longer and still.
func changesSection(data *pageData) *section {
	r := data.options.Since
	if r == nil || len(r.Failures) == 0 {
		return nil
	}
	view := &changesView{}
	for i := range r.Failures {
		f := &r.Failures[i]
		base, run := line(r.Sides[f.Base].Name, 40), line(r.Sides[f.New].Name, 40)
		links := linksOfRun(data, r.Sides[f.New].Run)
		p := changedPair{}
		if len(r.Failures) > 1 {
			p.Title = run + " against " + base
		}
		for _, l := range []struct {
			title, says, code string
			named             compare.Named
			open              bool
		}{
			{"New failures", fmt.Sprintf("fail in %s and not in %s", run, base), "new", f.Newly, true},
			{"Fixed", fmt.Sprintf("fail in %s and not in %s", base, run), "fixed", f.Fixed, true},
			{"Still failing", "fail in both", "still", f.Still, false},
		} {
			list := changedList{Title: fmt.Sprintf("%s: %s", l.title, Thousands(l.named.Rows)), Says: l.says, Open: l.open}
			for _, name := range l.named.IDs {
				list.Rows = append(list.Rows, changedRow{line(name, 80), links[name]})
			}
			if data.several() && l.named.Rows > 0 {
				list.Link = rowsLink("since:" + l.code)
			}
			if left := l.named.Rows - int64(len(l.named.IDs)); left > 0 {
				list.Left = Plural(left, "more", "more")
			}
			p.Lists = append(p.Lists, list)
		}
		view.Pairs = append(view.Pairs, p)
	}
	return &section{"changes", "Changes", view}
}

// linksOfRun are the links to the rows of a run, by ID/SYSTEM as comparisons name them.
func linksOfRun(data *pageData, run string) map[string]string {
	links := make(map[string]string)
	for n := range data.rows {
		r := data.results[data.rows[n].run]
		if r.run.Manifest.ID == run {
			i := data.rows[n].index
			links[r.id[i]+"/"+r.system[i][len(r.prefix):]] = "#row=" + r.key(i)
		}
	}
	return links
}

// sinceCodes are the ways in which an answer changed since the run that its own is compared
// with, by the number that the index has; 0 is neither fails, or nothing to compare with.
var sinceCodes = []string{"", "new", "fixed", "still"}

// sinceIndex finds for each row that the page lists the row that it is compared with, -1 if
// none, and how it changed. Both lists are empty where runs are not compared.
func sinceIndex(data *pageData, listed []int) (partner []int, since []int8) {
	r := data.options.Comparison
	if r == nil || r.By != "run" {
		return []int{}, []int8{}
	}
	partner, since = make([]int, len(listed)), make([]int8, len(listed))
	place := make(map[int]int, len(listed))
	for k, n := range listed {
		partner[k], place[n] = -1, k
	}
	for _, k := range pagePairs(r) {
		if p := &r.Pairs[k]; p.Paired {
			for other, base := range partners(data, r, p) {
				at, ok := place[other]
				if !ok {
					continue
				}
				if was, ok := place[base]; ok {
					partner[at] = was
				}
				switch was, is := data.rows[base].problem.Fails(), data.rows[other].problem.Fails(); {
				case was && is:
					since[at] = 3
				case was:
					since[at] = 2
				case is:
					since[at] = 1
				}
			}
		}
	}
	return partner, since
}
