package stats

import (
	"math"

	"ibid"
)

// A LabelPlan says how many labels bring a prediction-powered mean to a half width.
type LabelPlan struct {
	Labelled int64       // rows with a label
	Rows     int64       // all rows
	Now      Prediction  // from the labels there are
	Half     ibid.Number // half the width of its interval
	More     ibid.Integer
}

// LabelsNeeded plans labels for the mean of [PPIClusters] of rows, of which some have a
// label. More is how many more labels, drawn from the other rows, bring half the width of
// its interval to half at most; it is 0 if they do already, and undefined if there is no
// interval yet, or not even labels for all rows but two would do.
//
// With n labels of T rows, PPI++ tunes λ to n and has the variance
//
//	λ² Var(F)/(T-n) + Var(y - λ f)/n
//
// The variances are those of the labelled rows; the interval's width is taken to change
// with the square root of it, so that what clusters add stays in proportion.
//
// Source: Angelopoulos et al. 2023, "PPI++".
func LabelsNeeded(rows []Predicted, level, low, high, half float64) LabelPlan {
	var human, judge, others, all []float64
	for _, r := range rows {
		all = append(all, r.Judge)
		if r.Human.Known() {
			human, judge = append(human, r.Human.Value), append(judge, r.Judge)
		} else {
			others = append(others, r.Judge)
		}
	}
	n, total := len(human), len(rows)
	out := LabelPlan{Labelled: int64(n), Rows: int64(total), Now: PPIClusters(rows, level, low, high)}
	if !out.Now.Bounds.Defined() || half <= 0 {
		return out
	}
	now := (out.Now.High.Value - out.Now.Low.Value) / 2
	out.Half = Of(now)
	if now <= half {
		out.More = ibid.Some[int64](0)
		return out
	}
	both, own, judged := spread(human, judge), spread(human, human), spread(judge, judge)
	pooled := spread(all, all) * float64(total) / float64(total-1)
	variance := func(n int) float64 {
		rest := float64(total - n)
		lambda := 0.0
		if pooled > 0 {
			lambda = clamp(both * rest / (float64(total) * pooled))
		}
		return lambda*lambda*spread(others, others)/rest + (own-2*lambda*both+lambda*lambda*judged)/float64(n)
	}
	today := variance(n)
	for k := n + 1; k <= total-2; k++ {
		if now*math.Sqrt(variance(k)/today) <= half {
			out.More = ibid.Some(int64(k - n))
			return out
		}
	}
	return out
}
