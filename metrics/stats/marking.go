package stats

import (
	"cmp"
	"slices"
)

// A Unit is a half-open stretch [Start, End) of a text that an annotator marked
// as being of a category, from 1. One with Start >= End marks nothing.
type Unit struct {
	Start, End int64
	Category   int
}

// A Marked text is what several annotators marked in one text of known length.
//
// A nil list is an annotator who did not see the text: it is as if there were no
// such annotator. An empty one is an annotator who saw it and marked nothing.
// Confusing the two changes every coefficient.
type Marked struct {
	Length     int64
	Annotators [][]Unit
}

// present are the annotators who saw the text, each as sorted units within it:
// units of one category that share a character are merged, touching ones are not.
func (m *Marked) present() [][]Unit {
	var out [][]Unit
	for _, units := range m.Annotators {
		if units != nil {
			out = append(out, MergeUnits(units, m.Length))
		}
	}
	return out
}

// MergeUnits returns units cut to [0, length), sorted, those of one category that
// share a character merged. It is never nil.
func MergeUnits(units []Unit, length int64) []Unit {
	out := make([]Unit, 0, len(units))
	for _, u := range units {
		u.Start, u.End = max(u.Start, 0), min(u.End, length)
		if u.Start < u.End {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, func(a, b Unit) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	merged := out[:0]
	for _, u := range out {
		if last := len(merged) - 1; last >= 0 && merged[last].Category == u.Category && u.Start < merged[last].End {
			merged[last].End = max(merged[last].End, u.End)
			continue
		}
		merged = append(merged, u)
	}
	slices.SortFunc(merged, func(a, b Unit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Category, b.Category))
	})
	return merged
}

// union is the set of characters of sorted units, as disjoint units.
func union(units []Unit) []Unit {
	out := make([]Unit, 0, len(units))
	for _, u := range units {
		if last := len(out) - 1; last >= 0 && u.Start <= out[last].End {
			out[last].End = max(out[last].End, u.End)
			continue
		}
		out = append(out, Unit{u.Start, u.End, 1})
	}
	return out
}

func lengthOf(disjoint []Unit) (n int64) {
	for _, u := range disjoint {
		n += u.End - u.Start
	}
	return n
}

// overlapOf is the number of characters that two lists of disjoint sorted units
// share.
func overlapOf(a, b []Unit) (n int64) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		n += max(0, min(a[i].End, b[j].End)-max(a[i].Start, b[j].Start))
		if a[i].End <= b[j].End {
			i++
		} else {
			j++
		}
	}
	return n
}

// sweep calls yield with every stretch of the text over which nothing changes,
// and with the category of each annotator there, 0 for none. Units of one
// annotator must be disjoint.
func sweep(annotators [][]Unit, length int64, yield func(width int64, category []int)) {
	type event struct {
		at       int64
		who, cat int
	}
	var events []event
	for who, units := range annotators {
		for _, u := range units {
			// A unit that touches the next one ends before that one begins.
			events = append(events, event{u.Start, who, u.Category}, event{u.End, who, 0})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.who, b.who), cmp.Compare(min(a.cat, 1), min(b.cat, 1)))
	})
	now, from := make([]int, len(annotators)), int64(0)
	for _, e := range events {
		if e.at > from {
			yield(e.at-from, now)
			from = e.at
		}
		now[e.who] = e.cat
	}
	if length > from {
		yield(length-from, now)
	}
}
