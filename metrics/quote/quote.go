// Package quote says when two texts are equal for a quote, and finds quotes in
// texts. Providers, extractors and models change white space, quotation marks,
// dashes, hyphenation and the code points of a letter, but not letters; and they
// leave out what lies between two pieces. Offsets count Unicode code points,
// zero-based, and intervals are half-open.
//
// Two texts are equal for a quote if they are the same text, or have the same
// normal form ([Normalize]), or the same one once a layer of quotation marks
// around it is taken off.
//
// The marks "...", "…" and "[...]" in a quote are gaps: the pieces between them
// follow each other, at most [MaxGap] code points apart. A quote that stands in
// the text with its marks has no gaps there.
package quote

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxGap is how many code points may lie between two pieces of a quote.
const MaxGap = 1000

// atoms calls yield for the parts of the normal form of s in order: with the code
// points [start, end) of s that a part stands for. For a space, these are the
// first of its run. It ends when yield returns false.
func atoms(s string, yield func(start, end int, normal string) bool) {
	var held string   // the part that the next code point may still be composed with
	var joined []byte // the same, if it has several code points
	first, end := -1, 0
	flush := func() bool {
		switch {
		case first < 0:
			return true
		case len(joined) > 0:
			held = string(norm.NFC.Bytes(joined))
			joined = joined[:0]
		case held[0] >= utf8.RuneSelf && !norm.NFC.IsNormalString(held):
			held = norm.NFC.String(held)
		}
		return yield(first, end, held)
	}
	cp, space := -1, -1 // space is where the pending run of white space starts
	for i, r := range s {
		cp++
		if unicode.IsSpace(r) {
			if space < 0 {
				space = cp
			}
			continue
		}
		normal, joins := s[i:i+1], false
		if r >= utf8.RuneSelf {
			_, size := utf8.DecodeRuneInString(s[i:])
			if normal = form(r, s[i:i+size]); normal == "" {
				continue
			}
			joins = normal[0] >= utf8.RuneSelf && !norm.NFC.PropertiesString(normal).BoundaryBefore()
		}
		if space >= 0 && first >= 0 {
			if !flush() {
				return
			}
			held, first, end = " ", space, space+1
		}
		space = -1
		if joins && first >= 0 {
			if len(joined) == 0 {
				joined = append(joined, held...)
			}
			joined = append(joined, normal...)
			end = cp + 1
			continue
		}
		if !flush() {
			return
		}
		held, first, end = normal, cp, cp+1
	}
	flush()
}

// form is the form of one code point beyond ASCII, s: "" for one that does not count.
func form(r rune, s string) string {
	switch r {
	case '‘', '’', '‚', '‛', '′', '‹', '›', 'ʼ', '＇':
		return "'"
	case '“', '”', '„', '‟', '″', '«', '»', '＂':
		return `"`
	case '‐', '‑', '‒', '–', '—', '―', '−', '﹘', '﹣', '－':
		return "-"
	case '\u00AD': // soft hyphen
		return ""
	case 'ﬀ':
		return "ff"
	case 'ﬁ':
		return "fi"
	case 'ﬂ':
		return "fl"
	case 'ﬃ':
		return "ffi"
	case 'ﬄ':
		return "ffl"
	case 'ﬅ', 'ﬆ':
		return "st"
	case utf8.RuneError:
		return "\uFFFD"
	}
	return s
}

