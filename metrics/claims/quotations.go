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
	"ibid/metrics/token"
)

// The kinds of quotations. Titles and questions are listed and say nothing of sources.
const (
	MarksQuotation    = "marks"    // between quotation marks
	BlockQuotation    = "block"    // of Markdown
	ExcerptQuotation  = "excerpt"  // of a mark: [a.pdf:1:40-80 | excerpt: "…"]
	FragmentQuotation = "fragment" // of a URL: #:~:text=…
	TitleQuotation    = "title"
	QuestionQuotation = "question"
)

// A Quotation is a stretch of an answer that gives the words of another.
type Quotation struct {
	Start, End int // code points of the answer, inside of the marks; of a block, its lines with their signs
	Kind       string
	Marked     bool    // marks of citations stand between its words
	Text       string  // without marks of citations
	Short      bool    // too few words to tell
	Citations  []int32 // of the row, that it has
}

const (
	maxQuotation   = 6000 // bytes between two quotation marks: 2,000 code points of most scripts
	mostQuotations = 2000 // of an answer that are read
	quotedShare    = 60   // percent of a block that is in quotation marks, from which they count and not the block
)

// straightOpens is a straight single mark that opens; most are apostrophes.
var straightOpens = regexp.MustCompile(`(?:^|[^\pL\pN])'\pL`)

// MayQuote reports whether an answer has a sign that quotations have.
func MayQuote(answer string) bool {
	return strings.ContainsAny(answer, "\"“”„«»‹›「」『』‘‚＂｢>") || strings.Contains(answer, ":~:text=") || straightOpens.MatchString(answer)
}

// Quotations returns the quotations of the row that was cut last, the outermost ones, in order;
// 2,000 at most.
func (c *Cutter) Quotations(row *ibid.Answer) (all []Quotation) {
	a := &c.answer
	hidden := a.hidden()
	add := func(e extent, kind string, cited func(*placed) bool) {
		e = a.trimmed(e)
		q := Quotation{Kind: kind}
		q.Text, q.Marked = a.quoted(e)
		switch kind {
		case ExcerptQuotation:
			q.Text = a.s[e.start:e.end]
		case FragmentQuotation:
			q.Text = fragmentQuote(":~:text=" + a.s[e.start:e.end])
		}
		if strings.IndexFunc(q.Text, isWordRune) < 0 || len(all) == mostQuotations {
			return
		}
		at := a.points(e)
		q.Start, q.End = int(at.Start), int(at.End)
		q.Short = halfWords(q.Text) < 6 || kind == MarksQuotation && halfWords(q.Text) < 10
		if kind == MarksQuotation && a.isTitle(e, q.Text, row) {
			q.Kind = TitleQuotation
		} else if last, _ := lastRune(q.Text); strings.ContainsRune("?？؟", last) {
			q.Kind = QuestionQuotation
		}
		said := a.saidBy(e, kind)
		for i := range c.placed {
			p := &c.placed[i]
			if !p.known && row.Citations[i].ClaimID == "" { // it stands nowhere, and backs all of the answer
				q.Citations = append(q.Citations, int32(i))
				continue
			}
			inside := p.role == ibid.Marker && (p.at.meets(e) || p.at.empty() && e.start <= p.at.start && p.at.start <= e.end)
			backs := p.at.meets(said) || slices.ContainsFunc(p.scope, e.meets) &&
				(said.empty() || p.role != ibid.Marker || !a.hasWord(extent{e.end, p.at.start}))
			if p.known && (inside || backs || cited != nil && cited(p)) {
				q.Citations = append(q.Citations, int32(i))
			}
		}
		all = append(all, q)
	}
	for _, m := range a.excerpts {
		add(m.extent, m.kind, func(p *placed) bool { return p.at.meets(m.mark) })
	}
	for _, block := range a.quoteBlocks() {
		var inMarks []extent
		own, filled := a.letters(block.extent), 0
		for _, region := range a.regions(block.first, block.last, true) {
			for _, e := range a.paired(region, hidden) {
				inMarks = append(inMarks, e)
				filled += a.letters(e)
			}
		}
		if block.note || filled*100 >= own*quotedShare && filled > 0 {
			for _, e := range inMarks {
				add(e, MarksQuotation, nil)
			}
			continue
		}
		add(block.extent, BlockQuotation, func(p *placed) bool { return block.source.holds(p.at) && !block.source.empty() })
	}
	for _, region := range a.regions(0, len(a.lines), false) {
		for _, e := range a.paired(region, hidden) {
			add(e, MarksQuotation, nil)
		}
	}
	slices.SortStableFunc(all, func(x, y Quotation) int { return x.Start - y.Start })
	return all
}

