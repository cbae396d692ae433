package claims

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Reference is one entry of an answer's own list of references.
type Reference struct {
	Number int    // what marks call it; entries without a number are counted from 1
	Target string // the URL, if there is one, else the text of the entry
	Title  string // the text of the entry without its number and its URL
}

// References returns the list of references that an answer brings itself: what
// stands below a heading or bold line of [ReferenceHeadings], a line that begins
// with such a word and a colon, lines [^n]: text and [n]: target, and a last block of
// lines that each begin with a mark, a number or a link. A list ends with the first
// line of another kind. Of two entries with one number the first counts.
func References(text string) []Reference {
	a := newAnswer(text)
	a.readBlocks()
	a.findMarks()
	a.classify()
	var all []Reference
	seen := map[int]bool{}
	for i := range a.lines {
		if a.lines[i].kind != referenceLine || a.lines[i].more {
			continue
		}
		for _, r := range a.entries(i, len(all)) {
			if !seen[r.Number] {
				seen[r.Number] = true
				all = append(all, r)
			}
		}
	}
	return all
}

var (
	// entryStart is what an entry of a list of references begins with.
	entryStart = regexp.MustCompile(`^(?:\[\^?(\d{1,6})\]:?|【(\d{1,6})】|\^(\d{1,6})\b:?|(\d{1,4})[.):](?:\s|$))`)
	// entryMark is where another entry begins on the same line.
	entryMark = regexp.MustCompile(`\[\^?\d{1,6}\]:?|【\d{1,6}】`)

	referenceWords = wordSet(referenceHeadings)
	captionNumber  = regexp.MustCompile(`^[*_]*(\pL+)\.?\s*[\dIVX]+[*_]*\s*[.:：–—-]`)
	captionFirst   = wordSet(captionWords)
)

// entries reads the entries of a line of a list of references; before is how many
// there are already.
func (a *answer) entries(i, before int) []Reference {
	l := &a.lines[i]
	at := extent{a.bulletStart(l), l.end}
	for i++; i < len(a.lines) && a.lines[i].more; i++ {
		at.end = a.lines[i].end
	}
	if rest, ok := a.referenceWord(l.extent); ok {
		if at = rest; at.empty() {
			return nil
		}
	}
	// Several entries may stand on one line, each with its mark.
	var all []Reference
	text := a.s[at.start:at.end]
	starts := [][]int{{0, 0}}
	if strings.IndexFunc(text, func(r rune) bool { return r == '[' || r == '【' }) == 0 {
		for _, m := range entryMark.FindAllStringIndex(text, -1) {
			if m[0] > 0 && !strings.HasPrefix(text[m[1]:], "(") {
				starts = append(starts, m)
			}
		}
	}
	for k, s := range starts {
		end := len(text)
		if k+1 < len(starts) {
			end = starts[k+1][0]
		}
		if r, ok := a.entry(extent{at.start + s[0], at.start + end}); ok {
			if r.Number == 0 {
				r.Number = before + len(all) + 1
			}
			all = append(all, r)
		}
	}
	return all
}

// entry reads one entry. Its number is 0 if it has none.
func (a *answer) entry(at extent) (r Reference, ok bool) {
	text := a.s[at.start:at.end]
	if m := entryStart.FindStringSubmatchIndex(text); m != nil {
		for k := 2; k < len(m); k += 2 {
			if m[k] >= 0 {
				r.Number, _ = strconv.Atoi(text[m[k]:m[k+1]])
			}
		}
		at.start += m[1]
	} else {
		at.start += len(text) - len(strings.TrimLeft(text, "-*+• \t"))
	}
	at = a.trimmed(at)
	for _, l := range a.linksIn(at) {
		if at.holds(l.extent) && !l.image {
			r.Target = l.target
			break
		}
	}
	r.Title = strings.Trim(strings.Join(strings.Fields(a.render(at)), " "), " *_-–—:,;.")
	if r.Target != "" {
		r.Title = strings.Trim(strings.ReplaceAll(r.Title, r.Target, ""), " *_-–—:,;.()<>[]")
	}
	if r.Target == "" {
		r.Target = r.Title
	}
	return r, r.Target != ""
}

// bulletStart is where the sign of the list item stands that a line begins.
func (a *answer) bulletStart(l *line) int {
	if !l.item {
		return l.start
	}
	start := lineStart(a.s, l.start)
	return start + len(a.s[start:l.start]) - len(strings.TrimLeft(a.s[start:l.start], " \t>"))
}

