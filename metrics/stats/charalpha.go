package stats

// CharTotals are the sums that Krippendorff's alpha over characters needs. They
// are additive over texts.
type CharTotals struct {
	Marked     float64 // characters times annotators who marked them
	Unmarked   float64 // characters times annotators who did not
	Mismatched float64 // coincidences of marked with unmarked
	Texts      float64 // that two or more annotators saw, and that are not empty
}

// CharTotals returns the sums of one text; they are 0 if fewer than two
// annotators saw it, or if it is empty.
func (m *Marked) CharTotals() CharTotals {
	var t CharTotals
	sets := m.present()
	if len(sets) < 2 || m.Length == 0 {
		return t
	}
	for i, units := range sets {
		sets[i] = union(units)
	}
	t.Texts = 1
	all := float64(len(sets))
	sweep(sets, m.Length, func(width int64, category []int) {
		w, k := float64(width), 0.0
		for _, c := range category {
			k += float64(min(c, 1))
		}
		t.Marked += w * k
		t.Unmarked += w * (all - k)
		t.Mismatched += w * k * (all - k) / (all - 1)
	})
	return t
}

// Add adds the sums of o.
func (t *CharTotals) Add(o CharTotals) {
	t.Marked += o.Marked
	t.Unmarked += o.Unmarked
	t.Mismatched += o.Mismatched
	t.Texts += o.Texts
}

// Alpha is Krippendorff's alpha, nominal, over the characters' labels marked and
// not marked, for any number of annotators. It is undefined where everything or
// nothing was marked.
//
// Characters are not independent of each other: an interval must resample texts.
func (t CharTotals) Alpha() Number {
	n := t.Marked + t.Unmarked
	if t.Marked == 0 || t.Unmarked == 0 {
		return Number{}
	}
	return Of(1 - t.Mismatched*(n-1)/(t.Marked*t.Unmarked))
}
