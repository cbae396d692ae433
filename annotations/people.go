package annotations

import (
	"maps"
	"slices"

	"ibid/metrics/stats"
)

// A Person is how one annotator differs from the others on the items that both
// saw. Fields that are not defined say so.
type Person struct {
	Name  string
	Items int64 // that another annotator saw, too

	// Of marks:
	Empty      int64        // items in which the annotator marked nothing and somebody else did
	Jaccard    stats.Number // mean over the others
	Shifts     int64        // marks that overlap one of another annotator
	StartShift stats.Number // mean characters by which such a mark begins later than the other's; negative: earlier
	EndShift   stats.Number // mean characters by which it ends later
	LengthRate stats.Number // characters marked over those of the others: above 1 marks more

	// Of labels:
	Labels  int64        // that another annotator gave, too
	Agree   stats.Number // share of the other labels that are the same
	Leaning stats.Number // mean by which the values are higher than the others'; of numbers only
}

// A personSums adds up to a Person.
type personSums struct {
	items, empty           int64
	jaccard, jaccards      float64
	shifts, start, end     float64
	own, others            float64
	labels, agree, compare float64
	leaning, leanings      float64
}

type people map[string]*personSums

func (p people) of(name string) *personSums {
	s := p[name]
	if s == nil {
		s = new(personSums)
		p[name] = s
	}
	return s
}

func (p people) spans(it *Item, m *stats.Marked) {
	for i, mark := range it.Marks {
		s := p.of(mark.Annotator)
		s.items++
		othersMarked := false
		for j := range it.Marks {
			othersMarked = othersMarked || j != i && len(m.Annotators[j]) > 0
		}
		if len(m.Annotators[i]) == 0 && othersMarked {
			s.empty++
		}
	}
	m.Pairs(func(i, j int, score stats.PairScore) {
		a, b := p.of(it.Marks[i].Annotator), p.of(it.Marks[j].Annotator)
		if v := score.Jaccard(); v.Defined {
			for _, s := range []*personSums{a, b} {
				s.jaccard += v.Value
				s.jaccards++
			}
		}
		first, second := float64(score.Both+score.First), float64(score.Both+score.Second)
		a.own, a.others = a.own+first, a.others+second
		b.own, b.others = b.own+second, b.others+first
		for _, x := range m.Annotators[i] {
			for _, y := range m.Annotators[j] {
				if max(x.Start, y.Start) < min(x.End, y.End) {
					a.shift(x, y)
					b.shift(y, x)
				}
			}
		}
	})
}

// shift notes an own unit that overlaps another's.
func (s *personSums) shift(own, other stats.Unit) {
	s.shifts++
	s.start += float64(own.Start - other.Start)
	s.end += float64(own.End - other.End)
}

// list is everybody, by name.
func (p people) list() []Person {
	var out []Person
	for _, name := range slices.Sorted(maps.Keys(p)) {
		s := p[name]
		out = append(out, Person{
			Name: name, Items: s.items, Empty: s.empty, Jaccard: stats.FractionOf(s.jaccard, s.jaccards),
			Shifts: int64(s.shifts), StartShift: stats.FractionOf(s.start, s.shifts), EndShift: stats.FractionOf(s.end, s.shifts),
			LengthRate: stats.FractionOf(s.own, s.others),
			Labels:     int64(s.labels), Agree: stats.FractionOf(s.agree, s.compare), Leaning: stats.FractionOf(s.leaning, s.leanings),
		})
	}
	return out
}
