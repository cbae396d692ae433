package annotations

import "ibid/dataset/runs"

// An Agreement is how far annotators agree.
type Agreement struct {
	Statistics []runs.AgreementRow // as agreement.parquet has them
	Marking    []Person            // who marks how, by name
	Labelling  []Person            // who labels how, by name
	Worst      []Disagreement      // on marks, then on labels; the least agreement first
	Warnings   []string
}

// Measure is the agreement of both collections; either may be nil.
func Measure(s *Spans, l *Labels) *Agreement {
	a := new(Agreement)
	if s != nil {
		a.Statistics = append(a.Statistics, s.Statistics()...)
		a.Marking, a.Worst = s.people.list(), append(a.Worst, s.worst.items...)
		a.Warnings = append(a.Warnings, s.Warnings()...)
	}
	if l != nil {
		for i := range l.items {
			l.note(&l.items[i])
		}
		a.Statistics = append(a.Statistics, l.Statistics()...)
		a.Labelling, a.Worst = l.people.list(), append(a.Worst, l.worst.items...)
		a.Warnings = append(a.Warnings, l.Warnings()...)
	}
	return a
}
