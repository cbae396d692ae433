package quote

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"ibid"
	"ibid/metrics/token"
)

// An Outcome says where a quotation stands.
type Outcome uint8

// The outcomes, in the order in which they are looked for.
const (
	TooShort      Outcome = iota // it has too few words to tell
	Verbatim                     // a cited document has it to the letter; a final stop may be the answer's
	Normalised                   // a cited document has it in folded form, or two have its parts, one at its end and one at its beginning
	Elided                       // a cited document has its pieces in order, with gaps that it shows
	Echo                         // the user said it
	Elsewhere                    // a document that is not cited has it, and every cited text is known
	NoText                       // some cited text is not known, or not whole
	Altered                      // a place differs in a few words, or leaves some out without saying so
	Stitched                     // it is made of pieces of several places
	OtherLanguage                // no text has its script or its language
	Nowhere
)

var outcomeNames = [...]string{"too_short", "verbatim", "normalised", "elided", "echo", "elsewhere", ibid.NoText.String(), "altered", "stitched", "other_language", "nowhere"}

// String returns the name of the outcome, such as "too_short".
func (o Outcome) String() string { return outcomeNames[o] }

// ParseOutcome returns the outcome of that name.
func ParseOutcome(name string) (o Outcome, ok bool) {
	i := slices.Index(outcomeNames[:], name)
	return Outcome(max(0, i)), i >= 0
}

// Faithful reports whether a cited document has the quotation.
func (o Outcome) Faithful() bool { return Verbatim <= o && o <= Elided }

// Decided reports whether the outcome says that the quotation is right or wrong.
func (o Outcome) Decided() bool {
	return o.Faithful() || o == Elsewhere || o == Altered || o == Stitched || o == Nowhere
}

// A Source is a document in which a quotation may stand. Its Text is nil if it is not known;
// a document that does not exist has none, and Missing set. Partial says that the document has
// more text than Text.
type Source struct {
	Doc              string
	Text             *Text
	Missing, Partial bool
}

// A Search is where quotations of one answer are looked for.
type Search struct {
	Cited  []Source
	Others []Source
	Said   []*Text // by the user
}

// A Piece is where a part of a quotation stands.
type Piece struct {
	Doc string `json:"doc"`
	Stretch
}

// The kinds of differences.
const (
	WordsDiffer    = "words"
	NumberDiffers  = "number"
	NegationDiffer = "negation" // the number of negations differs
)

// Notes on quotations that stand in a text.
const (
	NegationLeftOut = "negation_left_out" // in a gap
	NegationBefore  = "negation_before"   // one of the two words before the place
)

// A Result is what is true of a quotation.
type Result struct {
	Outcome Outcome
	Places  []Piece // where it stands, the first place of several; the pieces of one in order
	Note    string

	// Of an altered one: how many words differ, how, and the kind of the difference.
	Changed int
	Changes []Change
	Kind    string
}

// A Change has words of a quotation in the place of words of a text; one of both may be "".
type Change struct{ Was, Is string }

// Difference are the changes as "was → is", "−left out" or "+put in", joined by "; ".
func (r *Result) Difference() string {
	all := make([]string, len(r.Changes))
	for i, c := range r.Changes {
		switch {
		case c.Was == "":
			all[i] = "+" + c.Is
		case c.Is == "":
			all[i] = "−" + c.Was
		default:
			all[i] = c.Was + " → " + c.Is
		}
	}
	return strings.Join(all, "; ")
}

