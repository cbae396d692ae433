package stats

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
func (p CharPair) Jaccard() Number { return FractionOf(float64(p.Both), float64(p.Union())) }

// Dice is 2|A∩B|/(|A|+|B|), the F1 of characters, undefined if neither marked
// anything.
func (p CharPair) Dice() Number {
	return FractionOf(2*float64(p.Both), 2*float64(p.Both)+float64(p.First)+float64(p.Second))
}

// Percent is the share of all characters on which both agree, marked or not.
func (p CharPair) Percent() Number {
	return FractionOf(float64(p.Both)+float64(p.Neither), p.length())
}

func (p CharPair) length() float64 { return float64(p.Union()) + float64(p.Neither) }

// Kappa is Cohen's kappa of the characters' two labels, marked and not,
//
//	2(n11 n00 - n10 n01) / ((n11+n10)(n10+n00) + (n11+n01)(n01+n00))
//
// in which nothing cancels for long texts. It is undefined where both marked
// nothing, or both everything.
func (p CharPair) Kappa() Number {
	n11, n10, n01, n00 := float64(p.Both), float64(p.First), float64(p.Second), float64(p.Neither)
	return FractionOf(2*(n11*n00-n10*n01), (n11+n10)*(n10+n00)+(n11+n01)*(n01+n00))
}

// AC1 is Gwet's coefficient of the characters' two labels. That of two annotators
// who marked nothing is 1.
func (p CharPair) AC1() Number {
	n := p.length()
	if n == 0 {
		return Number{}
	}
	marked := (2*float64(p.Both) + float64(p.First) + float64(p.Second)) / (2 * n)
	return Of(1 - (float64(p.First)+float64(p.Second))/n/(1-2*marked*(1-marked)))
}

// A UnitPair is how the units of two annotators correspond.
type UnitPair struct {
	FirstUnits, SecondUnits int64
	Exact                   int64 // pairs with the same bounds
	Matched                 int64 // pairs of a largest one-to-one matching that share a character
	FirstTouched            int64 // units that share a character with some unit of the other
	SecondTouched           int64
}

// ExactF1 is the F1 of units with the same bounds, undefined without units.
func (p UnitPair) ExactF1() Number { return FractionOf(2*float64(p.Exact), p.units()) }

// OverlapF1 is the F1 of units matched one to one that share a character.
func (p UnitPair) OverlapF1() Number { return FractionOf(2*float64(p.Matched), p.units()) }

// TouchedF1 is the F1 of units that share a character with some unit of the
// other, however many do.
func (p UnitPair) TouchedF1() Number {
	if p.units() == 0 {
		return Number{}
	}
	if p.FirstTouched == 0 || p.SecondTouched == 0 {
		return Of(0)
	}
	a, b := float64(p.FirstTouched)/float64(p.FirstUnits), float64(p.SecondTouched)/float64(p.SecondUnits)
	return Of(2 * a * b / (a + b))
}

func (p UnitPair) units() float64 { return float64(p.FirstUnits + p.SecondUnits) }

func unitPair(a, b []Unit) UnitPair {
	p := UnitPair{
		FirstUnits: int64(len(a)), SecondUnits: int64(len(b)), FirstTouched: touched(a, b), SecondTouched: touched(b, a),
	}
	p.Exact = matchUnits(a, b, func(x, y Unit) bool { return x.Start == y.Start && x.End == y.End })
	p.Matched = matchUnits(a, b, shareCharacter)
	return p
}

func shareCharacter(x, y Unit) bool { return max(x.Start, y.Start) < min(x.End, y.End) }

func touched(a, b []Unit) (n int64) {
	for _, x := range a {
		for _, y := range b {
			if shareCharacter(x, y) {
				n++
				break
			}
		}
	}
	return n
}

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
