package report

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
)

// How many rows of a large run a page lists, and how many of them can be opened
// before sizes are known.
const (
	maxListed    = 60_000
	maxHeld      = 25_000
	leastSample  = 2_000 // of the rows that do not fail, where there are more rows than a page lists
	openedSample = 500   // of those that can be opened in any case
)

// A choice is the rows of a page.
type choice struct {
	listed []int // in order
	opened []int // of them, those that can be opened: the first ones are kept if there is no room
	sample int   // how many of the listed are drawn from the rows that do not fail
}

// choose chooses the rows that the page lists: all, or the failing ones and a
// seeded sample of the rest.
func choose(data *pageData, most int) choice {
	failing, rest := byFailing(data)
	c := choice{}
	kept := failing
	others := rest
	if len(data.rows) > most {
		if len(failing) > most-leastSample {
			kept = failing[:most-leastSample]
		}
		others = draw(data, rest, min(len(rest), most-len(kept)))
		c.sample = len(others)
	}
	c.listed = slices.Concat(kept, others)
	slices.Sort(c.listed)
	c.opened = slices.Concat(others[:min(len(others), openedSample)], kept)
	c.opened = append(c.opened, others[min(len(others), openedSample):]...)
	return c
}

// byFailing lists the failing rows, worst first, and the others in order.
func byFailing(data *pageData) (failing, rest []int) {
	for k := range data.rows {
		if data.rows[k].problem.Fails() {
			failing = append(failing, k)
		} else {
			rest = append(rest, k)
		}
	}
	return worstFirst(data, failing), rest
}

// draw takes a sample of n rows. A hash of the key decides, not the position, so
// that the sample of a grown dataset is nearly the same.
func draw(data *pageData, rows []int, n int) []int {
	lots := make(map[int]uint64, len(rows))
	for _, k := range rows {
		lots[k] = lot(data, k)
	}
	out := slices.Clone(rows)
	slices.SortFunc(out, func(x, y int) int { return cmp.Or(cmp.Compare(lots[x], lots[y]), x-y) })
	return out[:n]
}

// lot draws a row's number from its key and the seed of the run.
func lot(data *pageData, k int) uint64 {
	row := &data.rows[k]
	r := data.results[row.run]
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s", r.run.Manifest.Seed, r.id[row.index], r.system[row.index])
	return h.Sum64()
}

// sampledInWords says which rows the page lists and which of them can be opened; ""
// if all can.
func sampledInWords(data *pageData, c *choice, opened int) string {
	all, listed := int64(len(data.rows)), int64(len(c.listed))
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
		for _, k := range c.opened[:opened] {
			if data.rows[k].problem.Fails() {
				bad++
			}
		}
		text += fmt.Sprintf("%s of the rows can be opened here, %s of them failing; ibid show opens every row. ", Thousands(int64(opened)), Thousands(bad))
	}
	return text + "All numbers are over all rows; every row is in rows.parquet."
}
