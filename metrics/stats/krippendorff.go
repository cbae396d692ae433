package stats

// A Scale says how far apart two ratings are.
type Scale string

// The scales of measurement.
const (
	Nominal  Scale = "nominal"  // the same or not
	Ordinal  Scale = "ordinal"  // by how many ratings lie between
	Interval Scale = "interval" // squared difference
	Ratio    Scale = "ratio"    // squared quotient of difference and sum
)

// Alpha is Krippendorff's alpha, 1 - Do/De over the coincidences of pairs of
// ratings, each unit weighted by 1/(ratings - 1). values are those of the
// categories, ascending; the nominal and the ordinal scale do not use them, but
// the ordinal one needs the categories in order. It is undefined where no two
// ratings of different units differ.
//
// Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
func (t *Tally) Alpha(scale Scale, values []float64) Number {
	margins := make([]float64, t.categories)
	var total float64
	for c := range t.categories {
		for k := range t.categories {
			margins[c] += t.sums[t.cell(c, k)]
		}
		total += margins[c]
	}
	var observed, expected float64
	for c := range t.categories {
		// delta is symmetric and 0 on the diagonal.
		between := 0.0 // ratings in categories strictly between c and k
		for k := c + 1; k < t.categories; k++ {
			d := scale.delta(margins[c], between, margins[k], at(values, c), at(values, k))
			between += margins[k]
			observed += 2 * d * t.sums[t.cell(c, k)]
			expected += 2 * d * margins[c] * margins[k]
		}
	}
	if expected == 0 {
		return Number{}
	}
	return Of(1 - (total-1)*observed/expected)
}

func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return float64(i)
}

// delta is the squared difference of two categories that have n and o ratings,
// with between ratings in the categories between them.
func (s Scale) delta(n, between, o, x, y float64) float64 {
	switch s {
	case Ordinal:
		d := between + (n+o)/2
		return d * d
	case Interval:
		return (x - y) * (x - y)
	case Ratio:
		if x+y == 0 {
			return 0
		}
		d := (x - y) / (x + y)
		return d * d
	}
	return 1
}