// Normalize returns the form of s in which quotes are compared. White space at
// both ends is dropped and a run of it is one space; quotation marks and dashes
// are their ASCII forms; soft hyphens are dropped; the ligatures U+FB00 to U+FB06
// are their letters; the rest is in Unicode's form NFC. A byte that is not valid
// UTF-8 is U+FFFD.
func Normalize(s string) string {
	if isNormal(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	atoms(s, func(_, _ int, normal string) bool {
		b.WriteString(normal)
		return true
	})
	return b.String()
}

// isNormal reports whether s is its own normal form, as far as ASCII shows.
func isNormal(s string) bool {
	space := true
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf || c != ' ' && c <= '\r' && c >= '\t' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || s == ""
}

// unquoted is a normal form without the quotation marks around it.
func unquoted(normal string) string {
	if n := len(normal); n > 2 && normal[0] == normal[n-1] && (normal[0] == '"' || normal[0] == '\'') {
		if inner := strings.TrimSpace(normal[1 : n-1]); inner != "" {
			return inner
		}
	}
	return normal
}

// pieces are the parts of a normal form between gaps; those of nothing are left out.
func pieces(normal string) []string {
	var out []string
	from := 0
	cut := func(to, next int) {
		if piece := strings.TrimSpace(normal[from:to]); piece != "" {
			out = append(out, piece)
		}
		from = next
	}
	for i := 0; i < len(normal); {
		n := gap(normal[i:])
		if n > 0 {
			cut(i, i+n)
		}
		i += max(n, 1)
	}
	cut(len(normal), len(normal))
	return out
}

// gap is the length of the gap that s begins with, 0 if it begins with none.
func gap(s string) int {
	for _, bracketed := range []string{"[...]", "[…]"} {
		if strings.HasPrefix(s, bracketed) {
			return len(bracketed)
		}
	}
	dots := 0
	for dots < len(s) && s[dots] == '.' {
		dots++
	}
	switch {
	case dots >= 3:
		return dots
	case dots == 0 && strings.HasPrefix(s, "…"):
		return len("…")
	}
	return 0
}

// Cut reports whether s is a piece of a longer text: it begins or ends with a gap, perhaps in
// quotation marks, and is not [Blank].
func Cut(s string) bool {
	if Blank(s) {
		return false
	}
	s = strings.Trim(s, " \t\r\n\"'“”‘’„«»")
	return gap(s) > 0 || slices.ContainsFunc([]string{"...", "…", "[...]", "[…]"}, func(end string) bool { return strings.HasSuffix(s, end) })
}

// Blank reports whether s quotes nothing: it has nothing but white space and gaps.
func Blank(s string) bool {
	if strings.TrimSpace(s) == "" {
		return true
	}
	return strings.Trim(s, ". …[]\t\r\n") == "" && len(pieces(Normalize(s))) == 0
}

// ways are the ways to look for a quote, each as the pieces to look for, the closest
// to the letter first.
func ways(quote string) [][]string {
	whole := Normalize(quote)
	if whole == "" {
		return nil
	}
	all := [][]string{{whole}}
	inner := unquoted(whole)
	if inner != whole {
		all = append(all, []string{inner})
	}
	if p := pieces(inner); len(p) != 1 || p[0] != inner {
		if len(p) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// Holds reports whether span holds quote: contains it, but for white space and
// punctuation at the ends of the span. No span holds a quote that is [Blank].
func Holds(span, quote string) bool {
	if Blank(quote) {
		return false
	}
	if strings.Contains(span, quote) {
		return true
	}
	normal := Normalize(span)
	for _, way := range ways(quote) {
		if contains(normal, way) {
			return true
		}
	}
	return false
}

func isEdge(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) }

// contains reports whether a span in its normal form contains the pieces, but for
// punctuation at an end of the span.
func contains(span string, way []string) bool {
	return containsAt(span, way, false, false) || containsAt(span, way, true, false) ||
		containsAt(span, way, false, true) || containsAt(span, way, true, true)
}

// containsAt is contains where punctuation at the left or the right end of the pieces
// does not count: they then begin or end where the span does.
func containsAt(span string, way []string, left, right bool) bool {
	way = slices.Clone(way)
	first, last := &way[0], &way[len(way)-1]
	if left {
		span, *first = strings.TrimLeftFunc(span, isEdge), strings.TrimLeftFunc(*first, isEdge)
	}
	if right {
		span, *last = strings.TrimRightFunc(span, isEdge), strings.TrimRightFunc(*last, isEdge)
	}
	switch {
	case *first == "" || *last == "" || left && !strings.HasPrefix(span, *first) || right && !strings.HasSuffix(span, *last):
		return false
	case len(way) > 1:
		places, many := NewText(span).find(way)
		return many || len(places) > 0
	case left && right:
		return span == *first
	}
	return strings.Contains(span, *first)
}

// Verbatim returns the first place of quote in text where only white space differs,
// as code points. White space at both ends of the quote does not count. A quote of
// nothing else, or that is not valid UTF-8, is not found.
func Verbatim(text, quote string) (start, end int, ok bool) {
	quote = strings.Join(strings.Fields(quote), " ")
	if quote == "" || !utf8.ValidString(quote) {
		return 0, 0, false
	}
	var b strings.Builder
	b.Grow(len(text))
	squeeze(text, func(_ int, part string) { b.WriteString(part) })
	at := strings.Index(b.String(), quote)
	if at < 0 {
		return 0, 0, false
	}
	n := 0
	squeeze(text, func(cp int, part string) {
		if n == at {
			start = cp
		}
		if n < at+len(quote) {
			end = cp + 1
		}
		n += len(part)
	})
	return start, end, true
}

// squeeze calls yield for each code point of s, and once for a run of white space
// between others, with the number of its first code point.
func squeeze(s string, yield func(cp int, part string)) {
	cp, space, started := -1, -1, false
	for i, r := range s {
		cp++
		if unicode.IsSpace(r) {
			if space < 0 {
				space = cp
			}
			continue
		}
		if space >= 0 && started {
			yield(space, " ")
		}
		space, started = -1, true
		size := 1
		if r >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		yield(cp, s[i:i+size])
	}
}
