package stats

import "errors"

// ErrOverlappingCategories is the error for an annotator whose units of
// different categories overlap: alpha is then per category.
var ErrOverlappingCategories = errors.New("units of different categories overlap")

// UnitTotals are the sums that unitized alpha needs: how much length of one
// category lies against which of another annotator, and how long units are. They
// are additive over texts.
type UnitTotals struct {
	categories int
	sums       []float64 // coincident lengths of (c, k), gaps being category 0; then the squared lengths
}

// NewUnitTotals returns empty sums for categories 1 to categories.
func NewUnitTotals(categories int) *UnitTotals {
	q := categories + 1
	return &UnitTotals{q, make([]float64, q*q+1)}
}

// UnitTotalsOf are the sums whose [UnitTotals.Vector] is sums.
func UnitTotalsOf(categories int, sums []float64) *UnitTotals {
	return &UnitTotals{categories + 1, sums}
}

// Vector returns the sums. The caller must not change it.
func (t *UnitTotals) Vector() []float64 { return t.sums }

// Add adds one text. A text that fewer than two annotators saw adds nothing.
func (t *UnitTotals) Add(m *Marked) error {
	units := m.present()
	if len(units) < 2 {
		return nil
	}
	for _, list := range units {
		for i := 1; i < len(list); i++ {
			if list[i].Start < list[i-1].End {
				return ErrOverlappingCategories
			}
		}
	}
	squares := &t.sums[t.categories*t.categories]
	var valued int64
	for _, list := range units {
		for _, u := range list {
			length := float64(u.End - u.Start)
			*squares += length * length
		}
		valued += lengthOf(list)
	}
	// The length of a gap counts once, not squared: gaps are not units.
	*squares += float64(int64(len(units))*m.Length - valued)

	counts := make([]float64, t.categories)
	others := float64(len(units) - 1)
	sweep(units, m.Length, func(width int64, category []int) {
		clear(counts)
		for _, c := range category {
			counts[c]++
		}
		for c, n := range counts {
			if n == 0 {
				continue
			}
			for k, o := range counts {
				if c == k {
					o--
				}
				t.sums[c*t.categories+k] += float64(width) * n * o / others
			}
		}
	})
	return nil
}

// Alpha is unitized alpha, nominal: 1 for units that are alike in bounds and
// category. It punishes splitting, [0,10) and [10,20) against [0,20). It is
// undefined where only gaps, or only units of one category, can coincide.
//
//	1 - (Σ_{c≠k} l_ck) (T² - S) / (T Σ_{c≠k} l_c l_k)
//
// Source: Krippendorff, Mathet, Bouvry & Widlöcher 2016, Quality & Quantity
// 50:2347.
func (t *UnitTotals) Alpha() Number {
	margins, total := t.margins()
	var observed, expected float64
	for c := range margins {
		for k := range margins {
			if c != k {
				observed += t.sums[c*t.categories+k]
				expected += margins[c] * margins[k]
			}
		}
	}
	return t.alpha(observed, expected, total)
}

// GapAlpha is the same for marked against not marked, whatever the category.
func (t *UnitTotals) GapAlpha() Number {
	margins, total := t.margins()
	return t.alpha(2*(margins[0]-t.sums[0]), 2*margins[0]*(total-margins[0]), total)
}

func (t *UnitTotals) alpha(observed, expected, total float64) Number {
	if expected == 0 {
		return Number{}
	}
	squares := t.sums[t.categories*t.categories]
	return Of(1 - observed*(total*total-squares)/(total*expected))
}

func (t *UnitTotals) margins() (margins []float64, total float64) {
	margins = make([]float64, t.categories)
	for c := range margins {
		for k := range margins {
			margins[c] += t.sums[c*t.categories+k]
		}
		total += margins[c]
	}
	return margins, total
}
