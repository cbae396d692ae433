package stats

import "math"

// A Prevalence is a share of positive items, corrected for what is known of the
// judge who found them.
type Prevalence struct {
	Value  Number // clamped to [0, 1]
	Raw    Number // not clamped
	Bounds        // of Lang & Reiczigel, clamped
	SE     Number // of the delta method
	Wald   Bounds // Raw ± z SE, clamped; too narrow for few labels
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
	z := normalQuantile(level)
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
