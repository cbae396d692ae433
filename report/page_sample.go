package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ibid/metrics"
)

// How many rows of a large run a page lists, and how many of them can be opened
// before sizes are known.
const (
	maxListed    = 60_000
	maxHeld      = 2_000
	leastSample  = 2_000 // of the rows that do not fail, where there are more rows than a page lists
	openedSample = 500   // of those that can be opened in any case
)

// A candidate is a row that the page may list.
type candidate struct {
	run     int
	row     int64 // position in the input of its run
	problem metrics.Problem
	system  int
	lead    float64 // first metric, more is better; 0 without hasLead
	hasLead bool
	lot     uint64 // of a row that does not fail
}

// worse orders rows by how bad they are: problem, then the first metric, then the
// order of the input.
func (x candidate) worse(y candidate) int {
	if d := cmp.Compare(y.problem, x.problem); d != 0 {
		return d
	}
	switch {
	case x.hasLead && y.hasLead && x.lead != y.lead:
		return cmp.Compare(x.lead, y.lead)
	case x.hasLead && !y.hasLead:
		return -1
	case y.hasLead && !x.hasLead:
		return 1
	}
	return x.before(y)
}

func (x candidate) before(y candidate) int {
	return cmp.Or(cmp.Compare(x.run, y.run), cmp.Compare(x.row, y.row))
}

func (x candidate) drawnBefore(y candidate) int {
	return cmp.Or(cmp.Compare(x.lot, y.lot), x.before(y))
}

// first keeps the first candidates of an order, of any number.
type first struct {
	most  int
	order func(x, y candidate) int
	list  []candidate // up to twice as many
	full  bool        // the first most of list are in order, and what follows the last of them is of no use
	n     int64       // that were added
}

func (f *first) add(x candidate) {
	f.n++
	if f.full && f.order(x, f.list[f.most-1]) > 0 {
		return
	}
	if f.list = append(f.list, x); len(f.list) > 2*f.most {
		f.sorted()
		f.full = true
	}
}

func (f *first) sorted() []candidate {
	slices.SortFunc(f.list, f.order)
	f.list = f.list[:min(len(f.list), f.most)]
	return f.list
}

// A chooser chooses the rows of a page: all, or the failing ones and a seeded sample
// of the rest. A hash of the key decides, not the position, so that the sample of a
// grown dataset is nearly the same.
type chooser struct {
	most          int
	all           bool
	failing, rest first
}

// newChooser chooses up to most of so many rows.
func newChooser(most int, rows int64) *chooser {
	c := &chooser{most: most, all: rows <= int64(most)}
	c.failing = first{most: most, order: candidate.worse}
	c.rest = first{most: most, order: candidate.drawnBefore}
	return c
}

func (c *chooser) add(x candidate) {
	if x.problem.Fails() {
		c.failing.add(x)
	} else {
		c.rest.add(x)
	}
}

// A choice is the rows of a page.
type choice struct {
	listed []candidate // in order
	opened []candidate // of them, those that can be opened: the first ones are kept if there is no room
	sample int         // how many of the listed are drawn from the rows that do not fail
}

// choose ends the choice. The failing rows are opened system by system in turn, the
// worst of each first.
func (c *chooser) choose() choice {
	failing, others := c.failing.sorted(), c.rest.sorted()
	if !c.all {
		failing = failing[:min(len(failing), c.most-min(len(others), leastSample))]
	}
	others = others[:min(len(others), c.most-len(failing))]
	out := choice{listed: slices.Concat(failing, others)}
	slices.SortFunc(out.listed, candidate.before)
	if !c.all {
		out.sample = len(others)
	}
	var inTurn [][]candidate // first the worst of each system
	turns := make(map[int]int)
	for _, x := range failing {
		turn := turns[x.system]
		turns[x.system]++
		if turn == len(inTurn) {
			inTurn = append(inTurn, nil)
		}
		inTurn[turn] = append(inTurn[turn], x)
	}
	n := min(len(others), openedSample)
	out.opened = slices.Concat(others[:n], slices.Concat(inTurn...), others[n:])
	return out
}

// lot draws a row's number from its key and the seed of the run.
func lot(seed int64, id, system string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	var digits [20]byte
	h := uint64(offset)
	add := func(b byte) { h = (h ^ uint64(b)) * prime }
	for _, b := range strconv.AppendInt(digits[:0], seed, 10) {
		add(b)
	}
	for _, text := range [2]string{id, system} {
		add(0)
		for i := range len(text) {
			add(text[i])
		}
	}
	return h
}

// sampledInWords says which rows the page lists and which of them can be opened; ""
// if all can.
func sampledInWords(data *pageData, c *choice, opened int) string {
	all, listed := sum(data.totals.rows), int64(len(c.listed))
	if listed == all && opened == len(c.listed) {
		return ""
	}
	failing := sum(data.totals.failing)
	text := ""
	if listed < all {
		what := fmt.Sprintf("all %s failing rows", Thousands(failing))
		if kept := listed - int64(c.sample); kept < failing {
			what = fmt.Sprintf("the %s worst of %s failing rows", Thousands(kept), Thousands(failing))
		}
		if c.sample > 0 {
			what += fmt.Sprintf(" and a sample of %s others (seed %d)", Thousands(int64(c.sample)), data.results[0].run.Manifest.Seed)
		}
		text = fmt.Sprintf("This page lists %s of %s rows: %s. ", Thousands(listed), Thousands(all), what)
	}
	if opened < len(c.listed) {
		bad := int64(0)
		for _, x := range c.opened[:opened] {
			if x.problem.Fails() {
				bad++
			}
		}
		text += fmt.Sprintf("%s of the rows can be opened here, %s of them failing; ibid show opens every row. ", Thousands(int64(opened)), Thousands(bad))
	}
	return text + "All numbers are over all rows; every row is in rows.parquet."
}