// Check says where a quotation stands. Cited documents come first, then those given first.
func Check(quotation string, s *Search) Result {
	for _, c := range s.Cited {
		if r, ok := c.check(quotation); ok {
			return r
		}
	}
	if r, ok := acrossChunks(quotation, s.Cited); ok {
		return r
	}
	for _, t := range s.Said {
		if len(t.find(quotation, true).places) > 0 {
			return Result{Outcome: Echo}
		}
	}
	if slices.ContainsFunc(s.Cited, func(c Source) bool { return c.Text == nil && !c.Missing || c.Partial }) {
		return Result{Outcome: NoText}
	}
	for _, o := range s.Others {
		if r, ok := o.check(quotation); ok {
			r.Outcome, r.Note = Elsewhere, ""
			return r
		}
	}
	var texts []*Text
	var docs []string
	for _, o := range slices.Concat(s.Cited, s.Others) {
		if o.Text != nil {
			texts, docs = append(texts, o.Text), append(docs, o.Doc)
		}
	}
	if len(texts) == 0 && !slices.ContainsFunc(s.Cited, func(c Source) bool { return c.Missing }) {
		return Result{Outcome: NoText}
	}
	n := newNeedle(quotation)
	var runs []run
	for i, t := range texts {
		runs = append(runs, n.runs(t, i)...)
	}
	// What explains it with the fewest breaks.
	found, ok := n.nearest(texts, runs)
	if other, in := n.withGaps(texts, runs); in && (!ok || other.distance < found.distance) {
		found, ok = other, true
	}
	pieces, breaks, isStitched := n.stitched(runs)
	if ok && (!isStitched || found.distance <= breaks) {
		return n.altered(texts[found.text], docs[found.text], &found)
	}
	if isStitched {
		r := Result{Outcome: Stitched}
		for _, p := range pieces {
			words := texts[p.text].folded().words
			r.Places = append(r.Places, Piece{docs[p.text], Stretch{int64(words[p.at].start), int64(words[p.at+p.n-1].end)}})
		}
		return r
	}
	if isOther(quotation, texts) {
		return Result{Outcome: OtherLanguage}
	}
	return Result{Outcome: Nowhere}
}

// check looks for a quotation in one document.
func (s *Source) check(quotation string) (r Result, ok bool) {
	if s.Text == nil {
		return r, false
	}
	f := s.Text.find(quotation, true)
	if len(f.places) == 0 {
		return r, false
	}
	r.Outcome = f.how
	place := f.places[0]
	for k, at := range place {
		r.Places = append(r.Places, Piece{s.Doc, at})
		if k == 0 {
			continue
		}
		if s.Text.hidesNegation(place[k-1].End, at.Start) {
			r.Note = NegationLeftOut
		}
	}
	if before := newFold(s.Text.slice(max(0, place.Start()-60), place.Start())); r.Note == "" {
		if before.negations(max(0, len(before.words)-2), len(before.words)) > 0 {
			r.Note = NegationBefore
		}
	}
	return r, true
}

// hidesNegation reports whether a gap leaves a negation out of the sentence that it begins in
// or of the one that it ends in.
func (t *Text) hidesNegation(start, end int64) bool {
	gap := newFold(t.slice(start, end))
	words := len(gap.words)
	stops := func(w word) bool { return w.stops }
	first := slices.IndexFunc(gap.words, stops)
	if first < 0 {
		return gap.negations(0, words) > 0
	}
	last := words
	for last > 0 && !gap.words[last-1].stops {
		last--
	}
	return gap.negations(0, first+1) > 0 || gap.negations(last, words) > 0
}

// slice is the code points [start, end) of the text.
func (t *Text) slice(start, end int64) string {
	from := byteOf(t.text, int(start))
	return t.text[from : from+byteOf(t.text[from:], int(end-start))]
}

// acrossChunks looks for a quotation whose parts end one document and begin another.
func acrossChunks(quotation string, cited []Source) (r Result, ok bool) {
	if len(cited) < 2 {
		return r, false
	}
	q := newFold(quotation)
	for cut := 1; cut < len(q.words); cut++ {
		head, tail := q.of(0, cut), q.of(cut, len(q.words))
		for _, a := range cited {
			if a.Text == nil || !strings.HasSuffix(a.Text.folded().text, head) {
				continue
			}
			own := a.Text.folded()
			first := own.wordAt(len(own.text)-len(head), 0)
			for _, b := range cited {
				if b.Doc == a.Doc || b.Text == nil || !strings.HasPrefix(b.Text.folded().text, tail) || int(own.words[first].at) != len(own.text)-len(head) {
					continue
				}
				next := b.Text.folded()
				last := next.wordAt(len(tail)-1, 0)
				if next.end(last) != len(tail) {
					continue
				}
				r.Outcome = Normalised
				r.Places = []Piece{
					{a.Doc, Stretch{int64(own.words[first].start), int64(own.words[len(own.words)-1].end)}},
					{b.Doc, Stretch{int64(next.words[0].start), int64(next.words[last].end)}},
				}
				return r, true
			}
		}
	}
	return r, false
}

