package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// deletedOneByOne is CR3 as its definition has it: the mean without each cluster.
func deletedOneByOne(values []float64, names []string) float64 {
	mean := func(without string) float64 {
		sum, n := 0.0, 0.0
		for i, v := range values {
			if names[i] != without {
				sum, n = sum+v, n+1
			}
		}
		return sum / n
	}
	all, seen := mean(""), make(map[string]bool)
	squares := 0.0
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			squares += (mean(name) - all) * (mean(name) - all)
		}
	}
	g := float64(len(seen))
	return math.Sqrt((g - 1) / g * squares)
}

func TestCR3(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		var values []float64
		var names []string
		for g := range 2 + rng.IntN(10) {
			for range 1 + rng.IntN(9) {
				values, names = append(values, rng.Float64()), append(names, string(rune('a'+g)))
			}
		}
		c := grouped(values, names)
		got, ok := c.cr3(c.moments())
		if want := deletedOneByOne(values, names); !ok || math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v, %v, want %v of %v %v", got, ok, want, values, names)
		}
	}
	alone := single([]float64{0.1, 0.5, 0.7})
	cr1, _ := alone.moments().stdErr(true)
	if cr3, ok := alone.cr3(alone.moments()); !ok || cr3 != cr1 {
		t.Errorf("clusters of one size: %v, %v, CR1 is %v", cr3, ok, cr1)
	}
	var apart Clusters
	apart.AddCluster(1, 1, 1)
	apart.AddCluster(1, 2, 2)
	if se, ok := apart.cr3(apart.moments()); ok {
		t.Errorf("clusters of unequal size that nobody deleted one by one: %v", se)
	}
	drained := grouped([]float64{0, 1, 1}, []string{"a", "b", "b"})
	drained.AddCluster(1, 2, 2)
	if se, ok := drained.cr3(drained.moments()); ok {
		t.Errorf("a cluster that came later: %v", se)
	}
}

// TestMeanWithin: expected values by the formula, with quantiles from R.
func TestMeanWithin(t *testing.T) {
	values := []float64{0.2, 0.9, 0.5, 0.4, 0.8, 0.3}
	c := grouped(values, []string{"a", "b", "c", "d", "e", "f"})
	m, se := 31.0/60, math.Sqrt((0.2*0.2+0.9*0.9+0.5*0.5+0.4*0.4+0.8*0.8+0.3*0.3-31.0/10*31.0/60)/30)
	half := 2.5705818356363146 * se / (m * (1 - m)) // qt(0.975, 5)
	low, high := expit(math.Log(m/(1-m))-half), expit(math.Log(m/(1-m))+half)
	e := c.MeanWithin(0.95, 0, 1)
	if e.Method != LogitCR3 || math.Abs(e.Low-low) > 1e-9 || math.Abs(e.High-high) > 1e-9 {
		t.Errorf("%+v, want [%v, %v]", e, low, high)
	}
	if shifted := grouped([]float64{-0.6, 0.8, 0, -0.2, 0.6, -0.4}, []string{"a", "b", "c", "d", "e", "f"}).MeanWithin(0.95, -1, 1); math.Abs(shifted.Low-(2*low-1)) > 1e-9 || math.Abs(shifted.High-(2*high-1)) > 1e-9 {
		t.Errorf("bounds -1 and 1: %+v", shifted)
	}
	if e := c.MeanWithin(0.95, math.Inf(-1), math.Inf(1)); e.Method != CR1Effective {
		t.Errorf("no bounds: %+v", e)
	}
	// Three clusters that all have 1, and three that all have 0.5: t(2) = 4.30265.
	for value, want := range map[float64][2]float64{1: {3 / (3 + 18.512820512820504), 1}, 0.5: {0.0361713, 0.9638287}} {
		same := single([]float64{value, value, value}).MeanWithin(0.95, 0, 1)
		if same.Method != WilsonT || same.Degenerate || math.Abs(same.Low-want[0]) > 1e-7 || math.Abs(same.High-want[1]) > 1e-7 {
			t.Errorf("all %v: %+v, want %v", value, same, want)
		}
	}
	// Two ways to compute 0.3 do not make it certain, nor does a ratio of such.
	tenth := 0.1
	rounded := single([]float64{0.3, tenth + 0.2, 0.3})
	for name, e := range map[string]Estimate{"mean": rounded.MeanWithin(0.95, 0, 1), "ratio": rounded.RatioWithin(0.95)} {
		if e.Method != WilsonT || e.SE != 0 || e.High-e.Low < 0.5 {
			t.Errorf("%s of values that differ by rounding: %+v", name, e)
		}
	}
	if one := single([]float64{0.3}).MeanWithin(0.95, 0, 1); !one.Defined() || one.HasInterval {
		t.Errorf("one cluster: %+v", one)
	}
}

// TestIntervalsStayWithin: no interval of a bounded metric leaves the bounds, nor one
// of a difference what they allow, and each holds its value.
func TestIntervalsStayWithin(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	for range 3000 {
		var means, differences Grouper
		skew := math.Exp(2 * rng.NormFloat64())
		for g := range 1 + rng.IntN(12) {
			for range 1 + rng.IntN(1<<rng.IntN(6)) {
				v, w := math.Pow(rng.Float64(), skew), math.Pow(rng.Float64(), 1/skew)
				if rng.IntN(3) == 0 {
					v, w = math.Round(v), math.Round(w)
				}
				means.Add(g, v)
				differences.Add(g, v-w)
			}
		}
		var c, d Clusters
		means.Drain(&c)
		differences.Drain(&d)
		for _, e := range []Estimate{c.MeanWithin(0.95, 0, 1), d.DifferenceWithin(0.95, 1)} {
			least := 0.0
			if e.Method == AtanhCR3 {
				least = -1
			}
			if e.HasInterval && !(least <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= 1) {
				t.Fatalf("%v is in [%v, %v] by %s", e.Value, e.Low, e.High, e.Method)
			}
			if !e.HasInterval && e.Clusters > 1 {
				t.Fatalf("no interval: %+v", e)
			}
		}
	}
}

func TestDifferenceWithin(t *testing.T) {
	c := single([]float64{0.2, 0.1, 0.4, -0.1, 0.3})
	d, _ := c.moments().stdErr(true)
	half := 2.7764451051977987 * d / (1 - 0.18*0.18) // qt(0.975, 4)
	if e := c.DifferenceWithin(0.95, 1); e.Method != AtanhCR3 || math.Abs(e.Low-math.Tanh(math.Atanh(0.18)-half)) > 1e-9 || math.Abs(e.High-math.Tanh(math.Atanh(0.18)+half)) > 1e-9 {
		t.Errorf("%+v", e)
	}
	if e := single([]float64{1, 1, 1}).DifferenceWithin(0.95, 1); !e.Degenerate || e.Low != 1 || e.High != 1 {
		t.Errorf("all 1: %+v", e)
	}
	if e := c.DifferenceWithin(0.95, math.Inf(1)); e.Method != CR1Effective {
		t.Errorf("no bounds: %+v", e)
	}
}
