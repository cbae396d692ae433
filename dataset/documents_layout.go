package dataset

import (
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

// A stretch is a half-open interval of code points.
type stretch struct{ start, end int32 }

// A layout says how long a document's text is and where its pages and blocks
// lie in it, in code points.
type layout struct {
	hasText bool
	length  int32

	// pages[i] is page i+1, a stretch of the text or, if the pages are not
	// found in it, of their own concatenation (apart).
	hasPages bool
	apart    bool
	pages    []stretch

	// blocks[i] is block i, a stretch of the text. They are unknown (nil and
	// not hasBlocks) when the document has none or they are not found in it.
	hasBlocks bool
	blocks    []stretch
}

// texts are the strings that a layout counts in.
type texts struct {
	text  string
	pages string // the concatenation of the pages, if they are apart
}

// layOut finds the text, the pages and the blocks of d. problem says why a text
// that was given is not used; the document then is known without its text.
func layOut(d *Document) (lay layout, t texts, problem string) {
	switch {
	case d.HasText:
		t.text, lay.hasText = d.Text, true
	case d.HasPages:
		t.text, lay.hasText = strings.Join(d.Pages, ""), true
	case d.HasBlocks:
		t.text, lay.hasText = strings.Join(d.Blocks, ""), true
	default:
		return lay, t, ""
	}
	if problem := unusable(t.text); problem != "" {
		return layout{}, texts{}, problem
	}
	whole := token.NewText(t.text)
	lay.length = int32(whole.Len())
	if d.HasPages {
		lay.hasPages = true
		bounds, ok := locate(t.text, d.Pages)
		if !ok {
			lay.apart = true
			t.pages = strings.Join(d.Pages, "")
			if problem := unusable(t.pages); problem != "" {
				return layout{}, texts{}, "pages: " + problem
			}
			whole = token.NewText(t.pages)
			bounds, _ = locate(t.pages, d.Pages)
		}
		lay.pages = inCodePoints(whole, bounds)
	}
	if d.HasBlocks {
		if bounds, ok := locate(t.text, d.Blocks); ok {
			lay.hasBlocks = true
			lay.blocks = inCodePoints(token.NewText(t.text), bounds)
		}
	}
	return lay, t, ""
}

// unusable says what is wrong with a text, "" if nothing.
func unusable(text string) string {
	switch {
	case len(text) > math.MaxInt32:
		return "text is longer than 2 GiB"
	case !utf8.ValidString(text):
		return "text is not valid UTF-8"
	}
	return ""
}

// locate finds the parts in text, in order and with nothing but white space
// before, between and after them, which is how extractors join pages and
// blocks. The bounds are in bytes.
func locate(text string, parts []string) (bounds []stretch, ok bool) {
	bounds = make([]stretch, 0, len(parts))
	at := 0
	for _, part := range parts {
		for !strings.HasPrefix(text[at:], part) {
			r, size := utf8.DecodeRuneInString(text[at:])
			if size == 0 || !unicode.IsSpace(r) {
				return nil, false
			}
			at += size
		}
		bounds = append(bounds, stretch{int32(at), int32(at + len(part))})
		at += len(part)
	}
	return bounds, strings.TrimSpace(text[at:]) == ""
}

// inCodePoints converts bounds in bytes of text to code points, in place.
func inCodePoints(text *token.Text, bounds []stretch) []stretch {
	for i, b := range bounds {
		start, _ := text.CodePoint(token.Byte, int(b.start))
		end, _ := text.CodePoint(token.Byte, int(b.end))
		bounds[i] = stretch{int32(start), int32(end)}
	}
	return bounds
}

// key returns the stretch that offsets of the key page count in: the text for
// page 0, else that page. ok is false if it is not known.
func (l *layout) key(page int32) (s stretch, ok bool) {
	if page == 0 {
		return stretch{0, l.length}, l.hasText
	}
	if page < 1 || int(page) > len(l.pages) {
		return stretch{}, false
	}
	return l.pages[page-1], true
}

// touched returns the first and the last page that the code points [start, end)
// of the text touch. White space between two pages belongs to the one before
// it, what lies past the last page to the last. ok is false if it is not known
// where the pages lie in the text.
func (l *layout) touched(start, end int64) (first, last int32, ok bool) {
	if len(l.pages) == 0 || l.apart {
		return 0, 0, false
	}
	pageOf := func(cp int64) int32 {
		n := sort.Search(len(l.pages), func(i int) bool { return int64(l.pages[i].start) > cp })
		return int32(max(n, 1))
	}
	return pageOf(start), pageOf(max(start, end-1)), true
}

func (l *layout) equal(m *layout) bool {
	same := func(a, b []stretch) bool {
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	return l.hasText == m.hasText && l.length == m.length &&
		l.hasPages == m.hasPages && l.apart == m.apart && same(l.pages, m.pages) &&
		l.hasBlocks == m.hasBlocks && same(l.blocks, m.blocks)
}
