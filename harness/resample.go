package harness

import (
	"context"

	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/metrics/stats"
)

// A resampling is how a cluster bootstrap draws the intervals that replace the analytic
// ones of a summary: for each metric, system and slice, about 10 s of a processor for
// 10,000 resamples of a million clusters.
type resampling struct {
	how    stats.Resampling
	method stats.Method
}

// intervals are what a bootstrap says of one item in one group; nil where it says
// nothing.
type intervals struct{ macro, micro *stats.Estimate }

// resamplingOf is nil if intervals are analytic, as they are by default: every
// metric has one.
func resamplingOf(c *configs.Settings) *resampling {
	method := stats.Method(c.Statistics.Method)
	if method != stats.BCaBootstrap && method != stats.PercentileBootstrap {
		return nil
	}
	return &resampling{
		method: method,
		how:    stats.Resampling{Resamples: int(c.Statistics.Resamples), Seed: uint64(c.Seed), Workers: 1},
	}
}

// draw makes the bootstrap interval of one group, whose clusters have keys. It is nil if
// there is none, or if it would have no width. The analytic interval is used then.
func (r *resampling) draw(g *stats.Grouper, keys []uint64, level float64) *stats.Estimate {
	units := stats.NewUnits(2)
	defined := true
	g.Each(func(code int, y, x float64, rows int64, ok bool) {
		defined = defined && ok
		units.Add(keys[code], rows, y, x)
	})
	if !defined || units.Len() < 2 {
		return nil
	}
	b := units.Bootstrap(stats.Quotient, r.how)
	e := b.BCa(level)
	if r.method == stats.PercentileBootstrap {
		e = b.Percentile(level)
	}
	if !e.HasInterval || e.Degenerate {
		return nil
	}
	return &e
}

// rowClusters number the clusters of the rows, in each group from 0: a table by cluster
// of a small group is small, however many clusters there are.
type rowClusters struct {
	in    []bool     // of each group: its clusters are numbered
	codes []int32    // row after row, for each of its groups that is in
	first []uint32   // of each row, where its codes begin
	keys  [][]uint64 // of each group: its clusters, the same in every process
	total int        // over all groups
}

// numberClusters numbers the clusters of the groups that need theirs collected, for a
// bootstrap those of all. What is drawn for a cluster depends on its name.
func (s *summarizer) numberClusters(ctx context.Context) error {
	all := s.groups.all
	c := &rowClusters{in: make([]bool, len(all)), keys: make([][]uint64, len(all)), codes: make([]int32, 0, s.file.Rows()), first: make([]uint32, 0, s.file.Rows())}
	for _, g := range s.groups.own {
		c.in[g] = s.resampling != nil || all[g].spread
	}
	numbers := make([]stats.Codes, len(all))
	err := s.eachCluster(ctx, func(sig int, name string, named bool) {
		key := stats.Key(name)
		if named {
			key = ^key
		}
		c.first = append(c.first, uint32(len(c.codes)))
		for _, g := range s.groups.members[sig] {
			if !c.in[g] {
				continue
			}
			code := numbers[g].Code(key)
			if code == len(c.keys[g]) {
				c.keys[g] = append(c.keys[g], key)
				c.total++
			}
			c.codes = append(c.codes, int32(code))
		}
	})
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

// bytesPerCluster is what a [stats.Grouper] keeps of one cluster.
const bytesPerCluster = 104

// addClusters adds an item to the groups that need their clusters collected, and draws
// its intervals if there is a bootstrap.
func (b *block) addClusters(ctx context.Context, i int) error {
	c := b.clusters
	macro := make([]stats.Grouper, len(b.groups.all))
	micro := make([]stats.Grouper, len(b.groups.all))
	err := b.eachValue(ctx, i, func(row, sig int, v *itemValues, at int) {
		next := c.first[row]
		for _, g := range b.groups.members[sig] {
			if !c.in[g] {
				continue
			}
			code := int(c.codes[next])
			next++
			macro[g].Add(code, v.value(at))
			if v.micro {
				micro[g].AddRatio(code, v.num.at(at), v.den.at(at))
			}
		}
	})
	if err != nil {
		return err
	}
	if b.resampling != nil {
		b.drawn = append(b.drawn, make([]intervals, len(b.groups.all)))
	}
	for _, g := range b.groups.own {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r := b.resampling; r != nil && b.dependent[g] == nil {
			b.drawn[i][g] = intervals{r.draw(&macro[g], c.keys[g], b.level), r.draw(&micro[g], c.keys[g], b.level)}
		}
		if b.groups.all[g].spread {
			macro[g].Drain(&b.states[g][i].macro)
			micro[g].Drain(&b.states[g][i].micro)
		}
		macro[g], micro[g] = stats.Grouper{}, stats.Grouper{}
	}
	return nil
}

// eachValue calls f with the place of each row where item i is defined, its
// signature, and the values it is the at-th of.
func (b *block) eachValue(ctx context.Context, i int, f func(row, sig int, v *itemValues, at int)) error {
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
		signatures := &b.groups.perPart[part]
		values.defined.Each(func(row, at int) { f(first+row, signatures.at(row), &values, at) })
		first += b.file.GroupRows(part)
	}
	return nil
}
