package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// footnotes numbers notes in the order in which they are first shown. Equal ones
// share a number.
type footnotes struct{ texts []string }

// marks are the superscript numbers of notes, in order.
func (f *footnotes) marks(notes []string) string {
	var numbers []int
	for _, text := range notes {
		k := slices.Index(f.texts, text)
		if k < 0 {
			k = len(f.texts)
			f.texts = append(f.texts, text)
		}
		numbers = append(numbers, k+1)
	}
	slices.Sort(numbers)
	var marks []string
	for _, n := range slices.Compact(numbers) {
		marks = append(marks, superscript(n))
	}
	return strings.Join(marks, "˒")
}

func superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	var b strings.Builder
	for _, d := range fmt.Sprint(n) {
		b.WriteRune(digits[d-'0'])
	}
	return b.String()
}

// notesOf are what a reader must know of a metric: what its intervals rest on,
// and what could become of it if everything were scored.
func notesOf(l *Line) []string {
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
func coverageNote(l *Line) string {
	c := l.Macro.Coverage
	if c == nil || *c >= 1 {
		return ""
	}
	if *c >= mostlyScored && slight(&l.Macro) && (slight(&l.Micro) || !l.HasMicro) {
		return "not all of it was scored: the rest could change it by 0.05 at most (JSON and CSV have the bounds)"
	}
	macro, micro := bounds(&l.Macro), bounds(&l.Micro)
	switch {
	case macro == "" && micro == "":
		return "coverage " + share(*c) + ": the rest could change it without bounds"
	case micro == "" || micro == macro:
		micro = ""
	case macro == "":
		micro = "micro " + micro
	default:
		macro, micro = "macro "+macro, ", micro "+micro
	}
	return "coverage " + share(*c) + ": " + macro + micro + " if everything were scored"
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
		return "still " + low
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
