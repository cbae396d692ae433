package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"ibid"
)

// TestSwapTest compares with swapping the sums of clusters, one way after another.
func TestSwapTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		n := 1 + rng.IntN(7)
		u := NewUnits(4)
		for i := range n {
			x, w := float64(1+rng.IntN(5)), float64(1+rng.IntN(5))
			u.Add(uint64(i), 1, float64(rng.IntN(int(x)+1)), x, float64(rng.IntN(int(w)+1)), w)
		}
		totals, _ := u.totals()
		observed, _ := QuotientDifference(totals)
		far := 0
		for signs := range 1 << n {
			var sums [4]float64
			for i := range n {
				for c := range sums {
					from := c
					if signs>>i&1 == 1 {
						from = (c + 2) % 4
					}
					sums[c] += u.sums[from][i]
				}
			}
			if d, _ := QuotientDifference(sums[:]); math.Abs(d) >= math.Abs(observed)-1e-9 {
				far++
			}
		}
		want := float64(far) / math.Ldexp(1, n)
		got := u.SwapTest(0, 1)
		if !got.Defined() || math.Abs(got.P-want) > 1e-12 {
			t.Errorf("p = %+v, want %v", got, want)
		}
	}
}

func TestSwapTestOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	u := randomUnits(rng, 60)
	got := u.SwapTest(2000, 5)
	if got.Method != SwapSampled || got.P <= 0 || got.P > 1 {
		t.Fatalf("%+v", got)
	}
	if again := shuffled(rng, u, 3).SwapTest(2000, 5); !reflect.DeepEqual(again, got) {
		t.Errorf("in another order: %+v, want %+v", again, got)
	}
	if bad := u.SwapTest(0, 5); bad.Reason != ibid.BadArgument {
		t.Errorf("without samples: %+v", bad)
	}
	if none := NewUnits(4).SwapTest(10, 1); none.Reason != ibid.NoData {
		t.Errorf("of nothing: %+v", none)
	}
	zero := NewUnits(4)
	zero.Add(1, 1, 1, 0, 1, 2)
	if bad := zero.SwapTest(10, 1); bad.Reason != ibid.ZeroDenominator {
		t.Errorf("with nothing to divide by: %+v", bad)
	}
}
