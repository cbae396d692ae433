package stats

import (
	"math"
	"slices"

	"ibid"
)

// A Confusion counts a judge's binary verdicts against those of people, who are
// the reference.
type Confusion struct {
	TP int64 `json:"tp"`
	FP int64 `json:"fp"`
	FN int64 `json:"fn"`
	TN int64 `json:"tn"`
}

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

// BalancedAccuracy is the mean of sensitivity and specificity.
func (c Confusion) BalancedAccuracy() ibid.Number {
	se, sp := FractionOf(float64(c.TP), float64(c.TP+c.FN)), FractionOf(float64(c.TN), float64(c.TN+c.FP))
	if !se.Known() || !sp.Known() {
		return ibid.Number{}
	}
	return Of((se.Value + sp.Value) / 2)
}

// F1 is 2TP/(2TP+FP+FN).
func (c Confusion) F1() ibid.Number {
	return FractionOf(2*float64(c.TP), 2*float64(c.TP)+float64(c.FP)+float64(c.FN))
}

// Kappa is Cohen's kappa of judge and people.
func (c Confusion) Kappa() ibid.Number {
	tp, fp, fn, tn := float64(c.TP), float64(c.FP), float64(c.FN), float64(c.TN)
	return FractionOf(2*(tp*tn-fp*fn), (tp+fp)*(fp+tn)+(tp+fn)*(fn+tn))
}

// A Judging is what people and a judge say of the same rows, yes or no.
type Judging struct {
	Human, Judge []bool
	Rows         *Rows
	Level        float64 // of intervals
}

// Counts are the verdicts of all rows.
func (j *Judging) Counts() (c Confusion) {
	for i, yes := range j.Human {
		c.Add(yes, j.Judge[i])
	}
	return c
}

// BalancedAccuracy is [Confusion.BalancedAccuracy], 0 to 1. Rows that people say yes to, and those that they
// say no to, have half of the weight.
func (j *Judging) BalancedAccuracy() Estimate {
	c := j.Counts()
	value := c.BalancedAccuracy()
	if !value.Known() {
		return undefined(j.Level)
	}
	yes, no := float64(c.TP+c.FN), float64(c.TN+c.FP)
	sensitivity, specificity := float64(c.TP)/yes, float64(c.TN)/no
	errors, shares := make([]float64, len(j.Human)), make([]float64, len(j.Human))
	for i, human := range j.Human {
		if human {
			errors[i], shares[i] = (oneIf(j.Judge[i])-sensitivity)/(2*yes), 1/(2*yes)
		} else {
			errors[i], shares[i] = (oneIf(!j.Judge[i])-specificity)/(2*no), 1/(2*no)
		}
	}
	return j.Rows.within(value.Value, errors, shares, 0, 1, j.Level)
}

// F1 is [Confusion.F1], 0 to 1.
func (j *Judging) F1() Estimate {
	y, x := make([]float64, len(j.Human)), make([]float64, len(j.Human))
	for i, human := range j.Human {
		y[i] = 2 * oneIf(human && j.Judge[i])
		x[i] = oneIf(human) + oneIf(j.Judge[i])
	}
	return j.share(y, x)
}

// share is Σy/Σx over the rows, 0 to 1, of numbers of which neither is negative.
func (j *Judging) share(y, x []float64) Estimate {
	q := NewQuotient(j.Rows.Sums(y), j.Rows.Sums(x))
	return q.Within(j.Rows.Documents(func(row int) bool { return y[row] != 0 || x[row] != 0 }), 0, 1, j.Level)
}

// Kappa is [Confusion.Kappa], -1 to 1, with the jackknife's interval.
func (j *Judging) Kappa() Estimate {
	var cells [4][]float64
	for k := range cells {
		cells[k] = make([]float64, len(j.Human))
	}
	for i, human := range j.Human {
		cells[2*kindOf(human)+kindOf(j.Judge[i])][i] = 1
	}
	for k := range cells {
		cells[k] = j.Rows.Sums(cells[k])
	}
	units := func(i int) []float64 { return []float64{cells[0][i], cells[1][i], cells[2][i], cells[3][i]} }
	return Jackknifed(len(cells[0]), units, func(s []float64) (float64, bool) {
		v := Confusion{TN: int64(s[0]), FP: int64(s[1]), FN: int64(s[2]), TP: int64(s[3])}.Kappa()
		return v.Value, v.Known()
	}, nil, j.Rows.Documents(nil), -1, 1, j.Level)
}

