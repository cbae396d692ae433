package stats

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"ibid"
)

type judgeCase struct {
	TP, FP, FN, TN int64
	X, Y           []float64
	Weights        []float64
	Query          []float64
	Scores         []float64
	Labels         []int
	F              []float64
	FUnlabeled     []float64 `json:"f_unlabeled"`
	K, N           int64
	KSe            int64 `json:"k_se"`
	NSe            int64 `json:"n_se"`
	KSp            int64 `json:"k_sp"`
	NSp            int64 `json:"n_sp"`
	Level          float64
	Bins           int
	Mode           string
}

func (c *judgeCase) positive() []bool {
	out := make([]bool, len(c.Labels))
	for i, l := range c.Labels {
		out[i] = l == 1
	}
	return out
}

func calibrationLeaves(c Calibration) any {
	bins := []object{}
	for _, b := range c.Bins {
		bins = append(bins, object{"bin": b.Index, "count": b.Count, "mean_score": b.MeanScore, "positive_rate": b.PositiveRate})
	}
	return object{"bins": bins, "ece": c.ECE, "mce": c.MCE, "brier": c.Brier}
}

var judgeOracles = map[string]oracle{
	"confusion": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[judgeCase](t, input, options)
		c := Confusion{in.TP, in.FP, in.FN, in.TN}
		share := func(k, n int64) Estimate { return Wilson(float64(k), float64(n), in.Level) }
		se, sp := share(c.TP, c.TP+c.FN), share(c.TN, c.TN+c.FP)
		return object{
			"tp": c.TP, "fp": c.FP, "fn": c.FN, "tn": c.TN, "sensitivity": value(se), "specificity": value(sp),
			"ppv": value(share(c.TP, c.TP+c.FP)), "npv": value(share(c.TN, c.TN+c.FN)), "accuracy": value(share(c.TP+c.TN, c.N())),
			"balanced_accuracy": c.BalancedAccuracy(), "youden": c.Youden(), "f1": c.F1(), "mcc": c.MCC(), "kappa": c.Kappa(),
			"sens_low": leaf(se.Low, se.HasInterval), "sens_high": leaf(se.High, se.HasInterval),
			"spec_low": leaf(sp.Low, sp.HasInterval), "spec_high": leaf(sp.High, sp.HasInterval),
		}
	},
	"correlation": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[judgeCase](t, input, options)
		r, rho := Pearson(in.X, in.Y, in.Level), Spearman(in.X, in.Y, in.Level)
		return object{
			"n": r.N, "pearson": r.Value, "pearson_low": r.Low, "pearson_high": r.High,
			"spearman": rho.Value, "spearman_low": rho.Low, "spearman_high": rho.High,
		}
	},
	"calibration": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[judgeCase](t, input, options)
		return calibrationLeaves(EqualWidth(in.Scores, in.positive(), in.Bins))
	},
	"isotonic": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[judgeCase](t, input, options)
		f := FitIsotonic(in.X, in.Y, in.Weights)
		predicted := []ibid.Number{}
		for _, x := range in.Query {
			predicted = append(predicted, f.At(x))
		}
		return object{"x": f.X, "fitted": f.Fitted, "query": in.Query, "predicted": predicted}
	},
	"rogan_gladen": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[judgeCase](t, input, options)
		p := RoganGladen(float64(in.K), float64(in.N), float64(in.KSe), float64(in.NSe), float64(in.KSp), float64(in.NSp), in.Level)
		return object{
			"estimate": p.Value, "raw": p.Raw, "lr_low": p.Low, "lr_high": p.High,
			"wald_low": p.Wald.Low, "wald_high": p.Wald.High, "se_wald": p.SE,
		}
	},
	"ppi_mean": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[judgeCase](t, input, options)
		var p Prediction
		switch in.Mode {
		case "classical":
			p = predict(in.Y, in.F, in.FUnlabeled, in.Level, 0)
		case "ppi":
			p = predict(in.Y, in.F, in.FUnlabeled, in.Level, 1)
		default:
			p = predict(in.Y, in.F, in.FUnlabeled, in.Level, tuned(in.Y, in.F, in.FUnlabeled))
		}
		return object{"lambda": p.Lambda, "estimate": p.Value, "se": p.SE, "low": p.Low, "high": p.High}
	},
}

