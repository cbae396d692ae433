package harness

import (
	"context"
	"errors"
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
const summaryMemory = 128 << 20

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

// reasonRows are the rows without a value for a reason.
type reasonRows struct {
	why  ibid.Reason
	rows int64
}

// reasonCounts are the rows of one group that have no value of their own of one item, by the
// reason; those that are left out are among them.
type reasonCounts []reasonRows

// usualReasons is about how many reasons there are.
const usualReasons = 2

func (r *reasonCounts) add(why ibid.Reason, rows int64) {
	for i := range *r {
		if (*r)[i].why == why {
			(*r)[i].rows += rows
			return
		}
	}
	*r = append(*r, reasonRows{why, rows})
}

// named are the counts by the names of reasons; nil of none.
func (r reasonCounts) named() (out map[string]int64) {
	for _, n := range r {
		if out == nil {
			out = make(map[string]int64)
		}
		out[n.why.String()] = n.rows
	}
	return out
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
	perGroup := len(s.items) * int(unsafe.Sizeof(state{})+unsafe.Sizeof(reasonCounts{})+usualReasons*unsafe.Sizeof(reasonRows{}))
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
	reasons  [][]reasonCounts // by item, then group
	verdicts [][]verdictState // by item, then group; nil of an item without verdicts
}

// sum adds up all items over groups, several items at a time.
func (s *summarizer) sum(ctx context.Context, in []int) (*groupSums, error) {
	out := &groupSums{summarizer: s, in: in, states: make([][]state, len(s.items)), reasons: make([][]reasonCounts, len(s.items)), verdicts: make([][]verdictState, len(s.items))}
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
	lists, workers := s.batches(len(in))
	var lock sync.Mutex
	var spare []*itemSums
	done := int64(0)
	pool, ctx := errgroup.WithContext(ctx)
	pool.SetLimit(workers)
	pool.Go(func() error { return out.countReasons(ctx) })
	for _, items := range lists {
		pool.Go(func() error {
			lock.Lock()
			var c *itemSums
			if n := len(spare); n > 0 {
				c, spare = spare[n-1], spare[:n-1]
			}
			lock.Unlock()
			if c == nil {
				c = newItemSums(out, len(lists[0]))
			}
			if err := c.add(ctx, items); err != nil {
				return err
			}
			if err := out.addVerdicts(ctx, items); err != nil {
				return err
			}
			lock.Lock()
			defer lock.Unlock()
			spare = append(spare, c)
			done += int64(len(items))
			s.progress(done * s.file.Len() / int64(len(s.items)))
			return nil
		})
	}
	return out, pool.Wait()
}

// batches are the items in the lists in which they are added up side by side, so many lists at
// a time: items that stand together have columns in common, which are read once for all of a list.
func (s *summarizer) batches(groups int) (lists [][]int, workers int) {
	workers = s.workers
	n := (len(s.items) + workers - 1) / workers
	n = max(1, min(n, s.memory/8/(workers*groups*int(unsafe.Sizeof(alone{})))))
	if s.collects() {
		perRow := s.memory / int(s.file.Len()+1)
		workers = max(1, min(workers, perRow/(scratchBytes+denseBytes)))
		n = max(1, min(n, (perRow/workers-scratchBytes)/denseBytes))
	}
	var all []int
	for i := range s.items {
		all = append(all, i)
	}
	return slices.Collect(slices.Chunk(all, n)), workers
}

// rows appends the rows of the summary that group k has.
func (s *groupSums) rows(k int, out []runs.SummaryRow) []runs.SummaryRow {
	g := s.in[k]
	group := &s.groups.all[g]
	for i := range s.items {
		d, st := &s.items[i], &s.states[i][k]
		row := runs.SummaryRow{System: group.system, Slice: group.slice, Metric: d.Name, N: st.defined, Undefined: group.rows - st.defined, Reasons: s.reasons[i][k].named()}
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

// itemSums are the memory in which lists of items are added up, one after the other.
type itemSums struct {
	*groupSums
	alone [][]alone // of each item of a list and group

	// What rows add to each item of a list, side by side because rows of groups are asked for
	// in another order than theirs; nil where none are.
	dense []denseValues
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

// Bytes that one row takes in denseValues, and in y and x.
const denseBytes, scratchBytes = 3 * 8, 2 * 8

func newItemSums(s *groupSums, items int) *itemSums {
	c := &itemSums{groupSums: s, alone: make([][]alone, items), kept: make(map[int]*keptShares)}
	for k := range c.alone {
		c.alone[k] = make([]alone, len(s.in))
	}
	if s.collects() {
		c.dense = make([]denseValues, items)
		for k := range c.dense {
			n := s.file.Len()
			c.dense[k] = denseValues{make([]float64, n), make([]float64, n), make([]float64, n)}
		}
	}
	return c
}

// collects reports whether rows of some group depend on each other.
func (s *summarizer) collects() bool {
	return slices.ContainsFunc(s.units, func(u *units) bool { return u != nil })
}

// add adds up items.
func (c *itemSums) add(ctx context.Context, items []int) error {
	for _, i := range items {
		c.states[i] = make([]state, len(c.in))
	}
	err := c.eachBlock(ctx, items, func(k int, b *itemBlock) {
		states := c.states[items[k]]
		for i, ok := range b.known {
			if c.dense != nil {
				c.dense[k].set(b, i)
			}
			if !ok {
				continue
			}
			y, x := b.pooled(i)
			for _, g := range c.members[b.signatures.at(i)] {
				st := &states[g]
				if st.defined++; b.leftOut(i) {
					st.left++
				}
				st.macro.num += b.values[i]
				st.macro.den++
				st.micro.num += y
				st.micro.den += x
			}
		}
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(c.in, func(g int) bool { return c.units[g] == nil }) {
		if err := c.addAlone(ctx, items); err != nil {
			return err
		}
	}
	for k, i := range items {
		for group, g := range c.in {
			if err := ctx.Err(); err != nil {
				return err
			}
			if u := c.units[g]; u != nil && c.states[i][group].defined > 0 {
				c.addUnits(group, u, i, &c.dense[k])
			}
		}
	}
	return nil
}

// An itemBlock is what the rows of a block add to an item.
type itemBlock struct {
	values      []float64
	known, left []bool    // left: the value is the worst because something is left out; nil of none
	num, den    []float64 // of what is pooled; nil of an item that is not
	first       int       // place of the first row in the file
	signatures  *signatures
}

// leftOut reports whether row i has the worst value because something is left out. What it would
// add to a pooled value is not known.
func (b *itemBlock) leftOut(i int) bool { return b.left != nil && b.left[i] }

// pooled is what row i adds to the numerator and the denominator of what is pooled.
func (b *itemBlock) pooled(i int) (num, den float64) {
	if b.num == nil || b.leftOut(i) {
		return 0, 0
	}
	return b.num[i], b.den[i]
}

// set takes over row i of a block.
func (d *denseValues) set(b *itemBlock, i int) {
	row := b.first + i
	d.num[row], d.den[row] = b.pooled(i)
	if d.values[row] = b.values[i]; !b.known[i] {
		d.values[row] = math.NaN()
	}
}

// eachBlock calls f with what each block of rows adds to each of the items, which it names by
// their places in the list.
func (s *groupSums) eachBlock(ctx context.Context, items []int, f func(k int, b *itemBlock)) error {
	var num, den []float64
	return s.file.Each(func(in *runs.Block) error {
		b := itemBlock{first: int(in.First), signatures: &s.groups.perPart[in.Number]}
		for k, i := range items {
			d := &s.items[i]
			if !s.file.Has(d.Name) {
				continue
			}
			b.values, b.known, b.left = s.left.Numbers(in, d)
			if b.num, b.den = nil, nil; len(d.Num) > 0 {
				num, den = in.Sum(num, d.Num), in.Sum(den, d.Den)
				b.num, b.den = num, den
			}
			if in.Err() != nil {
				return in.Err()
			}
			f(k, &b)
		}
		return ctx.Err()
	})
}

// countReasons counts the rows without a value of each item, by the reason.
func (s *groupSums) countReasons(ctx context.Context) error {
	for i := range s.items {
		s.reasons[i] = make([]reasonCounts, len(s.in))
	}
	return s.file.Each(func(in *runs.Block) error {
		for i := range s.items {
			s.addReasons(in, i)
		}
		return errors.Join(ctx.Err(), in.Err())
	})
}

// addReasons counts the rows of a block without a value of an item.
func (s *groupSums) addReasons(in *runs.Block, i int) {
	counts, all, signatures := s.reasons[i], in.Reasons(s.items[i].Name), &s.groups.perPart[in.Number]
	for from := 0; from < len(all); {
		why, signature := all[from], signatures.at(from)
		to := from + 1
		for to < len(all) && all[to] == why && signatures.at(to) == signature {
			to++
		}
		if why != ibid.Defined {
			for _, g := range s.members[signature] {
				counts[g].add(why, int64(to-from))
			}
		}
		from = to
	}
}

// addAlone reads the items again, for the groups whose rows do not depend on each other.
func (c *itemSums) addAlone(ctx context.Context, items []int) error {
	for k, i := range items {
		clear(c.alone[k])
		for group := range c.in {
			if st := &c.states[i][group]; st.defined > 0 {
				c.alone[k][group].macro.Equal(int(st.defined))
			}
		}
	}
	err := c.eachBlock(ctx, items, func(k int, b *itemBlock) {
		states := c.states[items[k]]
		for i, ok := range b.known {
			if !ok {
				continue
			}
			y, x := b.pooled(i)
			for _, g := range c.members[b.signatures.at(i)] {
				if c.units[c.in[g]] != nil {
					continue
				}
				st, to := &states[g], &c.alone[k][g]
				to.macro.Error((b.values[i] - st.macro.num/st.macro.den) / st.macro.den)
				if st.micro.den != 0 {
					to.micro.Add((y-float64(st.micro.num/st.micro.den*x))/st.micro.den, x/st.micro.den)
				}
			}
		}
	})
	for k, i := range items {
		for group, g := range c.in {
			if st := &c.states[i][group]; c.units[g] == nil && st.defined > 0 {
				st.macro.spread = c.alone[k][group].macro.Spread()
				st.micro.spread = c.alone[k][group].micro.Spread()
			}
		}
	}
	return err
}

// addUnits adds an item to a group whose rows depend on each other.
func (c *itemSums) addUnits(group int, u *units, i int, dense *denseValues) {
	n := len(u.rows)
	if u.rows == nil {
		n = len(dense.values)
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
		if v := dense.values[at(k)]; math.IsNaN(v) {
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
			c.y[k], c.x[k] = dense.num[row], dense.den[row]
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

// addVerdicts adds up those of the items that are judged, over all groups.
func (s *groupSums) addVerdicts(ctx context.Context, items []int) error {
	items = slices.DeleteFunc(slices.Clone(items), func(i int) bool {
		d := &s.items[i]
		return !s.judged || len(d.Items) == 0 && !d.HasBounds()
	})
	for _, i := range items {
		s.verdicts[i] = make([]verdictState, len(s.in))
	}
	if len(items) == 0 {
		return nil
	}
	return s.file.Each(func(b *runs.Block) error {
		for _, i := range items {
			if err := s.addVerdictsOf(b, &s.items[i], s.verdicts[i]); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// addVerdictsOf adds a block of rows to what is known of a judged metric in all groups.
func (s *groupSums) addVerdictsOf(b *runs.Block, d *metrics.Definition, all []verdictState) error {
	value, has, left := s.left.Numbers(b, d)
	low, bounded := b.Numbers(d.Name + runs.LowSuffix)
	high, _ := b.Numbers(d.Name + runs.HighSuffix)
	num, elsewhere := b.Sum(nil, d.Num), make([]float64, b.Len())
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
	return nil
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
	r.Unscored, r.Undecided = int64(items.Unscored), int64(items.Undecided)
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
