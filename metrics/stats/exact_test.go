package stats

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A model is an Exact in arithmetic of any width: every addend is cut off below
// 2^-128, toward zero, and must stay below 2^127.
type model struct {
	sum big.Int // times 2^128
	bad bool
}

func (m *model) add(v *big.Rat) {
	units := new(big.Int).Lsh(v.Num(), fracBits)
	units.Quo(units, v.Denom())
	if new(big.Int).Abs(units).BitLen() > fracBits+maxExp {
		m.bad = true
		return
	}
	m.sum.Add(&m.sum, units)
}

func (m *model) rat() *big.Rat {
	return new(big.Rat).SetFrac(&m.sum, new(big.Int).Lsh(big.NewInt(1), fracBits))
}

func (m *model) addProduct(x, y float64) {
	rx, ry := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y)
	if rx == nil || ry == nil {
		m.bad = true
		return
	}
	m.add(rx.Mul(rx, ry))
}

func (m *model) check(t *testing.T, e *Exact) {
	t.Helper()
	got, ok := e.Float64()
	if ok == m.bad {
		t.Fatalf("defined is %v, want %v", ok, !m.bad)
	}
	if want, _ := m.rat().Float64(); ok && got != want {
		t.Fatalf("sum = %v, want %v", got, want)
	}
	if ok && e.scaled().Cmp(&m.sum) != 0 {
		t.Fatalf("sum in units of 2^-128 = %v, want %v", e.scaled(), &m.sum)
	}
}

// finite is the float64 with the given bits, or, so that fuzzing does not spend
// itself on numbers out of range, one with an exponent of at most 127.
func finite(b uint64, near bool) float64 {
	v := math.Float64frombits(b)
	if near {
		frac, _ := math.Frexp(v)
		if math.IsNaN(frac) || math.IsInf(frac, 0) {
			frac = 0.75
		}
		return math.Ldexp(frac, int(int8(b>>44)))
	}
	return v
}

const opLen = 17

func op(kind byte, x, y float64) []byte {
	b := append([]byte{kind}, make([]byte, 16)...)
	binary.LittleEndian.PutUint64(b[1:], math.Float64bits(x))
	binary.LittleEndian.PutUint64(b[9:], math.Float64bits(y))
	return b
}

// FuzzExact compares every way of adding with the model.
func FuzzExact(f *testing.F) {
	for kind := range byte(5) {
		f.Add(op(kind, 0.1, -3))
		f.Add(op(kind, math.MaxFloat64, math.SmallestNonzeroFloat64))
		f.Add(append(op(kind, 1.5e-20, 1e-19), op(kind, -0x1p126, 1)...))
		f.Add(op(kind, math.NaN(), 0))
		f.Add(op(kind, 0x1p63, 0x1p63))
		f.Add(op(kind, 0x1.fffffffffffffp19, 0x1p-11))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var e Exact
		var m model
		for ; len(data) >= opLen; data = data[opLen:] {
			kind, near := data[0]&7, data[0]&8 != 0
			bx, by := binary.LittleEndian.Uint64(data[1:]), binary.LittleEndian.Uint64(data[9:])
			x, y := finite(bx, near), finite(by, near)
			switch kind {
			case 0:
				e.Add(x)
				m.addProduct(x, 1)
			case 1:
				e.AddProduct(x, y)
				m.addProduct(x, y)
			case 2:
				e.AddInt(int64(bx))
				m.add(new(big.Rat).SetInt64(int64(bx)))
			case 3:
				e.AddIntProduct(int64(bx), int64(by))
				m.add(new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(int64(bx)), big.NewInt(int64(by)))))
			case 4:
				addSums(&e, &m, x, y)
			default:
				addMerged(&e, &m, x, y)
			}
			m.check(t, &e)
		}
	})
}

// addSums adds (x+y)*(x-y) as a product of two sums.
func addSums(e *Exact, m *model, x, y float64) {
	var plus, minus Exact
	var mPlus, mMinus model
	for _, v := range []float64{x, y} {
		plus.Add(v)
		mPlus.addProduct(v, 1)
	}
	minus.Add(x)
	minus.Add(-y)
	mMinus.addProduct(x, 1)
	mMinus.addProduct(-y, 1)
	e.AddSumProduct(&plus, &minus)
	m.bad = m.bad || mPlus.bad || mMinus.bad
	if !mPlus.bad && !mMinus.bad {
		m.add(new(big.Rat).Mul(mPlus.rat(), mMinus.rat()))
	}
}

