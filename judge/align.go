package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/quote"
)

// Limits of aligning a quote with its text.
const (
	alignWords   = 8       // one of so many words may differ; in shorter quotes none
	alignGap     = 1000    // code points that an ellipsis may stand for
	alignPiece   = 2       // words that a piece beside an ellipsis has at least
	alignMost    = 1 << 12 // words of a quote that is compared with differences
	alignEffort  = 1 << 26 // words of the quote times words of the text, likewise
	impossible   = 1 << 20
	ellipsisMark = '…'
)

// An alignWord is a word, a number or a sign of a text.
type alignWord struct {
	fold       string // as it is compared
	start, end int32  // code points
	fact       bool   // it may not differ
	mark       bool   // punctuation: it may be left out, and is no word
	ends       bool   // a sentence
}

// alignQuote returns where the words of a quote stand in a text, and what stands
// there. Free are case, quotation marks, dashes, white space, and punctuation at
// the ends of the quote. An ellipsis in the quote is a gap, of at most 1,000 code
// points, and within a sentence it may not leave a negation out. Of eight words or
// more, one in eight may differ, be added or be left out, punctuation counted
// with them; never a number, negation, modal, quantifier, unit, word of direction
// or capitalised name.
func alignQuote(text, q string) (at Interval, aligned string, ok bool) {
	pieces, words := alignPieces(q)
	if words == 0 {
		return Interval{}, "", false
	}
	all := alignWordsOf(text)
	if first, last, found := alignExact(all, pieces); found {
		return excerptOf(text, q, all, first, last)
	}
	if len(pieces) > 1 {
		return Interval{}, "", false
	}
	// Words that a line end cuts in two, and letters of several code points.
	if places, _ := quote.NewText(text).Find(q); len(places) > 0 && len(places[0]) == 1 {
		at = Interval{Start: int32(places[0].Start()), End: int32(places[0].End())}
		return at, string([]rune(text)[at.Start:at.End]), true
	}
	if words < alignWords || words > alignMost || words*len(all) > alignEffort {
		return Interval{}, "", false
	}
	if first, last, found := alignNear(all, pieces[0], words/alignWords); found {
		return excerptOf(text, q, all, first, last)
	}
	return Interval{}, "", false
}

// excerptOf is what stands at some words of a text, with the mark behind them if the
// quote ends with the same.
func excerptOf(text, q string, all []alignWord, first, last int) (Interval, string, bool) {
	ending := alignWordsOf(q)
	if n := len(ending); last+1 < len(all) && all[last+1].mark && n > 0 && ending[n-1].mark && all[last+1].fold == ending[n-1].fold {
		last++
	}
	at := Interval{Start: all[first].start, End: all[last].end}
	return at, string([]rune(text)[at.Start:at.End]), true
}

// alignPieces cuts a quote at its ellipses. Punctuation at the ends of pieces is
// left out. words are those of all pieces; 0 if the quote cannot be aligned.
func alignPieces(q string) (pieces [][]alignWord, words int) {
	q = ellipses.Replace(q)
	for part := range strings.SplitSeq(q, string(ellipsisMark)) {
		piece := alignWordsOf(part)
		for len(piece) > 0 && piece[0].mark {
			piece = piece[1:]
		}
		for len(piece) > 0 && piece[len(piece)-1].mark {
			piece = piece[:len(piece)-1]
		}
		if len(piece) == 0 {
			continue
		}
		pieces = append(pieces, piece)
		for i := range piece {
			if !piece[i].mark {
				words++
			}
		}
	}
	for _, piece := range pieces {
		if len(pieces) > 1 && len(piece) < alignPiece {
			return nil, 0
		}
	}
	return pieces, words
}

var ellipses = strings.NewReplacer("[...]", "…", "[…]", "…", "(...)", "…", "(…)", "…", ". . .", "…", "...", "…")

// alignExact finds pieces one after the other whose words are equal.
func alignExact(all []alignWord, pieces [][]alignWord) (first, last int, ok bool) {
	for i := range all {
		if alignHere(all, i, pieces[0]) {
			if last, ok := alignRest(all, i+len(pieces[0]), pieces[1:]); ok {
				return i, last, true
			}
		}
	}
	return 0, 0, false
}

// alignRest finds the pieces that follow a gap which begins at word from.
func alignRest(all []alignWord, from int, pieces [][]alignWord) (last int, ok bool) {
	if len(pieces) == 0 {
		return from - 1, true
	}
	// Negations in what is left out of the sentence where the gap begins, and of the
	// one where it ends.
	var ended, negatedBefore, negatedAfter bool
	for i := from; i < len(all) && all[i].start-all[from-1].end <= alignGap; i++ {
		if !negatedBefore && !negatedAfter && alignHere(all, i, pieces[0]) {
			// The nearest that fits: later ones leave more out.
			return alignRest(all, i+len(pieces[0]), pieces[1:])
		}
		negates := wordLists().classes[all[i].fold]&negation != 0 || strings.HasSuffix(all[i].fold, "n't")
		negatedBefore = negatedBefore || negates && !ended
		negatedAfter = negatedAfter || negates
		if all[i].ends {
			ended, negatedAfter = true, false
		}
	}
	return 0, false
}

