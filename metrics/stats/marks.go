package stats

import (
	"cmp"
	"slices"

	"ibid"
)

// A Unit is a half-open stretch [Start, End) of a text that an annotator marked
// as being of a category, from 1. One with Start >= End marks nothing.
type Unit struct {
	Start, End int64
	Category   int
}

// A Marked text is what several annotators marked in one text of known length.
//
// A nil list is an annotator who did not see the text: it is as if there were no
// such annotator. An empty one is an annotator who saw it and marked nothing.
// Confusing the two changes every coefficient.
type Marked struct {
	Length     int64
	Annotators [][]Unit
}

// present are the annotators who saw the text, each as sorted units within it:
// units of one category that share a character are merged, touching ones are not.
func (m *Marked) present() [][]Unit {
	var out [][]Unit
	for _, units := range m.Annotators {
		if units != nil {
			out = append(out, MergeUnits(units, m.Length))
		}
	}
	return out
}

// MergeUnits returns units cut to [0, length), sorted, those of one category that
// share a character merged. It is never nil.
func MergeUnits(units []Unit, length int64) []Unit {
	out := make([]Unit, 0, len(units))
	for _, u := range units {
		u.Start, u.End = max(u.Start, 0), min(u.End, length)
		if u.Start < u.End {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b Unit) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	merged := out[:0]
	for _, u := range out {
		if last := len(merged) - 1; last >= 0 && merged[last].Category == u.Category && u.Start < merged[last].End {
			merged[last].End = max(merged[last].End, u.End)
			continue
		}
		merged = append(merged, u)
	}
	slices.SortFunc(merged, func(a, b Unit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Category, b.Category))
	})
	return merged
}

// union is the set of characters of sorted units, as disjoint units.
func union(units []Unit) []Unit {
	out := make([]Unit, 0, len(units))
	for _, u := range units {
		if last := len(out) - 1; last >= 0 && u.Start <= out[last].End {
			out[last].End = max(out[last].End, u.End)
			continue
		}
		out = append(out, Unit{u.Start, u.End, 1})
	}
	return out
}

func lengthOf(disjoint []Unit) (n int64) {
	for _, u := range disjoint {
		n += u.End - u.Start
	}
	return n
}

// overlapOf is the number of characters that two lists of disjoint sorted units
// share.
func overlapOf(a, b []Unit) (n int64) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		n += max(0, min(a[i].End, b[j].End)-max(a[i].Start, b[j].Start))
		if a[i].End <= b[j].End {
			i++
		} else {
			j++
		}
	}
	return n
}

// sweep calls yield with every stretch of the text over which nothing changes,
// and with the category of each annotator there, 0 for none. Units of one
// annotator must be disjoint.
func sweep(annotators [][]Unit, length int64, yield func(width int64, category []int)) {
	type event struct {
		at       int64
		who, cat int
	}
	var events []event
	for who, units := range annotators {
		for _, u := range units {
			// A unit that touches the next one ends before that one begins.
			events = append(events, event{u.Start, who, u.Category}, event{u.End, who, 0})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.who, b.who), cmp.Compare(min(a.cat, 1), min(b.cat, 1)))
	})
	now, from := make([]int, len(annotators)), int64(0)
	for _, e := range events {
		if e.at > from {
			yield(e.at-from, now)
			from = e.at
		}
		now[e.who] = e.cat
	}
	if length > from {
		yield(length-from, now)
	}
}

// A CharPair is what two annotators marked in one text, in characters.
type CharPair struct{ Both, First, Second, Neither int64 }

// Pairs compares every two annotators who saw the text; first and second are
// their indices in m.Annotators.
func (m *Marked) Pairs(yield func(first, second int, p PairScore)) {
	var seen []int
	for i, units := range m.Annotators {
		if units != nil {
			seen = append(seen, i)
		}
	}
	units := m.present()
	sets := make([][]Unit, len(units))
	for i, u := range units {
		sets[i] = union(u)
	}
	for i := range units {
		for j := i + 1; j < len(units); j++ {
			both := overlapOf(sets[i], sets[j])
			p := CharPair{Both: both, First: lengthOf(sets[i]) - both, Second: lengthOf(sets[j]) - both}
			p.Neither = m.Length - both - p.First - p.Second
			yield(seen[i], seen[j], PairScore{CharPair: p, UnitPair: unitPair(units[i], units[j])})
		}
	}
}

