package verify

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ibid"
)

// A document is a source, with the bounds of its pages and blocks in code points.
type document struct {
	ibid.Document
	text          []rune // nil without hasText
	hasText       bool
	pages, blocks []stretch
	paged         bool   // it has pages
	apart         []rune // the pages joined, where they are not found in the text
	isApart       bool
	hasBlocks     bool // and they are found in the text
	words         map[int32][]stretch
}

func newDocument(d *ibid.Document) *document {
	out := &document{Document: *d, words: make(map[int32][]stretch)}
	text := d.Text
	switch {
	case d.HasText:
	case d.HasPages:
		text = strings.Join(d.Pages, "")
	case d.HasBlocks:
		text = strings.Join(d.Blocks, "")
	default:
		return out
	}
	if !utf8.ValidString(text) {
		return out
	}
	out.text, out.hasText = []rune(text), true
	if d.HasPages {
		out.paged = true
		var found bool
		if out.pages, found = locateParts(out.text, d.Pages); !found {
			out.isApart, out.apart = true, []rune(strings.Join(d.Pages, ""))
			out.pages, _ = locateParts(out.apart, d.Pages)
		}
	}
	if d.HasBlocks {
		out.blocks, out.hasBlocks = locateParts(out.text, d.Blocks)
	}
	return out
}

// locateParts finds parts in a text, one after the other with nothing but white space
// around them.
func locateParts(text []rune, parts []string) ([]stretch, bool) {
	var out []stretch
	at := 0
	for _, p := range parts {
		part := []rune(p)
		for !(at+len(part) <= len(text) && string(text[at:at+len(part)]) == p) {
			if at >= len(text) || !unicode.IsSpace(text[at]) {
				return nil, false
			}
			at++
		}
		out = append(out, stretch{int64(at), int64(at + len(part))})
		at += len(part)
	}
	return out, strings.TrimSpace(string(text[at:])) == ""
}

// key is the text of a key of the document.
func (d *document) key(page int32, base string) (text []rune, known bool) {
	switch {
	case d == nil || !d.hasText:
		return nil, false
	case page == 0:
		return d.text, base == "document" || !d.paged
	case page < 1 || int(page) > len(d.pages):
		return nil, false
	}
	whole := d.text
	if d.isApart {
		whole = d.apart
	}
	p := d.pages[page-1]
	return whole[p.start:p.end], true
}

// touched are the pages that [start, end) of the text touches. What stands between two
// pages belongs to the one before.
func (d *document) touched(start, end int64) (first, last int32, known bool) {
	if d == nil || len(d.pages) == 0 || d.isApart {
		return 0, 0, false
	}
	of := func(at int64) int32 {
		page := int32(1)
		for i, p := range d.pages {
			if p.start <= at {
				page = int32(i + 1)
			}
		}
		return page
	}
	return of(start), of(max(start, end-1)), true
}

func (r *resolver) document(name string) *document {
	if d, ok := r.own[name]; ok {
		return d
	}
	return r.in.documents[name]
}

func cut(text []rune, start, end int64) string {
	n := int64(len(text))
	return string(text[min(max(start, 0), n):min(max(end, 0), n)])
}

// codePoint converts an offset in units of a text. One inside of a code point is its begin,
// or with up the begin of the next; what lies past the end stays as far past it.
func codePoint(text []rune, unit string, offset int64, up bool) int64 {
	at := int64(0)
	for i, r := range text {
		size := int64(1)
		if unit == "byte" {
			size = int64(utf8.RuneLen(r))
		} else if unit == "utf16" {
			size = int64(utf16.RuneLen(r))
		}
		if offset < at+size {
			if up && offset > at {
				return int64(i + 1)
			}
			return int64(i)
		}
		at += size
	}
	return int64(len(text)) + offset - at
}
