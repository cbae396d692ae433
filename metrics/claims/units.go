package claims

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

// An answer is the text of one row while its claims are found. Offsets are bytes.
type answer struct {
	text *token.Text
	s    string

	marks  []extent // sorted, disjoint; those that are no text
	seen   []extent // all marks that the text shows, those around words, too
	prose  []extent // of these, words of sentences that name a source: document 1
	around []extent // what stands around the words of marks
	links  []link   // sorted by start
	lists  []extent // the answer's own list of references
	cuts   []extent // marks, pictures, the targets of links, gaps: what no claim's text holds
	gaps   []extent // see readBlocks
	codes  []extent // between backticks

	excerpts []excerpt // words of sources in marks
	plain    []byte    // s with spaces for the cuts and for addresses

	lines  []line
	blocks []block
	units  []unit
	// introductions say what headings, captions and lead-ins introduce.
	introductions []introduction
}

// A unit is a stretch of text that is never joined with its neighbours: a run of
// lines of a paragraph, a row of a table, a value of a JSON answer.
type unit struct {
	extent
	block  int    // see line; -1 in JSON
	row    []cell // of a row of a table
	key    string // of a JSON value
	value  extent // of a JSON value, without its quotation marks
	leadIn lead   // whether its last sentence introduces what follows
	lead   string // the lead-in that introduces it, "" if there is none
}

// A lead says whether a text is a lead-in.
type lead uint8

const (
	noLead     lead = iota
	leadToText      // to units
	leadToCode      // to code or a picture
)

// An introduction is text that introduces the units [from, to) and claims nothing.
type introduction struct {
	extent
	from, to int
}

func newAnswer(s string) *answer {
	text := token.NewText(s)
	return &answer{text: text, s: text.String()}
}

// bytes converts an interval of code points.
func (a *answer) bytes(start, end int) extent {
	return extent{a.text.Offset(token.Byte, start), a.text.Offset(token.Byte, end)}
}

// points converts an extent to code points.
func (a *answer) points(e extent) token.Bounds {
	start, _ := a.text.CodePoint(token.Byte, e.start)
	end, _ := a.text.CodePoint(token.Byte, e.end)
	return token.Bounds{Start: int32(start), End: int32(end)}
}

// without is the text at e with spaces for marks, targets of links and addresses.
func (a *answer) without(e extent) string { return string(a.plain[e.start:max(e.start, e.end)]) }

// hasWord reports whether there is a letter or number at e outside of marks.
func (a *answer) hasWord(e extent) bool {
	for at := e.start; at < e.end; {
		r, size := utf8.DecodeRune(a.plain[at:e.end])
		if isWordRune(r) {
			return true
		}
		at += size
	}
	return false
}

// words counts the words at e outside of marks.
func (a *answer) words(e extent) int {
	if !a.hasWord(e) {
		return 0
	}
	n := 0
	for f := range strings.FieldsSeq(a.without(e)) {
		if strings.IndexFunc(f, token.Unspaced) >= 0 {
			n += token.Words(f).Len()
		} else if strings.IndexFunc(f, isWordRune) >= 0 {
			n++
		}
	}
	return n
}

// render is the text at e as a claim says it.
func (a *answer) render(e extent) string {
	var cuts []token.Bounds
	for _, c := range meetingAll(a.cuts, e) {
		cuts = append(cuts, a.points(c))
	}
	return a.text.Claim(a.points(e), cuts)
}

// classify says of each line what it is.
func (a *answer) classify() {
	for i := range a.lines {
		l := &a.lines[i]
		switch {
		case l.kind != textLine:
		case strings.TrimFunc(a.without(l.extent), isPunctuation) == "":
			l.kind = linkLine
			if a.isPicture(l.extent) {
				l.kind = otherLine
			}
		case a.isBold(i):
			l.kind, l.level = headingLine, boldLevel
		}
	}
	a.findReferences()
	for i := range a.lines {
		l := &a.lines[i]
		if l.kind == linkLine || l.kind == textLine && a.isLabelOfLink(l) {
			l.kind = linkLine
		}
	}
	for i := range a.lines {
		if l := &a.lines[i]; (l.kind == textLine || l.kind == headingLine) && a.isCaption(i) {
			l.kind = captionLine
		}
	}
	a.unboldAlone()
}

