// Package quote says where quotations stand in texts, and what is wrong with those that do
// not. Providers, extractors and models change typography, white space, hyphenation and case,
// but not words; and they leave out what lies between two pieces. Offsets count Unicode code
// points, zero-based, and intervals are half-open.
//
// A quotation stands in a text to the letter ([Verbatim]), in folded form ([Normalised]), or in
// pieces with gaps between them ([Elided]). [Check] says what else can be true of one.
package quote

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

const (
	// MaxPlaces is how many places of a piece are looked at. A quote with more of them
	// says nothing about where it stands.
	MaxPlaces = 1 << 16

	// MaxGap is how many code points an ellipsis may stand for.
	MaxGap = 1000

	bracketGap = 60 // code points that words in brackets may stand for
)

// A Stretch is the half-open interval [Start, End) of code points.
type Stretch struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// A Place is where a quote stands: its pieces in order, at least one. The gaps
// between them do not belong to it.
type Place []Stretch

// Start is where the first piece begins.
func (p Place) Start() int64 { return p[0].Start }

// End is where the last piece ends.
func (p Place) End() int64 { return p[len(p)-1].End }

// A Text is a text in which quotes are looked for. It folds the text once, on the
// first search that needs it. It is not safe for concurrent use before [Text.Fold].
type Text struct {
	text  string
	fold  fold
	ready bool
}

// NewText returns text for searches.
func NewText(text string) *Text { return &Text{text: text} }

// Len is the length of the text in bytes.
func (t *Text) Len() int { return len(t.text) }

// Size is the memory that searches took, in bytes, beside the text itself.
func (t *Text) Size() int64 { return int64(len(t.fold.text) + 20*cap(t.fold.words)) }

// Fold folds the text, so that searches only read it from then on and may be concurrent.
func (t *Text) Fold() *Text {
	t.folded()
	return t
}

func (t *Text) folded() *fold {
	if !t.ready {
		t.fold, t.ready = newFold(t.text), true
	}
	return &t.fold
}

// Find returns the places where the text holds quote, in order: to the letter; if there are
// none, in folded form; else in pieces. Places may overlap, but none contains another. They may
// begin or end within a word, since what extracts quotes cuts words. The result is nil if there
// is none, and many is true, with no places, if a piece stands in the text more than
// [MaxPlaces] times.
func (t *Text) Find(quote string) (places []Place, many bool) {
	f := t.find(quote, false)
	return f.places, f.many
}

// Once returns the place of quote if there is only one.
func (t *Text) Once(quote string) (place Place, ok bool) {
	places, _ := t.Find(quote)
	if len(places) != 1 {
		return nil, false
	}
	return places[0], true
}

// Nearest returns the place whose start is less than half as far from start as that
// of every other. ok is false if there is none.
func Nearest(places []Place, start int64) (place Place, ok bool) {
	best, next := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, p := range places {
		d := p.Start() - start
		if d < 0 {
			d = -d
		}
		if d < best {
			best, next, place = d, best, p
		} else {
			next = min(next, d)
		}
	}
	return place, len(places) > 0 && best < next-best
}

// Holds reports whether span holds quote: it stands in it, ends within words allowed.
func Holds(span, quote string) bool {
	if q := strings.TrimSpace(quote); q != "" && strings.Contains(span, q) {
		return !Blank(q)
	}
	places, many := NewText(span).Find(quote)
	return many || len(places) > 0
}

// Blank reports whether s quotes nothing: it has no word, number or sign.
func Blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || isSign(r) })
}

// Cut reports whether s is a piece of a longer text: it begins or ends with a gap, perhaps in
// quotation marks, and is not [Blank].
func Cut(s string) bool {
	if Blank(s) {
		return false
	}
	s = strings.Trim(s, " \t\r\n\"'“”‘’„«»")
	all := ellipses.FindAllStringIndex(s, -1)
	return len(all) > 0 && (all[0][0] == 0 || all[len(all)-1][1] == len(s))
}

// A found is where a quote stands, and in which sense.
type found struct {
	how    Outcome // Verbatim, Normalised or Elided
	places []Place
	many   bool
}

