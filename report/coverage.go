package report

import (
	"slices"
	"strings"

	"ibid/dataset/runs"
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

// coverageNote says how much of a metric was scored, and its least and greatest
// value if all of it were; nothing where all of it was.
func coverageNote(l *summaryLine) string {
	c := l.Macro.Coverage
	if c == nil || *c >= 1 {
		return ""
	}
	if *c >= mostlyScored && slight(&l.Macro) && (slight(&l.Micro) || !l.HasMicro) {
		return "some of it was not scored: that could change it by 0.05 at most"
	}
	macro, micro := bounds(&l.Macro), bounds(&l.Micro)
	switch {
	case macro == "" && micro == "":
		return share(*c) + " of it was scored: the rest could change it by any amount"
	case micro == "" || micro == macro:
		micro = ""
	case macro == "":
		micro = "micro " + micro
	default:
		macro, micro = "macro "+macro, ", micro "+micro
	}
	return share(*c) + " of it was scored: with the rest it would be " + macro + micro
}

// slight reports whether a value hardly depends on what is unscored.
func slight(r *runs.SummaryRow) bool {
	return r.BoundLow != nil && r.BoundHigh != nil && *r.BoundHigh-*r.BoundLow <= slightlyUnscored
}

// bounds are the least and the greatest value of a row of the summary, "" if it
// has none.
func bounds(r *runs.SummaryRow) string {
	if r.BoundLow == nil || r.BoundHigh == nil {
		return ""
	}
	low, high := short(*r.BoundLow), short(*r.BoundHigh)
	if low == high {
		return low
	}
	return "between " + low + " and " + high
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