var (
	captionNumber = regexp.MustCompile(`^[*_]*(\pL+)\.?\s*[\dIVX]+[*_]*\s*[.:：–—-]`)
	captionFirst  = wordSet(listText("captions"))
)

// findReferences makes the lines of the answer's own list of references
// referenceLines, and those that begin with such a word as heads one and a colon.
func (a *answer) findReferences() {
	for i := range a.lines {
		l := &a.lines[i]
		switch {
		case l.kind == headingLine:
		case meeting(a.lists, l.extent):
			l.kind = referenceLine
		case l.kind == textLine || l.kind == linkLine:
			if rest, ok := referenceWord(a.s[l.start:l.end]); ok && rest != "" {
				l.kind = referenceLine
			}
		}
	}
}

// isPicture reports whether nothing but pictures stands at e.
func (a *answer) isPicture(e extent) bool {
	return slices.ContainsFunc(a.linksIn(e), func(l link) bool { return l.image })
}

// isLabelOfLink reports whether a line is nothing but links with their labels.
func (a *answer) isLabelOfLink(l *line) bool {
	if !meeting(a.links, l.extent) {
		return false
	}
	rest := []byte(a.s[l.start:l.end])
	for _, k := range a.linksIn(l.extent) {
		for i := k.start; i < min(k.end, l.end); i++ {
			rest[i-l.start] = ' '
		}
	}
	return strings.TrimFunc(string(rest), isPunctuation) == ""
}

// isBold reports whether a line is nothing but bold text. A sentence of four words
// or more that ends with a full stop is text.
func (a *answer) isBold(i int) bool {
	l := a.lines[i]
	s := strings.TrimSpace(strings.TrimRight(a.without(l.extent), " :："))
	for _, sign := range []string{"**", "__"} {
		inner, ok := strings.CutPrefix(s, sign)
		if !ok {
			continue
		}
		inner, ok = strings.CutSuffix(inner, sign)
		if !ok || strings.Contains(inner, sign) || strings.TrimSpace(inner) == "" {
			continue
		}
		last, _ := lastRune(strings.TrimRight(inner, "*_ "))
		return !isStop(last) || len(strings.Fields(inner)) < 4
	}
	return false
}

func lastRune(s string) (rune, int) { return utf8.DecodeLastRuneInString(s) }

// unboldAlone makes bold lines text that head nothing, such as an answer of one
// bold word.
func (a *answer) unboldAlone() {
	for i := len(a.lines) - 1; i >= 0; i-- {
		l := &a.lines[i]
		if l.kind == headingLine && l.level == boldLevel && !a.isReferenceHeading(l) {
			l.kind = textLine
			return
		}
		if l.kind == textLine || l.kind == rowLine || l.kind == headingLine {
			return
		}
	}
}

func (a *answer) isReferenceHeading(l *line) bool {
	rest, ok := referenceWord(a.s[l.start:l.end])
	return ok && rest == ""
}

// isCaption reports whether a line names a table, a picture or code beside it.
func (a *answer) isCaption(i int) bool {
	m := captionNumber.FindStringSubmatch(a.s[a.lines[i].start:a.lines[i].end])
	if m == nil || !captionFirst[folded(m[1])] {
		return false
	}
	beside := func(k int) bool {
		return 0 <= k && k < len(a.lines) && (a.lines[k].kind == otherLine || a.lines[k].kind == headerLine || a.lines[k].kind == rowLine)
	}
	return beside(i-1) || beside(i+1)
}

