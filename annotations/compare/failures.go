package compare

import (
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// Failures are the rows that fail in one of two runs, or in both, of those that are paired.
// Names are ID/SYSTEM.
type Failures struct {
	Base  int   `json:"base"` // index of a side
	New   int   `json:"new"`
	Newly Named `json:"new_failures"`
	Fixed Named `json:"fixed"`
	Still Named `json:"still_failing"`
}

// failures finds the rows that fail in the base and in each run. Runs of versions that did
// not say which rows fail have none, nor have sides of one run.
func (c *comparison) failures() error {
	if c.result.By != "run" || !c.base.file.Has(failsColumn) {
		return nil
	}
	before, err := c.base.fails()
	if err != nil {
		return err
	}
	for i := range c.result.Pairs {
		pair, p := &c.result.Pairs[i], c.pairings[i]
		first := i == 0 || c.result.Pairs[i-1].New != pair.New // of all systems, where there are several
		if !first || !pair.Paired || !p.other.run.file.Has(failsColumn) {
			continue
		}
		after, err := p.other.run.fails()
		if err != nil {
			return err
		}
		var newly, fixed, still []int32 // rows of the base
		for k, row := range p.first.rows {
			switch was, is := before[row], after[p.second[k]]; {
			case was && is:
				still = append(still, row)
			case was:
				fixed = append(fixed, row)
			case is:
				newly = append(newly, row)
			}
		}
		f := Failures{Base: pair.Base, New: pair.New}
		for _, list := range []struct {
			rows []int32
			to   *Named
		}{{newly, &f.Newly}, {fixed, &f.Fixed}, {still, &f.Still}} {
			if *list.to, err = c.base.named(list.rows, func(row int32, id string) string { return id + "/" + c.base.systems.name(row) }); err != nil {
				return err
			}
		}
		c.result.Failures = append(c.result.Failures, f)
	}
	return nil
}

// failsColumn has a value in the rows that fail.
const failsColumn = "fails_because"

// fails says of each row of the run whether it fails.
func (r *Run) fails() ([]bool, error) {
	all := make([]bool, 0, r.file.Len())
	err := r.file.Each(func(b *runs.Block) error {
		all = append(all, b.Column(failsColumn).Valid...)
		return nil
	})
	return all, err
}

// named lists rows, which are in file order, by their names.
func (r *Run) named(rows []int32, name func(row int32, id string) string) (Named, error) {
	n := Named{Rows: int64(len(rows)), IDs: []string{}}
	err := r.eachID(rows, func(row int32, id string) {
		text := name(row, id)
		at, ok := slices.BinarySearch(n.IDs, text)
		if !ok && at < maxListed {
			n.IDs = slices.Insert(n.IDs, at, strings.Clone(text))
			n.IDs = n.IDs[:min(len(n.IDs), maxListed)]
		}
	})
	return n, err
}