// saidBy is where the marks stand whose words a quotation in quotation marks is, as in: The log
// [1] says "…". It is empty if none do. Of the marks behind it only one directly behind it backs
// such a quotation, too.
func (a *answer) saidBy(e extent, kind string) (marks extent) {
	k := sort.Search(len(a.marks), func(k int) bool { return a.marks[k].end > e.start }) - 1
	if kind != MarksQuotation || k < 0 {
		return marks
	}
	said := strings.TrimRightFunc(a.s[a.marks[k].end:e.start], func(r rune) bool { return unicode.IsSpace(r) || quotationMarks[r] != "" })
	words := strings.TrimRight(strings.TrimLeft(said, " )]*_"), " ,:，：")
	verb, _, _ := strings.Cut(words, " ")
	introduces := markVerbs[folded(verb)] || words == "" && strings.ContainsAny(said, ":：")
	if !introduces || strings.ContainsAny(words, ".,;:!?。，；：\n\"“”«»„「」『』") {
		return marks
	}
	marks = a.marks[k]
	for ; k > 0 && !a.hasWord(extent{a.marks[k-1].end, marks.start}); k-- {
		marks.start = a.marks[k-1].start
	}
	return marks
}

// An excerpt is a quotation within a mark.
type excerpt struct {
	extent
	mark extent
	kind string
}

// addExcerpt notes the words of a source that a mark has.
func (a *answer) addExcerpt(w *written) {
	e := excerpt{mark: w.at, kind: ExcerptQuotation}
	text := a.s[w.at.start:w.at.end]
	if w.form == Located && len(w.refs) > 0 && w.refs[0].Quote != "" {
		e.start = strings.Index(text, w.refs[0].Quote)
		e.end = e.start + len(w.refs[0].Quote)
	} else if _, fragment, ok := strings.Cut(text, ":~:text="); ok && (w.form == URL || w.form == Link) {
		e.kind, e.start = FragmentQuotation, len(text)-len(fragment)
		e.end = e.start + strings.IndexFunc(fragment+" ", func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(")>]&\"", r) })
	}
	if e.end > e.start && e.start >= 0 {
		e.start, e.end = e.start+w.at.start, e.end+w.at.start
		a.excerpts = append(a.excerpts, e)
	}
}

var tags = regexp.MustCompile(`<[/A-Za-z][^<>]*>`)

// hidden is what no quotation mark is read in: code, marks of citations, targets of links,
// addresses, tags.
func (a *answer) hidden() []extent {
	all := slices.Concat(a.codes, a.marks, a.around)
	for _, l := range a.links {
		if l.image || l.label.empty() {
			all = append(all, l.extent)
		}
	}
	for _, at := range tags.FindAllStringIndex(a.s, -1) {
		all = append(all, extent{at[0], at[1]})
	}
	return united(slices.DeleteFunc(all, extent.empty))
}

// regions are the stretches in which quotation marks are paired: paragraphs, cells and values
// among lines [first, last) that are in a block quotation, or in none.
func (a *answer) regions(first, last int, quoted bool) (out []extent) {
	if len(a.lines) == 0 {
		for i := range a.units {
			if u := &a.units[i]; u.block < 0 {
				out = append(out, u.value)
			}
		}
		return out
	}
	block := -1
	for i := first; i < last; i++ {
		l := &a.lines[i]
		if quoted != (a.quoteAround(l.block) >= 0) {
			continue
		}
		switch l.kind {
		case rowLine:
			for _, c := range l.cells {
				out = append(out, c.extent)
			}
		case textLine, captionLine:
			if l.block == block {
				out[len(out)-1].end = l.end
				continue
			}
			out, block = append(out, l.extent), l.block
			continue
		}
		block = -1
	}
	return out
}

// quoteAround is the outermost block quotation that a block is in, -1 if there is none.
func (a *answer) quoteAround(b int) int {
	out := -1
	for ; b >= 0; b = a.blocks[b].parent {
		if a.blocks[b].kind == quoteBlock {
			out = b
		}
	}
	return out
}

// A quotedBlock is a block quotation.
type quotedBlock struct {
	extent
	first, last int    // its lines
	source      extent // the line in it or behind it that says where it is from
	note        bool   // it is a note of the answer's own
}

