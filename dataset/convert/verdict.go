package convert

import (
	"math/bits"

	"ibid/dataset"
	"ibid/metrics/token"
)

// A verdict is what is said of one quote once the reading of its file is known.
type verdict uint8

const (
	proved verdict = iota
	repaired
	mismatched
	degenerate
)

// reading returns the reading of the file: the one that reproduces every quote
// that any reading reproduces. Where several do and give the same spans it is
// the first of them; the documented one, where it is among them. Without one it
// is the documented one: the quotes that it does not reproduce are then searched
// for. voted reports whether any quote decided it.
func (p *proof) reading() (chosen int, voted bool) {
	common := allReadings
	for k := range p.tallies {
		if k.exact != 0 && k.coarse == noCoarse {
			common &= k.exact
			voted = true
		}
	}
	if !voted || common == 0 || common>>p.documented&1 == 1 {
		return p.documented, voted && common != 0
	}
	for set := common; set != 0; set &= set - 1 {
		if p.differ[bits.TrailingZeros16(uint16(set))]&common != 0 {
			return p.documented, false
		}
	}
	return bits.TrailingZeros16(uint16(common)), true
}

// verdict says what the reading of the file makes of one kind of evidence.
func (k *evidenceKind) verdict(reading int) verdict {
	switch {
	case k.degenerate:
		return degenerate
	case k.coarse != noCoarse && k.exact != 0:
		return proved
	case k.hasShifted, (k.exact|k.alike)>>reading&1 == 1:
		return proved
	case k.found:
		return repaired
	}
	return mismatched
}

// name is the reading of proved evidence as the report has it.
func (k *evidenceKind) name(reading int) string {
	if k.coarse != noCoarse {
		return k.coarse.String()
	}
	q := quote{unit: k.unit}
	name := q.read(readings[reading]).String()
	if k.hasShifted {
		name = k.shift.String() + "_shifted"
	}
	if k.inPage {
		name += "_page"
	}
	return name
}

// settle adds the verdicts to the report and returns the reading.
func (p *proof) settle(report *Report) int {
	chosen, _ := p.reading()
	o := p.offsets()
	report.add(&o)
	for k, n := range p.tallies {
		if k.verdict(chosen) == proved {
			report.Readings[k.name(chosen)] += n
		}
		for i := range readings {
			// A quote with a unit of its own has the same bit for every unit.
			stands := (k.unit == 0 || readings[i].Unit == token.CodePoint) && k.coarse == noCoarse
			if k.exact>>i&1 == 1 && stands {
				plain := evidenceKind{unit: k.unit, inPage: k.inPage}
				report.Aligned[plain.name(i)] += n
			}
		}
	}
	return chosen
}

// offsets counts the verdicts under the reading of the file.
func (p *proof) offsets() Offsets {
	chosen, voted := p.reading()
	o := Offsets{
		Reading: readings[chosen].String(), Fitted: voted,
		WithoutQuote: p.withoutQuote, Unproved: p.unproved,
	}
	for k, n := range p.tallies {
		switch k.verdict(chosen) {
		case proved:
			o.Proved += n
		case repaired:
			o.Repaired += n
		case mismatched:
			o.Mismatched += n
		case degenerate:
			o.Degenerate += n
		}
	}
	return o
}

// placed returns q's offsets as ours under the reading of the file. unit is "",
// or the unit that the offsets had to be left in, because they make no span of
// the text and so have no place in code points.
func (e *evidence) placed(text *token.Text, q *quote, chosen int) (start, end dataset.NullInt, unit string) {
	if e.shifted {
		return integer(e.lo), integer(e.hi), ""
	}
	r := q.read(readings[chosen])
	if lo, hi, ok := r.Span(text, q.start, q.end); ok {
		return integer(int64(lo)), integer(int64(hi)), ""
	}
	lo, hi := r.units(q.start, q.end)
	if r.Unit != token.CodePoint {
		unit = r.Unit.String()
	}
	return integer(lo), integer(hi), unit
}

func integer(n int64) dataset.NullInt { return dataset.NullInt{Value: n, Valid: true} }