// TestPPIClusters: with one row a cluster only the correction for few rows differs
// from PPI; rows that are there twice do not narrow the interval.
func TestPPIClusters(t *testing.T) {
	draw := NewStream(3)
	var rows, twice []Predicted
	var human, judge, others []float64
	for i := range 400 {
		y := oneIf(draw.IntN(10) < 7)
		f := y
		if draw.IntN(5) == 0 {
			f = 1 - y
		}
		r := Predicted{Cluster: fmt.Sprint(i), Judge: f}
		if i%4 == 0 {
			r.Human = Of(y)
			human, judge = append(human, y), append(judge, f)
		} else {
			others = append(others, f)
		}
		rows, twice = append(rows, r), append(twice, r, r)
	}
	want, got, doubled := predict(human, judge, others, 0.95, tuned(human, judge, others)), PPIClusters(rows, 0.95, math.Inf(-1), math.Inf(1)), PPIClusters(twice, 0.95, math.Inf(-1), math.Inf(1))
	if got.Value != want.Value || math.Abs(got.SE.Value/want.SE.Value-1) > 0.01 {
		t.Errorf("%v ± %v, want %v ± %v", got.Value, got.SE, want.Value, want.SE)
	}
	if math.Abs(doubled.SE.Value/got.SE.Value-1) > 0.01 {
		t.Errorf("twice the rows in the same clusters: ± %v, want %v", doubled.SE, got.SE)
	}
	one := PPIClusters([]Predicted{{"a", 1, Of(1)}, {"a", 0, Of(1)}, {"a", 1, ibid.Number{}}}, 0.95, math.Inf(-1), math.Inf(1))
	if !one.Value.Known() || one.SE.Known() || one.Bounds.Defined() {
		t.Errorf("one cluster: %v", one)
	}
}

// TestMCCIsACorrelation: roots are rounded, the coefficient is never beyond 1.
func TestMCCIsACorrelation(t *testing.T) {
	for k := range int64(200) {
		for _, c := range []Confusion{{TP: k + 1, TN: k*7 + 3}, {FP: k + 1, FN: k*7 + 3}} {
			want := 1.0
			if c.TP == 0 {
				want = -1
			}
			if m := c.MCC(); !m.Known() || math.Abs(m.Value) > 1 || math.Abs(m.Value-want) > 1e-12 {
				t.Errorf("MCC of %+v = %v", c, m)
			}
		}
	}
}

// TestPPIOfFewClusters: labels of a few clusters know little of the others, however
// many there are. The coverage is that of 400 made-up data sets; ignoring how few
// labelled clusters there are, it is 0.62 for two and 0.76 for three of them.
func TestPPIOfFewClusters(t *testing.T) {
	for _, labelled := range []int{2, 3, 5} {
		draw := NewStream(7, uint64(labelled))
		covered, intervals := 0, 0
		for range 400 {
			b := PPIClusters(sharedClusters(&draw, labelled, 40), 0.95, math.Inf(-1), math.Inf(1)).Bounds
			if !b.Defined() {
				continue // the labels were all alike
			}
			intervals++
			if b.Low.Value <= 0.5 && 0.5 <= b.High.Value {
				covered++
			}
		}
		if share := float64(covered) / float64(intervals); share < 0.87 {
			t.Errorf("%d labelled clusters: %.3f of %d intervals cover the mean", labelled, share, intervals)
		}
	}
	draw := NewStream(7)
	if one := PPIClusters(sharedClusters(&draw, 1, 40), 0.95, 0, 1); !one.Value.Known() || one.SE.Known() || one.Bounds.Defined() {
		t.Errorf("one labelled cluster: %v", one)
	}
}

// sharedClusters are clusters of five rows each, of which people labelled the
// first ones: half of all are positive, and the judge is right about four of five.
// A cluster leans to one side.
func sharedClusters(draw *Stream, labelled, others int) []Predicted {
	var rows []Predicted
	for g := range labelled + others {
		positive := []int{2, 8}[draw.IntN(2)]
		for range 5 {
			y := oneIf(draw.IntN(10) < positive)
			f := y
			if draw.IntN(5) == 0 {
				f = 1 - y
			}
			r := Predicted{Cluster: fmt.Sprint(g), Judge: f}
			if g < labelled {
				r.Human = Of(y)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// TestEqualMassWhole: without ties bins have equally many items, the first ones more, and
// with them every score has its items in one bin.
func TestEqualMassWhole(t *testing.T) {
	positive := []bool{true, false, true, true, false, true, false}
	apart := []float64{0.9, 0.1, 0.4, 0.8, 0.3, 0.7, 0.2}
	if b := EqualMassWhole(apart, positive, 3).Bins; len(b) != 3 || !slices.Equal(b[0].Items, []int{1, 6, 4}) || !slices.Equal(b[1].Items, []int{2, 5}) || !slices.Equal(b[2].Items, []int{3, 0}) {
		t.Errorf("without ties %v", b)
	}
	tied := EqualMassWhole([]float64{0.2, 0.5, 0.5, 0.5, 0.5, 0.8, 0.9}, positive, 3)
	var counts []int64
	for _, b := range tied.Bins {
		counts = append(counts, b.Count)
	}
	if want := []int64{5, 1, 1}; !slices.Equal(counts, want) {
		t.Errorf("bins of %v items, want %v", counts, want)
	}
}

// TestEqualWidthEdges: a score on an edge is in the bin below it, 0 in the first.
func TestEqualWidthEdges(t *testing.T) {
	c := EqualWidth([]float64{0, 0.25, 0.5, 0.500001, 0.75, 1}, make([]bool, 6), 4)
	got := make(map[int]int64)
	for _, b := range c.Bins {
		got[b.Index] = b.Count
	}
	if want := map[int]int64{0: 2, 1: 1, 2: 2, 3: 1}; !maps.Equal(got, want) {
		t.Errorf("items by bin %v, want %v", got, want)
	}
}
