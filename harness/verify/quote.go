package verify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Most places of a quote that are looked at, and the most code points between two pieces of
// one.
const (
	mostPlaces = 65536
	widestGap  = 1000
)

// A stretch is [start, end) in code points.
type stretch struct{ start, end int64 }

// foldings are the signs that are equal for a quote.
var foldings = func() map[rune]string {
	out := map[rune]string{'\u00ad': "", 'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st"}
	for to, from := range map[string]string{"'": "‘’‚‛′‹›ʼ＇", `"`: "“”„‟″«»＂", "-": "‐‑‒–—―−﹘﹣－"} {
		for _, r := range from {
			out[r] = to
		}
	}
	return out
}()

// A folded text is a text in the form in which quotes are compared, piece by piece.
type folded struct {
	text   string
	pieces []stretch // of the original, one of each piece
	of     []int     // the piece of each byte of text
}

// fold folds a text: white space is one space and none at the ends, typography is plain,
// the rest composed.
func fold(s string) *folded {
	type piece struct {
		text string
		at   stretch
	}
	var all []piece
	space, at := int64(-1), int64(-1)
	for _, r := range s {
		at++
		if unicode.IsSpace(r) {
			if space < 0 {
				space = at
			}
			continue
		}
		text, other := foldings[r]
		if !other {
			text = string(r)
		}
		if text == "" {
			continue
		}
		if space >= 0 && len(all) > 0 {
			all = append(all, piece{" ", stretch{space, space + 1}})
		}
		space = -1
		if n := len(all); n > 0 && !norm.NFC.PropertiesString(text).BoundaryBefore() {
			all[n-1].text += text
			all[n-1].at.end = at + 1
			continue
		}
		all = append(all, piece{text, stretch{at, at + 1}})
	}
	f := &folded{}
	var b strings.Builder
	for i, p := range all {
		text := norm.NFC.String(p.text)
		b.WriteString(text)
		f.pieces = append(f.pieces, p.at)
		for range len(text) {
			f.of = append(f.of, i)
		}
	}
	f.text = b.String()
	return f
}

// blank reports whether a quote quotes nothing: white space and gaps.
func blank(quote string) bool {
	return strings.TrimSpace(quote) == "" || strings.Trim(quote, ". …[]\t\r\n") == "" && len(split(fold(quote).text)) == 0
}

// split cuts a folded quote at its gaps: three dots or more, an ellipsis, and these in
// brackets.
func split(quote string) []string {
	var out []string
	var piece strings.Builder
	end := func() {
		if s := strings.TrimSpace(piece.String()); s != "" {
			out = append(out, s)
		}
		piece.Reset()
	}
	for quote != "" {
		if n := gapAt(quote); n > 0 {
			end()
			quote = quote[n:]
			continue
		}
		// A gap begins nowhere within a run of dots that is none.
		_, n := utf8.DecodeRuneInString(quote)
		piece.WriteString(quote[:n])
		quote = quote[n:]
	}
	end()
	return out
}

func gapAt(s string) int {
	for _, g := range []string{"[...]", "[…]", "…"} {
		if strings.HasPrefix(s, g) {
			return len(g)
		}
	}
	if dots := len(s) - len(strings.TrimLeft(s, ".")); dots >= 3 {
		return dots
	}
	return 0
}

// readings are the ways to read a quote: as it is, without marks around it, in pieces.
func readings(quote string) [][]string {
	whole := fold(quote).text
	if whole == "" {
		return nil
	}
	out := [][]string{{whole}}
	inner := whole
	if n := len(whole); n > 2 && whole[0] == whole[n-1] && strings.ContainsRune(`"'`, rune(whole[0])) {
		if s := strings.TrimSpace(whole[1 : n-1]); s != "" {
			inner = s
			out = append(out, []string{inner})
		}
	}
	if p := split(inner); len(p) > 1 || len(p) == 1 && p[0] != inner {
		out = append(out, p)
	}
	return out
}

// findQuote finds where a text holds a quote: to the letter, else read in one way after
// the other. many says that there are too many places to tell.
func findQuote(text, quote string) (places [][]stretch, many bool) {
	if blank(quote) {
		return nil, false
	}
	literal := strings.TrimSpace(quote)
	at := indexes(text, literal)
	if len(at) > mostPlaces {
		return nil, true
	}
	for _, b := range at {
		start := int64(utf8.RuneCountInString(text[:b]))
		places = append(places, []stretch{{start, start + int64(utf8.RuneCountInString(literal))}})
	}
	if len(places) > 0 {
		return places, false
	}
	f := fold(text)
	for _, way := range readings(quote) {
		if places, many := f.find(way); many || len(places) > 0 {
			return places, many
		}
	}
	return nil, false
}

// indexes are the bytes at which part begins in s, one more than mostPlaces at most.
func indexes(s, part string) []int {
	var out []int
	for at := 0; len(out) <= mostPlaces; {
		i := strings.Index(s[at:], part)
		if i < 0 {
			break
		}
		out = append(out, at+i)
		at += i + 1
	}
	return out
}

// find finds pieces that follow each other, at most widestGap apart. No place holds
// another.
func (f *folded) find(way []string) (places [][]stretch, many bool) {
	at := make([][]stretch, len(way))
	for k, piece := range way {
		all := indexes(f.text, piece)
		if len(all) > mostPlaces {
			return nil, true
		}
		for _, b := range all {
			at[k] = append(at[k], stretch{f.pieces[f.of[b]].start, f.pieces[f.of[b+len(piece)-1]].end})
		}
		if len(all) == 0 {
			return nil, false
		}
	}
	// best[k][i] is the place that begins with piece k at at[k][i] and ends first.
	best := make([][][]stretch, len(way))
	for k := len(way) - 1; k >= 0; k-- {
		best[k] = make([][]stretch, len(at[k]))
		for i, s := range at[k] {
			if k == len(way)-1 {
				best[k][i] = []stretch{s}
				continue
			}
			var rest []stretch
			for j, next := range at[k+1] {
				b := best[k+1][j]
				if b != nil && next.start >= s.end && next.start <= s.end+widestGap && (rest == nil || b[len(b)-1].end < rest[len(rest)-1].end) {
					rest = b
				}
			}
			if rest != nil {
				best[k][i] = append([]stretch{s}, rest...)
			}
		}
	}
	for i, p := range best[0] {
		if p == nil {
			continue
		}
		holds := false
		for _, q := range best[0][i+1:] { // begins at the same place or later
			holds = holds || q != nil && q[len(q)-1].end <= p[len(p)-1].end
		}
		if !holds {
			places = append(places, p)
		}
	}
	return places, false
}

// holds reports whether a span holds a quote: contains it, but for white space and
// punctuation at the ends of the span.
func holds(span, quote string) bool {
	if blank(quote) {
		return false
	}
	if strings.Contains(span, quote) {
		return true
	}
	edge := func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) }
	for _, way := range readings(quote) {
		for ends := range 4 {
			s, w := fold(span).text, append([]string(nil), way...)
			last := len(w) - 1
			if ends&1 != 0 {
				s, w[0] = strings.TrimLeftFunc(s, edge), strings.TrimLeftFunc(w[0], edge)
			}
			if ends&2 != 0 {
				s, w[last] = strings.TrimRightFunc(s, edge), strings.TrimRightFunc(w[last], edge)
			}
			switch {
			case w[0] == "" || w[last] == "":
			case ends&1 != 0 && !strings.HasPrefix(s, w[0]):
			case ends&2 != 0 && !strings.HasSuffix(s, w[last]):
			case ends == 3 && last == 0:
				if s == w[0] {
					return true
				}
			default:
				if places, many := fold(s).find(w); many || len(places) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// nearest is the place whose start is less than half as far from at as every other's.
func nearest(places [][]stretch, at int64) ([]stretch, bool) {
	far := func(p []stretch) int64 { return max(p[0].start-at, at-p[0].start) }
	for i, p := range places {
		alone := true
		for j, q := range places {
			alone = alone && (i == j || 2*float64(far(p)) < float64(far(q)))
		}
		if alone {
			return p, true
		}
	}
	return nil, false
}
