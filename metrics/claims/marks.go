package claims

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/presence"
)

// An extent is a half-open interval of bytes of an answer.
type extent struct{ start, end int }

func (e extent) bounds() extent { return e }

func (e extent) empty() bool { return e.start >= e.end }

func (e extent) meets(o extent) bool { return e.start < o.end && o.start < e.end }

func (e extent) holds(o extent) bool { return e.start <= o.start && o.end <= e.end }

func (e extent) and(o extent) extent { return extent{max(e.start, o.start), min(e.end, o.end)} }

// A link is [label](target) or, as an image, ![label](target).
type link struct {
	extent
	label  extent
	target string
	image  bool
}

// ibidem is a mark without a number.
var ibidem = regexp.MustCompile(`(?i)[(\[](?:ibid|ebd|ebenda|op\. ?cit|loc\. ?cit)\b[^()\[\]\n]{0,40}[)\]]`)

// maxTarget is the most bytes that the target of a link can have.
const maxTarget = 4096

// appendLinks appends the links of text to dst, in the order of their ends.
func appendLinks(dst []link, text string) []link {
	var open []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			open = open[:0]
		case '\\':
			i++
		case '[':
			open = append(open, i)
		case ']':
			if len(open) == 0 {
				continue
			}
			start := open[len(open)-1]
			open = open[:len(open)-1]
			if !strings.HasPrefix(text[i+1:], "(") {
				continue
			}
			target, size := linkTarget(text[i+2 : min(len(text), i+2+maxTarget)])
			if size == 0 {
				continue
			}
			l := link{extent: extent{start, i + 2 + size}, label: extent{start + 1, i}, target: target}
			if start > 0 && text[start-1] == '!' {
				l.image, l.start = true, start-1
			}
			dst = append(dst, l)
			i = l.end - 1
		}
	}
	return dst
}

// linkTarget reads the target of a link and perhaps its title, up to the closing
// parenthesis. size is 0 if s begins with none.
func linkTarget(s string) (target string, size int) {
	depth, end := 0, -1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n':
			return "", 0
		case c == ' ' && end < 0:
			end = i
			if rest := strings.TrimLeft(s[i:], " "); rest == "" || strings.IndexByte(`"'()`, rest[0]) < 0 {
				return "", 0
			}
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				if end < 0 {
					end = i
				}
				return strings.Trim(s[:end], "<>"), i + 1
			}
		}
	}
	return "", 0
}

// findMarks fills the links of the answer and the marks that are seen in its text.
func (a *answer) findMarks() {
	a.marks = a.marks[:0]
	found, _ := presence.Parse(a.s)
	for i := range found {
		m := &found[i]
		if m.Form == presence.Statement {
			a.marks = append(a.marks, a.bytes(m.Start, m.BodyStart), a.bytes(m.BodyEnd, m.End))
			continue
		}
		a.marks = append(a.marks, a.bytes(m.Start, m.End))
	}
	for _, at := range ibidem.FindAllStringIndex(a.s, -1) {
		a.marks = append(a.marks, extent{at[0], at[1]})
	}
	a.findLinks()
	a.marks = united(a.marks)
	a.mask()
}

// linksIn are the links that begin in e.
func (a *answer) linksIn(e extent) []link {
	from := sort.Search(len(a.links), func(i int) bool { return a.links[i].start >= e.start })
	to := sort.Search(len(a.links), func(i int) bool { return a.links[i].start >= e.end })
	return a.links[from:max(from, to)]
}

// addMarks adds the places of citations that are marks although they do not look
// like one. A link in running text stays text: its words are part of a sentence.
func (a *answer) addMarks(citations []placed) {
	before := len(a.marks)
	for i := range citations {
		c := &citations[i]
		if c.role == ibid.Marker && !c.at.empty() && !meeting(a.links, c.at) && !meeting(a.marks, c.at) {
			a.marks = append(a.marks, c.at)
		}
	}
	if len(a.marks) > before {
		a.marks = united(a.marks)
		a.mask()
	}
}

// meeting reports whether one of all, which are sorted, meets e.
func meeting[T interface{ bounds() extent }](all []T, e extent) bool {
	i := sort.Search(len(all), func(i int) bool { return all[i].bounds().start >= e.end })
	return i > 0 && all[i-1].bounds().end > e.start
}

