package harness

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"ibid/dataset/parquet"
	"ibid/metrics/stats"
)

// A clustered is the rows of a group, cluster after cluster.
type clustered struct {
	rows []int32
	ends []int32 // of each cluster: where its rows end
}

// cluster brings rows, in the order of the file, into the order of their clusters, which
// are numbered from 0 to n-1.
func cluster(rows, codes []int32, n int) clustered {
	c := clustered{rows: make([]int32, len(rows)), ends: make([]int32, n)}
	for _, code := range codes {
		c.ends[code]++
	}
	sum := int32(0)
	for code, size := range c.ends {
		c.ends[code] = sum // where its rows begin, until they are there
		sum += size
	}
	for i, row := range rows {
		at := &c.ends[codes[i]]
		c.rows[*at] = row
		*at++
	}
	return c
}

// at are the rows of a cluster.
func (c *clustered) at(code int) []int32 {
	if code == 0 {
		return c.rows[:c.ends[0]]
	}
	return c.rows[c.ends[code-1]:c.ends[code]]
}

// rowClusters are the clusters of the groups that need theirs collected.
type rowClusters struct {
	of   []clustered // of each group; without rows where they are not collected
	keys [][]uint64  // of each group: its clusters, the same in every process
}

// collectClusters collects the clusters of the groups whose rows of one cluster may stand
// anywhere, for a bootstrap those of all. What is drawn for a cluster depends on its name.
func (s *summarizer) collectClusters(ctx context.Context) error {
	all := s.groups.all
	c := &rowClusters{of: make([]clustered, len(all)), keys: make([][]uint64, len(all))}
	in := make([]bool, len(all))
	for _, g := range s.groups.own {
		in[g] = s.resampling != nil || all[g].spread
	}
	numbers := make([]stats.Codes, len(all))
	rows, codes := make([][]int32, len(all)), make([][]int32, len(all))
	row := int32(0)
	err := s.eachCluster(ctx, func(sig int, name string, named bool) {
		key := stats.Key(name)
		if named {
			key = ^key
		}
		for _, g := range s.groups.members[sig] {
			if !in[g] {
				continue
			}
			code := numbers[g].Code(key)
			if code == len(c.keys[g]) {
				c.keys[g] = append(c.keys[g], key)
			}
			rows[g], codes[g] = append(rows[g], row), append(codes[g], int32(code))
		}
		row++
	})
	for g := range all {
		c.of[g] = cluster(rows[g], codes[g], len(c.keys[g]))
		rows[g], codes[g] = nil, nil
	}
	s.clusters = c
	return err
}

// eachCluster calls f with the signature of each row and the name of its cluster, in
// file order: what statistics.cluster says (named), else its question. The two kinds of
// names must not meet.
func (s *summarizer) eachCluster(ctx context.Context, f func(sig int, name string, named bool)) error {
	var ids, names parquet.ColumnValues
	for part := range s.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.file.ReadColumn(part, "id", &ids); err != nil {
			return err
		}
		if err := s.file.ReadColumn(part, "cluster", &names); err != nil {
			return err
		}
		signatures := &s.groups.perPart[part]
		for i := range s.file.GroupRows(part) {
			if names.Valid[i] {
				f(signatures.at(i), names.Strings[i], true)
			} else {
				f(signatures.at(i), ids.Strings[i], false)
			}
		}
	}
	return nil
}

// collect adds an item to the groups whose clusters were collected or whose rows that share
// documents are clusters, if it is defined anywhere.
func (b *block) collect(ctx context.Context, i int) error {
	if b.resampling != nil {
		b.drawn = append(b.drawn, make([]intervals, len(b.groups.all)))
	}
	if !b.denseNeeded() || !slices.ContainsFunc(b.groups.own, func(g int) bool { return b.states[g][i].defined > 0 }) {
		return nil
	}
	of, _ := b.buffers.Get().(*denseValues)
	if of == nil {
		of = new(denseValues)
	}
	defer b.buffers.Put(of)
	if err := of.read(ctx, b, i); err != nil {
		return err
	}
	if b.clusters != nil {
		if err := b.addClusters(ctx, of, i); err != nil {
			return err
		}
	}
	return b.addComponents(ctx, of, i)
}