// A PairScore is what two annotators marked in one text.
type PairScore struct {
	CharPair
	UnitPair
}

// Union is the number of characters that either marked.
func (p CharPair) Union() int64 { return p.Both + p.First + p.Second }

// Jaccard is |A∩B|/|A∪B|, undefined if neither marked anything.
func (p CharPair) Jaccard() ibid.Number { return FractionOf(float64(p.Both), float64(p.Union())) }

// Dice is 2|A∩B|/(|A|+|B|), the F1 of characters, undefined if neither marked
// anything.
func (p CharPair) Dice() ibid.Number {
	return FractionOf(2*float64(p.Both), 2*float64(p.Both)+float64(p.First)+float64(p.Second))
}

// Percent is the share of all characters on which both agree, marked or not.
func (p CharPair) Percent() ibid.Number {
	return FractionOf(float64(p.Both)+float64(p.Neither), p.length())
}

func (p CharPair) length() float64 { return float64(p.Union()) + float64(p.Neither) }

// Kappa is Cohen's kappa of the characters' two labels, marked and not,
//
//	2(n11 n00 - n10 n01) / ((n11+n10)(n10+n00) + (n11+n01)(n01+n00))
//
// in which nothing cancels for long texts. It is undefined where both marked
// nothing, or both everything.
func (p CharPair) Kappa() ibid.Number {
	n11, n10, n01, n00 := float64(p.Both), float64(p.First), float64(p.Second), float64(p.Neither)
	return FractionOf(2*(n11*n00-n10*n01), (n11+n10)*(n10+n00)+(n11+n01)*(n01+n00))
}

// AC1 is Gwet's coefficient of the characters' two labels. That of two annotators
// who marked nothing is 1.
func (p CharPair) AC1() ibid.Number {
	n := p.length()
	if n == 0 {
		return ibid.Number{}
	}
	marked := (2*float64(p.Both) + float64(p.First) + float64(p.Second)) / (2 * n)
	return Of(1 - (float64(p.First)+float64(p.Second))/n/(1-2*marked*(1-marked)))
}

// A UnitPair is how the units of two annotators correspond.
type UnitPair struct {
	FirstUnits, SecondUnits int64
	Exact                   int64 // pairs with the same bounds
	Matched                 int64 // pairs of a largest one-to-one matching that share a character
}

// ExactF1 is the F1 of units with the same bounds, undefined without units.
func (p UnitPair) ExactF1() ibid.Number { return FractionOf(2*float64(p.Exact), p.units()) }

// OverlapF1 is the F1 of units matched one to one that share a character.
func (p UnitPair) OverlapF1() ibid.Number { return FractionOf(2*float64(p.Matched), p.units()) }

func (p UnitPair) units() float64 { return float64(p.FirstUnits + p.SecondUnits) }

func unitPair(a, b []Unit) UnitPair {
	p := UnitPair{
		FirstUnits: int64(len(a)), SecondUnits: int64(len(b)),
	}
	p.Exact = matchUnits(a, b, func(x, y Unit) bool { return x.Start == y.Start && x.End == y.End })
	p.Matched = matchUnits(a, b, shareCharacter)
	return p
}

func shareCharacter(x, y Unit) bool { return max(x.Start, y.Start) < min(x.End, y.End) }

// matchUnits is the size of a largest one-to-one matching of units that fit, by
// augmenting paths.
func matchUnits(a, b []Unit, fit func(x, y Unit) bool) (n int64) {
	partner := make([]int, len(b)) // of b, from 1
	var augment func(i int, tried []bool) bool
	augment = func(i int, tried []bool) bool {
		for j := range b {
			if tried[j] || !fit(a[i], b[j]) {
				continue
			}
			tried[j] = true
			if partner[j] == 0 || augment(partner[j]-1, tried) {
				partner[j] = i + 1
				return true
			}
		}
		return false
	}
	for i := range a {
		if augment(i, make([]bool, len(b))) {
			n++
		}
	}
	return n
}

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
// Characters are not independent of each other: the units of an interval are texts.
func (t CharTotals) Alpha() ibid.Number {
	n := t.Marked + t.Unmarked
	if t.Marked == 0 || t.Unmarked == 0 {
		return ibid.Number{}
	}
	return Of(1 - t.Mismatched*(n-1)/(t.Marked*t.Unmarked))
}
