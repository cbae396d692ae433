package compare

import (
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// Failures are the rows that fail in one of two runs, or in both, of those that are paired.
// Names are ID/SYSTEM.
type Failures struct {
	Base  string `json:"base"` // names of sides
	New   string `json:"new"`
	Newly Named  `json:"new_failures"`
	Fixed Named  `json:"fixed"`
	Still Named  `json:"still_failing"`
}

// failures finds the rows that fail in the base and in each run. Sides of one run have none.
func (c *comparison) failures() error {
	if c.result.By != "run" {
		return nil
	}
	base := c.groups[0].rows[c.from].run
	before, err := base.fails()
	if err != nil {
		return err
	}
	for i := range c.result.Sides {
		if i == c.from {
			continue
		}
		after, err := c.groups[0].rows[i].run.fails()
		if err != nil {
			return err
		}
		var newly, fixed, still []int32 // rows of the base
		paired := false
		for _, g := range c.groups {
			p := g.pairing(c.from, i)
			paired = paired || p.paired
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
		}
		if !paired {
			continue
		}
		f := Failures{Base: c.result.Sides[c.from].Name, New: c.result.Sides[i].Name}
		for _, list := range []struct {
			rows []int32
			to   *Named
		}{{newly, &f.Newly}, {fixed, &f.Fixed}, {still, &f.Still}} {
			slices.Sort(list.rows)
			if *list.to, err = base.named(list.rows, func(row int32, id string) string { return id + "/" + base.systems.name(row) }); err != nil {
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