// referenceWord reports whether a line begins with a word that heads a list of
// references and a colon, or is one; rest is what follows.
func (a *answer) referenceWord(e extent) (rest extent, ok bool) {
	head := strings.TrimLeft(a.s[e.start:e.end], "#*_ \t")
	head = strings.TrimLeftFunc(head, func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == ' ' })
	word, after := head, ""
	if i := strings.IndexAny(head[:runeCut(head, 60)], ":："); i >= 0 {
		_, size := utf8.DecodeRuneInString(head[i:])
		word, after = head[:i], strings.TrimLeft(head[i+size:], "*_ \t")
	}
	if !referenceWords[folded(strings.Trim(word, "*_ \t()"))] {
		return e, false
	}
	return a.trimmed(extent{e.end - len(after), e.end}), true
}

// findReferences makes the lines of the answer's own list of references
// referenceLines.
func (a *answer) findReferences() {
	for i := 0; i < len(a.lines); i++ {
		l := &a.lines[i]
		if l.kind != textLine && l.kind != headingLine && l.kind != linkLine {
			continue
		}
		text := a.s[l.start:l.end]
		if m := entryStart.FindString(text); l.kind != headingLine && m != "" && strings.HasSuffix(m, ":") {
			l.kind = referenceLine
			// A footnote goes on in the lines of its paragraph.
			for i+1 < len(a.lines) && a.lines[i+1].block == l.block && !entryStart.MatchString(a.s[a.lines[i+1].start:a.lines[i+1].end]) {
				i++
				a.lines[i].kind, a.lines[i].more = referenceLine, true
			}
			continue
		}
		rest, ok := a.referenceWord(l.extent)
		if !ok {
			continue
		}
		if !rest.empty() { // "Source: …"
			if l.kind == textLine {
				l.kind = referenceLine
				i = a.markEntries(i+1) - 1
			}
			continue
		}
		if l.kind == headingLine || i+1 < len(a.lines) && a.isEntry(i+1) {
			l.kind = headingLine
			if l.level == 0 {
				l.level = boldLevel
			}
			i = a.markEntries(i+1) - 1
		}
	}
	a.findLastReferences()
}

// markEntries makes the entries from line i on referenceLines and returns the
// first line that is none.
func (a *answer) markEntries(i int) int {
	for ; i < len(a.lines) && a.isEntry(i); i++ {
		switch a.lines[i].kind {
		case headingLine, captionLine, otherLine, referenceLine:
			return i
		}
		a.lines[i].kind = referenceLine
	}
	return i
}

// isEntry reports whether line i looks like an entry below a heading that says so: it
// begins with a mark or a number, is an item of a list, or holds a link.
func (a *answer) isEntry(i int) bool {
	l := &a.lines[i]
	return l.item || meeting(a.links, l.extent) || entryStart.MatchString(a.s[l.start:l.end])
}

func (a *answer) linkStartsAt(at int) bool {
	links := a.linksIn(extent{at - 1, at + 1})
	return len(links) > 0 && !links[0].image
}

// findLastReferences makes the last block of lines that each begin with a mark, a
// number or a link referenceLines. Those with a number alone must be the numbers of
// marks before: a list of steps is none.
func (a *answer) findLastReferences() {
	from := len(a.lines)
	for from > 0 && (a.lines[from-1].kind == textLine || a.lines[from-1].kind == linkLine) && a.isLastEntry(from-1) {
		from--
	}
	if from == 0 || from == len(a.lines) {
		return
	}
	for i := from; i < len(a.lines); i++ {
		a.lines[i].kind = referenceLine
	}
}

func (a *answer) isLastEntry(i int) bool {
	l := &a.lines[i]
	start := a.bulletStart(l)
	text := a.s[start:l.end]
	if m := entryStart.FindStringSubmatch(text); m != nil {
		rest := strings.TrimSpace(text[len(m[0]):])
		number, _ := strconv.Atoi(m[1] + m[2] + m[3] + m[4])
		if rest == "" || m[4] == "" && strings.TrimFunc(a.without(extent{l.end - len(rest), l.end}), isPunctuation) == "" && !meeting(a.links, l.extent) {
			return false // a mark that stands alone belongs to the text before
		}
		if a.linkStartsAt(l.end - len(rest)) {
			return true
		}
		return a.marked(number, start) && (m[4] == "" || meeting(a.links, l.extent))
	}
	head := strings.TrimLeft(text, "-*+•_ \t")
	return a.linkStartsAt(l.end-len(head)) && !strings.HasPrefix(head, "(")
}

// marked reports whether a mark before the byte at names a number.
func (a *answer) marked(number, at int) bool {
	for _, m := range a.marks {
		if m.start >= at {
			return false
		}
		for _, n := range digits.FindAllString(a.s[m.start:m.end], -1) {
			if v, err := strconv.Atoi(n); err == nil && v == number {
				return true
			}
		}
	}
	return false
}

var digits = regexp.MustCompile(`\d{1,9}`)
