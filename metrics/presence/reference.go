package presence

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/claims"
)

// A Kind is a format of citation that names its source by itself.
type Kind uint8

// The kinds, each enough for citation_presence.
const (
	URL        Kind = iota // http(s)://… or www.…
	DOI                    // doi:10.1000/182
	AuthorYear             // (Smith et al., 2023), Smith (2020)
	Place                  // [file:page:start-end]
)

// A Reference is one citation that names its source. Start and End are the
// half-open interval of its code points in the text.
type Reference struct {
	Kind       Kind
	Text       string
	Start, End int
}

// References returns what text cites by URL, DOI, author and year, or place, in
// the order of the text and without overlaps. Bare numbers such as [1] and 【3】
// are not among them: they name no source.
func References(text string) []Reference {
	found := appendHits(nil, text)
	refs := make([]Reference, len(found))
	at, count := 0, 0
	position := func(offset int) int {
		count += utf8.RuneCountInString(text[at:offset])
		at = offset
		return count
	}
	for i, h := range found {
		refs[i] = Reference{h.kind, text[h.start:h.end], position(h.start), position(h.end)}
	}
	return refs
}

// A hit is a reference in bytes.
type hit struct {
	kind       Kind
	start, end int
}

// finders return the first reference of their kind that begins at or after from. A
// colon is in what those from unmarked on find, as it is in a place.
var finders = [...]func(text string, from int) (hit, bool){nextWWW, func(text string, from int) (hit, bool) {
	start, end, ok := claims.AuthorYear(text, from)
	return hit{AuthorYear, start, end}, ok
}, nextURL, nextDOI}

const unmarked = 2

