package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A comparison is one under way.
type comparison struct {
	Options
	tester
	base     *Run
	result   *Result
	headline []Quantity
	rest     []Quantity
	sides    []*rowSet
	slices   []string
	pairings []*pairing // of result.Pairs
}

// newComparison takes from the base run what the options leave open.
func newComparison(base *Run, o Options, by string) (*comparison, error) {
	t, err := newTester(base, o)
	if err != nil {
		return nil, err
	}
	c := &comparison{
		Options: o, tester: *t, base: base, headline: o.Metrics,
		slices: base.slices(),
	}
	if c.headline == nil {
		c.headline = headlineOf(base.components)
	}
	c.rest = without(o.More, c.headline)
	if o.All {
		c.rest = without(everything(), c.headline)
	}
	if o.Whole {
		c.slices = nil
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
		Schema: "ibid.compare/v1", By: by, Level: t.level, Power: t.power,
		Headline: []string{}, Notes: []string{}, Sides: []Side{}, Pairs: []Pair{}, Rankings: []Ranking{}, Failures: []Failures{},
	}
	for _, q := range c.headline {
		c.result.Headline = append(c.result.Headline, q.String())
	}
	return c, nil
}

// newTester makes a tester from options and the base run's settings.
func newTester(base *Run, o Options) (*tester, error) {
	t := &tester{
		level: cmp.Or(o.Level, base.Manifest.Effective().Statistics.Level), power: stats.DefaultDesign.Power,
	}
	if !(t.level > 0 && t.level < 1) {
		return nil, &ibid.Error{Usage: true, Err: fmt.Errorf("level %v is not between 0 and 1", t.level)}
	}
	return t, nil
}

// Runs compares each of the runs with base, system by system where all of them
// have some in common, and all of those together. It refuses runs whose numbers do
// not mean the same with a [*RefusedError], unless forced to.
func Runs(base *Run, news []*Run, o Options) (*Result, error) {
	c, err := newComparison(base, o, "run")
	if err != nil {
		return nil, err
	}
	for _, other := range news {
		if err := c.admit(reasons(base, other), other); err != nil {
			return nil, err
		}
	}
	if o.Base != "" {
		if !slices.Contains(base.Systems(), o.Base) {
			return nil, noSystem(base, o.Base)
		}
		return c.single(news, o.Base, func(*Run) string { return cmp.Or(o.New, o.Base) })
	}
	common := c.common(news)
	if len(common) > 0 {
		return c.shared(news, common)
	}
	for _, r := range append([]*Run{base}, news...) {
		if all := r.Systems(); len(all) != 1 {
			return nil, &ibid.Error{
				Usage: true, Err: fmt.Errorf("the runs have no system in common, and %s has %d: %s", r.Manifest.ID, len(all), strings.Join(all, ", ")),
				Hint: "say which system to compare with which: --system BASE=NEW",
			}
		}
	}
	return c.single(news, base.Systems()[0], func(r *Run) string { return r.Systems()[0] })
}

// shared compares the systems that all runs have.
func (c *comparison) shared(news []*Run, common []string) (*Result, error) {
	keep := make(map[string]bool)
	for _, s := range common {
		keep[s] = true
	}
	c.addSide(side(c.base, "", keep), c.base.Manifest.ID, "")
	for i, other := range news {
		c.addSide(side(other, "", keep), other.Manifest.ID, "")
		if len(common) > 1 {
			if err := c.addPair(0, i+1, c.sides[0], c.sides[i+1], ""); err != nil {
				return nil, err
			}
		}
		for _, s := range common {
			if err := c.addPair(0, i+1, side(c.base, s, nil), side(other, s, nil), s); err != nil {
				return nil, err
			}
		}
	}
	return c.finish()
}

