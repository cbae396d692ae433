package harness

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ibid/configs"
	"ibid/dataset"
	"ibid/metrics/stats"
)

// A resampler replaces the analytic intervals of a summary by those of a cluster
// bootstrap. It reads the rows once more, metric by metric, and draws for each
// metric, system and slice: about 10 s of a processor for 10,000 resamples of a
// million clusters.
type resampler struct {
	*summarizer
	how    stats.Resampling
	method stats.Method
}

// intervals are what a bootstrap says of one item in one group; nil where it says
// nothing.
type intervals struct{ macro, micro *stats.Estimate }

// newResampler is nil if intervals are analytic, as they are by default: every
// metric has one.
func newResampler(s *summarizer, c *configs.Settings) *resampler {
	method := stats.Method(c.Statistics.Method)
	if method != stats.BCaBootstrap && method != stats.PercentileBootstrap {
		return nil
	}
	return &resampler{
		summarizer: s, method: method,
		how: stats.Resampling{Resamples: int(c.Statistics.Resamples), Seed: uint64(c.Seed), Workers: 1},
	}
}

// all draws for every item and group. The result is indexed like states.
func (r *resampler) all(ctx context.Context) ([][]intervals, error) {
	codes, keys, err := r.clusterKeys(ctx)
	if err != nil {
		return nil, err
	}
	out := make([][]intervals, len(r.groups.all))
	for g := range out {
		out[g] = make([]intervals, len(r.items))
	}
	perMetric := 2 * bytesPerCluster * len(r.groups.all) * len(keys)
	pool, ctx := errgroup.WithContext(ctx)
	pool.SetLimit(max(1, min(r.workers, clusterMemory/max(perMetric, 1))))
	var done atomic.Int64
	for i := range r.items {
		pool.Go(func() error {
			defer func() { r.progress(done.Add(1) * r.file.Rows() / int64(len(r.items))) }()
			return r.item(ctx, i, codes, keys, out)
		})
	}
	return out, pool.Wait()
}

// item draws for one item. Workers write to elements of their own.
func (r *resampler) item(ctx context.Context, i int, codes []int32, keys []uint64, out [][]intervals) error {
	macro, micro := make([]stats.Grouper, len(out)), make([]stats.Grouper, len(out))
	err := r.eachValue(ctx, i, func(row int, sig int, v *itemValues, at int) {
		for _, g := range r.groups.members[sig] {
			macro[g].Add(int(codes[row]), v.value(at))
			if v.micro {
				micro[g].AddRatio(int(codes[row]), v.num.at(at), v.den.at(at))
			}
		}
	})
	if err != nil {
		return err
	}
	for g := range out {
		if err := ctx.Err(); err != nil {
			return err
		}
		out[g][i] = intervals{r.draw(&macro[g], keys), r.draw(&micro[g], keys)}
	}
	return nil
}

// draw is nil where no interval can be drawn, or it would have no width: the
// analytic one is better then.
func (r *resampler) draw(g *stats.Grouper, keys []uint64) *stats.Estimate {
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
	e := b.BCa(r.level)
	if r.method == stats.PercentileBootstrap {
		e = b.Percentile(r.level)
	}
	if !e.HasInterval || e.Degenerate {
		return nil
	}
	return &e
}

// clusterKeys number the clusters of the rows and give each a key that is the same
// in every process: what is drawn for a cluster depends on its name.
func (s *summarizer) clusterKeys(ctx context.Context) (codes []int32, keys []uint64, err error) {
	var numbers stats.Codes
	err = s.eachCluster(ctx, func(name string, named bool) {
		key := stats.Key(name)
		if named {
			key = ^key
		}
		code := numbers.Code(key)
		if code == len(keys) {
			keys = append(keys, key)
		}
		codes = append(codes, int32(code))
	})
	return codes, keys, err
}

// eachCluster calls f with the name of each row's cluster, in file order: what
// statistics.cluster says (named), else its question. The two kinds of names must
// not meet.
func (s *summarizer) eachCluster(ctx context.Context, f func(name string, named bool)) error {
	var ids, names dataset.ColumnValues
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
		for i := range s.file.GroupRows(part) {
			if names.Valid[i] {
				f(names.Strings[i], true)
			} else {
				f(ids.Strings[i], false)
			}
		}
	}
	return nil
}

// eachValue calls f with the place of each row where item i is defined, its
// signature, and the values it is the at-th of.
func (s *summarizer) eachValue(ctx context.Context, i int, f func(row, sig int, v *itemValues, at int)) error {
	r := newColumnReader(s.file)
	var values itemValues
	first := 0
	for part := range s.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.part = part
		if err := values.gather(r, &s.items[i]); err != nil {
			return err
		}
		signatures := &s.groups.perPart[part]
		values.defined.Each(func(row, at int) { f(first+row, signatures.at(row), &values, at) })
		first += s.file.GroupRows(part)
	}
	return nil
}
