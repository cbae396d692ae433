package stats

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkBootstrap reports the cost of one weight, that of a unit in a replicate.
func BenchmarkBootstrap(b *testing.B) {
	const units, resamples = 100_000, 1_000
	rng := rand.New(rand.NewPCG(1, 2))
	v := scores(units)
	inputs := map[string]func(i int) (y, x float64){
		"mean":  func(i int) (y, x float64) { return v[i], 1 },
		"ratio": func(int) (y, x float64) { x = float64(1 + rng.IntN(500)); return float64(rng.IntN(int(x) + 1)), x },
	}
	for name, draw := range inputs {
		u := NewUnits(2)
		for i := range units {
			y, x := draw(i)
			u.Add(mix(uint64(i)), 1, y, x)
		}
		b.Run("of="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				u.Bootstrap(Quotient, Resampling{Resamples: resamples, Seed: 1})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/units/resamples, "ns/weight")
		})
	}
}

// BenchmarkBootstrapOfAMillion is a headline metric over a million rows, as often as
// by default.
func BenchmarkBootstrapOfAMillion(b *testing.B) {
	const units = 1_000_000
	v := scores(units)
	u := NewUnits(2)
	for i := range units {
		u.Add(mix(uint64(i)), 1, v[i], 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		u.Bootstrap(Quotient, Resampling{Resamples: 10_000, Seed: 1})
	}
}
