package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"ibid"
)

// slowSignFlip goes through all signs, each sum from the start.
func slowSignFlip(d []float64) (two, greater, less float64) {
	size, observed := 0.0, 0.0
	for _, v := range d {
		size += math.Abs(v)
		observed += v
	}
	tie := 1e-9 * size
	for signs := range 1 << len(d) {
		sum := 0.0
		for k, v := range d {
			if signs>>k&1 == 1 {
				v = -v
			}
			sum += v
		}
		if math.Abs(sum) >= math.Abs(observed)-tie {
			two++
		}
		if sum >= observed-tie {
			greater++
		}
		if sum <= observed+tie {
			less++
		}
	}
	all := math.Ldexp(1, len(d))
	return two / all, greater / all, less / all
}

// FuzzSignFlip compares all ways of computing p with counting.
func FuzzSignFlip(f *testing.F) {
	f.Add([]byte{1, 2, 253}, uint8(1))
	f.Add([]byte{0, 0, 5, 5, 251}, uint8(3))
	f.Add([]byte{7}, uint8(10))
	f.Fuzz(func(t *testing.T, data []byte, scale uint8) {
		if len(data) == 0 || len(data) > 12 {
			return
		}
		d := make([]float64, len(data))
		for i, b := range data {
			d[i] = float64(int8(b)) / float64(max(1, scale))
		}
		two, greater, less := slowSignFlip(d)
		check := func(name string, got Test) {
			t.Helper()
			for _, x := range [][2]float64{{got.P, two}, {got.Greater, greater}, {got.Less, less}} {
				if math.Abs(x[0]-x[1]) > 1e-12 {
					t.Errorf("%s of %v: %v, want %v, %v, %v", name, d, got, two, greater, less)
					return
				}
			}
		}
		check("SignFlip", SignFlip(d, 0, 1))
		if flips := newFlips(d); flips.steps != nil {
			var byGrid Test
			flips.convolve(&byGrid)
			check("convolve", byGrid)
		}
	})
}

func TestSignFlipOfManyIsSampled(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := make([]float64, 300)
	for i := range d {
		d[i] = rng.NormFloat64() + 0.12
	}
	got := SignFlip(d, 20_000, 3)
	if got.Method != SignFlipSampled || got.Samples != 20_000 {
		t.Fatalf("%+v", got)
	}
	// With so many differences the distribution is normal.
	sum, squares := 0.0, 0.0
	for _, v := range d {
		sum += v
		squares += v * v
	}
	want := normalTails(sum / math.Sqrt(squares))
	if math.Abs(got.P-want) > 6*math.Sqrt(want/20_000)+0.002 {
		t.Errorf("p = %v, normal %v", got.P, want)
	}
	rng.Shuffle(len(d), func(i, j int) { d[i], d[j] = d[j], d[i] })
	if again := SignFlip(d, 20_000, 3); !reflect.DeepEqual(again, got) {
		t.Errorf("in another order: %+v, want %+v", again, got)
	}
	if other := SignFlip(d, 20_000, 4); other.P == got.P && other.Greater == got.Greater {
		t.Error("another seed draws the same")
	}
	if bad := SignFlip(d, 0, 3); bad.Reason != ibid.BadArgument {
		t.Errorf("without samples: %+v", bad)
	}
	if bad := SignFlip([]float64{1, math.NaN()}, 10, 1); bad.Reason != ibid.OutOfRange {
		t.Errorf("with NaN: %+v", bad)
	}
}

// TestSignFlipOfManyWholeNumbers is exact, by the distribution of their sum.
func TestSignFlipOfManyWholeNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := make([]float64, 500)
	for i := range d {
		d[i] = float64(rng.IntN(7)-3) / 12
	}
	if got := SignFlip(d, 10, 1); got.Method != SignFlipExact {
		t.Errorf("p is %s", got.Method)
	}
}

func TestSmallestP(t *testing.T) {
	f := SignFlip([]float64{1, 2, 3, 4}, 0, 1)
	if f.MinP != 0.125 || f.P != 0.125 {
		t.Errorf("smallest p %v, p %v, want 0.125", f.MinP, f.P)
	}
	if f.WarnAt(0.2); len(f.Warnings) != 0 {
		t.Errorf("warned at 0.2: %v", f.Warnings)
	}
	if f.WarnAt(0.05); len(f.Warnings) != 1 || f.Warnings[0].Code != SmallestP || f.Warnings[0].Need != 6 {
		t.Errorf("warnings at 0.05: %v", f.Warnings)
	}
}