func alignHere(all []alignWord, at int, piece []alignWord) bool {
	if at+len(piece) > len(all) {
		return false
	}
	for k := range piece {
		if all[at+k].fold != piece[k].fold {
			return false
		}
	}
	return true
}

// alignNear finds the words that differ least from a quote, by at most so many:
// Sellers' algorithm, in which words that may not differ cost too much.
func alignNear(all, quote []alignWord, most int) (first, last int, ok bool) {
	type cell struct{ cost, begin int }
	column := make([]cell, len(quote)+1) // of the prefixes of the quote that end here
	for k := range quote {
		column[k+1] = cell{cost: column[k].cost + costOf(&quote[k])}
	}
	best := most + 1
	for i := range all {
		before := column[0]
		column[0] = cell{begin: i + 1}
		diagonal := cell{before.cost, i} // a quote may begin at any word
		for k := range quote {
			q, w := &quote[k], &all[i]
			next := column[k+1] // of the word before
			c := diagonal
			if q.fold != w.fold {
				c.cost += max(costOf(q), costOf(w))
			}
			if left := next.cost + costOf(w); left < c.cost { // a word of the text that the quote has not
				c = cell{left, next.begin}
			}
			if added := column[k].cost + costOf(q); added < c.cost { // a word that only the quote has
				c = cell{added, column[k].begin}
			}
			diagonal, column[k+1] = next, c
		}
		if end := column[len(quote)]; end.cost < best {
			best, first, last = end.cost, end.begin, i
		}
	}
	return first, last, best <= most && first <= last
}

func costOf(w *alignWord) int {
	if w.fact {
		return impossible
	}
	return 1
}

// alignWordsOf cuts a text into what is compared. Quotation marks and dashes are
// left out, but for the sign of a number.
func alignWordsOf(text string) []alignWord {
	var out []alignWord
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	for i := 0; i < len(runes); {
		r := runes[i]
		switch {
		case r == utf8.RuneError || unicode.IsLetter(r) || unicode.IsDigit(r):
			end := i + 1
			for inWord(at(end)) || isJoint(at(end)) && inWord(at(end+1)) {
				if isWide(r) || isWide(at(end)) {
					break
				}
				end++
			}
			w := wordFrom(runes[i:end], int32(i), int32(end))
			if number := unicode.IsDigit(r); number && isDash(at(i-1)) && !inWord(at(i-2)) {
				w.fold, w.start = "-"+w.fold, int32(i-1)
			}
			out = append(out, w)
			i = end
			continue
		case unicode.IsSpace(r), isDash(r), isQuotationMark(r), unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r):
		case r == ellipsisMark, r == '.' && (at(i+1) == '.' || at(i-1) == '.'):
			// Of a text that has its own.
		case unicode.IsPunct(r) && !strings.ContainsRune("%&@#/*‰", r):
			if n := len(out); n > 0 && strings.ContainsRune(".!?。！？", r) {
				out[n-1].ends = true
			}
			out = append(out, alignWord{fold: string(r), start: int32(i), end: int32(i + 1), mark: true})
		default: // a sign: %, €, <, =, +
			out = append(out, alignWord{fold: string(r), start: int32(i), end: int32(i + 1), fact: true})
		}
		i++
	}
	return out
}

// wordFrom is one word. It is compared in lower case, without the separators of
// thousands, and with a straight apostrophe.
func wordFrom(runes []rune, start, end int32) alignWord {
	digits := unicode.IsDigit(runes[0])
	fold := make([]rune, 0, len(runes))
	for k, r := range runes {
		switch {
		case isQuotationMark(r):
			fold = append(fold, '\'')
		case digits && r == ',' && thousands(runes[k+1:]):
		default:
			fold = append(fold, unicode.ToLower(r))
		}
	}
	w := alignWord{fold: string(fold), start: start, end: end}
	class := wordLists().classes[w.fold]
	w.fact = strings.ContainsFunc(w.fold, unicode.IsDigit) || class&(factWord|negation) != 0 || strings.HasSuffix(w.fold, "n't") ||
		unicode.IsUpper(runes[0]) && class&opener == 0 || isWide(runes[0]) || runes[0] == utf8.RuneError
	return w
}

// thousands reports whether three digits follow, and no fourth.
func thousands(rest []rune) bool {
	n := 0
	for n < len(rest) && unicode.IsDigit(rest[n]) {
		n++
	}
	return n == 3
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// isJoint reports whether r joins what stands on both of its sides: the point of a
// decimal, an apostrophe.
func isJoint(r rune) bool { return strings.ContainsRune(".,:'’", r) }

// isWide: of a script that is written without spaces, where each letter is compared.
func isWide(r rune) bool { return r >= 0x2E80 && r < 0xFB00 && !unicode.Is(unicode.Hangul, r) }

func isDash(r rune) bool { return unicode.Is(unicode.Pd, r) || r == '−' }

func isQuotationMark(r rune) bool {
	return strings.ContainsRune("\"'`´", r) || unicode.Is(unicode.Pi, r) || unicode.Is(unicode.Pf, r) || strings.ContainsRune("‚„「」『』", r)
}