// appendHits appends the references of text, earliest first; of two that
// overlap, the one that begins first, or else the longer.
func appendHits(dst []hit, text string) []hit {
	base := len(dst)
	for _, find := range finders {
		for from := 0; ; {
			h, ok := find(text, from)
			if !ok {
				break
			}
			dst = append(dst, h)
			from = h.end
		}
	}
	dst = appendPlaces(dst, text)
	found := dst[base:]
	slices.SortFunc(found, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	end := 0
	found = slices.DeleteFunc(found, func(h hit) bool {
		if h.start < end {
			return true
		}
		end = h.end
		return false
	})
	return dst[:base+len(found)]
}

// hasReference reports whether text holds a reference. It does not allocate
// unless the text holds a bracket and a number between colons.
func hasReference(text string) bool {
	for _, find := range finders[:unmarked] {
		if _, ok := find(text, 0); ok {
			return true
		}
	}
	if strings.IndexByte(text, ':') < 0 {
		return false
	}
	for _, find := range finders[unmarked:] {
		if _, ok := find(text, 0); ok {
			return true
		}
	}
	return len(appendPlaces(nil, text)) > 0
}

// appendPlaces appends the citations of the form [file:page:start-end].
func appendPlaces(dst []hit, text string) []hit {
	if !mayHoldPlace(text) {
		return dst
	}
	at, points := 0, 0
	offset := func(point int) int {
		for ; points < point; points++ {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
		return at
	}
	marks, _ := claims.ReadMarks(text, nil, 1)
	for i, m := range marks {
		if m.Form == claims.Located && (i == 0 || marks[i-1].Start != m.Start) {
			start := offset(m.Start)
			dst = append(dst, hit{Place, start, offset(m.End)})
		}
	}
	return dst
}

// mayHoldPlace reports whether a bracket is followed by a number between
// colons, a page. It spares most texts the scanner.
func mayHoldPlace(text string) bool {
	bracket := strings.IndexByte(text, '[')
	if bracket < 0 {
		return false
	}
	for rest := text[bracket:]; ; {
		colon := strings.IndexByte(rest, ':')
		if colon < 0 {
			return false
		}
		rest = rest[colon+1:]
		page := strings.TrimLeftFunc(rest, isSpace)
		if n := digits(page); n > 0 && strings.HasPrefix(strings.TrimLeftFunc(page[n:], isSpace), ":") {
			return true
		}
	}
}

// nextAt finds the first place of a sign at or after from of which read makes a
// reference; at and after are where the sign begins and ends.
func nextAt(text, sign string, from int, read func(at, after int) (hit, bool)) (hit, bool) {
	for i := from; ; {
		at := strings.Index(text[i:], sign)
		if at < 0 {
			return hit{}, false
		}
		at += i
		i = at + len(sign)
		if h, ok := read(at, i); ok {
			return h, true
		}
	}
}

// nextURL finds http://… or https://…, in any case.
func nextURL(text string, from int) (hit, bool) {
	return nextAt(text, "://", from, func(at, after int) (hit, bool) {
		scheme := schemeLength(text[from:at])
		if scheme == 0 {
			return hit{}, false
		}
		n := linkLength(text[after:])
		return hit{URL, at - scheme, after + n}, n > 0
	})
}

// schemeLength is the length of the http or https that s ends with, 0 if it
// ends otherwise. The long s (U+017F) folds to s.
func schemeLength(s string) int {
	for _, scheme := range [...]string{"https", "httpſ", "http"} {
		if hasFoldSuffix(s, scheme) {
			return len(scheme)
		}
	}
	return 0
}

// nextWWW finds www.…, in any case and wherever it begins.
func nextWWW(text string, from int) (hit, bool) {
	return nextAt(text, ".", from, func(at, after int) (hit, bool) {
		if !hasFoldSuffix(text[from:at], "www") {
			return hit{}, false
		}
		n := linkLength(text[after:])
		return hit{URL, at - len("www"), after + n}, n > 0
	})
}

// linkLength is the length of the rest of a URL that s begins with: up to white
// space, a quotation mark, or a character that no URL holds, less the
// punctuation at its end. A closing parenthesis stays if the URL opened it.
func linkLength(s string) int {
	end := strings.IndexFunc(s, endsLink)
	if end < 0 {
		end = len(s)
	}
	unopened := strings.Count(s[:end], ")") - strings.Count(s[:end], "(")
	for end > 0 {
		switch c := s[end-1]; {
		case strings.IndexByte(".,;:!?", c) >= 0:
		case c == ')' && unopened > 0:
			unopened--
		default:
			return end
		}
		end--
	}
	return 0
}

func endsLink(r rune) bool {
	return isSpace(r) || r < utf8.RuneSelf && strings.ContainsRune("<>\"'[]{}|\\^`", r)
}

// nextDOI finds doi:10.1000/182: a prefix after "doi:", of which a bare number
// or any other word makes none. It ends at white space or a closing bracket.
func nextDOI(text string, from int) (hit, bool) {
	return nextAt(text, ":", from, func(at, after int) (hit, bool) {
		if !hasFoldSuffix(text[from:at], "doi") {
			return hit{}, false
		}
		start := at - len("doi")
		if r, _ := utf8.DecodeLastRuneInString(text[:start]); start > 0 && isWordRune(r) {
			return hit{}, false
		}
		name := strings.TrimLeftFunc(text[after:], isSpace)
		n := doiLength(name)
		return hit{DOI, start, len(text) - len(name) + n}, n > 0
	})
}

// doiLength is the length of the DOI that s begins with, such as 10.1000/182.
func doiLength(s string) int {
	if !strings.HasPrefix(s, "10.") {
		return 0
	}
	slash := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if slash <= len("10.") || s[slash] != '/' {
		return 0
	}
	end := strings.IndexFunc(s, func(r rune) bool { return isSpace(r) || r == ')' || r == ']' })
	if end < 0 {
		end = len(s)
	}
	end = len(strings.TrimRight(s[:end], ".,;:!?'\"}"))
	if end <= slash+1 {
		return 0
	}
	return end
}

// hasFoldSuffix reports whether s ends with suffix, in any case.
func hasFoldSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// isSpace reports white space, among it the four separators U+001C to U+001F
// that [unicode.IsSpace] leaves out.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

// isWordRune reports the characters that make words: letters of any script,
// marks, digits, the underscore.
func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digits counts the ASCII digits at the beginning of s.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}