// noteStart is how notes begin: [!NOTE], **Label:**, **Label**:
var noteStart = regexp.MustCompile(`^(?:\[!\w+\]|\*\*[^*\n]{1,40}:\*\*|\*\*[^*\n]{1,40}\*\*:)`)

// quoteBlocks are the block quotations of the answer.
func (a *answer) quoteBlocks() (out []quotedBlock) {
	for i := 0; i < len(a.lines); i++ {
		in := a.quoteAround(a.lines[i].block)
		if in < 0 {
			continue
		}
		b := quotedBlock{first: i}
		for i+1 < len(a.lines) && a.quoteAround(a.lines[i+1].block) == in {
			i++
		}
		b.last = i + 1
		text := a.s[a.lines[b.first].start:]
		r, _ := utf8.DecodeRuneInString(text)
		b.note = noteStart.MatchString(text[:min(len(text), 80)]) || unicode.Is(unicode.So, r)
		last := i
		if last > b.first && a.namesSource(last) {
			b.source = a.lines[last].extent
			last--
		} else if i+1 < len(a.lines) && a.namesSource(i+1) {
			b.source = a.lines[i+1].extent
		}
		b.extent = extent{lineStart(a.s, a.lines[b.first].start), a.lines[last].end}
		out = append(out, b)
	}
	return out
}

// namesSource reports whether a line begins as one that says where a quotation is from.
func (a *answer) namesSource(i int) bool {
	l := &a.lines[i]
	text := a.s[a.bulletStart(l):l.end]
	r, _ := utf8.DecodeRuneInString(text)
	return strings.ContainsRune("—–―-([（【", r) || strings.HasPrefix(folded(text), "source")
}

// letters counts the letters and numbers at e outside of marks.
func (a *answer) letters(e extent) (n int) {
	for _, r := range a.without(e) {
		if isWordRune(r) {
			n++
		}
	}
	return n
}

// quoted is the text at e without marks and signs of blocks. marked says that a mark stood
// between words.
func (a *answer) quoted(e extent) (text string, marked bool) {
	var b strings.Builder
	at := e.start
	if rest := strings.TrimLeft(a.s[e.start:e.end], "> \t"); lineStart(a.s, e.start) == e.start { // of a block
		at = e.end - len(rest)
	}
	for _, c := range meetingAll(a.cuts, e) {
		b.WriteString(a.s[at:max(at, c.start)])
		at = max(at, c.end)
		marked = marked || meeting(a.marks, c) && a.hasWord(extent{e.start, c.start}) && a.hasWord(extent{c.end, e.end})
	}
	b.WriteString(a.s[at:max(at, e.end)])
	text = strings.Trim(b.String(), " \t\r\n\\")
	if len(a.lines) == 0 {
		text = unescaped(text)
	}
	return text, marked
}

// halfWords counts words twice; a letter of a script without spaces counts half.
func halfWords(text string) (n int) {
	for f := range strings.FieldsSeq(text) {
		spaced := false
		for _, r := range f {
			if token.Unspaced(r) {
				n++
			} else {
				spaced = spaced || isWordRune(r)
			}
		}
		if spaced {
			n += 2
		}
	}
	return n
}

// quotationMarks are the marks that open, and those that close each.
var quotationMarks = map[rune]string{
	'"': `"`, '“': "”", '„': "“”\"", '”': "”", '«': "»", '»': "«»", '‹': "›", '›': "‹", '「': "」", '『': "』", '‘': "’", '‚': "‘’", '\'': "'",
	'＂': "＂", '｢': "｣",
}

// paired are the stretches between quotation marks in a region, the outermost ones.
func (a *answer) paired(region extent, hidden []extent) (out []extent) {
	none := map[rune]int{} // up to where nothing closes a mark
	before := ' '
	for i := region.start; i < region.end; {
		if h := meetingAll(hidden, extent{i, i + 1}); len(h) > 0 {
			i, before = h[0].end, ']'
			continue
		}
		r, size := utf8.DecodeRuneInString(a.s[i:])
		if closing := quotationMarks[r]; closing != "" && a.opens(r, before, i+size) {
			reach := extent{max(i+size, none[r]), min(region.end, i+size+maxQuotation)}
			if end, width := a.closed(r, closing, reach, region.end, hidden); end > 0 {
				out = append(out, extent{i + size, end})
				i, before = end+width, ']'
				continue
			}
			none[r] = max(none[r], reach.end)
		}
		before = r
		i += size
	}
	return slices.DeleteFunc(out, func(e extent) bool { return !a.hasWord(e) })
}

