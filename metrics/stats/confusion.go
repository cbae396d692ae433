package stats

import "math"

// A Confusion counts a judge's binary verdicts against those of people, who are
// the reference.
type Confusion struct{ TP, FP, FN, TN int64 }

// Add counts one item.
func (c *Confusion) Add(human, judge bool) {
	switch {
	case human && judge:
		c.TP++
	case human:
		c.FN++
	case judge:
		c.FP++
	default:
		c.TN++
	}
}

// N is the number of items.
func (c Confusion) N() int64 { return c.TP + c.FP + c.FN + c.TN }

// Sensitivity is the share of the positive items that the judge calls positive,
// with Wilson's interval.
func (c Confusion) Sensitivity(level float64) Estimate {
	return Wilson(float64(c.TP), float64(c.TP+c.FN), level)
}

// Specificity is the share of the negative items that the judge calls negative,
// with Wilson's interval.
func (c Confusion) Specificity(level float64) Estimate {
	return Wilson(float64(c.TN), float64(c.TN+c.FP), level)
}

// PPV is the share of the judge's positives that are positive: precision.
func (c Confusion) PPV(level float64) Estimate {
	return Wilson(float64(c.TP), float64(c.TP+c.FP), level)
}

// NPV is the share of the judge's negatives that are negative.
func (c Confusion) NPV(level float64) Estimate {
	return Wilson(float64(c.TN), float64(c.TN+c.FN), level)
}

// Accuracy is the share of items on which both agree.
func (c Confusion) Accuracy(level float64) Estimate {
	return Wilson(float64(c.TP+c.TN), float64(c.N()), level)
}

// Youden is sensitivity + specificity - 1, 0 for a judge that guesses.
func (c Confusion) Youden() Number {
	se, sp := FractionOf(float64(c.TP), float64(c.TP+c.FN)), FractionOf(float64(c.TN), float64(c.TN+c.FP))
	if !se.Defined || !sp.Defined {
		return Number{}
	}
	return Of(se.Value + sp.Value - 1)
}

// BalancedAccuracy is the mean of sensitivity and specificity.
func (c Confusion) BalancedAccuracy() Number {
	j := c.Youden()
	if !j.Defined {
		return j
	}
	return Of((j.Value + 1) / 2)
}

// F1 is 2TP/(2TP+FP+FN).
func (c Confusion) F1() Number {
	return FractionOf(2*float64(c.TP), 2*float64(c.TP)+float64(c.FP)+float64(c.FN))
}

// MCC is the correlation coefficient of Matthews, undefined if either side has
// one verdict only.
func (c Confusion) MCC() Number {
	tp, fp, fn, tn := c.floats()
	// Four roots instead of one of a product, which could overflow.
	root := math.Sqrt(tp+fp) * math.Sqrt(tp+fn) * math.Sqrt(tn+fp) * math.Sqrt(tn+fn)
	r := FractionOf(tp*tn-fp*fn, root)
	r.Value = min(max(r.Value, -1), 1) // roots are rounded
	return r
}

// Kappa is Cohen's kappa of judge and people.
func (c Confusion) Kappa() Number {
	tp, fp, fn, tn := c.floats()
	return FractionOf(2*(tp*tn-fp*fn), (tp+fp)*(fp+tn)+(tp+fn)*(fn+tn))
}

func (c Confusion) floats() (tp, fp, fn, tn float64) {
	return float64(c.TP), float64(c.FP), float64(c.FN), float64(c.TN)
}
