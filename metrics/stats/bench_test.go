package stats

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// scores are values as metrics have them: shares in [0, 1] with mass at both ends.
func scores(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, n)
	for i := range v {
		switch rng.IntN(5) {
		case 0:
			v[i] = 0
		case 1:
			v[i] = 1
		default:
			v[i] = rng.Float64()
		}
	}
	return v
}

func BenchmarkExactAdd(b *testing.B) {
	v := scores(1024)
	var e Exact
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Add(v[i&1023])
	}
}

func BenchmarkExactAddInt(b *testing.B) {
	var e Exact
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.AddInt(int64(i))
	}
}

func BenchmarkExactAddProduct(b *testing.B) {
	v := scores(1024)
	var e Exact
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.AddProduct(v[i&1023], v[(i+7)&1023])
	}
}

func BenchmarkExactFloat64(b *testing.B) {
	var e Exact
	for _, v := range scores(1000) {
		e.Add(v)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Float64()
	}
}

func BenchmarkClustersAddRow(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	inputs := map[string]func() float64{
		"binary": func() float64 { return float64(rng.IntN(2)) },
		"real":   rng.Float64,
		"zero":   func() float64 { return 0 },
	}
	for name, draw := range inputs {
		v := make([]float64, 1024)
		for i := range v {
			v[i] = draw()
		}
		b.Run("values="+name, func(b *testing.B) {
			var c Clusters
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.AddRow(v[i&1023])
			}
		})
	}
}

func BenchmarkClustersAddCluster(b *testing.B) {
	v := scores(1024)
	b.Run("terms=real", func(b *testing.B) {
		var c Clusters
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.AddCluster(v[i&1023]+0.5, 3, 3)
		}
	})
	b.Run("terms=integer", func(b *testing.B) {
		var c Clusters
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.AddCluster(float64(i&255), float64(i&1023), 1)
		}
	})
}

// BenchmarkColumns reports the cost per row of adding columns.
func BenchmarkColumns(b *testing.B) {
	const rows = 1000
	v := scores(rows)
	ys, xs := make([]int64, rows), make([]int64, rows)
	for i := range ys {
		ys[i], xs[i] = int64(i%300), int64(i)
	}
	var c Clusters
	for name, add := range map[string]func(){
		"AddRows":      func() { c.AddRows(v) },
		"AddRowCounts": func() { c.AddRowCounts(ys, xs) },
	} {
		b.Run("by="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				add()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

func BenchmarkGrouper(b *testing.B) {
	v := scores(1024)
	for _, clusters := range []int{100, 100_000} {
		b.Run("clusters="+strconv.Itoa(clusters), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(3, 4))
			codes := make([]int, 1<<16)
			for i := range codes {
				codes[i] = rng.IntN(clusters)
			}
			var g Grouper
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				g.Add(codes[i&(1<<16-1)], v[i&1023])
			}
		})
	}
}

// BenchmarkGrouperDrain reports the cost per cluster.
func BenchmarkGrouperDrain(b *testing.B) {
	const clusters = 1000
	v := scores(3 * clusters)
	var g Grouper
	b.ReportAllocs()
	for b.Loop() {
		for i, y := range v {
			g.Add(i%clusters, y)
		}
		var c Clusters
		g.Drain(&c)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/clusters, "ns/cluster")
}

func BenchmarkEstimate(b *testing.B) {
	var c, binary Clusters
	for _, v := range scores(10_001) {
		c.AddCluster(v, 1.5, 1)
		binary.AddRow(float64(int(v)))
	}
	estimators := map[string]func(float64) Estimate{
		"mean": c.Mean, "ratio": c.Ratio, "proportion": binary.Proportion,
	}
	for name, estimate := range estimators {
		b.Run("of="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				estimate(0.95)
			}
		})
	}
}

// BenchmarkMergeBillion merges what parts of 16,384 rows know of a number, 61,036 of them: of
// 10⁹ rows. Every order gives the same bits.
func BenchmarkMergeBillion(b *testing.B) {
	const rows, parts = 16384, 61036
	v := scores(rows)
	states := make([]Clusters, 16) // as many parts differ
	for i := range states {
		for k := range v {
			states[i].AddRow(v[(k*(2*i+1))%rows] * float64(i+1) / 16)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		var first, second Clusters
		for i := range parts {
			first.Merge(&states[i%16])
			second.Merge(&states[(parts-1-i)%16])
		}
		x, y := first.MeanWithin(0.95, 0, 1), second.MeanWithin(0.95, 0, 1)
		if first.Rows() != rows*parts || x.Value != y.Value || x.SE != y.SE {
			b.Fatal("another order, other bits")
		}
	}
}
