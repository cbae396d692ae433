package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/quote"
	"ibid/metrics/token"
)

// Limits of what a quote in a reply may differ in from its text.
const (
	differWords = 8 // one of so many words; in shorter quotes none
	pieceWords  = 2 // words of a piece beside an ellipsis, at least
)

// quoteIn returns where a quote of a reply stands in a text, and what stands there if that is
// not the quote. Typography, case and punctuation at its ends are free. An ellipsis is a gap,
// and may not leave a negation out of a sentence. Of eight words or more, one in eight may
// differ, be added or be left out; never a number, negation, modal, quantifier, unit, word of
// direction or capitalised name.
func quoteIn(text, q string) (at Interval, aligned string, ok bool) {
	t := quote.NewText(text)
	var start, end int64
	if places, _ := t.Find(q); len(places) > 0 && len(places[0]) == 1 {
		start, end = places[0].Start(), places[0].End()
	} else {
		r := quote.Check(q, &quote.Search{Cited: []quote.Source{{Text: t}}})
		if !r.Outcome.Faithful() && r.Outcome != quote.Altered || r.Note == quote.NegationLeftOut || r.Outcome == quote.Altered && changesFact(q, &r) {
			return Interval{}, "", false
		}
		start, end = r.Places[0].Start, r.Places[len(r.Places)-1].End
		for _, p := range r.Places {
			if len(r.Places) > 1 && len(strings.Fields(string([]rune(text)[p.Start:p.End]))) < pieceWords {
				return Interval{}, "", false
			}
		}
	}
	at = Interval{Start: int32(start), End: int32(end)}
	aligned = string([]rune(text)[start:end])
	if one := strings.Join(strings.Fields(q), " "); one == strings.Join(strings.Fields(aligned), " ") {
		aligned = ""
	}
	return at, aligned, true
}

// changesFact reports whether an altered quote differs in too many words, or in one that
// decides what is said.
func changesFact(q string, r *quote.Result) bool {
	if r.Changed > len(strings.Fields(q))/differWords || r.Kind != quote.WordsDiffer {
		return true
	}
	for _, c := range r.Changes {
		for w := range strings.FieldsFuncSeq(c.Was+" "+c.Is, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".,;:!?()[]\"“”„«»", r) }) {
			first, _ := utf8.DecodeRuneInString(w)
			class := wordLists().classes[strings.ToLower(w)]
			if class&(factWord|negation) != 0 || !unicode.IsLetter(first) || unicode.IsUpper(first) && class&opener == 0 || token.Unspaced(first) {
				return true
			}
		}
	}
	return false
}