// addClusters adds an item to the groups whose clusters were collected, and draws its
// intervals if there is a bootstrap.
func (b *block) addClusters(ctx context.Context, of *denseValues, i int) error {
	for _, g := range b.groups.own {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &b.clusters.of[g]
		if r := b.resampling; r != nil && b.dependent[g] == nil {
			b.drawn[i][g] = of.draw(r, c, b.clusters.keys[g], b.level)
		}
		if b.groups.all[g].spread {
			of.add(&b.states[g][i], c)
		}
	}
	return nil
}

// denseValues are the values of one item in all rows, side by side because rows are asked
// for in another order than theirs.
type denseValues struct {
	values []float64 // NaN where the item is not defined
	parts  []dividend
	pooled bool // there is a quotient of sums, of which parts are
}

// A dividend is what a row adds to a quotient of sums.
type dividend struct{ num, den float64 }

// denseBytes is how much one row takes.
const denseBytes = 8 + int(unsafe.Sizeof(dividend{}))

// read reads the i-th item of a block.
func (d *denseValues) read(ctx context.Context, b *block, i int) error {
	if len(d.values) == 0 {
		d.values, d.parts = make([]float64, b.file.Rows()), make([]dividend, b.file.Rows())
	}
	for row := range d.values {
		d.values[row] = math.NaN()
	}
	d.pooled = b.items[i].micro()
	r := newColumnReader(b.file)
	var values itemValues
	first := 0
	for part := range b.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.part = part
		if err := values.read(r, &b.items[i]); err != nil {
			return err
		}
		values.defined.Each(func(row, at int) {
			row += first
			if d.values[row] = values.value(at); values.micro {
				d.parts[row] = dividend{values.num.at(at), values.den.at(at)}
			}
		})
		first += b.file.GroupRows(part)
	}
	return nil
}

// A clusterSum is what the rows of a cluster add up to.
type clusterSum struct {
	y, x stats.Exact
	rows int64
}

// sum adds up rows: values and their number, or pooled numerators and denominators.
func (d *denseValues) sum(rows []int32, pooled bool) (s clusterSum) {
	for _, row := range rows {
		v := d.values[row]
		if math.IsNaN(v) {
			continue
		}
		s.rows++
		if pooled {
			s.y.Add(d.parts[row].num)
			s.x.Add(d.parts[row].den)
		} else {
			s.y.Add(v)
			s.x.AddInt(1)
		}
	}
	return s
}

// add adds the clusters to a state.
func (d *denseValues) add(to *state, c *clustered) {
	d.addTo(&to.macro, c, false)
	if d.pooled {
		d.addTo(&to.micro, c, true)
	}
}

func (d *denseValues) addTo(to *stats.Clusters, c *clustered, pooled bool) {
	alone := to.Len() == 0
	for code := range c.ends {
		rows := c.at(code)
		if len(rows) == 1 && !pooled {
			if v := d.values[rows[0]]; !math.IsNaN(v) {
				to.AddRow(v)
			}
		} else if s := d.sum(rows, pooled); s.rows > 0 {
			to.AddSums(&s.y, &s.x, s.rows)
		}
	}
	if !alone {
		return
	}
	to.DeleteEach(func(yield func(y, x float64) bool) {
		for code := range c.ends {
			s := d.sum(c.at(code), pooled)
			if s.rows == 0 {
				continue
			}
			y, _ := s.y.Float64()
			x, _ := s.x.Float64()
			if !yield(y, x) {
				return
			}
		}
	})
}

// draw draws the intervals of a group.
func (d *denseValues) draw(r *resampling, c *clustered, keys []uint64, level float64) (v intervals) {
	v.macro = r.draw(d, c, keys, false, level)
	if d.pooled {
		v.micro = r.draw(d, c, keys, true, level)
	}
	return v
}
