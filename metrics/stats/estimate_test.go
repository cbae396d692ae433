package stats

import (
	"math"
	"slices"
	"testing"

	"ibid"
)

func pairs(yx ...float64) *Clusters {
	var c Clusters
	for i := 0; i < len(yx); i += 2 {
		c.AddCluster(yx[i], yx[i+1], 1)
	}
	return &c
}

func repeat(n int, v float64) []float64 {
	return slices.Repeat([]float64{v}, n)
}

func TestUndefined(t *testing.T) {
	nan, huge := math.NaN(), 0x1p70
	tests := []struct {
		name     string
		e        Estimate
		reason   ibid.Reason
		interval bool
		codes    []WarningCode
	}{
		{"mean of nothing", single(nil).Mean(0.95), ibid.NoData, false, nil},
		{"ratio of nothing", pairs().Ratio(0.95), ibid.NoData, false, nil},
		{"proportion of nothing", single(nil).Proportion(0.95), ibid.NoData, false, nil},
		{"0 of 0 trials", Wilson(0, 0, 0.95), ibid.NoData, false, nil},
		{"zero denominators", pairs(0, 0, 0, 0).Ratio(0.95), ibid.ZeroDenominator, false, nil},
		{"one row", single([]float64{0.5}).Mean(0.95), ibid.Defined, false, []WarningCode{OneCluster}},
		{"one binary row", single([]float64{1}).Proportion(0.95), ibid.Defined, false, []WarningCode{OneCluster}},
		{"one ratio", pairs(1, 2).Ratio(0.95), ibid.Defined, false, []WarningCode{OneCluster}},
		{"one ratio at the boundary", pairs(2, 2).Ratio(0.95), ibid.Defined, false, []WarningCode{OneCluster}},
		{
			"one ratio among clusters that say nothing", pairs(1, 2, 0, 0, 0, 0).Ratio(0.95),
			ibid.Defined, false,
			[]WarningCode{OneCluster},
		},
		{"one cluster", grouped([]float64{0, 1, 1}, []string{"a", "a", "a"}).Mean(0.95), ibid.Defined, false, []WarningCode{OneCluster}},
		{"two rows", single([]float64{0, 1}).Mean(0.95), ibid.Defined, true, []WarningCode{FewClusters}},
		{"five rows", single([]float64{0, 1, 0, 1, 1}).Mean(0.95), ibid.Defined, true, []WarningCode{FewClusters}},
		{"six rows", single([]float64{0, 1, 0, 1, 1, 0}).Mean(0.95), ibid.Defined, true, nil},
		{"five rows at a lower level", single([]float64{0, 1, 0, 1, 1}).Mean(0.9), ibid.Defined, true, nil},
		{"two binary rows", single([]float64{0, 1}).Proportion(0.95), ibid.Defined, true, nil},
		{"all equal", single(repeat(6, 0.1)).Mean(0.95), ibid.Defined, true, []WarningCode{ZeroWidth}},
		{"all equal ratios", pairs(1, 2, 2, 4, 3, 6, 4, 8, 5, 10, 6, 12).Ratio(0.95), ibid.Defined, true, []WarningCode{ZeroWidth}},
		{"ratio 1", pairs(1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2).Ratio(0.95), ibid.Defined, true, []WarningCode{AtBoundary}},
		{"ratio over 1", pairs(3, 2, 2, 1, 1, 2, 1, 1, 5, 4, 5, 2).Ratio(0.95), ibid.Defined, true, []WarningCode{OutsideUnit}},
		{"NaN", single([]float64{1, nan}).Mean(0.95), ibid.OutOfRange, false, nil},
		{"NaN denominator", pairs(1, nan, 1, 2).Ratio(0.95), ibid.OutOfRange, false, nil},
		{"squares too large", single(append(repeat(6, 1), huge)).Mean(0.95), ibid.Defined, false, []WarningCode{VarianceRange}},
		{"level 0", single([]float64{0, 1}).Mean(0), ibid.BadArgument, false, nil},
		{"level 1", single([]float64{0, 1}).Ratio(1), ibid.BadArgument, false, nil},
		{"level NaN", Wilson(1, 2, nan), ibid.BadArgument, false, nil},
		{"more successes than trials", Wilson(3, 2, 0.95), ibid.BadArgument, false, nil},
		{"negative successes", ClopperPearson(-1, 2, 0.95), ibid.BadArgument, false, nil},
		{"infinitely many trials", Wilson(0, math.Inf(1), 0.95), ibid.BadArgument, false, nil},
		{"no proportion", single([]float64{2, 3}).Proportion(0.95), ibid.BadArgument, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.e
			if e.Reason != tt.reason || e.Defined() != (tt.reason == ibid.Defined) || e.HasInterval != tt.interval {
				t.Errorf("reason %q, interval %v, want %q, %v", e.Reason, e.HasInterval, tt.reason, tt.interval)
			}
			var codes []WarningCode
			for _, w := range e.Warnings {
				codes = append(codes, w.Code)
			}
			if !slices.Equal(codes, tt.codes) {
				t.Errorf("warnings %v, want codes %v", e.Warnings, tt.codes)
			}
			for name, v := range map[string]float64{"value": e.Value, "se": e.SE, "low": e.Low, "high": e.High} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s is %v", name, v)
				}
			}
			if !e.Defined() && e.Value != 0 || !e.HasInterval && (e.Low != 0 || e.High != 0) || !e.HasSE && e.SE != 0 {
				t.Errorf("an undefined field is not 0: %+v", e)
			}
		})
	}
}

