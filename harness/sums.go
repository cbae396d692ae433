package harness

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// summaryMemory is about how many bytes of states are in memory at a time, and of values of
// rows that workers go through.
const summaryMemory = 256 << 20

// A summarizer summarises items, each over all groups. An item is read twice, in the order of
// the rows: for its sums, and for how far rows are from them.
type summarizer struct {
	file     *runs.Frame
	groups   *groups
	items    []metrics.Definition // metrics and counts
	judged   bool                 // the run has a judge
	level    float64
	coverage float64 // least share of items that must not be undecided
	left     *runs.LeftOut
	units    []*units // of groups in which rows depend on each other; nil of others
	touched  *runs.RowDocuments
	tag      string // that statistics.cluster names; "" if it names none
	workers  int
	memory   int
	progress func(done int64)
}

// A state is what is known of one item in one group.
type state struct {
	defined      int64
	left         int64 // of these: with the worst value because something is left out
	macro, micro quotient
}

// A quotient is a mean, or a quotient of sums, with its spread.
type quotient struct {
	num, den float64
	spread   stats.Spread
}

// each calls yield with the rows of each system and slice, in the order of the summary. Where
// the states of all groups take more than memory, the items are read once for each part of the
// groups.
func (s *summarizer) each(ctx context.Context, yield func(rows []runs.SummaryRow) error) error {
	perGroup := len(s.items) * int(unsafe.Sizeof(state{}))
	if s.judged {
		perGroup += len(s.items) * int(unsafe.Sizeof(verdictState{}))
	}
	own := s.groups.own
	step := min(len(own), max(1, s.memory/perGroup))
	names := []bool{true} // whether rows have the name of their system
	if s.groups.single {  // its rows are those of all systems, too
		names = []bool{false, true}
	}
	var sums *groupSums
	var rows []runs.SummaryRow
	for _, named := range names {
		for from := 0; from < len(own); from += step {
			in := own[from:min(from+step, len(own))]
			if sums == nil || step < len(own) {
				var err error
				if sums, err = s.sum(ctx, in); err != nil {
					return err
				}
			}
			for k := range in {
				rows = sums.rows(k, rows[:0])
				for i := range rows {
					if !named {
						rows[i].System = ""
					}
				}
				slices.SortFunc(rows, runs.CompareSummary)
				if err := yield(rows); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// groupSums are the sums of all items over some groups.
type groupSums struct {
	*summarizer
	in       []int            // the groups
	members  [][]int          // signature -> places in in
	states   [][]state        // by item, then group
	verdicts [][]verdictState // by item, then group; nil of an item without verdicts
}

// sum adds up all items over groups, several items at a time.
func (s *summarizer) sum(ctx context.Context, in []int) (*groupSums, error) {
	out := &groupSums{summarizer: s, in: in, states: make([][]state, len(s.items)), verdicts: make([][]verdictState, len(s.items))}
	place := make(map[int]int, len(in))
	for k, g := range in {
		place[g] = k
	}
	for _, all := range s.groups.members {
		var here []int
		for _, g := range all {
			if k, ok := place[g]; ok {
				here = append(here, k)
			}
		}
		out.members = append(out.members, here)
	}
	workers := s.workers
	if s.collects() {
		workers = max(1, min(workers, s.memory/(collectBytes*int(s.file.Len()+1))))
	}
	var lock sync.Mutex
	var spare []*itemSums
	done := int64(0)
	pool, ctx := errgroup.WithContext(ctx)
	pool.SetLimit(workers)
	for i := range s.items {
		pool.Go(func() error {
			lock.Lock()
			var c *itemSums
			if n := len(spare); n > 0 {
				c, spare = spare[n-1], spare[:n-1]
			}
			lock.Unlock()
			if c == nil {
				c = newItemSums(out)
			}
			if err := c.add(ctx, i); err != nil {
				return err
			}
			if d := &s.items[i]; s.judged && (len(d.Items) > 0 || d.HasBounds()) {
				var err error
				if out.verdicts[i], err = out.addVerdicts(ctx, d); err != nil {
					return err
				}
			}
			lock.Lock()
			defer lock.Unlock()
			spare = append(spare, c)
			done++
			s.progress(done * s.file.Len() / int64(len(s.items)))
			return nil
		})
	}
	return out, pool.Wait()
}

// rows appends the rows of the summary that group k has.
func (s *groupSums) rows(k int, out []runs.SummaryRow) []runs.SummaryRow {
	g := s.in[k]
	group := &s.groups.all[g]
	for i := range s.items {
		d, st := &s.items[i], &s.states[i][k]
		row := runs.SummaryRow{System: group.system, Slice: group.slice, Metric: d.Name, N: st.defined, Undefined: group.rows - st.defined}
		if group.rows > 0 {
			row.DefinedShare = new(float64(st.defined-st.left) / float64(group.rows))
		}
		add := func(agg string, of *quotient, pooled bool) {
			r := row
			r.Agg = agg
			e := stats.Estimate{Level: s.level, Reason: ibid.NoData}
			if of.den != 0 {
				e = runs.Interval(d, of.num/of.den, &of.spread, pooled, s.level)
			}
			e.NameGiven(func(document int32) string { return s.units[g].name(s.touched, document) })
			r.Fill(&e)
			if s.tag != "" {
				for i, w := range r.Warnings {
					r.Warnings[i] = strings.NewReplacer("one document", "one "+s.tag+" value", "other documents", "other "+s.tag+" values").Replace(w)
				}
			}
			if agg == runs.Micro && e.Defined() {
				r.Num, r.Den = new(of.num), new(of.den)
			}
			if s.verdicts[i] != nil {
				s.verdicts[i][k].complete(&r, d, s.coverage)
			}
			if st.left > 0 {
				r.CountWorst(st.left, pooled && d.Kind != metrics.Binary)
			}
			out = append(out, r)
		}
		add(runs.Macro, &st.macro, false)
		switch {
		case len(d.Num) > 0:
			add(runs.Micro, &st.micro, true)
		case d.Kind == metrics.Binary: // of which the two are one
			add(runs.Micro, &st.macro, true)
		}
	}
	return out
}

// itemSums are the memory in which items are added up, one after the other.
type itemSums struct {
	*groupSums
	alone []alone // of each group

	// What rows add, side by side because rows of groups are asked for in another order than
	// theirs; nil where none are.
	dense *denseValues
	y, x  []float64
	kept  map[int]*keptShares // of each group
}

// An alone adds up the rows of a group that do not depend on each other.
type alone struct {
	macro, micro stats.Alone
}

// keptShares are the last shares of a group: means over the same rows have the same.
type keptShares struct {
	in     uint64 // key of the rows
	shares *stats.Shares
}

// denseValues are what the rows of the file add to an item.
type denseValues struct {
	values, num, den []float64 // values are NaN where the item is not defined
}

// collectBytes is about how much one row takes there, with y and x.
const collectBytes = 5 * 8

func newItemSums(s *groupSums) *itemSums {
	c := &itemSums{groupSums: s, alone: make([]alone, len(s.in)), kept: make(map[int]*keptShares)}
	if s.collects() {
		n := s.file.Len()
		c.dense = &denseValues{make([]float64, n), make([]float64, n), make([]float64, n)}
	}
	return c
}

// collects reports whether rows of some group depend on each other.
func (s *summarizer) collects() bool {
	return slices.ContainsFunc(s.units, func(u *units) bool { return u != nil })
}

// add adds up item i.
func (c *itemSums) add(ctx context.Context, i int) error {
	states := make([]state, len(c.in))
	c.states[i] = states
	clear(c.alone)
	if c.dense != nil {
		for row := range c.dense.values {
			c.dense.values[row] = math.NaN()
		}
	}
	others := false // groups whose rows do not depend on each other
	err := c.eachRow(ctx, i, func(groups []int, row int, v, num, den float64, left bool) {
		if c.dense != nil {
			c.dense.values[row], c.dense.num[row], c.dense.den[row] = v, num, den
		}
		for _, k := range groups {
			st := &states[k]
			if st.defined++; left {
				st.left++
			}
			st.macro.num += v
			st.macro.den++
			st.micro.num += num
			st.micro.den += den
			others = others || c.units[c.in[k]] == nil
		}
	})
	if err != nil {
		return err
	}
	if others {
		if err := c.addAlone(ctx, i); err != nil {
			return err
		}
	}
	for k, g := range c.in {
		if err := ctx.Err(); err != nil {
			return err
		}
		if u := c.units[g]; u != nil && states[k].defined > 0 {
			c.addUnits(k, u, i)
		}
	}
	return nil
}

// eachRow calls f with each row where an item is defined: its groups, its place, its value, the
// numerator and denominator of what is pooled, and whether something is left out.
func (s *groupSums) eachRow(ctx context.Context, i int, f func(groups []int, row int, v, num, den float64, left bool)) error {
	d := &s.items[i]
	return s.file.Each(func(in *runs.Block) error {
		values, known, left := s.left.Numbers(in, d)
		var num, den []float64
		if len(d.Num) > 0 {
			num, den = in.Sum(d.Num), in.Sum(d.Den)
		}
		if in.Err() != nil {
			return in.Err()
		}
		signatures := &s.groups.perPart[in.Number]
		for i, ok := range known {
			switch groups := s.members[signatures.at(i)]; {
			case !ok:
			case num == nil:
				f(groups, int(in.First)+i, values[i], 0, 0, left != nil && left[i])
			case left != nil && left[i]: // what it would add to a pooled value is not known
				f(groups, int(in.First)+i, values[i], 0, 0, true)
			default:
				f(groups, int(in.First)+i, values[i], num[i], den[i], false)
			}
		}
		return ctx.Err()
	})
}

// addAlone reads the item again, for the groups whose rows do not depend on each other.
func (c *itemSums) addAlone(ctx context.Context, i int) error {
	states := c.states[i]
	for k := range states {
		if st := &states[k]; st.defined > 0 {
			c.alone[k].macro.Equal(int(st.defined))
		}
	}
	err := c.eachRow(ctx, i, func(groups []int, _ int, v, y, x float64, _ bool) {
		for _, k := range groups {
			if c.units[c.in[k]] != nil {
				continue
			}
			st, to := &states[k], &c.alone[k]
			to.macro.Error((v - st.macro.num/st.macro.den) / st.macro.den)
			if st.micro.den != 0 {
				to.micro.Add((y-float64(st.micro.num/st.micro.den*x))/st.micro.den, x/st.micro.den)
			}
		}
	})
	for k, g := range c.in {
		if st := &states[k]; c.units[g] == nil && st.defined > 0 {
			st.macro.spread = c.alone[k].macro.Spread()
			st.micro.spread = c.alone[k].micro.Spread()
		}
	}
	return err
}

// addUnits adds an item to a group whose rows depend on each other.
func (c *itemSums) addUnits(group int, u *units, i int) {
	n := len(u.rows)
	if u.rows == nil {
		n = len(c.dense.values)
	}
	c.y, c.x = slices.Grow(c.y[:0], n)[:n], slices.Grow(c.x[:0], n)[:n]
	at := func(k int) int {
		if u.rows == nil {
			return k
		}
		return int(u.rows[k])
	}
	in := uint64(0)
	for k := range n {
		if v := c.dense.values[at(k)]; math.IsNaN(v) {
			c.y[k], c.x[k] = 0, 0
		} else {
			c.y[k], c.x[k] = v, 1
			in = in*0x9e3779b97f4a7c15 + uint64(k) + 1
		}
	}
	st := &c.states[i][group]
	kept := c.kept[group]
	if kept == nil {
		kept = new(keptShares)
		c.kept[group] = kept
	}
	of, ok := c.quotient(u)
	if !ok {
		return
	}
	if kept.shares == nil || kept.in != in {
		kept.in, kept.shares = in, stats.NewShares(of.Shares, nil, u.units.Documents(func(row int) bool { return c.x[row] != 0 }))
	}
	st.macro.set(of, kept.shares)
	if len(c.items[i].Num) == 0 {
		return
	}
	defined := u.units.Documents(func(row int) bool { return c.x[row] != 0 })
	for k := range n {
		if row := at(k); c.x[k] != 0 {
			c.y[k], c.x[k] = c.dense.num[row], c.dense.den[row]
		}
	}
	if of, ok := c.quotient(u); ok {
		st.micro.set(of, stats.NewShares(of.Shares, of.Errors, defined))
	}
}

// quotient is that of y and x over units, where each row is one in their memory.
func (c *itemSums) quotient(u *units) (of *stats.Quotient, ok bool) {
	y, x := u.units.Sums(c.y), u.units.Sums(c.x)
	of = &stats.Quotient{Errors: y, Shares: x}
	return of, of.Set(y, x)
}

// set is a quotient with these shares.
func (q *quotient) set(of *stats.Quotient, shares *stats.Shares) {
	q.num, q.den, q.spread = of.Num, of.Den, shares.Spread(of.Errors, of.Shares)
}

// A verdictState adds up, for one judged metric in one group, how much of it was
// scored, and the least and the greatest value that it could have.
type verdictState struct {
	items          [3]metrics.Tally // of each of the metric's items
	num, revocable float64          // of the micro value
	low, high      float64          // sums over the rows that are defined or bounded
	rows           int64            // those rows
	bounded        bool             // some of them has bounds

	known  float64 // sum over the rows with a value, each by the share of its items whose texts are known
	noText bool    // some row has items without
}

// addVerdicts adds up one metric over all groups.
func (s *groupSums) addVerdicts(ctx context.Context, d *metrics.Definition) ([]verdictState, error) {
	all := make([]verdictState, len(s.in))
	return all, s.file.Each(func(b *runs.Block) error {
		value, has, left := s.left.Numbers(b, d)
		low, bounded := b.Numbers(d.Name + runs.LowSuffix)
		high, _ := b.Numbers(d.Name + runs.HighSuffix)
		num, elsewhere := b.Sum(d.Num), make([]float64, b.Len())
		var tallies [][]metrics.Tally
		for _, of := range d.Items {
			tallies = append(tallies, b.Tallies(of))
			if of.Kind == metrics.OutcomeItems {
				elsewhere, _ = b.Numbers(metrics.ElsewhereOutcomes.String())
			}
		}
		if b.Err() != nil {
			return b.Err()
		}
		signatures := &s.groups.perPart[b.Number]
		for row := range b.Len() {
			var items metrics.Tally
			for i := range tallies {
				items.Add(tallies[i][row])
			}
			if d.Kind == metrics.Mean && !has[row] && bounded[row] { // its mean is not stored
				num[row] = low[row] * (items.Scored + items.Open())
			}
			for _, k := range s.members[signatures.at(row)] {
				st := &all[k]
				for i := range tallies {
					st.items[i].Add(tallies[i][row])
				}
				st.num += num[row]
				st.revocable += elsewhere[row]
				switch {
				case bounded[row] && (left == nil || !left[row]):
					st.bounded = true
					st.low, st.high, st.rows = st.low+low[row], st.high+high[row], st.rows+1
				case has[row]:
					st.low, st.high, st.rows = st.low+value[row], st.high+value[row], st.rows+1
				}
				if has[row] && (left == nil || !left[row]) {
					st.known += items.Known()
					st.noText = st.noText || items.NoText > 0
				}
			}
		}
		return ctx.Err()
	})
}

// complete fills in a row of the summary, and takes its estimate away where that would say too
// much.
func (st *verdictState) complete(r *runs.SummaryRow, d *metrics.Definition, coverage float64) {
	var items metrics.Tally
	undecidable := false
	for i := range st.items {
		items.Add(st.items[i])
		undecidable = undecidable || st.items[i].Undecidable(coverage)
	}
	defer func() {
		switch {
		case undecidable:
			r.Withhold(runs.Undecided)
		case r.Estimate != nil && r.BoundLow != nil && runs.IsSelective(*r.Estimate, *r.BoundLow, *r.BoundHigh):
			r.Withhold(runs.Selective)
		}
	}()
	r.Unscored = int64(items.Unscored)
	if st.noText {
		r.DefinedShare = new(st.known / float64(r.N+r.Undefined))
	}
	if scorable := items.Scored + items.Unscored; scorable > 0 {
		r.Coverage = new(items.Scored / scorable)
	}
	if r.Agg == runs.Micro {
		st.microBounds(r, d, &items)
		return
	}
	// A metric that never has bounds, such as a variance, has none over rows either.
	if st.rows > 0 && (st.bounded || items.Unscored+items.Undecided == 0) {
		r.BoundLow, r.BoundHigh = new(st.low/float64(st.rows)), new(st.high/float64(st.rows))
	}
}

// microBounds bounds a quotient of sums in [0, 1] whose denominator is the scored
// items: each open one adds 0 or 1 to its numerator, a revocable one, which is among the
// unscored, takes 1 or 0 from it.
func (st *verdictState) microBounds(r *runs.SummaryRow, d *metrics.Definition, items *metrics.Tally) {
	all := items.Scored + items.Open()
	if d.Min != 0 || d.Max != 1 || all <= 0 {
		return
	}
	r.BoundLow = new((st.num - st.revocable) / all)
	r.BoundHigh = new((st.num + items.Open() - st.revocable) / all)
}
