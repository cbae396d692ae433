package convert

import (
	"bytes"
	"errors"
	"sort"
	"strings"
	"unicode/utf8"

	"ibid/metrics/token"
)

// A bratText is the text of a document, as the file has it but for a byte order
// mark.
type bratText struct {
	text   string
	marked bool // the file begins with a byte order mark
}

func newBratText(data []byte) (bratText, error) {
	text, marked := bytes.CutPrefix(data, utf8Mark)
	if m := mark(text); m != "" {
		return bratText{}, errors.New("the file begins with " + m)
	}
	if !utf8.Valid(text) {
		return bratText{}, errors.New("invalid UTF-8")
	}
	return bratText{string(text), marked}, nil
}

// A bratCount says what offsets into a text count. The zero bratCount is every
// character of the text.
type bratCount struct {
	folded bool // a line end of two characters counts as one
	marked bool // a byte order mark counts, too
}

// count finds what the offsets of the marks count: what most of their quotes stand
// at, and where that does not tell, what brat itself counts.
func (t bratText) count(marks []*markedSpan) bratCount {
	folded := strings.Contains(t.text, "\r\n")
	if !folded && !t.marked {
		return bratCount{}
	}
	best, most := bratCount{folded, t.marked}, -1
	for _, c := range []bratCount{{folded, t.marked}, {folded, false}, {false, t.marked}, {false, false}} {
		if n := t.as(c).fits(marks); n > most {
			best, most = c, n
		}
	}
	return best
}

// A countedText is a text as offsets count it. Line ends are spaces, since the texts
// of annotations have no line ends.
type countedText struct {
	*token.Text
	pairs  []int64 // code points that stand for two of the document
	before int64   // code points that are not in the document
}

// as returns the text as offsets count it.
func (t bratText) as(c bratCount) *countedText {
	f := &countedText{}
	var b strings.Builder
	b.Grow(len(t.text) + len(utf8Mark))
	if c.marked {
		b.Write(utf8Mark)
		f.before = 1
	}
	n, skip := f.before, false
	for i, r := range t.text {
		switch {
		case skip:
			skip = false
			continue
		case c.folded && strings.HasPrefix(t.text[i:], "\r\n"):
			f.pairs = append(f.pairs, n)
			skip = true
			r = ' '
		case r == '\r' || r == '\n':
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	f.Text = token.NewText(b.String())
	return f
}

// original is the code point of the document at which code point cp of the counted
// text begins.
func (f *countedText) original(cp int64) int64 {
	pairs := sort.Search(len(f.pairs), func(i int) bool { return f.pairs[i] >= cp })
	return max(0, cp-f.before) + int64(pairs)
}

// fits says how well quotes stand at their offsets: the more of them one reading
// that counts from 0 reproduces the better, the documented one before others. One
// that counts from 1 would fit a byte order mark, too.
func (f *countedText) fits(marks []*markedSpan) int {
	var p proof
	scratch := make([]*markedSpan, len(marks))
	for i, m := range marks {
		scratch[i] = &markedSpan{quote: m.quote}
	}
	p.gatherMarks(f.Text, scratch)
	var exact [len(readings)]int
	alike := 0
	for _, m := range scratch {
		for i := range readings {
			exact[i] += int(m.evidence.exact >> i & 1)
		}
		alike += int(m.evidence.alike >> p.documented & 1)
	}
	best := 0
	for i, r := range readings {
		if !r.OneBased {
			best = max(best, exact[i])
		}
	}
	score := 2 * best
	if exact[p.documented] == best {
		score++
	}
	return score*(len(marks)+1) + alike
}