// A Bin is the items of a calibration curve whose scores lie close together.
type Bin struct {
	Index        int // of the bin, from 0
	MeanScore    float64
	PositiveRate float64 // share of the items that people call positive
	Items        []int   // positions of the items
}

// EqualWidth sorts scores in [0, 1] into bins (b/bins, (b+1)/bins], 0 belonging
// to the first, and returns those that have items. A bin's edge is the quotient rounded to
// float64.
//
// Source: Guo et al. 2017.
func EqualWidth(scores []float64, positive []bool, bins int) []Bin {
	all := make([]Bin, bins)
	for i, s := range scores {
		b := 0
		for b < bins-1 && s > float64(b+1)/float64(bins) {
			b++
		}
		to := &all[b]
		to.Index, to.Items = b, append(to.Items, i)
		to.MeanScore, to.PositiveRate = to.MeanScore+s, to.PositiveRate+oneIf(positive[i])
	}
	all = slices.DeleteFunc(all, func(b Bin) bool { return len(b.Items) == 0 })
	for i := range all {
		n := float64(len(all[i].Items))
		all[i].MeanScore, all[i].PositiveRate = all[i].MeanScore/n, all[i].PositiveRate/n
	}
	return all
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// A Prevalence is a share of positive items, corrected for what is known of the
// judge who found them.
type Prevalence struct {
	Value  ibid.Number // clamped to [0, 1]
	Raw    ibid.Number // not clamped
	Bounds             // of Lang & Reiczigel, clamped
	SE     ibid.Number // of the delta method
	Wald   Bounds      // Raw ± z SE, clamped; too narrow for few labels
}

// RoganGladen corrects the share k/n of items that a judge calls positive for its
// sensitivity and specificity, of which people's labels of other items say that
// they are kSens/nSens and kSpec/nSpec:
//
//	(k/n + Sp - 1) / (Se + Sp - 1)
//
// Counts may be real (effective counts).
//
// It assumes that the judge errs on these items as often as on those. It is
// undefined if a sample is empty, or if the judge is no better than guessing,
// Se + Sp <= 1.
//
// Source: Rogan & Gladen 1978; the interval is that of Lang & Reiczigel 2014.
func RoganGladen(k, n, kSens, nSens, kSpec, nSpec, level float64) Prevalence {
	var out Prevalence
	if n == 0 || nSens == 0 || nSpec == 0 {
		return out
	}
	z := NormalQuantile(level)
	e := rates{k / n, kSens / nSens, kSpec / nSpec}
	raw, ok := e.prevalence()
	if !ok {
		return out
	}
	out.Raw, out.Value = Of(raw), Of(clamp(raw))
	se := e.se(raw, n, nSens, nSpec)
	out.SE = Of(se)
	out.Wald = Bounds{Of(clamp(raw - z*se)), Of(clamp(raw + z*se))}
	out.Bounds = langReiczigel(k, n, kSens, nSens, kSpec, nSpec, z)
	return out
}

// rates are a judge's share of positives, its sensitivity and its specificity.
type rates struct{ positive, sens, spec float64 }

func (r rates) prevalence() (p float64, ok bool) {
	if r.sens+r.spec <= 1 {
		return 0, false
	}
	return (r.positive + r.spec - 1) / (r.sens + r.spec - 1), true
}

// se is the standard error of the prevalence p.
func (r rates) se(p, n, nSens, nSpec float64) float64 {
	v := r.positive*(1-r.positive)/n + p*p*r.sens*(1-r.sens)/nSens + (1-p)*(1-p)*r.spec*(1-r.spec)/nSpec
	return math.Sqrt(v) / (r.sens + r.spec - 1)
}

// langReiczigel adds z²/2 successes and failures to the sample and one of each to
// the samples of the judge, and shifts the interval towards its middle.
func langReiczigel(k, n, kSens, nSens, kSpec, nSpec, z float64) Bounds {
	size, sizeSens, sizeSpec := n+z*z, nSens+2, nSpec+2
	r := rates{(k + z*z/2) / size, (kSens + 1) / sizeSens, (kSpec + 1) / sizeSpec}
	p, ok := r.prevalence()
	if !ok {
		return Bounds{}
	}
	shift := 2 * z * z * (p*r.sens*(1-r.sens)/sizeSens - (1-p)*r.spec*(1-r.spec)/sizeSpec)
	half := z * r.se(p, size, sizeSens, sizeSpec)
	return Bounds{Of(clamp(p + shift - half)), Of(clamp(p + shift + half))}
}

func clamp(p float64) float64 { return max(0, min(1, p)) }