// endsWithColon reports whether the text at e does, marks and emphasis aside.
func (a *answer) endsWithColon(e extent) bool {
	last, _ := lastRune(strings.TrimRightFunc(a.without(e), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_)", r) }))
	return last == ':' || last == '：'
}

// leads says whether line i ends with a colon directly before what it introduces: a list, a table, code or further text, but not another item of its own
// list.
func (a *answer) leads(i int) lead {
	if !a.endsWithColon(a.lines[i].extent) {
		return noLead
	}
	for k := i + 1; k < len(a.lines); k++ {
		switch a.lines[k].kind {
		case headingLine, referenceLine, linkLine:
			return noLead
		case captionLine, headerLine:
			continue
		case otherLine:
			return leadToCode
		}
		if a.introduced(i, k) < 0 {
			return noLead
		}
		return leadToText
	}
	return noLead
}

// introduced is the outermost block that line k is in and line i is not: the one
// that i introduces; the block of both if that is the same paragraph. It is -1 if k
// begins another item of the list of i.
func (a *answer) introduced(i, k int) int {
	at, in := a.lines[k].block, a.lines[i].block
	if at == in {
		return at
	}
	out := -1
	for at >= 0 && !a.within(in, at) {
		out, at = at, a.blocks[at].parent
	}
	if out >= 0 && a.blocks[out].kind == itemBlock {
		return -1
	}
	return out
}

// findUnits fills units and introductions from the lines.
func (a *answer) findUnits() {
	a.units, a.introductions = a.units[:0], a.introductions[:0]
	first := make([]int, len(a.lines)+1) // of each line, the first unit at or after it
	for i := 0; i < len(a.lines); i++ {
		l := &a.lines[i]
		first[i] = len(a.units)
		switch l.kind {
		case rowLine:
			a.units = append(a.units, unit{extent: l.extent, block: l.block, row: l.cells})
		case textLine:
			u := unit{extent: l.extent, block: l.block}
			u.leadIn = a.leads(i)
			for u.leadIn == noLead && i+1 < len(a.lines) && a.lines[i+1].block == l.block && (a.lines[i+1].kind == textLine || a.lines[i+1].kind == linkLine) {
				i++
				first[i] = len(a.units) + 1
				u.end = a.lines[i].end
				if a.lines[i].kind == textLine {
					u.leadIn = a.leads(i)
				}
			}
			a.units = append(a.units, u)
		}
	}
	first[len(a.lines)] = len(a.units)
	for i := range a.lines {
		a.introduce(i, first)
	}
}

// introduce notes what line i introduces, if it is a heading or a caption. Lead-ins follow
// once their sentences are known.
func (a *answer) introduce(i int, first []int) {
	l := &a.lines[i]
	from, to := first[min(i+1, len(a.lines))], 0
	switch l.kind {
	case headingLine:
		k := i + 1
		for k < len(a.lines) && !(a.lines[k].kind == headingLine && a.lines[k].level <= l.level) {
			k++
		}
		to = first[k]
	case captionLine:
		k := i + 1
		for k < len(a.lines) && (a.lines[k].kind == rowLine || a.lines[k].kind == headerLine) {
			k++
		}
		if to = first[k]; from == to { // below its table
			for k = i; k > 0 && (a.lines[k-1].kind == rowLine || a.lines[k-1].kind == headerLine); k-- {
			}
			from, to = first[k], first[i]
		}
	default:
		return
	}
	a.introductions = append(a.introductions, introduction{l.extent, from, to})
}

// led is the first unit behind unit u, which ends with a lead-in, and the one
// behind the last that it introduces.
func (a *answer) led(u int) (from, to int) {
	if u+1 >= len(a.units) {
		return u + 1, u + 1
	}
	in, next := a.units[u].block, a.units[u+1].block
	if in != next {
		for p := next; p >= 0 && !a.within(in, p); p = a.blocks[p].parent {
			next = p
		}
	}
	from, to = u+1, u+1
	for to < len(a.units) && a.within(a.units[to].block, next) {
		to++
	}
	return from, to
}
