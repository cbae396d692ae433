package quote

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxPlaces is how many places of a piece are looked at. A quote with more of them
// says nothing about where it stands.
const MaxPlaces = 1 << 16

// A Stretch is the half-open interval [Start, End) of code points.
type Stretch struct{ Start, End int64 }

// A Place is where a quote stands: its pieces in order, at least one. The gaps
// between them do not belong to it.
type Place []Stretch

// Start is where the first piece begins.
func (p Place) Start() int64 { return p[0].Start }

// End is where the last piece ends.
func (p Place) End() int64 { return p[len(p)-1].End }

// A Text is a text in which quotes are looked for. It makes the normal form of the
// text once, on the first search that needs it. It is not safe for concurrent use.
type Text struct {
	text, normal string
	ready        bool
}

// NewText returns text for searches.
func NewText(text string) *Text { return &Text{text: text} }

// Size is the memory that searches took, in bytes, beside the text itself.
func (t *Text) Size() int64 {
	if t.normal == t.text { // the same memory, or next to none
		return 0
	}
	return int64(len(t.normal))
}

// Find returns the places where the text holds quote, in order: those that are the
// same to the letter; if there are none, those that are equal in normal form; else
// without quotation marks around the quote; else in pieces. Places may overlap, but
// none contains another. The result is nil if there is none, and many is true, with
// no places, if a piece stands in the text more than [MaxPlaces] times.
func (t *Text) Find(quote string) (places []Place, many bool) {
	if Blank(quote) {
		return nil, false
	}
	if at, many := occurrences(t.text, strings.TrimSpace(quote)); len(at) > 0 {
		if many {
			return nil, true
		}
		return single(t.literal(at, strings.TrimSpace(quote))), false
	}
	for _, way := range ways(quote) {
		places, many := t.find(way)
		if many || len(places) > 0 {
			return places, many
		}
	}
	return nil, false
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

// occurrences returns the bytes at which part begins in s, overlaps included. many is
// true if there are more than MaxPlaces.
func occurrences(s, part string) (at []int, many bool) {
	for from := 0; ; {
		i := strings.Index(s[from:], part)
		if i < 0 {
			return at, false
		}
		if len(at) == MaxPlaces {
			return at, true
		}
		at = append(at, from+i)
		from += i + 1
	}
}

// literal turns places of quote in the text itself to code points.
func (t *Text) literal(at []int, quote string) []Stretch {
	out := make([]Stretch, len(at))
	length, cp, from := int64(utf8.RuneCountInString(quote)), int64(0), 0
	for i, b := range at {
		cp += int64(utf8.RuneCountInString(t.text[from:b]))
		from = b
		out[i] = Stretch{cp, cp + length}
	}
	return out
}

func single(at []Stretch) []Place {
	places := make([]Place, len(at))
	for i := range at {
		places[i] = at[i : i+1 : i+1]
	}
	return places
}

func (t *Text) normalized() string {
	if !t.ready {
		t.normal, t.ready = Normalize(t.text), true
	}
	return t.normal
}

// stretches returns where the normal form of the text has piece, in order.
func (t *Text) stretches(piece string) (out []Stretch, many bool) {
	at, many := occurrences(t.normalized(), piece)
	if many || len(at) == 0 {
		return nil, many
	}
	out = make([]Stretch, len(at))
	n, i, j := 0, 0, 0
	atoms(t.text, func(start, end int, normal string) bool {
		n += len(normal)
		for ; i < len(at) && at[i] < n; i++ {
			out[i].Start = int64(start)
		}
		for ; j < len(at) && at[j]+len(piece) <= n; j++ {
			out[j].End = int64(end)
		}
		return j < len(at)
	})
	// A match that begins or ends inside of a part covers all of it.
	for k := j; k < len(at); k++ {
		out[k].End = int64(utf8.RuneCountInString(t.text))
	}
	return out, false
}

// find returns the places of pieces that follow each other, at most MaxGap apart, of
// which none contains another.
func (t *Text) find(way []string) (places []Place, many bool) {
	at := make([][]Stretch, len(way))
	for k, piece := range way {
		if at[k], many = t.stretches(piece); many || len(at[k]) == 0 {
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
		ends, next[k] = chain(at[k], at[k+1], ends)
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
func chain(at, following []Stretch, ends []int64) (out []int64, next []int) {
	out, next = make([]int64, len(at)), make([]int, len(at))
	var window []int // of following, ends ascending: the least that may still be taken in front
	entered := 0
	for i, s := range at {
		for ; entered < len(following) && following[entered].Start <= s.End+MaxGap; entered++ {
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
