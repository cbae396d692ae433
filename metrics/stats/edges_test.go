package stats

import (
	"math"
	"slices"
	"testing"

	"ibid"
)

// sumsOf has a unit of one row for each list of sums.
func sumsOf(sums ...[]float64) *Units {
	u := NewUnits(len(sums[0]))
	for i, s := range sums {
		u.Add(uint64(i), 1, s...)
	}
	return u
}

func about(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestSchemes: how units are resampled, at the numbers where it changes.
func TestSchemes(t *testing.T) {
	for _, tt := range []struct {
		units, resamples int
		asked, want      Scheme
	}{
		{4, 35, "", Enumerated},
		{4, 34, "", Multinomial}, // of 4 units there are 35 distinct resamples
		{10, 1000, Enumerated, Enumerated},
		{11, 1 << 30, Enumerated, Multinomial},
		{3, 1000, Multinomial, Multinomial},
		{3, 1000, Poisson, Poisson},
		{2000, 2, "", Multinomial},
		{2001, 2, "", Poisson},
	} {
		if got := schemeOf(tt.units, Resampling{Resamples: tt.resamples, Scheme: tt.asked}); got != tt.want {
			t.Errorf("%d units, %d resamples, %v asked for: %v, want %v", tt.units, tt.resamples, tt.asked, got, tt.want)
		}
	}
}

// TestBootstrapReasons: why there is no value.
func TestBootstrapReasons(t *testing.T) {
	for name, tt := range map[string]struct {
		u         *Units
		resamples int
		want      ibid.Reason
	}{
		"some":           {sumsOf([]float64{1, 2}, []float64{3, 4}), 2, ibid.Defined},
		"one resample":   {sumsOf([]float64{1, 2}, []float64{3, 4}), 1, ibid.BadArgument},
		"none":           {NewUnits(2), 2, ibid.NoData},
		"too large":      {sumsOf([]float64{math.MaxFloat64, 2}, []float64{math.MaxFloat64, 4}), 2, ibid.OutOfRange},
		"no denominator": {sumsOf([]float64{1, 0}, []float64{3, 0}), 2, ibid.ZeroDenominator},
	} {
		b := tt.u.Bootstrap(Quotient, Resampling{Resamples: tt.resamples})
		if b.Reason != tt.want || b.Clusters != int64(tt.u.Len()) {
			t.Errorf("%s: %v of %d units, want %v", name, b.Reason, b.Clusters, tt.want)
		}
	}
}

// TestShareAtMost: values that differ by less than a billionth of the spread are one.
func TestShareAtMost(t *testing.T) {
	b := sumsOf([]float64{-1, 1}, []float64{1, 1}).Bootstrap(Quotient, Resampling{Resamples: 100})
	for v, want := range map[float64]float64{-1.1: 0, -1: 0.25, -0.5: 0.25, 0: 0.75, 1 - 1e-8: 0.75, 1 - 1e-9: 1, 1: 1, -1e-9: 0.75, -1e-8: 0.25} {
		if got, ok := b.ShareAtMost(v); !ok || !about(got, want) {
			t.Errorf("at most %v: %v, want %v", v, got, want)
		}
	}
	if _, ok := NewUnits(2).Bootstrap(Quotient, Resampling{Resamples: 100}).ShareAtMost(0); ok {
		t.Error("a share of nothing")
	}
}

// TestRatioScale: two ratings of 0 do not differ; 0 and anything else differ wholly.
func TestRatioScale(t *testing.T) {
	for _, tt := range [][3]float64{{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {0.5, 0.5, 0}, {3, 1, 0.25}, {0.75, 0.25, 0.25}} {
		if got := Ratio.delta(0, 0, 0, tt[0], tt[1]); !about(got, tt[2]) {
			t.Errorf("%v and %v: %v, want %v", tt[0], tt[1], got, tt[2])
		}
	}
}

// TestSpreadWithin: the interval of a number with a standard error of its own.
func TestSpreadWithin(t *testing.T) {
	s := Spread{SE: 0.1, Known: true, Effective: 11, How: ByPairs}
	half := studentPoint(0.95, 10) * 0.1
	for _, tt := range []struct {
		name                   string
		s                      Spread
		value, low, high, a, b float64
		method                 Method
		interval               bool
	}{
		{"inside", s, 0.5, 0, 1, 0.5 - 0.2146, 0.5 + 0.2146, LogitT, true},
		{"below", s, -0.5, 0, 1, -0.5 - half, -0.5 + half, DeltaT, true},
		{"above", s, 1.5, 0, 1, 1.5 - half, 1.5 + half, DeltaT, true},
		{"at its end", s, 1, 0, 1, 0.6891, 1, WilsonT, true},
		{"not known", Spread{Effective: 1.5}, 0.5, 0, 1, 0, 0, LogitT, false},
		{"by rounding", Spread{SE: 1e-13, Known: true, Effective: 11}, 0.5, 0, 1, 0.2212, 0.7788, WilsonT, true},
	} {
		e := tt.s.Within(tt.value, tt.low, tt.high, 20, 0.95)
		if e.Value != tt.value || e.N != 20 || e.HasInterval != tt.interval || tt.interval && (math.Abs(e.Low-tt.a) > 0.01 || math.Abs(e.High-tt.b) > 0.01) || e.Clusters != int64(tt.s.Effective) {
			t.Errorf("%s: %+v, want [%v, %v]", tt.name, e, tt.a, tt.b)
		}
		if base, _, _ := cutMethod(e.Method); base != tt.method {
			t.Errorf("%s: by %s, want %s", tt.name, e.Method, tt.method)
		}
	}
}

// cutMethod is a method without how rows depend.
func cutMethod(m Method) (Method, string, bool) {
	for i, r := range m {
		if r == '/' {
			return m[:i], string(m[i+1:]), true
		}
	}
	return m, "", false
}

// TestRatioDifferenceEdges: sums of 1 are sums, and those of 0 are none.
func TestRatioDifferenceEdges(t *testing.T) {
	for name, tt := range map[string]struct {
		u      *Units
		reason ibid.Reason
		want   float64
	}{
		"sums of 1":       {sumsOf([]float64{0.25, 0.5, 0.1, 0.5}, []float64{0.25, 0.5, 0.1, 0.5}), ibid.Defined, 0.3},
		"first is empty":  {sumsOf([]float64{1, 0, 1, 1}, []float64{0, 0, 1, 1}), ibid.ZeroDenominator, 0},
		"second is empty": {sumsOf([]float64{1, 1, 1, 0}, []float64{0, 1, 1, 0}), ibid.ZeroDenominator, 0},
		"none":            {NewUnits(4), ibid.NoData, 0},
		"too large":       {sumsOf([]float64{math.MaxFloat64, 1, 1, 1}, []float64{math.MaxFloat64, 1, 1, 1}), ibid.OutOfRange, 0},
		"one unit":        {sumsOf([]float64{1, 2, 1, 4}), ibid.Defined, 0.25},
	} {
		e := tt.u.RatioDifference(0.95, 1)
		if e.Reason != tt.reason || !about(e.Value, tt.want) || e.Clusters != int64(tt.u.Len()) || e.HasInterval && tt.u.Len() < 2 {
			t.Errorf("%s: %+v, want %v (%v)", name, e, tt.want, tt.reason)
		}
	}
}

// TestDroppedBitsStay: a sum that lost a bit says so, also in what it is merged into and
// multiplied with.
func TestDroppedBitsStay(t *testing.T) {
	lost := func() *Exact {
		e := new(Exact)
		e.Add(1)
		e.Add(1e-60)
		return e
	}
	whole := func() *Exact {
		e := new(Exact)
		e.Add(2)
		return e
	}
	for name, got := range map[string]*Exact{
		"merged": func() *Exact { e := whole(); e.Merge(lost()); return e }(), "merged into": func() *Exact { e := lost(); e.Merge(whole()); return e }(),
		"first factor": func() *Exact { e := new(Exact); e.AddSumProduct(lost(), whole()); return e }(), "second factor": func() *Exact { e := new(Exact); e.AddSumProduct(whole(), lost()); return e }(),
		"sum": func() *Exact { e := lost(); e.AddSumProduct(whole(), whole()); return e }(),
	} {
		if got.Exact() {
			t.Errorf("%s: nothing is said to be lost", name)
		}
	}
	e := whole()
	e.Merge(whole())
	e.AddSumProduct(whole(), whole())
	if v, ok := e.Float64(); v != 8 || !ok || !e.Exact() {
		t.Errorf("2 + 2 + 2·2 = %v, %v", v, e.Exact())
	}
}

// TestUnion: characters of units, whoever marked them how often; units that touch are one.
func TestUnion(t *testing.T) {
	for _, tt := range []struct{ units, want []Unit }{
		{nil, []Unit{}},
		{[]Unit{{0, 5, 7}}, []Unit{{0, 5, 1}}},
		{[]Unit{{0, 5, 1}, {3, 9, 2}}, []Unit{{0, 9, 1}}},
		{[]Unit{{0, 5, 1}, {5, 9, 2}}, []Unit{{0, 9, 1}}},
		{[]Unit{{0, 5, 1}, {6, 9, 1}, {7, 8, 1}}, []Unit{{0, 5, 1}, {6, 9, 1}}},
	} {
		if got := union(tt.units); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.units, got, tt.want)
		}
	}
}

