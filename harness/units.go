package harness

import (
	"context"
	"math"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// units are the rows of a group in which some depend on each other: rows of one question are
// one unit, and units may share documents.
type units struct {
	rows      []int32 // of the file; nil if they are all
	units     *stats.Rows
	documents []int32 // numbers in the file of the documents of units; nil if they are the same
}

// name is the name of a document of the units.
func (u *units) name(of *runs.RowDocuments, document int32) string {
	if u.documents != nil {
		document = u.documents[document]
	}
	return of.Names[document]
}

// findUnits finds the groups in which rows depend on each other.
func (s *summarizer) findUnits(ctx context.Context, cluster string) error {
	s.units = make([]*units, len(s.groups.all))
	touched, err := runs.ReadDocuments(ctx, s.file, cluster)
	if err != nil {
		return err
	}
	s.touched = touched
	var in []int
	pooled := false
	for _, g := range s.groups.own {
		k := &s.groups.all[g]
		switch {
		case k.pooled:
			in, pooled = append(in, g), true
		case touched.Documents == nil: // each row by itself
		case k.rows == s.file.Len():
			s.units[g] = &units{units: stats.NewRows[uint64](nil, touched.Documents)}
		default:
			in = append(in, g)
		}
	}
	if len(in) == 0 {
		return nil
	}
	var questions []uint64
	if pooled {
		if questions, err = s.questions(ctx); err != nil {
			return err
		}
	}
	rows := s.rowsOf(in)
	var local localDocuments
	for _, g := range in {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := &units{rows: rows[g]}
		var documents *stats.Documents
		documents, u.documents = local.of(touched.Documents, u.rows)
		var of []uint64
		if s.groups.all[g].pooled {
			for _, row := range u.rows {
				of = append(of, questions[row])
			}
		}
		if u.units = stats.NewRows(of, documents); documents != nil || !u.units.Single() {
			s.units[g] = u
		}
	}
	return nil
}

// questions are the keys of the questions of all rows.
func (s *summarizer) questions(ctx context.Context) ([]uint64, error) {
	out := make([]uint64, 0, s.file.Len())
	err := s.file.Each(func(b *runs.Block) error {
		for _, id := range b.Texts("id") {
			out = append(out, stats.Key(id))
		}
		return ctx.Err()
	})
	return out, err
}

// rowsOf are the rows of groups, in the order of the file.
func (s *summarizer) rowsOf(groups []int) [][]int32 {
	rows := make([][]int32, len(s.groups.all))
	for _, g := range groups {
		rows[g] = make([]int32, 0, s.groups.all[g].rows)
	}
	_ = s.file.Each(func(b *runs.Block) error { // which reads no column
		signatures := &s.groups.perPart[b.Number]
		for i := range b.Len() {
			for _, g := range s.groups.members[signatures.at(i)] {
				if rows[g] != nil {
					rows[g] = append(rows[g], int32(b.First)+int32(i))
				}
			}
		}
		return nil
	})
	return rows
}

// localDocuments numbers the documents that several rows of a group touch.
type localDocuments struct {
	numbers []int32 // of each document of the file: in the group, plus two; 1 if one row touched it
	met     []int32
}

// of are the documents of rows, and their numbers in the file; nil if no two rows share one.
func (l *localDocuments) of(all *stats.Documents, rows []int32) (documents *stats.Documents, numbers []int32) {
	if all == nil {
		return nil, nil
	}
	for _, d := range l.met {
		l.numbers[d] = 0
	}
	l.met = l.met[:0]
	for _, row := range rows {
		for _, d := range all.At(int(row)) {
			switch {
			case d == stats.Lone:
				continue
			case int(d) >= len(l.numbers):
				l.numbers = append(l.numbers, make([]int32, int(d)+1-len(l.numbers))...)
			}
			switch l.numbers[d] {
			case 0:
				l.numbers[d] = 1
				l.met = append(l.met, d)
			case 1:
				numbers = append(numbers, d)
				l.numbers[d] = int32(len(numbers)) + 1
			}
		}
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	documents = new(stats.Documents)
	for _, row := range rows {
		for _, d := range all.At(int(row)) {
			if d == stats.Lone || l.numbers[d] == 1 {
				documents.Touch(stats.Lone)
			} else {
				documents.Touch(l.numbers[d] - 2)
			}
		}
		documents.Add()
	}
	return documents, numbers
}

// itemColumns are the memory in which items are summarised, one after the other.
type itemColumns struct {
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

// denseBytes is how much one row takes.
const denseBytes = 3 * 8

func newItemColumns(s *summarizer) *itemColumns {
	c := &itemColumns{alone: make([]alone, len(s.groups.all)), kept: make(map[int]*keptShares)}
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

// collectMemory is about how many bytes a worker needs for values of rows.
func (s *summarizer) collectMemory() int {
	if !s.collects() {
		return 0
	}
	return (denseBytes + 16) * int(s.file.Len()) // and y and x
}

// summarize summarises the i-th item of a block.
func (c *itemColumns) summarize(ctx context.Context, b *block, i int) error {
	it := &b.items[i]
	for _, g := range b.groups.own {
		c.alone[g] = alone{}
	}
	if c.dense != nil {
		for row := range c.dense.values {
			c.dense.values[row] = math.NaN()
		}
	}
	others := false // groups whose rows do not depend on each other
	err := b.eachRow(ctx, it, func(groups []int, row int, v, num, den float64) {
		if c.dense != nil {
			c.dense.values[row], c.dense.num[row], c.dense.den[row] = v, num, den
		}
		for _, g := range groups {
			st := &b.states[g][i]
			st.defined++
			st.macro.num += v
			st.macro.den++
			st.micro.num += num
			st.micro.den += den
			others = others || b.units[g] == nil
		}
	})
	if err != nil {
		return err
	}
	if others {
		if err := c.addAlone(ctx, b, i); err != nil {
			return err
		}
	}
	for _, g := range b.groups.own {
		if err := ctx.Err(); err != nil {
			return err
		}
		if u := b.units[g]; u != nil && b.states[g][i].defined > 0 {
			c.addUnits(b, g, u, i)
		}
	}
	return nil
}

// eachRow calls f with each row where an item is defined: its groups, its place, its value,
// and the numerator and denominator of what is pooled.
func (b *block) eachRow(ctx context.Context, it *item, f func(groups []int, row int, v, num, den float64)) error {
	return b.file.Each(func(in *runs.Block) error {
		values, known := in.Numbers(it.def.Name)
		var num, den []float64
		if it.micro() {
			num, den = in.Sum(it.def.Num), in.Sum(it.def.Den)
		}
		if in.Err() != nil {
			return in.Err()
		}
		signatures := &b.groups.perPart[in.Number]
		for i, ok := range known {
			switch groups := b.groups.members[signatures.at(i)]; {
			case !ok:
			case num == nil:
				f(groups, int(in.First)+i, values[i], 0, 0)
			default:
				f(groups, int(in.First)+i, values[i], num[i], den[i])
			}
		}
		return ctx.Err()
	})
}

// addAlone reads the item again, for the groups whose rows do not depend on each other.
func (c *itemColumns) addAlone(ctx context.Context, b *block, i int) error {
	for _, g := range b.groups.own {
		if st := &b.states[g][i]; st.defined > 0 {
			c.alone[g].macro.Equal(int(st.defined))
		}
	}
	err := b.eachRow(ctx, &b.items[i], func(groups []int, _ int, v, y, x float64) {
		for _, g := range groups {
			if b.units[g] != nil {
				continue
			}
			st, to := &b.states[g][i], &c.alone[g]
			to.macro.Error((v - st.macro.num/st.macro.den) / st.macro.den)
			if st.micro.den != 0 {
				to.micro.Add((y-float64(st.micro.num/st.micro.den*x))/st.micro.den, x/st.micro.den)
			}
		}
	})
	for _, g := range b.groups.own {
		if st := &b.states[g][i]; b.units[g] == nil && st.defined > 0 {
			st.macro.spread = c.alone[g].macro.Spread()
			st.micro.spread = c.alone[g].micro.Spread()
		}
	}
	return err
}

// addUnits adds an item to a group whose rows depend on each other.
func (c *itemColumns) addUnits(b *block, g int, u *units, i int) {
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
	st := &b.states[g][i]
	kept := c.kept[g]
	if kept == nil {
		kept = new(keptShares)
		c.kept[g] = kept
	}
	of, ok := c.quotient(u)
	if !ok {
		return
	}
	if kept.shares == nil || kept.in != in {
		kept.in, kept.shares = in, stats.NewShares(of.Shares, nil, u.units.Documents(func(row int) bool { return c.x[row] != 0 }))
	}
	st.macro.set(of, kept.shares)
	if !b.items[i].micro() {
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
func (c *itemColumns) quotient(u *units) (of *stats.Quotient, ok bool) {
	y, x := u.units.Sums(c.y), u.units.Sums(c.x)
	of = &stats.Quotient{Errors: y, Shares: x}
	return of, of.Set(y, x)
}

// set is a quotient with these shares.
func (q *quotient) set(of *stats.Quotient, shares *stats.Shares) {
	q.num, q.den, q.spread = of.Num, of.Den, shares.Spread(of.Errors, of.Shares)
}
