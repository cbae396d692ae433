package presence

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
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

var kindNames = [...]string{"url", "doi", "author_year", "place"}

// String returns the kind's name, such as "author_year".
func (k Kind) String() string { return kindNames[k] }

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

// finders return the first reference of their kind that begins at or after from.
var finders = [...]func(text string, from int) (hit, bool){nextURL, nextWWW, nextDOI, nextAuthorYear}

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
	for _, find := range finders {
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
	s := newScanner(text)
	s.scan()
	for _, c := range s.items {
		if c.Form == Located {
			dst = append(dst, hit{Place, c.Start, c.End})
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
