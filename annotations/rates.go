package annotations

import "ibid/metrics/stats"

// Rates are how often a judge is right about items that people call positive, and
// about those that they do not.
type Rates struct {
	Sensitivity, Specificity Rate
	Labels                   int64 // items that they rest on
}

// A Rate is a share with the number of independent items that say as much about it
// as its items do, which may share documents: as many as give its standard error
// over documents. It need not be whole, and is 0 where one item has nearly all of the weight.
type Rate struct{ Share, Effective float64 }

// MeasureRates are the rates of a judge on items of one kind, of which it has decided all.
func MeasureRates(items []Verdict, o CalibrateOptions) Rates {
	j := judgingOf(items, &o)
	rate := func(of bool) Rate {
		e := j.right(of)
		if e.Effect.Known() {
			return Rate{e.Value, e.Den / e.Effect.Value}
		}
		return Rate{e.Value, e.Effective}
	}
	return Rates{Sensitivity: rate(true), Specificity: rate(false), Labels: int64(len(items))}
}

// Corrected is the share of items that the judge calls positive, k of n, corrected
// for its rates; see [stats.RoganGladen].
func (r *Rates) Corrected(k, n, level float64) stats.Prevalence {
	se, sp := r.Sensitivity, r.Specificity
	return stats.RoganGladen(k, n, se.Share*se.Effective, se.Effective, sp.Share*sp.Effective, sp.Effective, level)
}
