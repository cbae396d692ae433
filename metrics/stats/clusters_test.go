package stats

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"
)

// A scoredRow is a row as the aggregates see it.
type scoredRow struct {
	cluster int
	y, x    float64
}

func randomRows(rng *rand.Rand, n, clusters int) []scoredRow {
	rows := make([]scoredRow, n)
	for i := range rows {
		x := float64(rng.IntN(40))
		rows[i] = scoredRow{rng.IntN(clusters), x * rng.Float64(), x}
	}
	return rows
}

// estimates are all estimates of the rows, grouped by cluster, when they are
// spread over parts states.
func estimates(rng *rand.Rand, rows []scoredRow, parts int) []Estimate {
	means, ratios := make([]Grouper, parts), make([]Grouper, parts)
	singles := make([]Clusters, parts)
	for _, r := range rows {
		p := rng.IntN(parts)
		means[p].Add(r.cluster, r.y)
		ratios[p].AddRatio(r.cluster, r.y, r.x)
		singles[p].AddRow(r.y)
		if r.x > 20 {
			singles[p].AddCluster(r.y, r.x, 1)
		}
	}
	var mean, ratio Clusters
	single := singles[0] // of one part, nothing is merged
	for p := 1; p < parts; p++ {
		means[0].Merge(&means[p])
		ratios[0].Merge(&ratios[p])
		single.Merge(&singles[p])
	}
	means[0].Drain(&mean)
	ratios[0].Drain(&ratio)
	if single.Rows() < int64(len(rows)) || single.Len() != single.Rows() {
		panic(fmt.Sprintf("%d clusters of %d rows are %d of %d", single.Len(), single.Rows(), len(rows), len(rows)))
	}
	return []Estimate{
		mean.Mean(0.95), mean.DeltaT(0.9), ratio.Ratio(0.95), ratio.DeltaT(0.99),
		single.Mean(0.95), single.Ratio(0.95),
	}
}

func TestEstimatesDoNotDependOnOrderOrSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for trial := range 30 {
		rows := randomRows(rng, 1+rng.IntN(200), 1+rng.IntN(30))
		want := estimates(rng, rows, 1)
		for parts := 1; parts <= 5; parts++ {
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			if got := estimates(rng, rows, parts); !reflect.DeepEqual(got, want) {
				t.Fatalf("trial %d, %d parts:\ngot  %+v\nwant %+v", trial, parts, got, want)
			}
		}
	}
}

// TestWaysOfAdding: the fast paths must not change a bit.
func TestWaysOfAdding(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	inputs := map[string]func() float64{
		"binary":    func() float64 { return float64(rng.IntN(2)) },
		"shares":    rng.Float64,
		"counts":    func() float64 { return float64(rng.IntN(3_000_000)) },
		"distances": func() float64 { return rng.NormFloat64() * 100 },
		"small":     func() float64 { return math.Ldexp(rng.Float64(), -rng.IntN(30)) },
		"edges":     func() float64 { return math.Ldexp(1, rng.IntN(40)-15) - math.Ldexp(1, -30) },
		"huge":      func() float64 { return rng.Float64() * 0x1p62 },
		"negative0": func() float64 { return math.Copysign(0, -1) },
	}
	for name, draw := range inputs {
		t.Run(name, func(t *testing.T) {
			var byRow, byColumn, byCluster, bySums Clusters
			var slow Exact
			values := make([]float64, 500)
			for i := range values {
				v := draw()
				values[i] = v
				byRow.AddRow(v)
				byCluster.AddCluster(v, 1, 1)
				var y, x Exact
				y.Add(v)
				x.AddInt(1)
				bySums.AddSums(&y, &x, 1)
				slow.AddProduct(v, v)
			}
			byColumn.AddRows(values)
			if byColumn != byRow {
				t.Errorf("by AddRows %+v, by AddRow %+v", byColumn, byRow)
			}
			want := byRow.Mean(0.95)
			if got := byCluster.Mean(0.95); !reflect.DeepEqual(got, want) {
				t.Errorf("by AddCluster %+v, by AddRow %+v", got, want)
			}
			if got := bySums.Mean(0.95); !reflect.DeepEqual(got, want) {
				t.Errorf("by AddSums %+v, by AddRow %+v", got, want)
			}
			if byRow.yy != slow {
				t.Errorf("squares by AddRow %v, by AddProduct %v", byRow.yy, slow)
			}
		})
	}
}

func TestSingletonClustersGiveTheOrdinaryStandardError(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 100 {
		n := 2 + rng.IntN(50)
		var c Clusters
		values := make([]float64, n)
		sum := 0.0
		for i := range values {
			values[i] = rng.NormFloat64()*3 + 1
			sum += values[i]
			c.AddRow(values[i])
		}
		mean, squares := sum/float64(n), 0.0
		for _, v := range values {
			squares += (v - mean) * (v - mean)
		}
		want := math.Sqrt(squares/float64(n-1)) / math.Sqrt(float64(n))
		got, ok := c.moments().stdErr(true)
		if !ok || math.Abs(got-want) > 1e-13*want {
			t.Errorf("CR1 of %d singleton clusters = %v, %v, want s/sqrt(n) = %v", n, got, ok, want)
		}
	}
}

