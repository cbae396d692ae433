package stats

import (
	"math"

	"ibid"
)

// A Comparison is a difference with its interval and the p-value of there being none.
type Comparison struct {
	Estimate
	P    ibid.Number // two-sided
	Test string      // how P was computed: TestT, TestScore; "" without
}

// How p-values are computed.
const (
	TestT     = "t"     // Student's t, on the scale of the interval
	TestScore = "score" // of Wilson's interval
)

// Difference is a difference of two values with this spread, of which none is larger than
// width; where that is not finite it has no bounds. The interval is that of [Spread.Within] for
// bounds of -width and width, and leaves 0 out if and only if P < 1 - level.
func (s *Spread) Difference(difference, width, level float64) Comparison {
	if math.IsInf(width, 0) {
		c := Comparison{Estimate: s.Within(difference, -noBounds, noBounds, level)}
		switch c.Method {
		case PlainT:
			c.student(math.Abs(difference)/c.SE, s.DF)
		case ConstantValue:
			c.P = ibid.Some(oneIf(difference == 0))
		}
		return c
	}
	d, se := difference/width, math.Sqrt(s.Variance)/width
	if s.OK && se < rounding && math.Abs(d) < rounding {
		c := Comparison{Estimate: s.start(difference, level), P: ibid.Some(1.0)}
		c.still()
		c.warn(NoWidth, noWidth)
		c.setEnds(ConstantValue, 0, 0)
		return c
	}
	c := Comparison{Estimate: s.Within(difference, -width, width, level)}
	switch c.Method {
	case WilsonScore:
		c.P, c.Test = Of(normalTails(math.Abs(d)*math.Sqrt(s.Size))), TestScore
	case LogitT:
		c.Method = TanhT
		c.student(math.Abs(math.Atanh(d))*(1-float64(d*d))/se, s.DF)
	}
	return c
}

func (c *Comparison) student(t, df float64) { c.P, c.Test = Of(studentTails(t, df)), TestT }

// Beside is the spread of the difference of two numbers over units of which none is in both,
// with Welch's degrees of freedom.
func (s *Spread) Beside(o *Spread) Spread {
	out := Spread{Units: s.Units + o.Units, Documents: s.Documents + o.Documents, Heaviest: max(s.Heaviest, o.Heaviest)}
	if out.OK = s.OK && o.OK; !out.OK {
		out.Units = min(s.Units, o.Units)
		return out
	}
	v, w := s.Variance, o.Variance
	out.Variance = v + w
	out.DF = min(s.DF, o.DF)
	if out.Variance > 0 {
		out.DF = out.Variance * out.Variance / (float64(v*v/s.DF) + float64(w*w/o.DF))
	}
	out.Size = 4 / (1/s.Size + 1/o.Size)
	out.Clusters = min(s.Clusters, o.Clusters)
	out.Effect = math.NaN()
	return out
}