// altered says how the quotation differs from a place.
func (n *needle) altered(t *Text, doc string, at *near) Result {
	own := t.folded()
	r := Result{Outcome: Altered, Changed: at.distance, Kind: WordsDiffer}
	r.Places = []Piece{{doc, Stretch{int64(own.words[at.from].start), int64(own.words[at.to-1].end)}}}
	var was, is int
	for _, c := range at.changes {
		r.Changes = append(r.Changes, Change{own.between(t.text, c.from, c.to), n.between(n.quote, c.qFrom, c.qTo)})
		was += own.negations(c.from, c.to)
		is += n.negations(c.qFrom, c.qTo)
	}
	if was != is {
		r.Kind = NegationDiffer
	} else if strings.ContainsAny(r.Difference(), "0123456789") {
		r.Kind = NumberDiffers
	}
	return r
}

//go:embed negations.txt
var negationText string

// negationWords are the words that negate, and those of scripts without spaces, which may stand
// in several words of a folded form.
var negationWords = sync.OnceValue(func() (l struct {
	words    map[string]bool
	unspaced []string
},
) {
	l.words = make(map[string]bool)
	for w := range strings.FieldsSeq(negationText) {
		if strings.ContainsFunc(w, token.Unspaced) {
			l.unspaced = append(l.unspaced, w)
		} else {
			l.words[w] = true
		}
	}
	return l
})

// negations counts the words of [from, to) that negate.
func (f *fold) negations(from, to int) (count int) {
	for i := from; i < to; i++ {
		if negationWords().words[f.of(i, i+1)] {
			count++
		}
	}
	for _, w := range negationWords().unspaced {
		count += strings.Count(f.of(from, to), w)
	}
	return count
}

// isOther reports whether no text has the script of a quotation, or none its language.
func isOther(quotation string, texts []*Text) bool {
	script, letters := scriptOf(quotation)
	if script == nil {
		return false
	}
	own, hits := languageOf(newFold(quotation))
	for _, t := range texts {
		if !hasLetters(t.text, script, letters) {
			continue
		}
		if of, most := languageOf(*t.folded()); script != unicode.Latin || hits < 4 || most < 5 || own&of != 0 {
			return false
		}
	}
	return len(texts) > 0
}

var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew,
	unicode.Hangul, unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Thai, unicode.Georgian, unicode.Armenian,
}

// scriptOf is the script of most letters, and how many.
func scriptOf(text string) (script *unicode.RangeTable, letters int) {
	var counts [15]int
	for _, r := range text {
		if k := slices.IndexFunc(scripts, func(s *unicode.RangeTable) bool { return unicode.Is(s, r) }); k >= 0 {
			if counts[k]++; counts[k] > letters {
				script, letters = scripts[k], counts[k]
			}
		}
	}
	return script, letters
}

// hasLetters reports whether a text has so many letters of a script, or is written in it.
func hasLetters(text string, script *unicode.RangeTable, letters int) bool {
	own, all := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			all++
		}
		if unicode.Is(script, r) {
			if own++; own >= letters {
				return true
			}
		}
	}
	return own*2 >= all
}

// languageWords is how many words of a text show its language.
const languageWords = 2000

// languageOf are the languages, as bits, that most of the commonest words are of, and how many.
func languageOf(f fold) (languages uint8, most int) {
	var counts [8]int
	for i := range min(len(f.words), languageWords) {
		in := token.CommonIn(f.of(i, i+1))
		for k := range counts {
			if in>>k&1 == 0 {
				continue
			}
			switch counts[k]++; {
			case counts[k] > most:
				languages, most = 1<<k, counts[k]
			case counts[k] == most:
				languages |= 1 << k
			}
		}
	}
	return languages, most
}
