package harness

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ibid/dataset"
	"ibid/metrics/stats"
)

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
	var ids, names dataset.ColumnValues
	for part := range s.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if err := s.file.ReadColumn(part, "id", &ids); err != nil {
			return nil, 0, err
		}
		if err := s.file.ReadColumn(part, "cluster", &names); err != nil {
			return nil, 0, err
		}
		for i := range s.file.GroupRows(part) {
			// A row without a cluster is its question's; the two kinds of names
			// must not meet.
			hash := maphash.String(seed, ids.Strings[i])
			if names.Valid[i] {
				hash = ^maphash.String(seed, names.Strings[i])
			}
			codes = append(codes, int32(numbers.Code(hash)))
		}
	}
	return codes, numbers.Len(), nil
}

// addClustersOf adds one item to the groups that need their clusters collected.
func (s *summarizer) addClustersOf(ctx context.Context, i int, codes []int32, all states) error {
	macro := make([]stats.Grouper, len(s.groups.all))
	micro := make([]stats.Grouper, len(s.groups.all))
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
		values.defined.Each(func(row, at int) {
			code := int(codes[first+row])
			for _, g := range s.groups.members[signatures.at(row)] {
				if !s.groups.all[g].spread {
					continue
				}
				macro[g].Add(code, values.value(at))
				if values.micro {
					micro[g].AddRatio(code, values.num.at(at), values.den.at(at))
				}
			}
		})
		first += s.file.GroupRows(part)
	}
	for g := range all {
		macro[g].Drain(&all[g][i].macro)
		micro[g].Drain(&all[g][i].micro)
	}
	return nil
}