// TestAgainstAValue: the t test of a value against another one.
func TestAgainstAValue(t *testing.T) {
	e := single([]float64{0.2, 0.4, 0.6, 0.8}).Mean(0.95)
	for _, null := range []float64{0, 0.25, 0.5, 0.75} {
		statistic := (0.5 - null) / e.SE
		if got := e.tTest(null); !about(got.P, studentTails(statistic, 3)) || (null > 0.5) != (got.Greater > 0.5) && null != 0.5 || !about(got.Greater+got.Less, 1) {
			t.Errorf("against %v: %+v", null, got)
		}
	}
}

// TestUnpairedOfOneThatVaries: one side without variation still leaves an interval, and the
// side with fewer clusters is the one that is warned of.
func TestUnpairedOfOneThatVaries(t *testing.T) {
	constant, varied := single([]float64{0.5, 0.5, 0.5}).Mean(0.95), single([]float64{0.1, 0.3, 0.2, 0.5, 0.45, 0.15, 0.2}).Mean(0.95)
	for _, u := range []Unpaired{NewUnpaired(&constant, &varied, 0.95), NewUnpaired(&varied, &constant, 0.95)} {
		if !u.HasInterval || u.Degenerate || !about(u.SE, varied.SE) || !about(u.DF, 6) || u.N != 10 || u.Clusters != 10 || !u.T.Defined() {
			t.Errorf("%+v", u)
		}
		if len(u.Warnings) != 1 || u.Warnings[0].Code != FewClusters || u.Warnings[0].Have != 3 {
			t.Errorf("warnings %+v", u.Warnings)
		}
	}
}

