package harness

import (
	"context"
	"math"
	"math/bits"
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

// summaryMemory is about how many bytes of states are in memory at a time, and half of it of
// what adds them up.
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
	all := s.groups.sorted
	step := min(len(all), max(1, s.memory/perGroup))
	names := []bool{true}  // whether rows have the name of their system
	if s.groups.single() { // its rows are those of all systems, too
		names = []bool{false, true}
	}
	var sums *groupSums
	var rows []runs.SummaryRow
	for _, named := range names {
		for from := 0; from < len(all); from += step {
			in := all[from:min(from+step, len(all))]
			if sums == nil || step < len(all) {
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
	kinds    kindMembers      // of slices by kind of source
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
	out.kinds = out.findKinds()
	var lock sync.Mutex
	done := int64(0)
	pool, ctx := errgroup.WithContext(ctx)
	pool.SetLimit(s.workers)
	for _, items := range s.batches(in) {
		pool.Go(func() error {
			c := &itemSums{groupSums: out, list: items, adding: make([][]adding, len(items)), touched: make([]blockDocuments, len(in))}
			if err := c.add(ctx); err != nil {
				return err
			}
			lock.Lock()
			defer lock.Unlock()
			done += int64(len(items))
			s.progress(done * s.file.Len() / int64(len(s.items)))
			return nil
		})
	}
	return out, pool.Wait()
}

// batches are the items in the lists in which they are added up side by side: items that stand
// together have columns in common, which are read once for all of a list. What all workers add up
// takes about half of memory.
func (s *summarizer) batches(in []int) [][]int {
	perItem := 0
	for _, g := range in {
		perItem += groupBytes
		if u := s.units[g]; u != nil {
			perItem += documentBytes*u.units.Count() + unitBytes*u.units.Units()
		}
	}
	n := min((len(s.items)+s.workers-1)/s.workers, s.memory/2/(s.workers*perItem))
	var all []int
	for i := range s.items {
		all = append(all, i)
	}
	return slices.Collect(slices.Chunk(all, max(1, n)))
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

// itemSums add up a list of items.
type itemSums struct {
	*groupSums
	list    []int
	adding  [][]adding       // of each item of the list and group
	touched []blockDocuments // of each group
}

// blockDocuments are the documents of the rows of a group in one block, read once for all items.
type blockDocuments struct {
	block int // number of the block
	first int // row of the group that stands in it
	ends  []int
	all   []int32
	row   []int32
}

// begin begins a block whose first row of the group is first, unless it has begun.
func (d *blockDocuments) begin(block, first int) {
	if d.block != block {
		d.block, d.first, d.ends, d.all = block, first, d.ends[:0], d.all[:0]
	}
}

// of are those of a row.
func (d *blockDocuments) of(row int, u *units) []int32 {
	for at := d.first + len(d.ends); at <= row; at++ {
		d.row = u.units.Touched(at, d.row)
		d.all = append(d.all, d.row...)
		d.ends = append(d.ends, len(d.all))
	}
	begin, k := 0, row-d.first
	if k > 0 {
		begin = d.ends[k-1]
	}
	return d.all[begin:d.ends[k]]
}

// An adding is how an item is added up over the rows of a group, one after the other.
type adding struct {
	row          int // of the group, that comes next
	macro, micro weighing
	units        *unitSums // where units have several rows; else nil
}

// A weighing is how the spread of a quotient over rows that are units is added up.
type weighing struct {
	in     uint64 // key of the weights of rows: quotients with the same have the same shares
	shares *stats.Shares
	leads  bool // of the quotients with these shares it adds to them
	errors *stats.Errors
	value  float64
}

// unitSums are what the rows of units add to a mean, and to what is pooled.
type unitSums struct {
	known          []bool // of each row
	y, x, num, den []float64
}

// About how many bytes an adding takes for itself, for a document and for a unit.
const groupBytes, documentBytes, unitBytes = 700, 80, 40

// newAdding is how the item is added up over n rows with these units; nil if none depend on
// each other.
func (s *groupSums) newAdding(item, n int, u *units) (a adding) {
	documents := 0
	if u != nil {
		if units := u.units.Units(); units > 0 {
			zeros := func() []float64 { return make([]float64, units) }
			a.units = &unitSums{make([]bool, n), zeros(), zeros(), zeros(), zeros()}
			return a
		}
		documents = u.units.Count()
	}
	a.macro.shares = stats.StartShares(documents)
	if len(s.items[item].Num) > 0 {
		a.micro.shares = stats.StartShares(documents)
	}
	return a
}

// add adds up the items of the list.
func (c *itemSums) add(ctx context.Context) error {
	for k, i := range c.list {
		c.states[i], c.reasons[i], c.adding[k] = make([]state, len(c.in)), make([]reasonCounts, len(c.in)), make([]adding, len(c.in))
		d := &c.items[i]
		if c.judged && (len(d.Items) > 0 || d.HasBounds()) {
			c.verdicts[i] = make([]verdictState, len(c.in))
		}
		if !c.file.Has(d.Name) {
			continue
		}
		for group, g := range c.in {
			c.adding[k][group] = c.newAdding(i, int(c.groups.all[g].rows), c.units[g])
		}
	}
	err := c.eachBlock(ctx, func(k int, in *blockRows) {
		c.addReasons(in, c.list[k])
		if c.verdicts[c.list[k]] != nil {
			c.addVerdicts(in, c.list[k])
		}
		c.touch(k, in)
	})
	if err != nil {
		return err
	}
	type weights struct {
		group int
		in    uint64
	}
	known := make(map[weights]*stats.Shares)
	for k, i := range c.list {
		for group, g := range c.in {
			st, to := &c.states[i][group], &c.adding[k][group]
			to.row = 0
			switch u := c.units[g]; {
			case st.defined == 0:
				continue
			case to.units != nil:
				to.units.complete(st, u)
				to.units = nil
				continue
			case u == nil:
				to.macro.weigh(&st.macro, stats.EqualShares(int(st.defined)))
			default:
				of := weights{group, to.macro.in}
				if st.defined == c.groups.all[g].rows && known[of] == nil {
					to.macro.touchAll(u, int(st.defined))
				}
				to.macro.weigh(&st.macro, known[of])
				known[of] = to.macro.shares
			}
			if st.micro.den != 0 {
				of := weights{group, to.micro.in}
				to.micro.weigh(&st.micro, known[of])
				known[of] = to.micro.shares
			}
		}
	}
	if err := c.eachBlock(ctx, c.weigh); err != nil {
		return err
	}
	for k, i := range c.list {
		for group := range c.in {
			st, to := &c.states[i][group], &c.adding[k][group]
			to.macro.complete(&st.macro)
			to.micro.complete(&st.micro)
		}
	}
	return nil
}

// touch adds up what the rows of a block add to an item.
func (c *itemSums) touch(k int, in *blockRows) {
	b := c.block(k, in)
	c.eachGroup(k, in, len(b.known), func(g, from, end int, st *state, to *adding) {
		u := c.units[c.in[g]]
		for i := from; i < end; i++ {
			row := to.row
			if to.row++; !b.known[i] {
				if u != nil && to.units == nil && st.defined == int64(row) { // the first that is not known
					to.macro.touchAll(u, row)
				}
				continue
			}
			v := b.values[i]
			y, x := b.pooled(i)
			if st.defined++; b.leftOut(i) {
				st.left++
			}
			st.macro.num += v
			st.macro.den++
			st.micro.num += y
			st.micro.den += x
			switch {
			case u == nil:
				if y != 0 || x != 0 {
					to.micro.note(row, x)
				}
			case to.units != nil:
				to.units.add(row, u.units.Of(row), v, y, x)
			default:
				if to.macro.note(row, 1); st.defined <= int64(row) { // else all are known as yet
					to.macro.shares.Touch(1, c.touched[g].of(row, u))
				}
				if y != 0 || x != 0 {
					to.micro.note(row, x)
					to.micro.shares.Touch(x, c.touched[g].of(row, u))
				}
			}
		}
	})
}

// weigh adds up how far the rows of a block are from an item.
func (c *itemSums) weigh(k int, in *blockRows) {
	b := c.block(k, in)
	c.eachGroup(k, in, len(b.known), func(g, from, end int, st *state, to *adding) {
		u := c.units[c.in[g]]
		for i := from; i < end; i++ {
			row := to.row
			if to.row++; !b.known[i] || to.macro.errors == nil {
				continue
			}
			var documents []int32
			if u != nil {
				documents = c.touched[g].of(row, u)
			}
			to.macro.add(&st.macro, b.values[i], 1, documents)
			if to.micro.errors != nil {
				y, x := b.pooled(i)
				to.micro.add(&st.micro, y, x, documents)
			}
		}
	})
}

// eachGroup calls f with each group that some of the first rows of a block count in, and which
// rows those are: they follow each other.
func (c *itemSums) eachGroup(k int, in *blockRows, rows int, f func(g, from, end int, st *state, to *adding)) {
	states, adding := c.states[c.list[k]], c.adding[k]
	for from, end := 0, 0; from < rows; from = end {
		for end = from + 1; end < rows && in.alike(from, end); {
			end++
		}
		for _, g := range in.groups(from) {
			c.touched[g].begin(in.Number, adding[g].row)
			f(g, from, end, &states[g], &adding[g])
		}
	}
}

// note notes a row in the key.
func (w *weighing) note(row int, weight float64) {
	w.in = bits.RotateLeft64((w.in^math.Float64bits(weight))*0x9e3779b97f4a7c15+uint64(row), 31)
}

// touchAll touches the first rows of a group, which have equal weight.
func (w *weighing) touchAll(u *units, rows int) {
	var documents []int32
	for row := range rows {
		documents = u.units.Touched(row, documents)
		w.shares.Touch(1, documents)
	}
}

// weigh begins the sums of errors of a quotient, whose shares are those of another unless they
// are nil.
func (w *weighing) weigh(q *quotient, shares *stats.Shares) {
	if w.leads = shares == nil; w.leads {
		w.shares.Weigh(q.den)
	} else {
		w.shares = shares
	}
	w.errors, w.value = w.shares.Errors(), q.num/q.den
}

// add adds a row.
func (w *weighing) add(q *quotient, y, x float64, documents []int32) {
	e, share := (y-float64(w.value*x))/q.den, x/q.den
	if e == 0 && share == 0 {
		return
	}
	if w.leads {
		w.shares.Add(share, documents)
	}
	w.errors.Add(e, share, documents)
}

// complete leaves the spread in the quotient.
func (w *weighing) complete(q *quotient) {
	if w.errors != nil {
		q.spread = w.errors.Spread()
	}
}

func (s *unitSums) add(row int, unit int32, v, num, den float64) {
	s.known[row] = true
	s.y[unit] += v
	s.x[unit]++
	s.num[unit] += num
	s.den[unit] += den
}

// complete leaves the quotients over units in the state.
func (s *unitSums) complete(st *state, u *units) {
	documents := u.units.Documents(func(row int) bool { return s.known[row] })
	st.macro.set(s.y, s.x, documents)
	st.micro.set(s.num, s.den, documents)
}

// set is the quotient of units in the memory of y and x.
func (q *quotient) set(y, x []float64, documents *stats.Documents) {
	if of := (stats.Quotient{Errors: y, Shares: x}); of.Set(y, x) {
		q.num, q.den, q.spread = of.Num, of.Den, of.Spread(documents)
	}
}

// An itemBlock is what the rows of a block add to an item.
type itemBlock struct {
	values      []float64
	known, left []bool    // left: the value is the worst because something is left out; nil of none
	num, den    []float64 // of what is pooled; nil of an item that is not
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

// block is what the rows of a block add to item k of the list: nothing, if the file does not have it.
func (c *itemSums) block(k int, in *blockRows) (b itemBlock) {
	d := &c.items[c.list[k]]
	if !c.file.Has(d.Name) {
		return b
	}
	b.values, b.known, b.left = c.left.Numbers(in.Block, d)
	if len(d.Num) > 0 {
		b.num, b.den = in.Pooled(d)
	}
	return b
}

// eachBlock calls f with each block of rows and each item of the list, named by its place in it;
// of an item over citations with parts of the block, too, for slices by kind of source.
func (c *itemSums) eachBlock(ctx context.Context, f func(k int, in *blockRows)) error {
	for g := range c.touched {
		c.touched[g].block = -1
	}
	return c.file.Each(func(in *runs.Block) error {
		all := &blockRows{Block: in, signatures: c.groups.perPart[in.Number], members: c.members}
		byKind := c.kinds.divide(all)
		for k, i := range c.list {
			parts := []*blockRows{all}
			if c.items[i].OfCitations() {
				parts = byKind
			}
			for _, part := range parts {
				f(k, part)
			}
			if in.Err() != nil {
				return in.Err()
			}
		}
		return ctx.Err()
	})
}

// addReasons counts the rows of a block without a value of an item.
func (s *groupSums) addReasons(in *blockRows, i int) {
	counts, all := s.reasons[i], in.Reasons(s.items[i].Name)
	for from := 0; from < len(all); {
		why, to := all[from], from+1
		for to < len(all) && all[to] == why && in.alike(from, to) {
			to++
		}
		if why != ibid.Defined {
			for _, g := range in.groups(from) {
				counts[g].add(why, int64(to-from))
			}
		}
		from = to
	}
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

// addVerdicts adds a block of rows to what is known of a judged metric in all groups.
func (s *groupSums) addVerdicts(b *blockRows, i int) {
	d, all := &s.items[i], s.verdicts[i]
	value, has, left := s.left.Numbers(b.Block, d)
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
	for row := range has {
		var items metrics.Tally
		for i := range tallies {
			items.Add(tallies[i][row])
		}
		if d.Kind == metrics.Mean && !has[row] && bounded[row] { // its mean is not stored
			num[row] = low[row] * (items.Scored + items.Open())
		}
		for _, k := range b.groups(row) {
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
