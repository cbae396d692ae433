package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibid"
)

// A group is rows of each side that are compared with each other: those of one system, or all
// rows of the sides.
type group struct {
	system   string // "" unless every side has it and others
	rows     []*rowSet
	pairings map[[2]int]*pairing // of two sides
}

// A comparison is one under way.
type comparison struct {
	Options
	level  float64
	base   *Run
	result *Result
	groups []*group
	from   int // side that the others are compared with; -1 if every two are
	slices []string
}

// newComparison takes from the base run what the options leave open.
func newComparison(base *Run, o Options, by string) (*comparison, error) {
	c := &comparison{Options: o, level: base.Manifest.Effective().Statistics.Level, base: base, from: -1}
	if !o.Whole {
		c.slices = base.slices()
	}
	for _, key := range o.Slices {
		if slices.Contains(c.slices, key) {
			continue
		}
		if err := base.checkSlice(key); err != nil {
			return nil, err
		}
		c.slices = append(c.slices, key)
	}
	c.result = &Result{
		Schema: "ibid.compare/v2", By: by, Level: c.level,
		Notes: []string{}, Sides: []Side{}, SetAside: []Aside{}, Unpaired: []Unpaired{}, Metrics: []Metric{}, Failures: []Failures{},
	}
	return c, nil
}

// Runs compares each of the runs with the first, or with the one that is named: system by
// system where all of them have some in common. The error is a [*RefusedError] if the metrics
// of the runs have other versions or settings, unless o forces the comparison. Of runs with other judges it compares what
// rests on no verdict.
func Runs(base *Run, news []*Run, o Options) (*Result, error) {
	c, err := newComparison(base, o, "run")
	if err != nil {
		return nil, err
	}
	all := append([]*Run{base}, news...)
	for _, other := range news {
		if err := c.admit(Reasons(base.Manifest, other.Manifest), other); err != nil {
			return nil, err
		}
	}
	common := c.common(all)
	for _, r := range all {
		if len(common) == 0 && len(c.systemsOf(r)) != 1 {
			return nil, &ibid.Error{
				Usage: true, Err: fmt.Errorf("the runs have no system in common, and %s has %d: %s", r.Manifest.ID, len(r.Systems()), strings.Join(r.Systems(), ", ")),
				Hint: "name one of each run: --system NAME --system OTHER",
			}
		}
	}
	if len(common) == 0 {
		g := &group{}
		for _, r := range all {
			system := c.systemsOf(r)[0]
			g.rows = append(g.rows, side(r, system, nil))
			c.addSide(r.Manifest.ID, system, g.rows[len(g.rows)-1].rows)
		}
		c.groups = []*group{g}
	} else {
		keep := make(map[string]bool)
		for _, system := range common {
			keep[system] = true
			g := &group{system: system}
			for _, r := range all {
				g.rows = append(g.rows, side(r, system, nil))
			}
			c.groups = append(c.groups, g)
		}
		for _, r := range all {
			c.addSide(r.Manifest.ID, "", side(r, "", keep).rows)
		}
	}
	c.Base = cmp.Or(c.Base, c.result.Sides[0].Name)
	return c.finish()
}

// systemsOf are the systems of a run that are compared.
func (c *comparison) systemsOf(r *Run) []string {
	return slices.DeleteFunc(r.Systems(), func(s string) bool { return len(c.Systems) > 0 && !slices.Contains(c.Systems, s) })
}

// common are the systems that all runs have. Others are noted.
func (c *comparison) common(all []*Run) (common []string) {
	count := make(map[string]int)
	for _, r := range all {
		for _, s := range c.systemsOf(r) {
			count[s]++
		}
	}
	var left []string
	for s, n := range count {
		if n == len(all) {
			common = append(common, s)
		} else {
			left = append(left, s)
		}
	}
	slices.Sort(common)
	slices.Sort(left)
	if len(common) > 0 && len(left) > 0 {
		c.result.Notes = append(c.result.Notes, "left out, because not every run has them: "+strings.Join(left, ", "))
	}
	return common
}

// admit refuses what should not be compared, or notes it.
func (c *comparison) admit(why []string, other *Run) error {
	if len(why) == 0 {
		return nil
	}
	if !c.Force {
		return &RefusedError{Base: c.base.Manifest.ID, New: other.Manifest.ID, Reasons: why}
	}
	for _, reason := range why {
		c.result.Notes = append(c.result.Notes, "compared by force, although "+reason)
	}
	return nil
}

func noSystem(r *Run, name string) error {
	return &ibid.Error{
		Usage: true, Err: fmt.Errorf("%s has no system %q", r.Manifest.ID, name),
		Hint: "it has " + strings.Join(r.Systems(), ", "),
	}
}