// single compares one system of each run.
func (c *comparison) single(news []*Run, ours string, theirs func(*Run) string) (*Result, error) {
	c.addSide(side(c.base, ours, nil), c.base.Manifest.ID, ours)
	for i, other := range news {
		system := theirs(other)
		if !slices.Contains(other.Systems(), system) {
			return nil, noSystem(other, system)
		}
		c.addSide(side(other, system, nil), other.Manifest.ID, system)
		if err := c.addPair(0, i+1, c.sides[0], c.sides[i+1], ""); err != nil {
			return nil, err
		}
	}
	return c.finish()
}

// common are the systems that all runs have. Others are noted.
func (c *comparison) common(news []*Run) []string {
	count := make(map[string]int)
	all := append([]*Run{c.base}, news...)
	for _, r := range all {
		for _, s := range r.Systems() {
			count[s]++
		}
	}
	var common, left []string
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

// manySides is up to how many sides of one run every two are compared.
const manySides = 20

// By compares the systems of one run with each other, or its models or providers: by is
// "system", "model" or "provider". Every two are compared, or of more than 20 each with
// the base and with the best by the first headline metric, which a note says. Rows without
// a model are left out; a question that one model answered under two systems is
// [ibid.ErrUsage].
func By(run *Run, by string, o Options) (*Result, error) {
	c, err := newComparison(run, o, by)
	if err != nil {
		return nil, err
	}
	if err := run.groupBy(by); err != nil {
		return nil, err
	}
	systems := run.Systems()
	if o.Base != "" {
		i := slices.Index(systems, o.Base)
		if i < 0 {
			return nil, noSystem(run, o.Base)
		}
		systems = slices.Insert(slices.Delete(systems, i, i+1), 0, o.Base)
	}
	if len(systems) == 0 {
		return nil, &ibid.Error{Usage: true, Err: fmt.Errorf("no row of %s has a %s", run.Manifest.ID, by), Hint: "compare it --by system"}
	}
	if len(systems) < 2 {
		return nil, &ibid.Error{
			Usage: true, Err: fmt.Errorf("%s has one %s, %s: there is nothing to compare it with", run.Manifest.ID, by, systems[0]),
			Hint: "compare it with another run: ibid compare BASE NEW",
		}
	}
	for _, s := range systems {
		c.addSide(side(run, s, nil), run.Manifest.ID, s)
	}
	for i := range systems {
		for j := i + 1; j < len(systems) && len(systems) <= manySides; j++ {
			if err := c.addPair(i, j, c.sides[i], c.sides[j], ""); err != nil {
				return nil, err
			}
		}
	}
	if len(systems) > manySides {
		if err := c.withBaseAndBest(by); err != nil {
			return nil, err
		}
	}
	return c.finish()
}

// withBaseAndBest compares each side with the first, and with the best.
func (c *comparison) withBaseAndBest(by string) error {
	best, value := 0, math.Inf(-1)
	q := c.headline[0]
	for i, s := range c.sides {
		e, err := c.estimate(s, q)
		if err != nil {
			return err
		}
		if v := cmp.Or(float64(q.Metric.Direction), 1) * e.Value; e.Defined() && v > value {
			best, value = i, v
		}
	}
	note := fmt.Sprintf("of %d %ss each is compared with %s", len(c.sides), by, c.result.Sides[0].Name)
	if best > 0 {
		note += fmt.Sprintf(" and with %s, the best by %s", c.result.Sides[best].Name, q)
	}
	c.result.Notes = append(c.result.Notes, note+"; --system names another")
	for _, base := range slices.Compact([]int{0, best}) {
		for i := range c.sides {
			if i == base || i == 0 {
				continue
			}
			if err := c.addPair(base, i, c.sides[base], c.sides[i], ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// addSide adds a side under a name of its own.
func (c *comparison) addSide(s *rowSet, run, system string) {
	name := run
	if c.result.By != "run" {
		name = system
	} else if system != "" {
		name += "/" + system
	}
	for n := 2; slices.ContainsFunc(c.result.Sides, func(s Side) bool { return s.Name == name }); n++ {
		name = fmt.Sprintf("%s (%d)", run, n)
	}
	c.sides = append(c.sides, s)
	c.result.Sides = append(c.result.Sides, Side{Name: name, Run: run, System: system, Rows: int64(len(s.rows))})
}

// addPair pairs two sides, which finish compares.
func (c *comparison) addPair(i, j int, base, other *rowSet, system string) error {
	p := pair(base, other)
	out := Pair{
		Base: i, New: j, System: system, Paired: p.paired, Rows: int64(len(p.second)),
		OnlyBase: Named{IDs: []string{}}, OnlyNew: Named{IDs: []string{}}, Differences: []Difference{},
	}
	if !p.paired {
		out.Rows = int64(len(base.rows) + len(other.rows))
	} else if len(p.onlyBase)+len(p.onlyOther) > 0 {
		var err error
		if out.OnlyBase, err = questions(base.run, p.onlyBase); err != nil {
			return err
		}
		if out.OnlyNew, err = questions(other.run, p.onlyOther); err != nil {
			return err
		}
		p.onlyBase, p.onlyOther = nil, nil
	}
	why, err := p.otherTruth()
	if err != nil {
		return err
	}
	if why != "" {
		if err := c.admit([]string{why}, other.run); err != nil {
			return err
		}
	}
	c.pairings = append(c.pairings, p)
	c.result.Pairs = append(c.result.Pairs, out)
	return nil
}

// differences compares all quantities over all rows, then the headline ones over
// slices. A quantity is read once for all pairs.
func (c *comparison) differences() error {
	add := func(at int, p *pairing, q Quantity, slice string, headline bool) error {
		d, err := c.difference(p, q)
		d.Slice, d.Headline = slice, headline && slice == ""
		c.result.Pairs[at].Differences = append(c.result.Pairs[at].Differences, d)
		return err
	}
	for n, q := range slices.Concat(c.headline, c.rest) {
		for at, p := range c.pairings {
			if err := add(at, p, q, "", n < len(c.headline)); err != nil {
				return err
			}
		}
	}
	found, err := c.slicings()
	if err != nil {
		return err
	}
	for _, q := range c.headline {
		for _, by := range found {
			for at, p := range c.pairings {
				ours, theirs := by.of[p.base.run], by.of[p.other.run]
				for _, s := range ours {
					in := p.within(s.rows, rowsWith(theirs, s.value))
					if len(in.base.rows) == 0 { // no row of this side has the value
						continue
					}
					if err := add(at, in, q, by.key+"="+s.value, true); err != nil {
						return err
					}
				}
			}
		}
	}
	for at, p := range c.pairings {
		if c.result.Pairs[at].offsets, err = c.offsets(p); err != nil {
			return err
		}
	}
	return nil
}

// A slicing is a key with the rows of each run by its values, sorted by value.
type slicing struct {
	key string
	of  map[*Run][]sliced
}

// slicings reads the keys that are sliced by, of every run that is compared.
func (c *comparison) slicings() ([]slicing, error) {
	var all []slicing
	for _, key := range c.slices {
		s := slicing{key, make(map[*Run][]sliced)}
		for _, side := range c.sides {
			if _, ok := s.of[side.run]; ok {
				continue
			}
			var err error
			if s.of[side.run], err = side.run.slicesBy(key); err != nil {
				return nil, err
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// rowsWith are the rows that have a value.
func rowsWith(all []sliced, value string) []int32 {
	if i, ok := slices.BinarySearchFunc(all, value, func(s sliced, value string) int { return strings.Compare(s.value, value) }); ok {
		return all[i].rows
	}
	return nil
}

// noteSigns notes what says of a side that its input may be wrong.
func (c *comparison) noteSigns() {
	for _, s := range c.sides {
		for _, sign := range s.run.Manifest.Shown() {
			ofSide := s.system == "" || sign.System == "" || s.system == sign.System || c.result.By != "run" && c.result.By != "system"
			text := sign.Sentence()
			if c.result.By == "run" {
				text += ", in " + s.run.Manifest.ID
			}
			if ofSide && !sign.Note && !slices.Contains(c.result.Notes, text) {
				c.result.Notes = append(c.result.Notes, text)
			}
		}
	}
}

// finish compares the pairs, adjusts p-values and ranks the sides.
func (c *comparison) finish() (*Result, error) {
	if err := c.differences(); err != nil {
		return nil, err
	}
	c.noteSigns()
	c.result.adjust()
	if err := c.took(); err != nil {
		return nil, err
	}
	if err := c.failures(); err != nil {
		return nil, err
	}
	for i := range c.result.Pairs {
		c.withholdSpans(&c.result.Pairs[i])
	}
	if len(c.sides) > 2 {
		for _, q := range c.headline {
			r, err := c.rank(q)
			if err != nil {
				return nil, err
			}
			c.result.Rankings = append(c.result.Rankings, r)
			for _, a := range r.Aside {
				if a.Reason != "" {
					c.result.Notes = append(c.result.Notes, fmt.Sprintf("%s has no rank by %s: %s", c.result.Sides[a.Side].Name, q, a.Reason))
					continue
				}
				c.result.Notes = append(c.result.Notes, fmt.Sprintf("%s has no rank by %s: it is defined for %.4g of %d rows that at least half of the sides answered, min_defined is %v",
					c.result.Sides[a.Side].Name, q, a.Defined, a.Rows, metrics.MinDefined))
			}
			if r.Rows == 0 && len(r.Aside) < len(c.sides) {
				c.result.Notes = append(c.result.Notes, fmt.Sprintf("no ranking by %s: not paired, the sides have no question in common", q))
			}
		}
	}
	return c.result, nil
}

// withholdSpans takes back what is said of span metrics between sides whose offsets hold
// their quotes in different shares.
func (c *comparison) withholdSpans(p *Pair) {
	for i := range p.Differences {
		d := &p.Differences[i]
		if m, ok := metrics.Lookup(d.Metric); ok && d.Diff != nil && restsOnSpans(c.base, &m) {
			if doubt := offsetsDoubt(&p.offsets, c.level); doubt != "" {
				d.Outcome = Unknown
				d.Warnings = append(d.Warnings, "no verdict: "+doubt)
			}
		}
	}
}

// restsOnSpans reports whether a metric of a run compares places to the character.
func restsOnSpans(r *Run, m *metrics.Definition) bool {
	return m.OfSpans() || m.Name == overall && slices.Equal(r.components, []string{"span_accuracy_score"})
}

// offsetsDoubt says why span metrics of two sides cannot be compared whose offsets hold
// their quotes in different shares, by the difference of offset_accuracy; "" if they do
// not: where a citation counts depends on how well offsets were kept, and not only on what
// was cited.
func offsetsDoubt(o *Difference, level float64) string {
	if o.P == nil || *o.P > 1-level {
		return ""
	}
	return fmt.Sprintf("%s differs (%.3f and %.3f, p = %.4g), so one has more quotes that are not at their offsets",
		metrics.OffsetAccuracy, *o.Base, *o.New, *o.P)
}

// adjust adjusts p-values and concludes: those of the headline metrics of a pair by
// Holm, so that each of them can be read by itself, and all the others of the
// result by Benjamini and Hochberg.
func (r *Result) adjust() {
	var rest []*Difference
	for i := range r.Pairs {
		var headline []*Difference
		for k := range r.Pairs[i].Differences {
			if d := &r.Pairs[i].Differences[k]; d.Headline {
				headline = append(headline, d)
			} else {
				rest = append(rest, d)
			}
		}
		r.conclude(headline, "holm", stats.Holm)
	}
	r.conclude(rest, "bh", stats.BenjaminiHochberg)
}

func (r *Result) conclude(family []*Difference, name string, adjust func([]*float64) []*float64) {
	ps := make([]*float64, len(family))
	for i, d := range family {
		ps[i] = d.P
	}
	for i, p := range adjust(ps) {
		family[i].Adjusted, family[i].Adjustment = p, name
		family[i].conclude(r.Level)
		family[i].doubt()
	}
}
