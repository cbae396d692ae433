package judge

import "math"

// A number is the value digits × 10^exp, in one form: digits does not end in 0
// unless it is 0. unit is what it counts, 0 if not said.
type number struct {
	digits   uint64
	exp      int16
	negative bool
	unit     unit
	// other is a second reading of the digits: "1,234" is 1234 to one reader
	// and 1.234 to another.
	other    uint64
	otherExp int16
	hasOther bool
}

// maxDigits is how many significant digits a number keeps; longer ones are
// compared by their hash.
const maxDigits = 18

// maxGroups is how many separators a number may have.
const maxGroups = 24

// longExp marks a number whose digits are a hash.
const longExp = math.MaxInt16

// value is a number without what it counts.
type value struct {
	digits   uint64
	exp      int16
	negative bool
}

func (n *number) value() value { return value{n.digits, n.exp, n.negative} }

// same reports whether two numbers agree in one of their readings, and in what
// they count if both say so.
func (n *number) same(m *number) bool {
	if n.unit != m.unit && n.unit != 0 && m.unit != 0 || n.negative != m.negative {
		return false
	}
	return n.digits == m.digits && n.exp == m.exp ||
		m.hasOther && n.digits == m.other && n.exp == m.otherExp ||
		n.hasOther && n.other == m.digits && n.otherExp == m.exp
}

// year returns the number as a year of four digits.
func (n *number) year() (int16, bool) {
	v, ok := n.small(2999)
	return int16(v), ok && v >= 1000
}

// small returns the number if it is a positive integer up to limit.
func (n *number) small(limit uint64) (uint64, bool) {
	if n.negative || n.exp < 0 || n.exp > 3 {
		return 0, false
	}
	v := n.digits
	for range n.exp {
		v *= 10
	}
	return v, v > 0 && v <= limit
}

// scale multiplies the number by a power of ten.
func (n *number) scale(power uint8) {
	if n.exp != longExp && n.digits != 0 {
		n.exp += int16(power)
	}
	n.hasOther = false
}

// parseDigits returns the value of decimal digits with fraction of them after
// the point. It skips bytes that are no digits.
func parseDigits(s string, fraction int) (digits uint64, exp int16) {
	n, zeros := 0, 0
	hash := uint64(hashSeed)
	for i := range len(s) {
		c := s[i]
		switch {
		case !isDigit(c) || c == '0' && n == 0:
			continue
		case c == '0':
			zeros++
			continue
		}
		for ; zeros > 0; zeros-- {
			digits, n = digits*10, n+1
			hash = hashRune(hash, '0')
		}
		digits, n = digits*10+uint64(c-'0'), n+1
		hash = hashRune(hash, rune(c))
	}
	if n == 0 {
		return 0, 0
	}
	if n > maxDigits || zeros > maxDigits || fraction > maxDigits {
		return mix(hash ^ uint64(zeros-fraction)), longExp
	}
	return digits, int16(zeros - fraction)
}

// parseNumber reads digits that '.', ',' and marks of grouping divide into
// groups. ok is false if that is no single number, as with 10.0.0.1.
func parseNumber(s string) (n number, ok bool) {
	var seps [maxGroups]byte
	var lens [maxGroups + 1]int
	groups := 0
	for i := 0; i < len(s); {
		switch {
		case isDigit(s[i]):
			lens[groups]++
			i++
		case groups == len(seps):
			return n, false
		default:
			sep := s[i]
			for i < len(s) && !isDigit(s[i]) {
				i++ // a mark of grouping may take several bytes
			}
			if sep != '.' && sep != ',' {
				sep = ' '
			}
			seps[groups] = sep
			groups++
		}
	}
	switch last := seps[max(groups-1, 0)]; {
	case groups == 0:
		n.digits, n.exp = parseDigits(s, 0)
	case grouped(seps[:groups], lens[:groups+1]):
		n.digits, n.exp = parseDigits(s, 0)
		if groups == 1 && last != ' ' {
			n.hasOther = true
			n.other, n.otherExp = parseDigits(s, lens[1])
			if last == '.' {
				n.digits, n.exp, n.other, n.otherExp = n.other, n.otherExp, n.digits, n.exp
			}
		}
	case last == ' ', groups > 1 && !grouped(seps[:groups-1], lens[:groups]), groups > 1 && seps[groups-2] == last:
		return n, false
	default:
		n.digits, n.exp = parseDigits(s, lens[groups])
	}
	return n, true
}

// grouped reports whether the separators are all the same and set off groups of
// three digits (of two, before the last, in Indian numbers).
func grouped(seps []byte, lens []int) bool {
	if lens[0] == 0 || lens[0] > 3 {
		return false
	}
	for i, sep := range seps {
		n := lens[i+1]
		if sep != seps[0] || n != 3 && (n != 2 || i == len(seps)-1) {
			return false
		}
	}
	return true
}

// A date has 0 for what it does not say.
type date struct {
	year       int16
	month, day uint8
	swaps      bool // day and month may be the other way round
}

// backedBy reports whether e says everything that d does.
func (d *date) backedBy(e *date) bool {
	if d.year != 0 && d.year != e.year {
		return false
	}
	within := func(month, day uint8) bool {
		return (d.month == 0 || d.month == month) && (d.day == 0 || d.day == day)
	}
	return within(e.month, e.day) || e.swaps && within(e.day, e.month) ||
		d.swaps && d.month == e.day && d.day == e.month
}

// parseDate reads a date of three groups of digits divided by one of - / and
// '.': year first, or year last with the day first, or with the month first
// where only that is a date.
func parseDate(s string) (d date, ok bool) {
	var v, lens [3]int
	group := 0
	var sep byte
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			if lens[group]++; lens[group] > 4 {
				return d, false
			}
			v[group] = v[group]*10 + int(c-'0')
		case group == 2 || lens[group] == 0 || group == 1 && c != sep:
			return d, false
		default:
			sep = c
			group++
		}
	}
	if group != 2 || lens[1] == 0 || lens[1] > 2 {
		return d, false
	}
	switch {
	case lens[0] == 4 && (lens[2] == 1 || lens[2] == 2):
		d = date{year: int16(v[0]), month: uint8(v[1]), day: uint8(v[2])}
	case lens[2] == 4 && lens[0] <= 2 && v[1] > 12:
		d = date{year: int16(v[2]), month: uint8(v[0]), day: uint8(v[1])}
	case lens[2] == 4 && lens[0] <= 2:
		d = date{year: int16(v[2]), month: uint8(v[1]), day: uint8(v[0]), swaps: sep == '/' && v[0] <= 12 && v[0] != v[1]}
	}
	return d, d.month >= 1 && d.month <= 12 && d.day >= 1 && d.day <= 31 && d.year >= 1000
}
