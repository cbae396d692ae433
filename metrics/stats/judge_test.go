package stats

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"

	"ibid"
)

type judgeCase struct {
	TP, FP, FN, TN int64
	X, Y           []float64
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

func binLeaves(all []Bin) any {
	bins := []object{}
	for _, b := range all {
		bins = append(bins, object{"bin": b.Index, "count": len(b.Items), "mean_score": b.MeanScore, "positive_rate": b.PositiveRate})
	}
	return object{"bins": bins}
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
			"balanced_accuracy": c.BalancedAccuracy(), "f1": c.F1(), "kappa": c.Kappa(),
			"sens_low": leaf(se.Low, se.HasInterval), "sens_high": leaf(se.High, se.HasInterval),
			"spec_low": leaf(sp.Low, sp.HasInterval), "spec_high": leaf(sp.High, sp.HasInterval),
		}
	},
	"correlation": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[judgeCase](t, input, options)
		return object{"n": len(in.X), "pearson": pearson(in.X, in.Y), "spearman": pearson(Ranks(in.X), Ranks(in.Y))}
	},
	"calibration": func(t *testing.T, input, options json.RawMessage) any {
		in := decode[judgeCase](t, input, options)
		return binLeaves(EqualWidth(in.Scores, in.positive(), in.Bins))
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
		lambda := map[string]float64{"classical": 0, "ppi": 1, "ppi++": tuned(in.Y, in.F, in.FUnlabeled)}[in.Mode]
		human := make([]ibid.Number, len(in.Y)+len(in.FUnlabeled))
		for i, y := range in.Y {
			human[i] = ibid.Some(y)
		}
		judge, rows := slices.Concat(in.F, in.FUnlabeled), NewRows[int](nil, nil)
		if e, tuned := PPI(judge, human, rows, math.Inf(-1), math.Inf(1), in.Level); !e.Defined() {
			return object{"lambda": nil, "estimate": nil}
		} else if in.Mode == "ppi++" {
			return object{"lambda": tuned, "estimate": e.Value}
		}
		return object{"lambda": lambda, "estimate": predict(judge, human, rows, lambda, math.Inf(-1), math.Inf(1), in.Level).Value}
	},
}

// TestEqualWidthEdges: a score on an edge is in the bin below it, 0 in the first.
func TestEqualWidthEdges(t *testing.T) {
	bins := EqualWidth([]float64{0, 0.25, 0.5, 0.500001, 0.75, 1}, make([]bool, 6), 4)
	got := make(map[int]int64)
	for _, b := range bins {
		got[b.Index] = int64(len(b.Items))
	}
	if want := map[int]int64{0: 2, 1: 1, 2: 2, 3: 1}; !maps.Equal(got, want) {
		t.Errorf("items by bin %v, want %v", got, want)
	}
}
