package compare

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// Moved counts the verdicts on claims that changed between two runs. One judge judged the same
// answers in both.
type Moved struct {
	Of    int64 `json:"of"` // claims that have a degree of support in both
	ToYes int64 `json:"to_yes"`
	ToNo  int64 `json:"to_no"`
}

// findMoved looks for verdicts that changed from a run to another over the same answers, by the
// same judge: then the judge moved, and not the answers.
func (c *comparison) findMoved() error {
	if c.result.By != "run" || len(c.result.Sides) != 2 {
		return nil
	}
	base, other := c.groups[0].rows[0].run, c.groups[0].rows[1].run
	data := base.Manifest.Ingredients["dataset"]
	if data == "" || data != other.Manifest.Ingredients["dataset"] || len(OtherJudge(base.Manifest, other.Manifest)) > 0 {
		return nil
	}
	before := make(map[uint64]bool)
	err := eachVerdict(base, func(claim uint64, yes bool) { before[claim] = yes })
	m := &Moved{}
	if err == nil {
		err = eachVerdict(other, func(claim uint64, yes bool) {
			was, known := before[claim]
			switch {
			case !known:
				return
			case yes && !was:
				m.ToYes++
			case was && !yes:
				m.ToNo++
			}
			m.Of++
		})
	}
	if errors.Is(err, fs.ErrNotExist) || err == nil && m.Of == 0 { // no judge said anything
		return nil
	}
	c.result.Moved = m
	if changed := m.ToYes + m.ToNo; changed > 0 {
		c.result.Notes = append(c.result.Notes, fmt.Sprintf("the judge moved: %d of %d verdicts changed, %d to yes, %d to no", changed, m.Of, m.ToYes, m.ToNo))
	}
	return err
}

// eachVerdict calls yield with a key of each claim of a run that has a degree of support, and
// whether it is supported.
func eachVerdict(r *Run, yield func(claim uint64, yes bool)) error {
	from := r.Manifest.Supported()
	return runs.Claims.Scan(r.Dir, []string{"id", "system", "claim", "support"}, func(_ int64, c *runs.Claim) error {
		if c.Support != nil {
			yield(stats.Key(c.ID, "\x00", c.System, "\x00", strconv.Itoa(int(c.Number))), *c.Support >= from)
		}
		return nil
	})
}