// find looks for a quote. whole places begin and end with whole words.
func (t *Text) find(quote string, whole bool) found {
	if Blank(quote) {
		return found{}
	}
	quote = strings.TrimSpace(quote)
	for _, q := range slices.Compact([]string{quote, strings.TrimRight(quote, ".,;:!?")}) { // a final stop may be the answer's
		if places, many := t.literal(q, whole); many || len(places) > 0 {
			return found{Verbatim, places, many}
		}
	}
	for k, way := range ways(quote) {
		places, many := t.follow(way, whole)
		if many || len(places) > 0 {
			return found{min(Normalised+Outcome(k), Elided), places, many}
		}
	}
	return found{}
}

// literal returns where quote stands to the letter.
func (t *Text) literal(quote string, whole bool) (places []Place, many bool) {
	if quote == "" {
		return nil, false
	}
	length, cp, from := int64(utf8.RuneCountInString(quote)), int64(0), 0
	for at := 0; ; at++ {
		i := strings.Index(t.text[at:], quote)
		if i < 0 {
			return places, false
		}
		at += i
		if whole && (!borders(t.text[:at], quote, false) || !borders(t.text[at+len(quote):], quote, true)) {
			continue
		}
		if len(places) == MaxPlaces {
			return nil, true
		}
		cp += int64(utf8.RuneCountInString(t.text[from:at]))
		from = at
		places = append(places, Place{{cp, cp + length}})
	}
}

// borders reports whether a quote begins or ends with a whole word beside what stands before
// or behind it.
func borders(beside, quote string, behind bool) bool {
	// Two runes of what is beside, the nearest first, and the one of the quote.
	near, next, own := rune(' '), rune(' '), rune(' ')
	if behind {
		var size int
		near, size = utf8.DecodeRuneInString(beside)
		next, _ = utf8.DecodeRuneInString(beside[size:])
		own = lastRune(quote)
	} else {
		near = lastRune(beside)
		next = lastRune(beside[:max(0, len(beside)-utf8.RuneLen(near))])
		own, _ = utf8.DecodeRuneInString(quote)
	}
	wordy := func(r rune) bool {
		return r != utf8.RuneError && !token.Unspaced(r) && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
	}
	switch {
	case !wordy(own):
		return true
	case wordy(near):
		return false
	case strings.ContainsRune("-‐‑'’", near) && wordy(next): // a compound
		return false
	case strings.ContainsRune(".,", near) && unicode.IsDigit(own) && unicode.IsDigit(next):
		return false
	case !behind && isDash(near) && unicode.IsDigit(own): // its minus
		return wordy(next)
	}
	return true
}

// A piece is a part of a quote in folded form, with the gap behind it in code points.
type piece struct {
	fold fold
	gap  int64
}

var (
	ellipses = regexp.MustCompile(`[\[(]?\s*(?:…[…\s]*|⋯+|\.(?:\s?\.){2,})\s*[\])]?`)
	// Words in brackets are put in by who quotes; those in parentheses if they say so.
	brackets = regexp.MustCompile(`\[[^\[\]]{1,200}\]|\((?i:[^()]{0,40}(?:emphasis|italics|hervorhebung|souligné|énfasis|cursiva|corsivo|强调|強調)[^()]{0,40}|sic!?)\)`)
)

// ways are the ways to look for a quote, the closest to the letter first: as it is; with gaps
// for its ellipses; with gaps for words in brackets, too.
func ways(quote string) [][]piece {
	whole := newFold(quote)
	all := [][]piece{{{fold: whole}}}
	dots, inserted := ellipses.FindAllStringIndex(quote, -1), [][]int(nil)
	for _, b := range brackets.FindAllStringIndex(quote, -1) {
		before, after := lastRune(quote[:b[0]]), rune(' ')
		if b[1] < len(quote) {
			after, _ = utf8.DecodeRuneInString(quote[b[1]:])
		}
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) || token.Unspaced(before) || token.Unspaced(after) { // not [t]he
			inserted = append(inserted, b)
		}
	}
	if len(dots) > 0 {
		all = append(all, pieces(quote, dots, nil))
	}
	if len(inserted) > 0 {
		all = append(all, pieces(quote, dots, inserted))
	}
	return slices.DeleteFunc(all, func(way []piece) bool {
		return len(way) == 0 || slices.ContainsFunc(way, func(p piece) bool { return len(p.fold.words) == 0 })
	})
}

