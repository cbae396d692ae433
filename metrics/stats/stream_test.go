package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

var _ rand.Source = (*Stream)(nil)

// TestStreamIsSplitMix64 compares with the output of the reference implementation
// (Vigna, splitmix64.c) from state 1234567.
func TestStreamIsSplitMix64(t *testing.T) {
	s := Stream{1234567}
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.Uint64(); got != want {
			t.Errorf("word %d = %d, want %d", i, got, want)
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64][3]uint64{}
	for seed := range uint64(20) {
		for a := range uint64(20) {
			for b := range uint64(20) {
				s := NewStream(seed, a, b)
				w := s.Uint64()
				if other, ok := seen[w]; ok {
					t.Fatalf("streams %v and %v begin with one word", other, [3]uint64{seed, a, b})
				}
				seen[w] = [3]uint64{seed, a, b}
			}
		}
	}
}

func TestIntNIsUniform(t *testing.T) {
	const n, draws = 7, 70_000
	var counts [n]int
	s := NewStream(1, 2)
	for range draws {
		counts[s.IntN(n)]++
	}
	chi := 0.0
	for _, c := range counts {
		d := float64(c) - draws/n
		chi += d * d / (draws / n)
	}
	if chi > 27.9 { // the 0.9999 quantile of chi-square with 6 degrees of freedom
		t.Errorf("chi-square %.1f of counts %v", chi, counts)
	}
}

func TestFloat64IsBelowOne(t *testing.T) {
	s := NewStream(3)
	sum := 0.0
	for range 10_000 {
		v := s.Float64()
		if v < 0 || v >= 1 {
			t.Fatalf("drew %v", v)
		}
		sum += v
	}
	if mean := sum / 10_000; math.Abs(mean-0.5) > 6*math.Sqrt(1.0/12/10_000) {
		t.Errorf("mean of 10,000 draws = %v", mean)
	}
}

func TestKeysOfManyNamesDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for a := range 300 {
		for b := range 300 {
			seen[Key(string([]byte{byte(a), byte(a >> 8), byte(b), byte(b >> 8)}))] = true
		}
	}
	if len(seen) != 300*300 {
		t.Errorf("%d keys of %d names", len(seen), 300*300)
	}
}
