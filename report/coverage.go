package report

import (
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// Notes on a metric of which not all was scored. They have no numbers, so that metrics share
// them: the tables of every metric have a column for each number.
const (
	slightlyUnscored = "some of it was not scored: that could change it by 0.05 at most"
	partlyUnscored   = "part of it was not scored: “every metric” has how much, and what it could be"
)

// notesOf are what a reader must know of a metric: what its intervals rest on, why it has no
// estimate, and whether all of it was scored.
func notesOf(l *summaryLine) []string {
	notes := slices.Concat(l.Macro.Warnings, l.Micro.Warnings)
	if r := &l.Macro; r.Reason != "" {
		notes = append([]string{runs.WithheldText(r.Reason, nil, nil)}, l.Micro.Warnings...)
		if l.Micro.Reason != "" {
			notes = notes[:1]
		}
	} else if text := coverageNote(l); text != "" {
		notes = append(notes, text)
	}
	return notes
}

// coverageNote says whether all of a metric was scored; "" if it was.
func coverageNote(l *summaryLine) string {
	const mostly, slightly = 0.9, 0.05 // least coverage, greatest distance of the bounds
	r := &l.Macro
	switch {
	case r.Coverage == nil || *r.Coverage >= 1:
		return ""
	case *r.Coverage >= mostly && r.BoundLow != nil && r.BoundHigh != nil && *r.BoundHigh-*r.BoundLow <= slightly:
		return slightlyUnscored
	}
	return partlyUnscored
}

// scored is how much of a metric was scored, and its least and greatest value if all of it
// were: of the macro value, or of the micro value where that alone has bounds. Both are ""
// where all of it was scored.
func (l *summaryLine) scored() (part, bounds string) {
	c, r, of := l.Macro.Coverage, &l.Macro, ""
	if r.BoundLow == nil || r.BoundHigh == nil {
		r, of = &l.Micro, "micro "
	}
	switch known := r.BoundLow != nil && r.BoundHigh != nil; {
	case (c == nil || *c >= 1) && l.Macro.Reason == "":
		return "", ""
	case !known:
		bounds = "any"
	case short(*r.BoundLow) == short(*r.BoundHigh):
		bounds = of + short(*r.BoundLow)
	default:
		bounds = of + rangeText(*r.BoundLow, *r.BoundHigh)
	}
	if c != nil {
		part = share(*c)
	}
	return part, bounds
}

// share prints a share; of less than all it is not as if it were all.
func share(v float64) string {
	if v >= 0.9995 && v < 1 {
		return "over 0.999"
	}
	return short(v)
}

// short is number without zeros at the end.
func short(v float64) string {
	text := number(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