func TestMethods(t *testing.T) {
	sixOnes := pairs(1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2)
	clustered := grouped([]float64{1, 1, 0, 1, 0, 0}, []string{"a", "a", "b", "c", "c", "d"})
	tests := []struct {
		name       string
		e          Estimate
		method     Method
		effective  float64
		degenerate bool
	}{
		{"mean", single([]float64{0, 0.5}).Mean(0.95), CR1T, 0, false},
		{"mean without variation", single([]float64{0.5, 0.5}).Mean(0.95), CR1T, 0, true},
		{"ratio", pairs(1, 2, 1, 3).Ratio(0.95), LogitT, 0, false},
		{"ratio without variation", pairs(1, 2, 2, 4).Ratio(0.95), LogitT, 0, true},
		{"ratio 1", sixOnes.Ratio(0.95), WilsonT, 6, false},
		{"ratio 0, two clusters say nothing", pairs(0, 5, 0, 0, 0, 3, 0, 0).Ratio(0.95), WilsonT, 2, false},
		{"ratio over 1", pairs(3, 2, 3, 1).Ratio(0.95), DeltaT, 0, false},
		{"unbounded ratio", pairs(1, 2, 1, 3).DeltaT(0.95), DeltaT, 0, false},
		{"proportion of rows", single([]float64{1, 0, 1, 1}).Proportion(0.95), WilsonScore, 4, false},
		{"proportion of rows, all 1", single([]float64{1, 1, 1, 1}).Proportion(0.95), WilsonScore, 4, false},
		{"proportion of clusters", clustered.Proportion(0.95), WilsonClusterT, clustered.WilsonClusterT(0.95).Effective, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.e
			if e.Method != tt.method || e.Effective != tt.effective || e.Degenerate != tt.degenerate {
				t.Errorf("method %s, effective %v, degenerate %v, want %s, %v, %v",
					e.Method, e.Effective, e.Degenerate, tt.method, tt.effective, tt.degenerate)
			}
			if !e.HasInterval || !(e.Low <= e.Value && e.Value <= e.High) || (e.Low == e.High) != tt.degenerate {
				t.Errorf("interval [%v, %v] of %v", e.Low, e.High, e.Value)
			}
		})
	}
}

func TestProportionOfSingleRowsIsPlainWilson(t *testing.T) {
	got, want := single([]float64{1, 0, 0, 1, 0, 0, 0, 1, 0}).Proportion(0.9), Wilson(3, 9, 0.9)
	if got.Low != want.Low || got.High != want.High {
		t.Errorf("[%v, %v], want [%v, %v]", got.Low, got.High, want.Low, want.High)
	}
}

func TestBoundaryRatioIsWilsonOverClusters(t *testing.T) {
	// With t(2) for z: 3 / (3 + 4.30265...²).
	got, low := pairs(5, 5, 1, 1, 30, 30).Ratio(0.95), 3/(3+4.302652729911275*4.302652729911275)
	if got.Value != 1 || math.Abs(got.Low-low) > 1e-9 || got.High != 1 || got.SE != 0 || !got.HasSE {
		t.Errorf("got %v [%v, %v], want 1 [%v, 1]", got.Value, got.Low, got.High, low)
	}
}

func TestNoDesignEffectWarning(t *testing.T) {
	shared := grouped([]float64{1, 1, 1, 1}, []string{"a", "a", "b", "b"}).WilsonClusterT(0.95)
	if n := len(shared.Warnings); n != 2 || shared.Warnings[1].Code != NoDesignEffect {
		t.Errorf("rows in shared clusters: warnings %v, want %s", shared.Warnings, NoDesignEffect)
	}
	for _, w := range single(repeat(9, 1)).WilsonClusterT(0.95).Warnings {
		t.Errorf("one row per cluster: unexpected warning %v", w)
	}
}

func TestTinyVariation(t *testing.T) {
	tests := []struct {
		name string
		v    []float64
		want float64 // standard error, by hand
	}{
		{"equal values whose squares are below the resolution", repeat(7, 1e-21), 0},
		{"equal values whose squares are cut off", repeat(7, 1e-9), 0},
		{"equal values that are no binary fractions", repeat(7, 0.1), 0},
		{"one last bit apart", []float64{1, 1 + 0x1p-52}, 0x1p-53},
		{"small among large", []float64{1e15, 1e15 + 1}, 0.5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := single(tt.v).Mean(0.95)
			if e.SE != tt.want || !e.HasSE || e.Degenerate != (tt.want == 0) {
				t.Errorf("se = %v, %v, degenerate %v, want %v", e.SE, e.HasSE, e.Degenerate, tt.want)
			}
		})
	}
}

