package dataset

import (
	"container/list"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/quote"
	"ibid/metrics/token"
)

// A View reads the texts of [Documents] for one worker. It keeps the texts and
// tokens used last, up to a number of bytes. It is not safe for concurrent use.
type View struct {
	docs   *Documents
	limit  int64
	used   int64
	recent *list.List // of *opened, the one used last in front
	opened map[int32]*list.Element
}

// opened is one document whose text is at hand.
type opened struct {
	number int32
	layout *layout
	text   *token.Text       // and behind it the pages, if they are apart
	keys   map[int32]*region // by page; 0 is the text
	bytes  int64             // held by text and keys
}

// A region is the text of one key (document, page).
type region struct {
	whole      *token.Text
	start, end int // code points of whole

	tokens *token.Index // nil until asked for
	quotes *quote.Text  // likewise
}

// View returns a view that keeps about cacheBytes bytes of texts and tokens; the
// document in use is kept whatever its size.
func (d *Documents) View(cacheBytes int64) *View {
	if d == nil {
		return nil
	}
	return &View{docs: d, limit: cacheBytes, recent: list.New(), opened: make(map[int32]*list.Element)}
}

// open returns the document of that number.
func (v *View) open(number int32) (*opened, error) {
	if e, ok := v.opened[number]; ok {
		v.recent.MoveToFront(e)
		return e.Value.(*opened), nil
	}
	doc := &v.docs.docs[number]
	text, err := v.docs.load(doc)
	if err != nil {
		return nil, err
	}
	o := newOpened(&doc.layout, text)
	o.number = number
	v.opened[number] = v.recent.PushFront(o)
	v.used += o.bytes
	v.shrink()
	return o, nil
}

// grew counts n more bytes for what is derived from the document of that number.
func (v *View) grew(number int32, n int64) {
	if e, ok := v.opened[number]; ok {
		e.Value.(*opened).bytes += n
		v.used += n
		v.shrink()
	}
}

// shrink lets go of the documents used longest ago.
func (v *View) shrink() {
	for v.used > v.limit && v.recent.Len() > 1 {
		o := v.recent.Remove(v.recent.Back()).(*opened)
		delete(v.opened, o.number)
		v.used -= o.bytes
	}
}

func newOpened(lay *layout, text string) *opened {
	return &opened{layout: lay, text: token.NewText(text), bytes: int64(len(text))}
}

// key returns the region of a page, page 0 being the whole text. ok is false if
// it is not known.
func (o *opened) key(page int32) (*region, bool) {
	if reg, ok := o.keys[page]; ok {
		return reg, true
	}
	s, ok := o.layout.key(page)
	if !ok {
		return nil, false
	}
	reg := &region{whole: o.text, start: int(s.start), end: int(s.end)}
	if o.keys == nil {
		o.keys = make(map[int32]*region)
	}
	o.keys[page] = reg
	return reg, true
}

// len is the number of code points.
func (g *region) len() int64 { return int64(g.end - g.start) }

// slice returns the code points [start, end) of the region, as far as it goes.
func (g *region) slice(start, end int64) string {
	start, end = min(max(start, 0), g.len()), min(max(end, 0), g.len())
	return g.whole.Slice(g.start+int(start), g.start+int(end))
}

// codePoint returns the code point that unit number off of u belongs to, or,
// with up, the first one at or after it. Every unit past the end of the region
// counts as one code point, so that such an offset stays past the end.
func (g *region) codePoint(u token.Unit, off int64, up bool) int64 {
	from := int64(g.whole.Offset(u, g.start))
	units := int64(g.whole.Offset(u, g.end)) - from
	if off >= units {
		return g.len() + (off - units)
	}
	cp, first := g.whole.CodePoint(u, int(from+off))
	if up && !first {
		cp++
	}
	return int64(cp - g.start)
}

// bytesPerToken is the memory of one token in a [token.Index].
const bytesPerToken = 8

// index returns the tokens of the region and how many bytes they newly take.
func (g *region) index() (x *token.Index, bytes int64) {
	if g.tokens == nil {
		g.tokens = token.Words(g.slice(0, g.len()))
		bytes = int64(g.tokens.Len()) * bytesPerToken
	}
	return g.tokens, bytes
}

// find returns where the region holds a quote, as [quote.Text.Find] does, and how many
// bytes that newly takes.
func (g *region) find(quoted string) (places []quote.Place, many bool, bytes int64) {
	if g.quotes == nil {
		g.quotes = quote.NewText(g.slice(0, g.len()))
	}
	before := g.quotes.Size()
	places, many = g.quotes.Find(quoted)
	return places, many, g.quotes.Size() - before
}

// A stretch is a half-open interval of code points.
type stretch struct{ start, end int32 }

// A layout says how long a document's text is and where its pages and blocks
// lie in it, in code points.
type layout struct {
	hasText bool
	length  int32

	// pages[i] is page i+1, a stretch of the text or, if the pages are not
	// found in it, of their concatenation behind it (apart).
	hasPages bool
	apart    bool
	pages    []stretch

	// blocks[i] is block i, a stretch of the text. They are unknown (nil and
	// not hasBlocks) when the document has none or they are not found in it.
	hasBlocks bool
	blocks    []stretch

	// Only pieces of the text are at hand; the rest is filler.
	pieces bool

	partial bool // the text is a part of that of the document
}

// layOut finds the pages and the blocks of d in its text, behind which it puts pages that are
// not in it. problem says why a text is not used, such as one of over most bytes; the document
// then is known without its text.
func layOut(d *ibid.Document, most int64) (lay layout, text, problem string) {
	for _, parts := range [][]string{{d.Text}, d.Pages, d.Blocks} {
		size := int64(0)
		for _, part := range parts {
			size += int64(len(part))
		}
		if size > most {
			return lay, "", fmt.Sprintf("limits: %d bytes of text, more than %d", size, most)
		}
	}
	switch {
	case d.HasText:
		text = d.Text
	case d.HasPages:
		text = strings.Join(d.Pages, "")
	case d.HasBlocks:
		text = strings.Join(d.Blocks, "")
	default:
		return lay, "", ""
	}
	if problem := unusable(text); problem != "" {
		return lay, "", problem
	}
	lay.hasText, lay.hasPages, lay.partial = true, d.HasPages, d.Partial
	whole := token.NewText(text)
	lay.length = int32(whole.Len())
	if d.HasBlocks {
		if bounds, ok := locate(text, d.Blocks); ok {
			lay.hasBlocks, lay.blocks = true, inCodePoints(whole, bounds)
		}
	}
	if d.HasPages {
		bounds, ok := locate(text, d.Pages)
		if !ok {
			lay.apart = true
			pages := strings.Join(d.Pages, "")
			if problem := unusable(text + pages); problem != "" {
				return layout{}, "", "pages: " + problem
			}
			bounds, _ = locate(pages, d.Pages)
			for i := range bounds {
				bounds[i].start += int32(len(text))
				bounds[i].end += int32(len(text))
			}
			text += pages
			whole = token.NewText(text)
		}
		lay.pages = inCodePoints(whole, bounds)
	}
	return lay, text, ""
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

// whole reports whether all of the document's text is known.
func (l *layout) whole() bool { return l.hasText && !l.partial }

func (l *layout) equal(m *layout) bool {
	return l.hasText == m.hasText && l.partial == m.partial && l.length == m.length &&
		l.hasPages == m.hasPages && l.apart == m.apart && slices.Equal(l.pages, m.pages) &&
		l.hasBlocks == m.hasBlocks && slices.Equal(l.blocks, m.blocks)
}
