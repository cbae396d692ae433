package stats

// A Tally sums what agreement coefficients for any number of raters need of
// units that raters put into categories. Categories are indices from 0 into a
// code book: a category that nobody used still counts.
//
// A unit says how many of its raters chose each category; who did not rate it is
// not among them. Sums are additive, so the units of a cluster can be tallied
// together and resampled, see [Tally.Vector].
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

// Merge adds all units of o, which must have the same categories.
func (t *Tally) Merge(o *Tally) {
	for i, v := range o.sums {
		t.sums[i] += v
	}
}

func (t *Tally) cell(c, k int) int { return tallyShares + t.categories + c*t.categories + k }

// Units is the number of units with two or more ratings.
func (t *Tally) Units() int64 { return int64(t.sums[tallyPairable]) }

// Percent is the mean over units with two or more ratings of the share of
// ordered pairs of ratings that agree.
func (t *Tally) Percent() Number { return FractionOf(t.sums[tallyAgreeing], t.sums[tallyPairable]) }

// A Chance is a chance-corrected coefficient with its parts.
type Chance struct {
	Value    Number
	Observed Number // agreement
	Expected Number // agreement by chance
}

// chance is 1 - (1-observed)/(1-expected), undefined where expected is 1.
func chance(observed, expected Number) Chance {
	c := Chance{Observed: observed, Expected: expected}
	if observed.Defined && expected.Defined {
		c.Value = FractionOf(observed.Value-expected.Value, 1-expected.Value)
	}
	return c
}

// Fleiss is the kappa of Fleiss 1971, (P̄ - Pe)/(1 - Pe) with Pe = Σ p². Units
// may have different numbers of ratings: P̄ is over those with two or more, p
// over those with any (Gwet's generalisation). It is undefined if everybody
// chose one category.
func (t *Tally) Fleiss() Chance {
	observed := t.Percent()
	if !observed.Defined {
		return Chance{}
	}
	return chance(observed, t.overCategories(func(p float64) float64 { return p * p }))
}

// AC1 is Gwet's (2008) coefficient, (Pa - Pe)/(1 - Pe) with
// Pe = Σ p(1-p)/(q-1). It stays meaningful where nearly all ratings are one
// category. It is undefined for fewer than two categories.
func (t *Tally) AC1() Chance {
	observed := t.Percent()
	if !observed.Defined || t.categories < 2 {
		return Chance{Observed: observed}
	}
	scale := float64(t.categories - 1)
	return chance(observed, t.overCategories(func(p float64) float64 { return p * (1 - p) / scale }))
}

// overCategories sums f over the mean shares of the categories.
func (t *Tally) overCategories(f func(share float64) float64) Number {
	rated := t.sums[tallyRated]
	if rated == 0 {
		return Number{}
	}
	var sum float64
	for c := range t.categories {
		sum += f(t.sums[tallyShares+c] / rated)
	}
	return Of(sum)
}