func TestClustersNeeded(t *testing.T) {
	tests := []struct {
		level float64
		want  int64
	}{{0.5, 2}, {0.9, 5}, {0.95, 6}, {0.99, 8}, {0.999, 11}, {0, 2}, {1, 2}, {math.NaN(), 2}}
	for _, tt := range tests {
		if got := ClustersNeeded(tt.level); got != tt.want {
			t.Errorf("ClustersNeeded(%v) = %d, want %d", tt.level, got, tt.want)
		}
	}
}

func TestWarningText(t *testing.T) {
	e := single([]float64{0, 1, 0.5}).Mean(0.95)
	if got, want := e.Warnings[0].String(), "need >= 6 clusters for an interval at level 0.95, have 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if w := e.Warnings[0]; w.Have != 3 || w.Need != 6 {
		t.Errorf("have %d, need %d, want 3, 6", w.Have, w.Need)
	}
}

// TestWilsonClusterT is Wilson's interval with t in place of z, because the interval
// depends on z²/n alone.
func TestWilsonClusterT(t *testing.T) {
	c := grouped([]float64{1, 1, 0, 1, 0, 0, 1, 1}, []string{"a", "a", "b", "c", "c", "d", "e", "e"})
	plain, e := c.wilsonCluster(0.95, 1), c.WilsonClusterT(0.95)
	low, high := wilson(plain.Value*plain.Effective, plain.Effective, StudentQuantile(0.95, 4))
	if math.Abs(e.Low-low) > 1e-12 || math.Abs(e.High-high) > 1e-12 {
		t.Errorf("[%v, %v], want [%v, %v]", e.Low, e.High, low, high)
	}
	if one := single([]float64{1}).WilsonClusterT(0.95); !one.Defined() || one.HasInterval {
		t.Errorf("one cluster: %+v", one)
	}
	if bad := c.WilsonClusterT(1); bad.Reason != ibid.BadArgument {
		t.Errorf("level 1: %+v", bad)
	}
}

func TestMeanEffective(t *testing.T) {
	// Sizes 1, 1, 4: G* = 36/18 = 2, so t(1). Expected values are R's qt(0.975, 1).
	c := grouped([]float64{0.2, 0.9, 0.5, 0.4, 0.8, 0.3}, []string{"a", "b", "c", "c", "c", "c"})
	e, plain := c.MeanEffective(0.95), c.Mean(0.95)
	if e.SE != plain.SE || math.Abs((e.High-e.Value)/e.SE-12.706204736432095) > 1e-9 || e.Method != CR1Effective {
		t.Errorf("%+v", e)
	}
	// Clusters of one size: nothing changes.
	c = grouped([]float64{0.2, 0.9, 0.5, 0.4, 0.8, 0.3}, []string{"a", "a", "b", "b", "c", "c"})
	if e, plain := c.MeanEffective(0.95), c.Mean(0.95); e.Low != plain.Low || e.High != plain.High {
		t.Errorf("[%v, %v], want [%v, %v]", e.Low, e.High, plain.Low, plain.High)
	}
	if e := single([]float64{1}).MeanEffective(0.95); !e.Defined() || e.HasInterval {
		t.Errorf("one row: %+v", e)
	}
}

// TestRestsOn: clusters that say nothing of a value are not counted, and one that does is
// none to compare with.
func TestRestsOn(t *testing.T) {
	of := func(clusters int64) Estimate {
		e := Estimate{Level: 0.95, Clusters: 8, Low: 0.1, High: 0.3, HasInterval: true, Warnings: []Warning{{Code: ZeroWidth}, {Code: FewClusters, Have: 5}}}
		e.RestsOn(clusters)
		return e
	}
	few := func(e Estimate) (have int64) {
		for _, w := range e.Warnings {
			if w.Code == FewClusters {
				have = int64(w.Have)
			}
		}
		return have
	}
	for clusters, want := range map[int64]struct {
		clusters, few int64
		interval      bool
	}{9: {8, 5, true}, 8: {8, 5, true}, 7: {7, 0, true}, 6: {6, 0, true}, 5: {5, 5, true}, 2: {2, 2, true}, 1: {1, 0, false}, 0: {0, 0, false}} {
		e := of(clusters)
		if e.Clusters != want.clusters || e.HasInterval != want.interval || few(e) != want.few || (e.Low != 0) != want.interval || e.Warnings[0].Code != ZeroWidth {
			t.Errorf("on %d of 8: %+v, want %+v", clusters, e, want)
		}
	}
}