// clipped are words that begin with an apostrophe.
var clipped = regexp.MustCompile(`^(?i:tis|twas|twere|til|em|cause|cuz|bout|round|n)\b`)

// opens reports whether a quotation mark opens: what stands before it is given, what stands
// behind it begins at next.
func (a *answer) opens(mark, before rune, next int) bool {
	after, _ := utf8.DecodeRuneInString(a.s[next:])
	apart := !isWordRune(before) || token.Unspaced(before)
	switch mark {
	case '"':
		return apart && !unicode.IsSpace(after) && next < len(a.s)
	case '”', '»', '›':
		return !isWordRune(before) && isWordRune(after)
	case '\'':
		return !isWordRune(before) && unicode.IsLetter(after) && !clipped.MatchString(a.s[next:min(len(a.s), next+8)])
	}
	return true
}

// pluralOwner is an apostrophe behind a word, such as in: the workers' union.
var pluralOwner = regexp.MustCompile(`^s['’] \p{Ll}`)

// closed returns where a quotation mark is closed within an extent of a region that ends at
// last, and how long the closing mark is.
func (a *answer) closed(mark rune, closing string, in extent, last int, hidden []extent) (end, width int) {
	depth, plural := 0, 0 // plural: where it ends if an apostrophe is none
	for i := in.start; i < in.end; {
		if h := meetingAll(hidden, extent{i, i + 1}); len(h) > 0 {
			i = h[0].end
			continue
		}
		r, size := utf8.DecodeRuneInString(a.s[i:])
		after, _ := utf8.DecodeRuneInString(a.s[min(i+size, last):last])
		before, _ := lastRune(a.s[:i])
		switch {
		case plural > 0 && (r == '‘' || r == '\'' && unicode.IsSpace(before)):
			return plural, utf8.RuneLen(mark)
		case r == mark && !strings.ContainsRune(closing, mark) && mark != '‘':
			depth++
		case !strings.ContainsRune(closing, r):
		case (r == '\'' || r == '’') && isWordRune(after) && !token.Unspaced(after): // an apostrophe
		case r == '\'' && unicode.IsSpace(before):
		case r == '"' && unicode.IsDigit(before) && a.isInch(i+size, last):
		case depth > 0:
			depth--
		case (r == '\'' || r == '’') && pluralOwner.MatchString(a.s[i-1:min(last, i+size+8)]):
			plural = cmp.Or(plural, i)
		default:
			return i, size
		}
		i += size
	}
	return plural, utf8.RuneLen(mark)
}

// isInch reports whether the sign behind a digit that ends at a byte is one of inches: a mark
// follows that does not open.
func (a *answer) isInch(from, end int) bool {
	i := strings.IndexByte(a.s[from:end], '"')
	if i < 0 {
		return false
	}
	before, _ := lastRune(a.s[:from+i])
	return !a.opens('"', before, from+i+1)
}

var (
	titleWords = wordSet(listText("title_words"))
	byAuthor   = regexp.MustCompile(`(?:\b[Bb]y|\bvon|\bpar|\bpor|\bdi)\s+(?:\p{Lu}[\p{L}.'’-]*\s?){1,5},\s*$`)
)

// isTitle reports whether a quotation at e is the title of a work: all words of four letters
// and more are capitalised, and there are two; or a word says so before it, or its author is
// named; or a source is called so.
func (a *answer) isTitle(e extent, text string, row *ibid.Answer) bool {
	capital, small := 0, false
	for f := range strings.FieldsSeq(text) {
		f = strings.TrimFunc(f, func(r rune) bool { return !isWordRune(r) })
		first, _ := utf8.DecodeRuneInString(f)
		if utf8.RuneCountInString(f) < 4 || !unicode.IsLetter(first) {
			continue
		}
		if unicode.IsUpper(first) && strings.ToUpper(f) != f {
			capital++
		}
		small = small || unicode.IsLower(first)
	}
	if capital > 1 && !small {
		return true
	}
	before := a.without(extent{max(lineStart(a.s, e.start), e.start-100), e.start})
	before = strings.TrimRight(before, "\"“”„«»‹›「」『』‘’‚' *_")
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return !isWordRune(r) })+1:]
	if titleWords[folded(word)] || byAuthor.MatchString(before+" ") {
		return true
	}
	same := func(title string) bool {
		return title != "" && folded(strings.TrimFunc(title, isPunctuation)) == folded(strings.TrimFunc(text, isPunctuation))
	}
	return slices.ContainsFunc(row.Citations, func(c ibid.Citation) bool { return same(c.Title) })
}