// pieces cuts a quote at gaps.
func pieces(quote string, dots, inserted [][]int) (out []piece) {
	all := slices.Concat(dots, inserted)
	slices.SortFunc(all, func(a, b []int) int { return a[0] - b[0] })
	from := 0
	for _, gap := range append(all, []int{len(quote), len(quote)}) {
		if gap[0] < from { // dots in brackets
			continue
		}
		if f := newFold(quote[from:gap[0]]); len(f.words) > 0 {
			out = append(out, piece{fold: f})
		}
		if n := len(out); n > 0 {
			limit := int64(bracketGap)
			if slices.ContainsFunc(dots, func(d []int) bool { return d[0] == gap[0] }) {
				limit = MaxGap
			}
			out[n-1].gap = max(out[n-1].gap, limit)
		}
		from = gap[1]
	}
	return out
}

// stretches returns where the text has a piece in folded form, in order.
func (t *Text) stretches(f *fold, whole bool) (out []Stretch, many bool) {
	own := t.folded()
	n := 0 // the word that holds the byte at
	for at := 0; ; at++ {
		i := strings.Index(own.text[at:], f.text)
		if i < 0 {
			return out, false
		}
		at += i
		n = own.wordAt(at, n)
		last := own.wordAt(at+len(f.text)-1, n)
		if whole && (int(own.words[n].at) != at || own.end(last) != at+len(f.text)) {
			continue
		}
		if len(out) == MaxPlaces {
			return nil, true
		}
		out = append(out, Stretch{int64(own.words[n].start), int64(own.words[last].end)})
	}
}

// wordAt is the word that holds a byte of the folded form, from word first on.
func (f *fold) wordAt(at, first int) int {
	i, exact := slices.BinarySearchFunc(f.words[first:], int32(at), func(w word, at int32) int { return int(w.at - at) })
	if !exact {
		i--
	}
	return first + i
}

// follow returns the places of pieces that follow each other within their gaps, of which none
// contains another.
func (t *Text) follow(way []piece, whole bool) (places []Place, many bool) {
	at := make([][]Stretch, len(way))
	for k := range way {
		if at[k], many = t.stretches(&way[k].fold, whole); many || len(at[k]) == 0 {
			return nil, many
		}
	}
	// ends[i] is the first end of a place that begins with at[k][i], and next[k][i] the
	// piece that follows in it.
	next := make([][]int, len(way))
	last := len(way) - 1
	ends := make([]int64, len(at[last]))
	for i := range ends {
		ends[i] = at[last][i].End
	}
	for k := last - 1; k >= 0; k-- {
		ends, next[k] = chain(at[k], at[k+1], ends, way[k].gap)
	}
	first := int64(math.MaxInt64) // end of the places that begin later
	for i := len(ends) - 1; i >= 0; i-- {
		if ends[i] >= first {
			continue
		}
		first = ends[i]
		place := make(Place, 0, len(way))
		for k, n := 0, i; ; k++ {
			place = append(place, at[k][n])
			if k == last {
				break
			}
			n = next[k][n]
		}
		places = append(places, place)
	}
	slices.Reverse(places)
	return places, false
}

// chain returns for each place of a piece the first end that can be reached through a
// place of the next piece, given the ends of those, and which place that is.
// [math.MaxInt64] means that none follows. Both are in order.
func chain(at, following []Stretch, ends []int64, gap int64) (out []int64, next []int) {
	out, next = make([]int64, len(at)), make([]int, len(at))
	var window []int // of following, ends ascending: the least that may still be taken in front
	entered := 0
	for i, s := range at {
		for ; entered < len(following) && following[entered].Start <= s.End+gap; entered++ {
			for len(window) > 0 && ends[window[len(window)-1]] > ends[entered] {
				window = window[:len(window)-1]
			}
			window = append(window, entered)
		}
		for len(window) > 0 && following[window[0]].Start < s.End {
			window = window[1:]
		}
		out[i] = math.MaxInt64
		if len(window) > 0 {
			out[i], next[i] = ends[window[0]], window[0]
		}
	}
	return out, next
}
