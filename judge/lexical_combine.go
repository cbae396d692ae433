package judge

import (
	"strings"
	"unicode/utf8"
)

// combine joins features that mean one thing together: "4.2 million dollars",
// "11 July 1909", "USD 5".
func (s *scanner) combine() {
	for i := range s.features {
		f := &s.features[i]
		if f.dropped {
			continue
		}
		if f.kind == featureWord && f.word.number != 0 && !f.glued {
			f.kind = featureNumber
			f.number = number{digits: uint64(f.word.number)}
			for f.number.digits%10 == 0 {
				f.number.digits /= 10
				f.number.exp++
			}
		}
		if f.kind == featureNumber {
			s.measure(i)
		}
	}
	for i := range s.features {
		if f := &s.features[i]; !f.dropped && f.word.month != 0 && f.kind == featureWord {
			s.date(i)
		}
	}
	s.eastAsianDates()
}

// near reports whether feature j follows feature i with at most one character
// between them.
func (s *scanner) near(i, j int) bool {
	return j < len(s.features) && !s.features[j].breaks && s.features[j].cp <= s.features[i].cpEnd+1
}

// measure gives the number i the powers of ten and the unit that stand beside
// it.
func (s *scanner) measure(i int) {
	n := &s.features[i].number
	if i > 0 && s.features[i-1].word.abbr && s.features[i-1].word.negates && s.text[s.features[i-1].end] == '.' {
		s.features[i-1].dropped = true // "No. 5"
	}
	j := i + 1
	for at := i; s.near(at, j) && s.features[j].kind == featureWord && s.features[j].word.times != 0; j++ {
		n.scale(s.features[j].word.times)
		s.drop(i, j)
		at = j
	}
	if n.unit != 0 {
		return
	}
	if at := j - 1; s.near(at, j) && s.features[j].kind == featureWord && s.features[j].word.unit != 0 {
		n.unit = s.features[j].word.unit
		s.drop(i, j)
		return
	}
	// A sign after a space: "5 %", "5 €", "5 °C".
	var end int
	if n.unit, end = s.signAfter(int(s.features[j-1].end)); n.unit != 0 && j < len(s.features) && int(s.features[j].start) < end {
		s.drop(i, j) // the letter of °C
	}
	if n.unit == 0 && i > 0 && s.near(i-1, i) && s.features[i-1].kind == featureWord && s.currencyCode(i-1) {
		n.unit = s.features[i-1].word.unit
		s.features[i-1].dropped = true
	}
}

// drop makes feature j part of feature i.
func (s *scanner) drop(i, j int) {
	s.features[j].dropped = true
	s.features[i].end, s.features[i].cpEnd = s.features[j].end, s.features[j].cpEnd
}

// signAfter returns the unit of a sign at that byte or one white space after
// it, and where the sign ends; no unit if there is none.
func (s *scanner) signAfter(at int) (u unit, end int) {
	for k, r := range s.text[at:] {
		switch r {
		case ' ', 0xA0, 0x202F:
			if k > 0 {
				return 0, 0
			}
			continue
		case '°':
			for _, sign := range []string{"°C", "°F"} {
				if strings.HasPrefix(s.text[at+k:], sign) {
					return s.lexicon.look(foldHash(sign)).unit, at + k + len(sign)
				}
			}
		case '%', '％', '‰', '$', '€', '£', '¥', '℃', '℉':
		default:
			return 0, 0
		}
		return s.lexicon.look(mix(hashRune(hashSeed, r))).unit, at + k + utf8.RuneLen(r)
	}
	return 0, 0
}

// currencyCode reports whether feature i is a code such as USD, in capitals.
func (s *scanner) currencyCode(i int) bool {
	f := &s.features[i]
	if f.word.unit == 0 || f.end-f.start != 3 {
		return false
	}
	for _, c := range []byte(s.text[f.start:f.end]) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}

// date makes a date of the month i and the numbers around it: "11 July 1909",
// "July 11, 1909", "July 1909", "11. Juli", "11 de julio de 1909".
func (s *scanner) date(i int) {
	d := date{month: s.features[i].word.month}
	first, last := i, i
	if j := s.neighbour(i, -1); j >= 0 {
		if day, ok := s.day(j); ok {
			d.day, first = day, j
		}
	}
	j := s.neighbour(i, +1)
	if d.day == 0 && j >= 0 {
		if day, ok := s.day(j); ok {
			d.day, last = day, j
			j = s.neighbour(j, +1)
		}
	}
	if j >= 0 && s.features[j].number.unit == 0 {
		if year, ok := s.features[j].number.year(); ok {
			d.year, last = year, j
		}
	}
	if first == last {
		return
	}
	f := &s.features[first]
	f.kind, f.date, f.word = featureDate, d, word{}
	for k := first + 1; k <= last; k++ {
		s.drop(first, k)
	}
}

// neighbour returns the number beside feature i in that direction, across a
// word such as "of"; -1 if there is none near.
func (s *scanner) neighbour(i, step int) int {
	const most = 4 // characters between the two: ", ", ". "
	at := i
	for j := i + step; j >= 0 && j < len(s.features) && j <= i+2 && j >= i-2; j += step {
		lo, hi := &s.features[min(at, j)], &s.features[max(at, j)]
		if hi.cp-lo.cpEnd > most || hi.breaks && !hi.weakBreak || lo.dropped || hi.dropped {
			return -1
		}
		if s.features[j].kind == featureNumber {
			return j
		}
		if !s.features[j].word.joint {
			return -1
		}
		at = j
	}
	return -1
}

func (s *scanner) day(i int) (uint8, bool) {
	n := &s.features[i].number
	v, ok := n.small(31)
	return uint8(v), ok && n.unit == 0
}

// eastAsianDates joins 1909年7月11日 to one date.
func (s *scanner) eastAsianDates() {
	units := s.lexicon.units
	year, month, day := units["year"], units["month"], units["day"]
	for i := range s.features {
		m := &s.features[i]
		if m.kind != featureNumber || m.dropped || m.number.unit != month || !s.ideographic(i) {
			continue
		}
		v, ok := m.number.small(12)
		if !ok {
			continue
		}
		d := date{month: uint8(v)}
		first, last := i, i
		if i > 0 && s.features[i-1].kind == featureNumber && s.features[i-1].number.unit == year && s.touch(i-1, i) {
			if y, ok := s.features[i-1].number.year(); ok {
				d.year, first = y, i-1
			}
		}
		if i+1 < len(s.features) && s.features[i+1].kind == featureNumber && s.features[i+1].number.unit == day && s.touch(i, i+1) {
			if v, ok := s.features[i+1].number.small(31); ok {
				d.day, last = uint8(v), i+1
			}
		}
		if first == last {
			continue
		}
		f := &s.features[first]
		f.kind, f.date = featureDate, d
		for k := first + 1; k <= last; k++ {
			s.drop(first, k)
		}
	}
}

// ideographic reports whether number i has a part in ideographs or Hangul, as
// the parts of a date have.
func (s *scanner) ideographic(i int) bool {
	f := &s.features[i]
	for _, r := range s.text[f.start:f.end] {
		if spaceless(r) {
			return true
		}
	}
	return false
}

// touch reports whether at most one space stands between two features.
func (s *scanner) touch(i, j int) bool { return s.features[j].cp <= s.features[i].cpEnd+1 }