func TestClusterMatters(t *testing.T) {
	// Ten copies of each row say no more than one: the standard error over clusters
	// is that of the distinct rows.
	var copies Grouper
	var c, distinct Clusters
	for cluster, v := range []float64{0.1, 0.9, 0.4, 0.7} {
		for range 10 {
			copies.Add(cluster, v)
		}
		distinct.AddRow(v)
	}
	copies.Drain(&c)
	got, want := c.Mean(0.95), distinct.Mean(0.95)
	if got.SE != want.SE || got.Low != want.Low || got.High != want.High {
		t.Errorf("ten copies give %v [%v, %v], one gives %v [%v, %v]", got.SE, got.Low, got.High, want.SE, want.Low, want.High)
	}
	if got.N != 40 || got.Clusters != 4 {
		t.Errorf("n = %d in %d clusters, want 40 in 4", got.N, got.Clusters)
	}
}

func TestSums(t *testing.T) {
	var c Clusters
	c.AddRow(0.5)
	c.AddCluster(2, 3.5, 4)
	c.AddCounts(7, 0, 1)
	if y, x, ok := c.Sums(); y != 9.5 || x != 4.5 || !ok {
		t.Errorf("Sums = %v, %v, %v, want 9.5, 4.5, true", y, x, ok)
	}
	if c.Rows() != 6 || c.Len() != 3 {
		t.Errorf("%d rows in %d clusters, want 6 in 3", c.Rows(), c.Len())
	}
	c.AddRow(math.Inf(1))
	if _, _, ok := c.Sums(); ok {
		t.Error("the sum with an infinity is defined")
	}
}

func TestAddingDoesNotAllocate(t *testing.T) {
	var c Clusters
	var g Grouper
	var y, x Exact
	g.Add(100, 0)
	y.Add(0.3)
	x.AddInt(2)
	column, counts := []float64{0, 0.3, -1e30}, []int64{0, 3, 1 << 40}
	tests := map[string]func(){
		"AddRow":           func() { c.AddRow(0.3) },
		"AddCluster":       func() { c.AddCluster(0.3, 2.5, 3) },
		"AddCounts":        func() { c.AddCounts(3, 8, 1) },
		"AddRows":          func() { c.AddRows(column) },
		"AddRowCounts":     func() { c.AddRowCounts(counts, counts) },
		"AddSums":          func() { c.AddSums(&y, &x, 1) },
		"Merge":            func() { c.Merge(&c) },
		"Grouper.Add":      func() { g.Add(42, 0.3) },
		"Grouper.AddRatio": func() { g.AddRatio(42, 0.3, 5) },
		"Float64":          func() { y.Float64() },
	}
	for name, f := range tests {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	drain := func() {
		for i := range 100 {
			g.Add(i, 0.3)
		}
		g.Drain(&c)
	}
	if n := testing.AllocsPerRun(100, drain); n != 0 {
		t.Errorf("filling and draining a used grouper allocates %v times", n)
	}
}

// FuzzClusters compares the standard error with its definition in fractions.
func FuzzClusters(f *testing.F) {
	f.Add([]byte{1, 2, 0, 3, 255, 4})
	f.Add([]byte{1, 2, 2, 4, 0, 0})
	f.Add([]byte{7, 1, 1, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Clusters
		var ys, xs []*big.Rat
		sumY, sumX, informative := new(big.Rat), new(big.Rat), 0
		for ; len(data) >= 2; data = data[2:] {
			y, x := float64(int8(data[0]))/64, float64(int8(data[1]))/4
			c.AddCluster(y, x, 1)
			ys, xs = append(ys, new(big.Rat).SetFloat64(y)), append(xs, new(big.Rat).SetFloat64(x))
			sumY.Add(sumY, ys[len(ys)-1])
			sumX.Add(sumX, xs[len(xs)-1])
			if x != 0 {
				informative++
			}
		}
		e := c.DeltaT(0.95)
		if e.Defined() != (sumX.Sign() != 0) || e.HasSE != (e.Defined() && informative > 1) {
			t.Fatalf("reason %q, se %v with Σx = %v over %d clusters", e.Reason, e.HasSE, sumX, informative)
		}
		if !e.HasSE {
			return
		}
		ratio := new(big.Rat).Quo(sumY, sumX)
		if want, _ := ratio.Float64(); e.Value != want {
			t.Errorf("ratio = %v, want %v", e.Value, want)
		}
		squares, d := new(big.Rat), new(big.Rat)
		for i, y := range ys {
			d.Sub(y, d.Mul(ratio, xs[i]))
			squares.Add(squares, d.Mul(d, d))
		}
		squares.Mul(squares, big.NewRat(int64(len(ys)), int64(len(ys)-1)))
		variance, _ := squares.Quo(squares, d.Mul(sumX, sumX)).Float64()
		if want := math.Sqrt(variance); math.Abs(e.SE-want) > 1e-15*want {
			t.Errorf("se = %v, want %v", e.SE, want)
		}
	})
}