// TestPoissonSteps: the weight grows where u reaches the chance of all smaller ones.
func TestPoissonSteps(t *testing.T) {
	chance, sum := math.Exp(-1), 0.0
	for k := range 6 {
		sum += chance
		chance /= float64(k + 1)
		if below, at := PoissonWeight(sum-1e-12), PoissonWeight(sum+1e-12); below != k || at != k+1 {
			t.Errorf("around %v: %d and %d, want %d and %d", sum, below, at, k, k+1)
		}
		if at := PoissonWeight(poissonSteps[k]); at != k+1 {
			t.Errorf("at %v: %d, want %d", poissonSteps[k], at, k+1)
		}
	}
	if PoissonWeight(0) != 0 {
		t.Error("the weight of 0 is not 0")
	}
}

// TestSwapsWithoutARatio: a way to swap that leaves a side without a denominator is as far out
// as any, to both sides.
func TestSwapsWithoutARatio(t *testing.T) {
	got := sumsOf([]float64{1, 1, 0, 0}, []float64{0, 0, 0, 1}).SwapTest(0, 1)
	if got.P != 1 || got.Greater != 0.75 || got.Less != 1 {
		t.Errorf("%+v, want 1, 3/4 and 1", got)
	}
	// Of these all are defined: of the differences 1/2, 0, 0 and -1/2 one is as large.
	got = sumsOf([]float64{1, 1, 0, 1}, []float64{1, 1, 1, 1}).SwapTest(0, 1)
	if got.P != 1 || got.Greater != 0.5 || got.Less != 1 {
		t.Errorf("%+v, want 1, 1/2 and 1", got)
	}
	many := NewUnits(4)
	for i := range 17 {
		many.Add(uint64(i), 1, float64(i%2), 1, 0, 1)
	}
	for samples, want := range map[int]ibid.Reason{0: ibid.BadArgument, 1: ibid.Defined} {
		// The second of a unit that is equal on both sides says nothing: 8 are swapped.
		if got := many.SwapTest(samples, 1); got.Reason != ibid.Defined || got.Method != SwapExact {
			t.Errorf("%d samples of 8: %+v", samples, got)
		}
		for i := range many.sums[0] {
			many.sums[0][i] = 1
		}
		if got := many.SwapTest(samples, 1); got.Reason != want {
			t.Errorf("%d samples of 17: %+v, want %v", samples, got, want)
		}
		for i := range many.sums[0] {
			many.sums[0][i] = float64(i % 2)
		}
	}
}
