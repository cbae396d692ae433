package stats

import "math"

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

// ContingencyOf is the table whose [Contingency.Vector] is counts.
func ContingencyOf(categories int, counts []float64) *Contingency {
	return &Contingency{categories, counts}
}

// Vector returns the counts, row by row. The caller must not change it.
func (c *Contingency) Vector() []float64 { return c.counts }

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
	Chance // Observed and Expected only of the unweighted kappa
	SE     Number
	Bounds       // large-sample interval, not clipped
	N      int64 // units
}

// Kappa is Cohen's kappa, 1 - Σ w O / Σ w E with disagreement weights w. It is
// undefined where chance leaves no room for disagreement: both raters chose one
// and the same category throughout.
//
// Source: Cohen 1960, 1968; the standard error is that of Fleiss, Cohen & Everitt
// 1969 for a kappa that is not 0.
func (c *Contingency) Kappa(w Weights, level float64) Kappa {
	n := c.Units()
	out := Kappa{N: int64(n)}
	if n == 0 {
		return out
	}
	rows, cols := c.margins(n)
	var observed, expected, widest float64 // disagreement
	for i := range c.categories {
		for j := range c.categories {
			d := w.disagreement(i, j)
			widest = max(widest, d)
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
	kappa := 1 - observed/expected
	out.Value = Of(kappa)
	se := c.kappaSE(w, n, rows, cols, observed/widest, expected/widest, widest)
	out.SE = Of(se)
	out.Bounds = around(kappa, normalQuantile(level)*se)
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

// kappaSE takes disagreements as shares of the widest one.
func (c *Contingency) kappaSE(w Weights, n float64, rows, cols []float64, observed, expected, widest float64) float64 {
	agreement := func(i, j int) float64 { return 1 - w.disagreement(i, j)/widest }
	byRow, byCol := make([]float64, c.categories), make([]float64, c.categories)
	for i := range c.categories {
		for j := range c.categories {
			byRow[i] += cols[j] * agreement(i, j)
			byCol[j] += rows[i] * agreement(i, j)
		}
	}
	var sum float64
	for i := range c.categories {
		for j := range c.categories {
			d := agreement(i, j)*expected - (byRow[i]+byCol[j])*observed
			sum += c.Count(i, j) / n * d * d
		}
	}
	po, pe := 1-observed, 1-expected
	centre := po*pe - 2*pe + po
	variance := (sum - centre*centre) / (n * math.Pow(expected, 4))
	return math.Sqrt(max(0, variance))
}
