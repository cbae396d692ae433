package compare

import (
	"math/rand/v2"
	"testing"
)

// TestRanksApart: of many sides, ranks follow from intervals that do not overlap, as a
// count of every two of them does.
func TestRanksApart(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		r := Ranking{Direction: 1 - 2*random.IntN(2)}
		for i := range 1 + random.IntN(40) {
			p := Place{Side: i, Estimate: float64(random.IntN(20))}
			if random.IntN(8) > 0 {
				p.Low, p.High = new(p.Estimate-float64(random.IntN(4))), new(p.Estimate+float64(random.IntN(4)))
			}
			r.Places = append(r.Places, p)
		}
		sure := func(a, b *Place) bool { // a is better than b
			switch {
			case a.Low == nil || b.Low == nil || *a.Low == *a.High || *b.Low == *b.High:
				return false
			case r.Direction < 0:
				return *a.High < *b.Low
			}
			return *a.Low > *b.High
		}
		want := make(map[int][2]int)
		for i := range r.Places {
			above, below := 0, 0
			for k := range r.Places {
				if sure(&r.Places[k], &r.Places[i]) {
					above++
				}
				if sure(&r.Places[i], &r.Places[k]) {
					below++
				}
			}
			want[i] = [2]int{1 + above, len(r.Places) - below}
		}
		r.settleApart()
		for _, p := range r.Places {
			if got := [2]int{p.Best, p.Worst}; got != want[p.Side] {
				t.Fatalf("side %d of %d: ranks %d, want %d", p.Side, len(r.Places), got, want[p.Side])
			}
		}
	}
}