// By compares the systems of one run with each other, or its models or providers: by is
// "system", "model" or "provider". Rows without a model are left out; a question that one model
// answered under two systems is [ibid.ErrUsage].
func By(run *Run, by string, o Options) (*Result, error) {
	c, err := newComparison(run, o, by)
	if err != nil {
		return nil, err
	}
	if err := run.groupBy(by); err != nil {
		return nil, err
	}
	for _, name := range o.Systems {
		if !slices.Contains(run.Systems(), name) {
			return nil, noSystem(run, name)
		}
	}
	systems := c.systemsOf(run)
	switch len(systems) {
	case 0:
		return nil, &ibid.Error{Usage: true, Err: fmt.Errorf("no row of %s has a %s", run.Manifest.ID, by), Hint: "compare it --by system"}
	case 1:
		return nil, &ibid.Error{
			Usage: true, Err: fmt.Errorf("%s has one %s, %s: there is nothing to compare it with", run.Manifest.ID, by, systems[0]),
			Hint: "compare it with another run: ibid compare BASE NEW",
		}
	}
	g := &group{}
	for _, s := range systems {
		g.rows = append(g.rows, side(run, s, nil))
		c.addSide(run.Manifest.ID, s, g.rows[len(g.rows)-1].rows)
	}
	c.groups = []*group{g}
	return c.finish()
}

// addSide adds a side under a name of its own.
func (c *comparison) addSide(run, system string, rows []int32) {
	name := run
	if c.result.By != "run" {
		name = system
	} else if system != "" {
		name += "/" + system
	}
	for n := 2; slices.ContainsFunc(c.result.Sides, func(s Side) bool { return s.Name == name }); n++ {
		name = fmt.Sprintf("%s (%d)", run, n)
	}
	c.result.Sides = append(c.result.Sides, Side{Name: name, Run: run, System: system, Rows: int64(len(rows))})
}

// findBase looks the side up that the others are compared with.
func (c *comparison) findBase() error {
	if c.Base == "" {
		return nil
	}
	var names []string
	for i, s := range c.result.Sides {
		if names = append(names, s.Name); s.Name == c.Base || c.result.By == "run" && s.Run == c.Base {
			c.from, c.result.Base = i, s.Name
			return nil
		}
	}
	return &ibid.Error{Usage: true, Err: fmt.Errorf("no side is called %q", c.Base), Hint: "it is one of " + strings.Join(names, ", ")}
}

// pairing pairs two sides of a group, once.
func (g *group) pairing(base, other int) *pairing {
	at := [2]int{base, other}
	if g.pairings == nil {
		g.pairings = make(map[[2]int]*pairing)
	}
	if g.pairings[at] == nil {
		g.pairings[at] = pair(g.rows[base], g.rows[other])
	}
	return g.pairings[at]
}

// noteUnpaired lists the rows that one of two runs has alone, and refuses pairs whose truth
// differs.
func (c *comparison) noteUnpaired() error {
	for _, g := range c.groups {
		for i := range g.rows {
			if i == c.from || c.result.By != "run" {
				continue
			}
			p := g.pairing(c.from, i)
			why, err := p.otherTruth()
			if err != nil {
				return err
			}
			if why != "" {
				if err := c.admit([]string{why}, p.other.run); err != nil {
					return err
				}
			}
			for side, rows := range map[int][]int32{c.from: p.onlyBase, i: p.onlyOther} {
				if len(rows) == 0 || !p.paired {
					continue
				}
				of, err := g.rows[side].run.named(rows, func(_ int32, id string) string { return id })
				if err != nil {
					return err
				}
				c.result.Unpaired = append(c.result.Unpaired, Unpaired{c.result.Sides[side].Name, g.system, of})
			}
			p.onlyBase, p.onlyOther = nil, nil
		}
	}
	slices.SortStableFunc(c.result.Unpaired, func(a, b Unpaired) int { return cmp.Or(cmp.Compare(a.System, b.System), cmp.Compare(a.Name, b.Name)) })
	return nil
}

// noteSigns notes what says of a side that its input may be wrong.
func (c *comparison) noteSigns() {
	for _, side := range c.result.Sides {
		run := c.base
		for _, rows := range c.groups[0].rows {
			if rows.run.Manifest.ID == side.Run {
				run = rows.run
			}
		}
		for _, sign := range run.Manifest.Shown() {
			ofSide := side.System == "" || sign.System == "" || side.System == sign.System || c.result.By != "run" && c.result.By != "system"
			text := sign.Sentence()
			if c.result.By == "run" {
				text += ", in " + side.Run
			}
			if ofSide && !sign.Note && !slices.Contains(c.result.Notes, text) {
				c.result.Notes = append(c.result.Notes, text)
			}
		}
	}
}

// finish compares the sides.
func (c *comparison) finish() (*Result, error) {
	if err := c.findBase(); err != nil {
		return nil, err
	}
	if err := c.noteUnpaired(); err != nil {
		return nil, err
	}
	if err := c.decide(); err != nil {
		return nil, err
	}
	c.noteSigns()
	if err := c.took(); err != nil {
		return nil, err
	}
	if err := c.findMoved(); err != nil {
		return nil, err
	}
	return c.result, c.failures()
}