// addMerged adds x and y through a sum of their own.
func addMerged(e *Exact, m *model, x, y float64) {
	var o Exact
	o.Add(x)
	o.Add(y)
	e.Merge(&o)
	m.addProduct(x, 1)
	m.addProduct(y, 1)
}

func TestExactRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var e Exact
		var m model
		for range 50 {
			x := math.Ldexp(rng.Float64()-0.5, rng.IntN(330)-200)
			y := math.Ldexp(rng.Float64()-0.5, rng.IntN(60)-30)
			switch rng.IntN(3) {
			case 0:
				e.Add(x)
				m.addProduct(x, 1)
			case 1:
				e.AddProduct(x, y)
				m.addProduct(x, y)
			default:
				addSums(&e, &m, y, x)
			}
			m.check(t, &e)
		}
	}
}

func TestExactRoundsToEven(t *testing.T) {
	const ulp = 0x1p-52 // of 1
	tests := []struct {
		name    string
		addends []float64
		want    float64
	}{
		{"half an ulp above even", []float64{1, ulp / 2}, 1},
		{"half an ulp above odd", []float64{1 + ulp, ulp / 2}, 1 + 2*ulp},
		{"just above half", []float64{1, ulp / 2, 0x1p-128}, 1 + ulp},
		{"just below half", []float64{1, ulp / 2, -0x1p-128}, 1},
		{"carry into the exponent", []float64{2 - ulp, ulp / 2}, 2},
		{"negative", []float64{-1, -ulp / 2, -0x1p-128}, -1 - ulp},
		{"cancellation leaves the small one", []float64{1e30, 0x1p-100, -1e30}, 0x1p-100},
		{"sum beyond every addend", []float64{0x1p126, 0x1p126, 0x1p126, 0x1p126}, 0x1p128},
		{"nothing", nil, 0},
		{"negative zero", []float64{math.Copysign(0, -1)}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e Exact
			for _, v := range tt.addends {
				e.Add(v)
			}
			if got, ok := e.Float64(); !ok || got != tt.want {
				t.Errorf("sum of %v = %v, %v, want %v", tt.addends, got, ok, tt.want)
			}
		})
	}
}

func TestExactOutOfRange(t *testing.T) {
	tests := []struct {
		name string
		add  func(*Exact)
		ok   bool
	}{
		{"NaN", func(e *Exact) { e.Add(math.NaN()) }, false},
		{"infinity", func(e *Exact) { e.Add(math.Inf(-1)) }, false},
		{"2^127", func(e *Exact) { e.Add(0x1p127) }, false},
		{"below 2^127", func(e *Exact) { e.Add(math.Nextafter(0x1p127, 0)) }, true},
		{"product of NaN and 0", func(e *Exact) { e.AddProduct(math.NaN(), 0) }, false},
		{"product of 2^127", func(e *Exact) { e.AddProduct(0x1p64, 0x1p63) }, false},
		{"product below 2^127", func(e *Exact) { e.AddProduct(0x1.fffffffffffffp63, 0x1p63) }, true},
		{"large times tiny", func(e *Exact) { e.AddProduct(0x1p1000, 0x1p-1000) }, true},
		{"large times subnormal", func(e *Exact) { e.AddProduct(0x1p1023, 0x1p-1074) }, true},
		{"smallest integer squared", func(e *Exact) { e.AddIntProduct(math.MinInt64, math.MinInt64) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var first, last Exact
			tt.add(&first)
			first.Add(0.1)
			last.Add(0.1)
			tt.add(&last)
			if _, ok := first.Float64(); ok != tt.ok {
				t.Errorf("defined is %v, want %v", ok, tt.ok)
			}
			if _, ok := last.Float64(); ok != tt.ok {
				t.Errorf("added last, defined is %v, want %v", ok, tt.ok)
			}
		})
	}
}

func TestExactDropsBelowResolution(t *testing.T) {
	tests := []struct {
		name  string
		v     float64
		exact bool
		want  float64
	}{
		{"lowest bit", 0x1p-128, true, 0x1p-128},
		{"one bit too low", 0x1p-129, false, 0},
		{"cut toward zero", -0x1.8p-128, false, -0x1p-128},
		{"subnormal", math.SmallestNonzeroFloat64, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e Exact
			e.Add(tt.v)
			if got, ok := e.Float64(); !ok || got != tt.want || e.Exact() != tt.exact {
				t.Errorf("sum = %v, %v, exact is %v, want %v, exact %v", got, ok, e.Exact(), tt.want, tt.exact)
			}
		})
	}
}