// findLinks fills links, and adds those to the marks that are no text: of numbers,
// in brackets that hold nothing else, or behind the full stop that ends a sentence.
func (a *answer) findLinks() {
	a.links = appendLinks(a.links[:0], a.s)
	written := a.links
	if strings.Contains(a.s, "http") || strings.Contains(a.s, "www.") {
		for _, r := range presence.References(a.s) {
			at := a.bytes(r.Start, r.End)
			for len(written) > 0 && written[0].end <= at.start {
				written = written[1:]
			}
			if r.Kind != presence.URL || len(written) > 0 && written[0].start < at.end {
				continue
			}
			if at.start > 0 && a.s[at.start-1] == '<' && at.end < len(a.s) && a.s[at.end] == '>' {
				at = extent{at.start - 1, at.end + 1}
			}
			a.links = append(a.links, link{extent: at, label: extent{at.start, at.start}, target: r.Text})
		}
	}
	slices.SortFunc(a.links, func(x, y link) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end)) })
	for i := 0; i < len(a.links); {
		// A group of links with nothing but commas between them.
		first, end := i, a.links[i].end
		image := a.links[i].image
		for i++; i < len(a.links) && strings.TrimFunc(a.s[min(end, a.links[i].start):a.links[i].start], separates) == ""; i++ {
			end, image = max(end, a.links[i].end), image || a.links[i].image
		}
		if image {
			continue
		}
		group := extent{a.links[first].start, end}
		if around, ok := a.bracketed(group); ok {
			a.marks = append(a.marks, around)
			continue
		}
		if a.followsSentence(group) {
			a.marks = append(a.marks, group)
			continue
		}
		for _, l := range a.links[first:i] {
			if label := a.s[l.label.start:l.label.end]; label != "" && !strings.ContainsFunc(label, unicode.IsLetter) {
				a.marks = append(a.marks, l.extent)
			}
		}
	}
}

// brackets are what may enclose a mark.
var brackets = map[rune]rune{'(': ')', '[': ']', '（': '）', '［': '］', '【': '】'}

// bracketed widens e by the brackets that enclose it and nothing else.
func (a *answer) bracketed(e extent) (extent, bool) {
	left := strings.TrimRight(a.s[:e.start], " ")
	right := strings.TrimLeft(a.s[e.end:], " ")
	open, size := utf8.DecodeLastRuneInString(left)
	closing, width := utf8.DecodeRuneInString(right)
	if want, ok := brackets[open]; !ok || want != closing {
		return e, false
	}
	return extent{len(left) - size, len(a.s) - len(right) + width}, true
}

// followsSentence reports whether a link stands on its line behind a full stop, and
// what follows it, if anything, begins with no small letter.
func (a *answer) followsSentence(e extent) bool {
	line := a.s[strings.LastIndexByte(a.s[:e.start], '\n')+1 : e.start]
	line = strings.TrimRightFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_)”\"»", r) })
	last, _ := utf8.DecodeLastRuneInString(line)
	if line == "" || !isStop(last) || !strings.ContainsFunc(line, unicode.IsLetter) {
		return false
	}
	rest := a.s[e.end:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	rest = strings.TrimLeft(rest, " \t.,;)*_")
	next, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsUpper(next) || next == '[' || next == '('
}

// isStop reports what a sentence ends with.
func isStop(r rune) bool {
	return strings.ContainsRune(".!?…。．！？", r) || r >= utf8.RuneSelf && unicode.Is(unicode.STerm, r)
}

// separates reports whether r may stand between two marks of one group.
func separates(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;，、；،", r) }

// united sorts extents and unites those that meet.
func united(all []extent) []extent {
	slices.SortFunc(all, func(x, y extent) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end)) })
	n := 0
	for _, e := range all {
		if n > 0 && e.start < all[n-1].end {
			all[n-1].end = max(all[n-1].end, e.end)
			continue
		}
		all[n] = e
		n++
	}
	return all[:n]
}

// mask fills plain and cuts.
func (a *answer) mask() {
	a.cuts = append(a.cuts[:0], a.marks...)
	for _, l := range a.links {
		switch {
		case l.image:
			a.cuts = append(a.cuts, l.extent)
		case !l.label.empty():
			a.cuts = append(a.cuts, extent{l.start, l.label.start}, extent{l.label.end, l.end})
		}
	}
	a.cuts = append(a.cuts, a.gaps...)
	a.cuts = united(a.cuts)
	a.plain = append(a.plain[:0], a.s...)
	for _, c := range a.cuts {
		a.blank(c)
	}
	for _, l := range a.links {
		if l.label.empty() {
			a.blank(l.extent)
		}
	}
}

func (a *answer) blank(e extent) {
	for i := e.start; i < e.end; i++ {
		a.plain[i] = ' '
	}
}

// readsAsMark reports whether the text at e is made of marks, or is a link.
func (a *answer) readsAsMark(e extent) bool {
	bare := func(e extent) string { return strings.Trim(a.s[e.start:e.end], " ()[]") }
	if i := sort.Search(len(a.links), func(i int) bool { return a.links[i].end > e.start }); i < len(a.links) && bare(a.links[i].extent) == bare(e) {
		return true
	}
	some, at := false, e.start
	i := sort.Search(len(a.marks), func(i int) bool { return a.marks[i].end > e.start })
	for ; i < len(a.marks) && a.marks[i].start < e.end; i++ {
		m := a.marks[i]
		if strings.TrimFunc(a.s[at:max(at, m.start)], separates) != "" {
			return false
		}
		some, at = true, min(m.end, e.end)
	}
	return some && strings.TrimFunc(a.s[at:e.end], separates) == ""
}
