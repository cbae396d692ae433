package harness

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

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
