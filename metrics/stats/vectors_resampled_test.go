package stats

import (
	"encoding/json"
	"flag"
	"math"
	"strconv"
	"testing"

	"ibid"
)

// full is set where vectors are tested with as many resamples as they have brackets
// for, which takes a minute.
var full = flag.Bool("full", false, "resample 1,000,000 times, which takes a minute")

// numbers are a list of numbers, a null being undefined, or a single one.
type numbers struct {
	list []*float64
	one  int64
}

func (n *numbers) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, &n.list)
	}
	return json.Unmarshal(data, &n.one)
}

// A bracket is where both ends of an interval must lie.
type bracket struct{ Low, High [2]float64 }

// sampled are what results of random draws must be in, by the number of draws.
type sampled struct {
	Bracket    map[string]bracket
	Percentile map[string]bracket `json:"pct_bracket"`
	BCa        map[string]bracket `json:"bca_bracket"`
	Accept     map[string][2]float64
}

// draws is how many resamples tests draw.
func draws() int {
	if *full {
		return 1_000_000
	}
	return 10_000
}

// units are the clusters of a vector's input, and the statistic over them.
func (v *vector) units() (*Units, Statistic) {
	in := &v.Input
	switch {
	case in.NumA != nil:
		u := NewUnits(4)
		for i := range in.NumA {
			u.Add(Key(strconv.Itoa(i)), 1, in.NumA[i], in.DenA[i], in.NumB[i], in.DenB[i])
		}
		return u, QuotientDifference
	case in.Num != nil:
		u := NewUnits(2)
		for i := range in.Num {
			u.Add(Key(strconv.Itoa(i)), 1, in.Num[i], in.Den[i])
		}
		return u, Quotient
	}
	values := in.Values
	for i := range in.A.list {
		values = append(values, *in.A.list[i]-*in.B.list[i])
	}
	if values == nil {
		values = make([]float64, int(in.N))
		for i := range in.Successes {
			values[i] = 1
		}
	}
	u := NewUnits(2)
	if in.Clusters == nil {
		for i, value := range values {
			u.Add(Key(strconv.Itoa(i)), 1, value, 1)
		}
		return u, Quotient
	}
	sums, counts := map[string]float64{}, map[string]float64{}
	for i, name := range in.Clusters {
		sums[name] += values[i]
		counts[name]++
	}
	for name := range sums {
		u.Add(Key(name), int64(counts[name]), sums[name], counts[name])
	}
	return u, Quotient
}

// bootstrapLeaves are what vectors expect of a bootstrap.
func bootstrapLeaves(b *Bootstrap, level float64) leaves {
	p, bca := b.Percentile(level), b.BCa(level)
	levelLow, levelHigh, hasLevels := b.Levels(level)
	share, hasShare := b.ShareAtMost(0)
	return leaves{
		"estimate": leaf(b.Value, b.Reason == ibid.Defined), "mean_diff": leaf(b.Value, b.Reason == ibid.Defined), "diff": leaf(b.Value, b.Reason == ibid.Defined),
		"se":      leaf(b.SE, b.HasSE),
		"pct_low": leaf(p.Low, p.HasInterval), "pct_high": leaf(p.High, p.HasInterval),
		"low": leaf(p.Low, p.HasInterval), "high": leaf(p.High, p.HasInterval),
		"bca_low": leaf(bca.Low, bca.HasInterval), "bca_high": leaf(bca.High, bca.HasInterval),
		"z0": leaf(b.Bias, b.HasBias), "a": leaf(b.Acceleration, b.HasAcceleration),
		"level_low": leaf(levelLow, hasLevels), "level_high": leaf(levelHigh, hasLevels),
		"p_le_zero": leaf(share, hasShare), "p_undefined": leaf(b.Undefined, hasShare),
		"n_resamples": float64(b.Resamples), "degenerate": b.Degenerate,
	}
}

// fixedLeaves resample as the vector says.
func fixedLeaves(_ *testing.T, v *vector) leaves {
	u, stat := v.units()
	b := u.Bootstrap(stat, Resampling{Resamples: 2})
	var values []float64
	for _, resample := range v.Input.Resamples {
		sums := make([]float64, 2)
		for _, i := range resample {
			sums[0] += v.Input.Values[i]
			sums[1]++
		}
		values = append(values, valueOf(stat, sums))
	}
	fixed := &Bootstrap{
		Value: b.Value, N: b.N, Clusters: b.Clusters,
		Acceleration: b.Acceleration, HasAcceleration: b.HasAcceleration, replicates: drawn(values),
	}
	fixed.describe()
	return bootstrapLeaves(fixed, v.Options.Level)
}

// exactLeaves enumerate all resamples; where there are brackets, they also draw.
func exactLeaves(t *testing.T, v *vector) leaves {
	u, stat := v.units()
	b := u.Bootstrap(stat, Resampling{Resamples: 2, Scheme: Enumerated})
	if v.Sampled != nil {
		v.checkDraws(t, u.Bootstrap(stat, Resampling{Resamples: draws(), Seed: 1, Scheme: Multinomial}))
	}
	l := bootstrapLeaves(b, v.Options.Level)
	if v.Statistic == "boot_exact_bca" {
		l["low"], l["high"] = l["bca_low"], l["bca_high"]
	}
	return l
}

