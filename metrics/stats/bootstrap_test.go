package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"ibid"
)

func randomUnits(rng *rand.Rand, n int) *Units {
	u := NewUnits(4)
	for i := range n {
		x, w := float64(rng.IntN(40)), float64(1+rng.IntN(9))
		u.Add(Key(strconv.Itoa(i)), 1, math.Floor(x*rng.Float64()), x, w*rng.Float64(), w)
	}
	return u
}

// shuffled are the same units in another order, from several shards.
func shuffled(rng *rand.Rand, u *Units, shards int) *Units {
	parts := make([]*Units, shards)
	for i := range parts {
		parts[i] = NewUnits(len(u.sums))
	}
	for _, i := range rng.Perm(u.Len()) {
		sums := make([]float64, len(u.sums))
		for c := range sums {
			sums[c] = u.sums[c][i]
		}
		parts[rng.IntN(shards)].Add(u.keys[i], 1, sums...)
	}
	for _, p := range parts[1:] {
		parts[0].Merge(p)
	}
	return parts[0]
}

func TestBootstrapDoesNotDependOnOrderShardsOrWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, scheme := range []Scheme{Enumerated, Multinomial, Poisson} {
		n := map[Scheme]int{Enumerated: 6, Multinomial: 40, Poisson: 3000}[scheme]
		u := randomUnits(rng, n)
		o := Resampling{Resamples: 600, Seed: 7, Scheme: scheme}
		want := u.Bootstrap(QuotientDifference, o)
		if !want.HasSE || !want.HasAcceleration {
			t.Fatalf("%s: %+v", scheme, want)
		}
		for shards := 1; shards <= 3; shards++ {
			o.Workers = shards
			if got := shuffled(rng, u, shards).Bootstrap(QuotientDifference, o); !reflect.DeepEqual(got, want) {
				t.Errorf("%s with %d shards: %v [%v], want %v [%v]", scheme, shards, got.Value, got.BCa(0.9), want.Value, want.BCa(0.9))
			}
		}
		o.Seed++
		if got := u.Bootstrap(QuotientDifference, o); scheme != Enumerated && got.SE == want.SE {
			t.Errorf("%s: another seed gives the same draws", scheme)
		}
	}
}

// TestPoissonSumsAreExact compares with weights drawn one by one.
func TestPoissonSumsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, resamples = 2500, 12
	columns := map[string]func() float64{
		"ones":     func() float64 { return 1 },
		"counts":   func() float64 { return float64(rng.IntN(100_000)) },
		"negative": func() float64 { return float64(rng.IntN(200) - 100) },
		"huge":     func() float64 { return float64(rng.IntN(1 << 31)) },
		"shares":   func() float64 { return rng.Float64() },
		"zeros":    func() float64 { return 0 },
	}
	for first, drawFirst := range columns {
		for second, drawSecond := range columns {
			u := NewUnits(2)
			for i := range n {
				u.Add(mix(uint64(i)), 1, drawFirst(), drawSecond())
			}
			got := [2][]float64{}
			for c := range got {
				got[c] = u.poisson(func(sums []float64) (float64, bool) { return sums[c], true }, Resampling{Resamples: resamples, Seed: 5})
			}
			for r := range resamples {
				group := groupOf(5, r/lanes)
				var want, largest [2]float64
				for i, key := range u.keys {
					w := float64(weightOf(group.word(key), r%lanes))
					for c := range want {
						want[c] += w * u.sums[c][i]
						largest[c] = max(largest[c], math.Abs(u.sums[c][i]))
					}
				}
				for c, name := range []string{first, second} {
					tolerance := 0.0
					if name == "shares" {
						tolerance = 1e-9 * n * largest[c]
					}
					if math.Abs(got[c][r]-want[c]) > tolerance {
						t.Errorf("%s beside %s: sum %v, want %v", name, []string{first, second}[1-c], got[c][r], want[c])
					}
				}
			}
		}
	}
}

