package stats

import (
	"math"

	"ibid"
)

// A Tally sums what agreement coefficients for any number of raters need of
// units that raters put into categories. Categories are indices from 0 into a
// code book: a category that nobody used still counts.
//
// A unit says how many of its raters chose each category; who did not rate it is
// not among them. Sums are additive, so the units of a cluster can be tallied
// together, see [Tally.Vector].
type Tally struct {
	categories int
	sums       []float64
}

// The sums of a tally: then follow the shares of each category and the
// coincidences of each two.
const (
	tallyPairable = iota // units with two or more ratings
	tallyAgreeing        // sum over them of the share of ordered pairs that agree
	tallyRated           // units with one or more ratings
	tallyShares
)

// NewTally returns an empty tally of the given number of categories.
func NewTally(categories int) *Tally {
	return &Tally{categories, make([]float64, tallyShares+categories+categories*categories)}
}

// TallyOf is the tally whose [Tally.Vector] is sums.
func TallyOf(categories int, sums []float64) *Tally { return &Tally{categories, sums} }

// Vector returns the sums. Adding vectors adds tallies. The caller must not
// change it.
func (t *Tally) Vector() []float64 { return t.sums }

// Add adds a unit of which counts[c] ratings fell into category c.
func (t *Tally) Add(counts []int) {
	m, agreeing := 0, 0
	for _, n := range counts {
		m += n
		agreeing += n * (n - 1)
	}
	if m == 0 {
		return
	}
	t.sums[tallyRated]++
	for c, n := range counts {
		t.sums[tallyShares+c] += float64(n) / float64(m)
	}
	if m < 2 {
		return
	}
	t.sums[tallyPairable]++
	t.sums[tallyAgreeing] += float64(agreeing) / float64(m*(m-1))
	for c, n := range counts {
		for k, o := range counts {
			if c == k {
				o--
			}
			t.sums[t.cell(c, k)] += float64(n*o) / float64(m-1)
		}
	}
}

// Share is the sum over units of the share of their ratings that fell into a category.
func (t *Tally) Share(category int) float64 { return t.sums[tallyShares+category] }

func (t *Tally) cell(c, k int) int { return tallyShares + t.categories + c*t.categories + k }

// Units is the number of units with two or more ratings.
func (t *Tally) Units() int64 { return int64(t.sums[tallyPairable]) }

// Percent is the mean over units with two or more ratings of the share of
// ordered pairs of ratings that agree.
func (t *Tally) Percent() ibid.Number {
	return FractionOf(t.sums[tallyAgreeing], t.sums[tallyPairable])
}

// A Chance is a chance-corrected coefficient with its parts.
type Chance struct {
	Value    ibid.Number
	Observed ibid.Number // agreement
	Expected ibid.Number // agreement by chance
}

// chance is 1 - (1-observed)/(1-expected), undefined where expected is 1.
func chance(observed, expected ibid.Number) Chance {
	c := Chance{Observed: observed, Expected: expected}
	if observed.Known() && expected.Known() {
		c.Value = FractionOf(observed.Value-expected.Value, 1-expected.Value)
	}
	return c
}

// AC1 is Gwet's (2008) coefficient, (Pa - Pe)/(1 - Pe) with
// Pe = Σ p(1-p)/(q-1). It stays meaningful where nearly all ratings are one
// category. It is undefined for fewer than two categories.
func (t *Tally) AC1() Chance {
	observed := t.Percent()
	if !observed.Known() || t.categories < 2 {
		return Chance{Observed: observed}
	}
	scale := float64(t.categories - 1)
	return chance(observed, t.overCategories(func(p float64) float64 { return p * (1 - p) / scale }))
}

// overCategories sums f over the mean shares of the categories.
func (t *Tally) overCategories(f func(share float64) float64) ibid.Number {
	rated := t.sums[tallyRated]
	if rated == 0 {
		return ibid.Number{}
	}
	var sum float64
	for c := range t.categories {
		sum += f(t.sums[tallyShares+c] / rated)
	}
	return Of(sum)
}

// A Contingency counts how two raters put the same units into categories, which
// are indices from 0. Counts are additive, see [Contingency.Vector].
type Contingency struct {
	categories int
	counts     []float64 // of (a, b) at a*categories + b
}

// NewContingency returns an empty table of the given number of categories.
func NewContingency(categories int) *Contingency {
	return &Contingency{categories, make([]float64, categories*categories)}
}

// ContingencyOf is the table of those counts, row by row, which it keeps.
func ContingencyOf(categories int, counts []float64) *Contingency {
	return &Contingency{categories, counts}
}

// Add adds a unit that the first rater put into a and the second into b.
func (c *Contingency) Add(a, b int) { c.counts[a*c.categories+b]++ }

// Count is the number of units that the first rater put into a and the second
// into b.
func (c *Contingency) Count(a, b int) float64 { return c.counts[a*c.categories+b] }

// Units is the number of units.
func (c *Contingency) Units() float64 {
	var n float64
	for _, v := range c.counts {
		n += v
	}
	return n
}

// Weights say how much a disagreement of two categories counts.
type Weights string

// The weights of kappa. Linear and quadratic ones are on the index of the
// category.
const (
	Unweighted Weights = "none"
	Linear     Weights = "linear"
	Quadratic  Weights = "quadratic"
)

func (w Weights) disagreement(i, j int) float64 {
	d := math.Abs(float64(i - j))
	switch {
	case w == Linear:
		return d
	case w == Quadratic:
		return d * d
	case d > 0:
		return 1
	}
	return 0
}

// A Kappa is Cohen's kappa of two raters.
type Kappa struct {
	Chance       // Observed and Expected only of the unweighted kappa
	N      int64 // units
}

// Kappa is Cohen's kappa, 1 - Σ w O / Σ w E with disagreement weights w. It is
// undefined where chance leaves no room for disagreement: both raters chose one
// and the same category throughout.
//
// Source: Cohen 1960, 1968.
func (c *Contingency) Kappa(w Weights) Kappa {
	n := c.Units()
	out := Kappa{N: int64(n)}
	if n == 0 {
		return out
	}
	rows, cols := c.margins(n)
	var observed, expected float64 // disagreement
	for i := range c.categories {
		for j := range c.categories {
			d := w.disagreement(i, j)
			observed += d * c.Count(i, j) / n
			expected += d * rows[i] * cols[j]
		}
	}
	if w == Unweighted {
		out.Observed, out.Expected = Of(1-observed), Of(1-expected)
	}
	if expected == 0 {
		return out
	}
	out.Value = Of(1 - observed/expected)
	return out
}

// margins are the shares of the categories for either rater.
func (c *Contingency) margins(n float64) (rows, cols []float64) {
	rows, cols = make([]float64, c.categories), make([]float64, c.categories)
	for i := range c.categories {
		for j := range c.categories {
			p := c.Count(i, j) / n
			rows[i] += p
			cols[j] += p
		}
	}
	return rows, cols
}

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
func (t *Tally) Alpha(scale Scale, values []float64) ibid.Number {
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
		return ibid.Number{}
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
