package harness

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ibid/configs"
	"ibid/dataset/parquet"
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

// draw makes the bootstrap interval of one group. It is nil if there is none, or if
// it would have no width. The analytic interval is used then.
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
		if err := values.read(r, &s.items[i]); err != nil {
			return err
		}
		signatures := &s.groups.perPart[part]
		values.defined.Each(func(row, at int) { f(first+row, signatures.at(row), &values, at) })
		first += s.file.GroupRows(part)
	}
	return nil
}

// clusterMemory is about how many bytes of cluster sums are kept at a time.
const clusterMemory = 256 << 20

// bytesPerCluster is what a [stats.Grouper] keeps of one cluster.
const bytesPerCluster = 104

// addClusters adds the groups whose clusters have more than one row, metric by
// metric. Beside the sums of the clusters at hand it keeps 4 bytes a row, the
// number of its cluster.
func (s *summarizer) addClusters(ctx context.Context, all states) error {
	codes, clusters, err := s.clusterCodes(ctx)
	if err != nil {
		return err
	}
	spread := 0
	for _, g := range s.groups.all {
		if g.spread {
			spread++
		}
	}
	perMetric := 2 * bytesPerCluster * spread * clusters
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, min(s.workers, clusterMemory/max(perMetric, 1))))
	var done atomic.Int64
	for i := range s.items {
		g.Go(func() error {
			defer func() { s.progress(done.Add(1) * s.file.Rows() / int64(len(s.items))) }()
			return s.addClustersOf(ctx, i, codes, all)
		})
	}
	return g.Wait()
}

// clusterCodes numbers the clusters: the row's id, or what cluster says instead.
func (s *summarizer) clusterCodes(ctx context.Context) (codes []int32, clusters int, err error) {
	codes = make([]int32, 0, s.file.Rows())
	seed := maphash.MakeSeed()
	var numbers stats.Codes
	err = s.eachCluster(ctx, func(name string, named bool) {
		hash := maphash.String(seed, name)
		if named {
			hash = ^hash
		}
		codes = append(codes, int32(numbers.Code(hash)))
	})
	return codes, numbers.Len(), err
}

// addClustersOf adds one item to the groups that need their clusters collected.
func (s *summarizer) addClustersOf(ctx context.Context, i int, codes []int32, all states) error {
	macro := make([]stats.Grouper, len(s.groups.all))
	micro := make([]stats.Grouper, len(s.groups.all))
	err := s.eachValue(ctx, i, func(row, sig int, v *itemValues, at int) {
		code := int(codes[row])
		for _, g := range s.groups.members[sig] {
			if !s.groups.all[g].spread {
				continue
			}
			macro[g].Add(code, v.value(at))
			if v.micro {
				micro[g].AddRatio(code, v.num.at(at), v.den.at(at))
			}
		}
	})
	if err != nil {
		return err
	}
	for g := range all {
		macro[g].Drain(&all[g][i].macro)
		micro[g].Drain(&all[g][i].micro)
	}
	return nil
}
