package report

import (
	"slices"
	"strings"
)

// notesOf are what a reader must know of a metric: what its intervals rest on,
// and what could become of it if everything were scored.
func notesOf(l *summaryLine) []string {
	notes := slices.Concat(l.Macro.Warnings, l.Micro.Warnings)
	if text := coverageNote(l); text != "" {
		notes = append(notes, text)
	}
	return notes
}

// Metrics of which most was scored, and which the rest could hardly change, share
// one note.
const (
	mostlyScored     = 0.9  // least coverage
	slightlyUnscored = 0.05 // greatest distance of the bounds
)

// coverageNote says how much of a metric was scored, and its least and greatest value if all
// of it were: of the macro value, or of the micro value where that alone has bounds. It is ""
// where all of it was scored.
func coverageNote(l *summaryLine) string {
	c, r, of := l.Macro.Coverage, &l.Macro, ""
	if r.BoundLow == nil || r.BoundHigh == nil {
		r, of = &l.Micro, "micro "
	}
	switch known := r.BoundLow != nil && r.BoundHigh != nil; {
	case c == nil || *c >= 1:
		return ""
	case !known:
		return share(*c) + " of it was scored: the rest could change it by any amount"
	case *c >= mostlyScored && of == "" && *r.BoundHigh-*r.BoundLow <= slightlyUnscored:
		return "some of it was not scored: that could change it by 0.05 at most"
	case short(*r.BoundLow) == short(*r.BoundHigh):
		return share(*c) + " of it was scored: with the rest it would be " + of + short(*r.BoundLow)
	}
	return share(*c) + " of it was scored: with the rest it would be " + of + "between " + short(*r.BoundLow) + " and " + short(*r.BoundHigh)
}

// share prints a share of less than all, and not as if it were all.
func share(v float64) string {
	if v >= 0.9995 {
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