// sampledLeaves draw; only what does not depend on the draws is a leaf.
func sampledLeaves(t *testing.T, v *vector) leaves {
	u, stat := v.units()
	scheme := Multinomial
	if v.Statistic == "poisson_boot_binary" || v.Statistic == "poisson_boot_mc" {
		scheme = Poisson
	}
	b := u.Bootstrap(stat, Resampling{Resamples: draws(), Seed: 1, Scheme: scheme})
	v.checkDraws(t, b)
	l := bootstrapLeaves(b, v.Options.Level)
	for name := range v.Expected {
		_, own := v.ByField[name]
		constant := name == "degenerate" || name == "estimate" || b.Degenerate
		switch {
		case name == "se": // exact: that of the binomial distribution
			if se, ok := l["se"].(float64); !ok || math.Abs(se-v.Expected["se"].(float64)) > 6*se/math.Sqrt(2*float64(draws()))+1e-12 {
				t.Errorf("se = %v, want %v", l["se"], v.Expected["se"])
			}
			l[name] = v.Expected[name]
		case !own && !constant: // checked by its bracket
			l[name] = v.Expected[name]
		case name == "z0" && !*full: // its tolerance is for more draws
			if math.Abs(b.Bias-v.Expected["z0"].(float64)) > 0.075 {
				t.Errorf("z0 = %v, want %v", b.Bias, v.Expected["z0"])
			}
			l[name] = v.Expected[name]
		}
	}
	return l
}

// checkDraws checks that the ends of the intervals lie in the vector's brackets.
func (v *vector) checkDraws(t *testing.T, b *Bootstrap) {
	t.Helper()
	if v.Sampled == nil {
		if !b.Degenerate {
			t.Error("no brackets")
		}
		return
	}
	percentile := v.Sampled.Percentile
	bca := v.Sampled.BCa
	switch {
	case v.Statistic == "boot_exact_bca":
		bca = v.Sampled.Bracket
	case v.Sampled.Bracket != nil:
		percentile = v.Sampled.Bracket
	}
	check := func(kind string, all map[string]bracket, e Estimate) {
		if all == nil {
			return
		}
		in, ok := all[strconv.Itoa(draws())]
		if !ok {
			t.Errorf("no %s bracket for %d draws", kind, draws())
		}
		const slack = 1e-9
		if !e.HasInterval || e.Low < in.Low[0]-slack || e.Low > in.Low[1]+slack || e.High < in.High[0]-slack || e.High > in.High[1]+slack {
			t.Errorf("%s [%v, %v] is not in low %v high %v", kind, e.Low, e.High, in.Low, in.High)
		}
	}
	check("percentile", percentile, b.Percentile(v.Options.Level))
	check("BCa", bca, b.BCa(v.Options.Level))
}

// flipSums are the differences of a vector by cluster.
func (v *vector) flipSums() []float64 {
	if v.Input.Clusters == nil {
		return v.Input.D
	}
	sums := map[string]float64{}
	for i, name := range v.Input.Clusters {
		sums[name] += v.Input.D[i]
	}
	var d []float64
	for _, sum := range sums {
		d = append(d, sum)
	}
	return d
}

func flipLeaves(t *testing.T, v *vector) leaves {
	d := v.flipSums()
	f := SignFlip(d, 0, 1)
	if f.Defined() && f.Method != SignFlipExact {
		t.Errorf("p is %s", f.Method)
	}
	var sum float64
	for _, x := range d {
		sum += x
	}
	n := float64(len(d))
	return leaves{
		"n": n, "clusters": n, "mean_diff": leaf(sum/n, n > 0),
		"p_two": leaf(f.P, f.Defined()), "p_greater": leaf(f.Greater, f.Defined()), "p_less": leaf(f.Less, f.Defined()),
	}
}

// sampledFlipLeaves draws for every vector, also where counting would do.
func sampledFlipLeaves(t *testing.T, v *vector) leaves {
	exact := SignFlip(v.Input.D, 0, 1)
	for text, accept := range v.Sampled.Accept {
		samples, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		var drawn Test
		newFlips(v.Input.D).sample(&drawn, samples, 1)
		if drawn.P < accept[0] || drawn.P > accept[1] {
			t.Errorf("p of %d draws = %v, want it in %v", samples, drawn.P, accept)
		}
	}
	return leaves{"exact_p_two": leaf(exact.P, exact.Defined())}
}

func mcNemarLeaves(_ *testing.T, v *vector) leaves {
	m := NewMcNemar(v.Input.B.one, v.Input.C, int64(v.Input.N))
	return leaves{
		"b": float64(m.B), "c": float64(m.C), "p_exact": m.Exact, "p_midp": m.MidP, "diff": leaf(m.Diff.Value, m.Diff.Known()), "se": leaf(m.SE.Value, m.SE.Known()),
		"chi2": leaf(m.Chi2, m.HasChi2), "p_chi2": leaf(m.PChi2, m.HasChi2),
		"chi2_cc": leaf(m.Corrected, m.HasChi2), "p_chi2_cc": leaf(m.PCorrected, m.HasChi2),
	}
}

func adjustedLeaves(v *vector, adjust func([]*float64) []*float64) leaves {
	list, rejected, m := []any{}, []any{}, 0
	for _, p := range adjust(v.Input.P) {
		if p == nil {
			list, rejected = append(list, nil), append(rejected, nil)
			continue
		}
		m++
		list, rejected = append(list, *p), append(rejected, *p <= v.Options.Alpha)
	}
	return leaves{"adjusted": list, "m": float64(m), "rejected": rejected}
}