// TestPoissonWeights: weights are Poisson(1), of units as of replicates, and those
// of neighbours have nothing to do with each other.
func TestPoissonWeights(t *testing.T) {
	const units, replicates = 400, 1000
	weights := make([][]float64, units)
	var counts [8]float64
	for i := range weights {
		weights[i] = make([]float64, replicates)
		for r := range replicates {
			w := weightOf(groupOf(9, r/lanes).word(Key(strconv.Itoa(i))), r%lanes)
			weights[i][r] = float64(w)
			counts[min(w, 7)]++
		}
	}
	const total = units * replicates
	chi, last := 0.0, 0.0
	for k := range counts {
		upTo := 1.0
		if k < 7 {
			upTo = poissonSteps[k]
		}
		want := total * (upTo - last)
		chi += (counts[k] - want) * (counts[k] - want) / want
		last = upTo
	}
	if chi > 35 { // 7 degrees of freedom: a chance of 1e-5
		t.Errorf("chi-square %.1f of counts %v", chi, counts)
	}
	correlate := func(kind string, n int, pair func(i int) (a, b float64)) {
		sum := 0.0
		for i := range n {
			a, b := pair(i)
			sum += (a - 1) * (b - 1)
		}
		if z := sum / math.Sqrt(float64(n)); math.Abs(z) > 5 {
			t.Errorf("weights of %s are correlated: z = %.1f", kind, z)
		}
	}
	for _, gap := range []int{1, 2, 3, 4, 5, 7, 64} {
		correlate("units "+strconv.Itoa(gap)+" apart", (units-gap)*replicates, func(i int) (float64, float64) {
			return weights[i/replicates][i%replicates], weights[i/replicates+gap][i%replicates]
		})
		correlate("replicates "+strconv.Itoa(gap)+" apart", units*(replicates-gap), func(i int) (float64, float64) {
			return weights[i%units][i/units], weights[i%units][i/units+gap]
		})
	}
}

// TestBootstrapAgreesWithTheStandardError: with many clusters every scheme must
// come to the analytic standard error.
func TestBootstrapAgreesWithTheStandardError(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	u := NewUnits(2)
	var c Clusters
	for i := range 800 {
		x := float64(1 + rng.IntN(9))
		y := x * rng.Float64()
		u.Add(Key(strconv.Itoa(i)), 1, y, x)
		c.AddCluster(y, x, 1)
	}
	want, _ := c.moments().stdErr(false)
	for _, scheme := range []Scheme{Multinomial, Poisson} {
		b := u.Bootstrap(Quotient, Resampling{Resamples: 20_000, Seed: 1, Scheme: scheme})
		if math.Abs(b.SE-want) > 0.03*want { // 6 standard errors of a deviation over 20,000 draws
			t.Errorf("%s: se %v, analytic %v", scheme, b.SE, want)
		}
	}
}

func TestBootstrapOfTooLittle(t *testing.T) {
	u := NewUnits(2)
	o := Resampling{Resamples: 100, Seed: 1}
	if b := u.Bootstrap(Quotient, o); b.Reason != ibid.NoData {
		t.Errorf("of nothing: reason %q", b.Reason)
	}
	u.Add(1, 3, 2, 3)
	b := u.Bootstrap(Quotient, o)
	if e := b.BCa(0.95); !e.Defined() || e.HasInterval || e.HasSE || len(e.Warnings) == 0 || e.Warnings[0].Code != OneCluster {
		t.Errorf("of one unit: %+v", e)
	}
	u.Add(2, 1, 0, 0)
	u.Add(3, 1, 0, 0)
	b = u.Bootstrap(Quotient, o)
	if want := math.Pow(2.0/3, 3); math.Abs(b.Undefined-want) > 1e-12 {
		t.Errorf("share of undefined resamples %v, want %v", b.Undefined, want)
	}
	if e := b.BCa(0.95); !e.Degenerate || e.Low != e.High {
		t.Errorf("one informative unit: %+v", e)
	}
	if b := u.Bootstrap(Quotient, Resampling{Resamples: 1}); b.Reason != ibid.BadArgument {
		t.Errorf("one resample: reason %q", b.Reason)
	}
	if e := b.BCa(1); e.Reason != ibid.BadArgument {
		t.Errorf("level 1: reason %q", e.Reason)
	}
}

// TestBootstrapsAreBootstraps: statistics that share their draws are what each is alone,
// whatever others are beside them.
func TestBootstrapsAreBootstraps(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var units []*Units
	var list []Statistic
	for _, n := range []int{0, 1, 3, 40, 41, 40, 40, MaxMultinomial + 1} {
		for _, columns := range []int{2, 3, 5} {
			u := NewUnits(columns)
			for k := range n {
				sums := make([]float64, columns)
				for c := range sums {
					sums[c] = rng.Float64()
				}
				u.Add(uint64(k), 1, sums...)
			}
			units = append(units, u)
			list = append(list, func(s []float64) (float64, bool) {
				var all float64
				for _, v := range s[1:] {
					all += v
				}
				return Quotient([]float64{s[0], all})
			})
		}
	}
	o := Resampling{Resamples: 300, Seed: 5, Workers: 2}
	for k, got := range Bootstraps(units, list, o) {
		if want := units[k].Bootstrap(list[k], o); !reflect.DeepEqual(got, want) {
			t.Errorf("statistic %d of %d units is %+v beside others, %+v alone", k, units[k].Len(), got, want)
		}
	}
}
