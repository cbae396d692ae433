package metrics

import (
	"slices"

	"ibid"
)

// An ItemKind is a kind of items of a row that judged metrics are shares or means of. Some of
// them may have no verdict: they are open.
type ItemKind uint8

// The kinds of items.
const (
	CitationItems  ItemKind = iota // citations, for their support
	RelevanceItems                 // citations, for their relevance
	NeedingItems                   // claims that need a citation
	FactualItems                   // factual claims
	CitedItems                     // claims that have a citation
	OutcomeItems                   // factual claims, for their outcome

	numItemKinds
)

// An OpenClass says why an item has no verdict.
type OpenClass uint8

// The classes of open items.
const (
	OpenUnscored  OpenClass = iota // a verdict was due, and none came
	OpenUndecided                  // what was read cannot settle it
	OpenNoText                     // no text that it cites is known

	numOpenClasses
)

// An Open is the index of a count of open items in [Scores.Open]: of one class and kind, or
// ElsewhereOutcomes.
type Open uint8

// ElsewhereOutcomes counts claims that are unsupported for want of a verdict on passages that
// they do not cite: hallucination_rate counts them, and a verdict could only take them out.
const ElsewhereOutcomes = Open(uint8(numOpenClasses) * uint8(numItemKinds))

// NumOpen is the number of counts of open items.
const NumOpen = int(ElsewhereOutcomes) + 1

// OpenOf is the count of open items of a class and a kind.
func OpenOf(class OpenClass, kind ItemKind) Open {
	return Open(uint8(class)*uint8(numItemKinds) + uint8(kind))
}

var openKeys = func() (keys [NumOpen]string) {
	kinds := [numItemKinds]string{"citations", "relevance", "needing", "factual", "cited", "outcomes"}
	for class, name := range [numOpenClasses]string{ibid.Unscored.String(), ibid.Undecided.String(), ibid.NoText.String()} {
		for kind, of := range kinds {
			keys[OpenOf(OpenClass(class), ItemKind(kind))] = name + "_" + of
		}
	}
	keys[ElsewhereOutcomes] = "elsewhere_outcomes"
	return keys
}()

// String returns the key in the column open, such as "unscored_needing".
func (o Open) String() string { return openKeys[o] }

// Items are the claims or citations that a judged metric is a share or a mean of.
type Items struct {
	Kind  ItemKind
	Count Count // how many there are
	Among Among
}

// Open are the counts of those of the items that have no verdict.
func (i Items) Open() []Open {
	all := []Open{OpenOf(OpenUnscored, i.Kind), OpenOf(OpenUndecided, i.Kind), OpenOf(OpenNoText, i.Kind)}
	if i.Kind == OutcomeItems {
		all = append(all, ElsewhereOutcomes)
	}
	return all
}

// An Among says how the count of [Items] stands to those that are open. Where it is not known,
// the open ones are all that is known.
type Among uint8

// What a count of items has.
const (
	OpenAmong   Among = iota // all of them
	OpenBeside               // the scored ones
	OpenInstead              // all of them, and where it is known none is open
)

// A Tally says how many items of some rows there are, by what became of them.
type Tally struct{ Scored, Unscored, Undecided, NoText float64 }

// Add adds other items.
func (t *Tally) Add(other Tally) {
	t.Scored, t.Unscored, t.Undecided, t.NoText = t.Scored+other.Scored, t.Unscored+other.Unscored, t.Undecided+other.Undecided, t.NoText+other.NoText
}

// Open is how many items have no verdict.
func (t *Tally) Open() float64 { return t.Unscored + t.Undecided + t.NoText }

// Undecidable reports whether more than 1 - minCoverage of the items with a known text are
// undecided: then their bounds are known, and no value.
func (t *Tally) Undecidable(minCoverage float64) bool {
	others := t.Scored + t.Unscored
	return others < minCoverage*(others+t.Undecided)
}

// Known is the share of a row that counts as defined, where the metric has a value: that of its
// items of which some cited text is known.
func (t *Tally) Known() float64 {
	all := t.Scored + t.Open()
	if t.NoText <= 0 || all <= 0 {
		return 1
	}
	return (all - t.NoText) / all
}

// Tally counts the items of one row, of which count is the number, where that is known.
// Outcomes without a verdict on other passages are unscored.
func (i Items) Tally(count float64, known bool, open func(o Open) float64) Tally {
	if known && i.Among == OpenInstead {
		return Tally{Scored: count}
	}
	t := Tally{Unscored: open(OpenOf(OpenUnscored, i.Kind)), Undecided: open(OpenOf(OpenUndecided, i.Kind)), NoText: open(OpenOf(OpenNoText, i.Kind))}
	if i.Kind == OutcomeItems {
		t.Unscored += open(ElsewhereOutcomes)
	}
	switch {
	case known && i.Among == OpenAmong:
		t.Scored = count - t.Open()
	case known:
		t.Scored = count
	}
	return t
}

// less takes the open items of a kind off a count of all.
func (c Count) less(kind ItemKind) []Term {
	out := term(c)
	for class := range numOpenClasses {
		out = append(out, Term{Column: OpenOf(class, kind).String(), Factor: -1})
	}
	return out
}

// OpenByKey is the count of that key in the column open.
func OpenByKey(key string) (o Open, ok bool) {
	i := slices.Index(openKeys[:], key)
	return Open(i), i >= 0
}
