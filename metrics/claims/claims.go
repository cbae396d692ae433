// Package claims cuts an answer into claims and says which text of it each citation
// backs.
//
// Markdown says what is text: headings, code, pictures, captions and the answer's own
// list of references are not; a list item or a row of a table is never joined with
// its neighbour. Text is cut into sentences, and sentences at the segments that the
// provider says are cited. The package reads answers as [ibid.Answer] has them, with
// their places resolved; offsets that leave it count code points of the answer.
package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/token"
)

// A Source says what the claims of an answer are: a value of the setting claims.
type Source string

// The sources of claims.
const (
	Auto      Source = "auto"      // the row's claims if it has them, else sentences, cut at segments
	Sentences Source = "sentences" // the sentences of the answer
	Provided  Source = "provided"  // the row's claims
	Model     Source = "model"     // what a model makes of the sentences: see [Cutter.Rewrite]
)

// A MarkScope says how much text a mark backs: a value of the setting mark_scope.
type MarkScope string

// The scopes of marks.
const (
	SentenceScope  MarkScope = "sentence"  // what stands before it in its sentence
	ParagraphScope MarkScope = "paragraph" // at the end of a paragraph or list, all of it
)

// Options of a [Cutter].
type Options struct {
	Source    Source // "" is [Auto]
	MarkScope MarkScope
	Phrases   Phrases
}

// A Cutter gives the claims of rows and keeps its memory from one row to the next. It
// belongs to one worker and is not safe for concurrent use.
type Cutter struct {
	source      Source
	markScopes  MarkScope
	noClaim     *phraseList
	attribution *phraseList
	abstention  func() *abstention

	claims    []ibid.Claim
	answer    answer
	placed    []placed
	sentences []sentence
	pieces    [][]piece // of each sentence, nil if it is not cut
	cited     []Cited   // what the citations of the row name
	stops     []extent  // marks, and the points where citations stand
	said      []spoken  // of each claim
	splitter  token.Splitter
	bounds    []token.Bounds
	masks     []token.Bounds
}

// A spoken is where a claim stands in the answer. unit is -1 if it is one of the row.
type spoken struct {
	extent
	unit int
}

// NewCutter returns a cutter.
func NewCutter(o Options) *Cutter {
	return &Cutter{source: cmp.Or(o.Source, Auto), markScopes: o.MarkScope, noClaim: newPhraseList(o.Phrases.NoClaim), attribution: newPhraseList(AttributionPhrases()), abstention: abstentionOf(o.Phrases.Abstention)}
}

// Claims are the claims of one row and the scopes of its citations.
type Claims struct {
	// List is valid until the next call; extents lie in the answer and are not empty.
	// The claims that were cut are disjoint and in order.
	List []ibid.Claim

	// Known is false if the claims must be the row's and it has none, or if the
	// answer is null. An answer that claims nothing, since it is empty or made of
	// markers, has a known and empty List.
	Known bool

	// Abstains says that the answer abstains: it has a sentence that does, no claim and
	// no citation.
	Abstains bool

	// Provided says that the claims, and so the claim ids of the row's citations,
	// are those of the row. Otherwise their ids are their indices, and claim ids of
	// the row mean other claims if it has claims of its own.
	Provided bool

	// Scopes are the stretches of the answer that each citation backs, ascending. A
	// citation that stands somewhere in the answer and backs no text has none. Nil
	// for citations without a place in the answer, and where claims are not known.
	Scopes [][]ibid.Interval
}

// Cut returns the claims of a row whose places have been resolved.
//
// A claim of the row keeps its extent if that lies in the answer. Otherwise it has
// the extent at which its text stands in the answer, white space ignored, if it does
// so exactly once, and else none. Its text is that of its extent if it has none of
// its own. Marks are cut out of every text; a text made of them stays as it is.
func (c *Cutter) Cut(row *ibid.Answer) Claims {
	c.claims, c.said = c.claims[:0], c.said[:0]
	provided := c.source == Provided || c.source == Auto && row.HasClaims
	if row.AnswerNull || provided && !row.HasClaims {
		return Claims{}
	}
	out := Claims{Known: true, Provided: provided}
	c.read(row)
	if provided {
		c.takeProvided(row)
	} else {
		c.takeSentences()
	}
	out.List = c.claims
	out.Scopes = c.scopes(out.Provided)
	out.Abstains = len(out.List) == 0 && len(row.Citations) == 0 && slices.ContainsFunc(c.sentences, func(s sentence) bool { return s.kind == abstaining && !s.cited })
	return out
}

// Rewrite puts in the place of each claim of the row that was cut last the claims
// that texts has for it. They keep its extent and its context, and have its index
// and their own in it as ids: 3.0, 3.1.
func (c *Cutter) Rewrite(texts [][]string) []ibid.Claim {
	sentences := slices.Clone(c.claims)
	c.claims, c.said = c.claims[:0], c.said[:0]
	for k, own := range texts {
		for n, text := range own {
			claim := sentences[k]
			claim.ClaimID, claim.Text = fmt.Sprintf("%d.%d", k, n), text
			c.claims = append(c.claims, claim)
			c.said = append(c.said, spoken{unit: -1}) // none of its words need stand there
		}
	}
	return c.claims
}

// read finds the sentences of the answer, and places the citations in it.
func (c *Cutter) read(row *ibid.Answer) {
	a := &c.answer
	*a = answer{
		text: token.NewText(row.Answer), marks: a.marks[:0], seen: a.seen[:0], prose: a.prose[:0], around: a.around[:0], links: a.links[:0], lists: a.lists[:0], cuts: a.cuts[:0], gaps: a.gaps[:0],
		plain: a.plain[:0], lines: a.lines[:0], blocks: a.blocks[:0], units: a.units[:0], introductions: a.introductions[:0],
	}
	a.s = a.text.String()
	c.cited = c.cited[:0]
	for i := range row.Citations {
		if cite := &row.Citations[i]; len(c.cited) == 0 || c.cited[len(c.cited)-1].Doc != cite.Doc {
			c.cited = append(c.cited, Cited{Doc: cite.Doc, Title: cite.Title})
		}
	}
	a.findMarks(c.cited)
	isJSON := a.readJSON()
	if !isJSON {
		a.readBlocks()
		a.mask() // with the gaps
	}
	borders := c.place(row)
	a.addMarks(c.placed)
	if !isJSON {
		a.classify()
		a.findUnits()
	}
	c.findSentences(borders)
	c.cutAtSegments()
	c.findMarkScopes()
}

// place fills placed, and returns where segments begin and end.
func (c *Cutter) place(row *ibid.Answer) (borders []int) {
	a := &c.answer
	c.placed = c.placed[:0]
	for i := range row.Citations {
		cite := &row.Citations[i]
		p := placed{role: cite.AnswerRole}
		start, end := cite.Extent.Start.Value, cite.Extent.End.Value
		if !cite.Extent.End.Known() {
			end = start
		}
		if cite.Extent.Start.Known() && 0 <= start && start <= end {
			p.known = true
			p.at = a.bytes(int(min(start, int64(a.text.Len()))), int(min(end, int64(a.text.Len()))))
			if p.role == ibid.NoRole {
				p.role = ibid.Segment
				if p.at.empty() || a.readsAsMark(p.at) {
					p.role = ibid.Marker
				}
			}
		}
		if p.role == ibid.Segment && p.known {
			p.widen = cite.Method == "grounding"
			p.source = fmt.Sprint(cite.Doc, "\x00", cite.Page, cite.Start, cite.End, cite.Unit, "\x00", cite.CitedText)
			borders = append(borders, p.at.start, p.at.end)
		}
		c.placed = append(c.placed, p)
	}
	slices.Sort(borders)
	return borders
}

// takeSentences makes claims of the sentences, or of the pieces that they are cut
// into.
func (c *Cutter) takeSentences() {
	a := &c.answer
	for k := range c.sentences {
		s := &c.sentences[k]
		if !s.claims() {
			continue
		}
		context := ""
		if l := a.units[s.unit].lead; l != "" {
			context = l + " "
		}
		context += a.say(s.unit, s.extent)
		if c.source == Auto && c.pieces[k] != nil {
			for _, p := range c.pieces[k] {
				c.take(spoken{p.extent, s.unit}, context)
			}
			continue
		}
		c.take(spoken{a.pruned(s.extent), s.unit}, context)
	}
}

func (c *Cutter) take(s spoken, context string) {
	a := &c.answer
	if !a.hasWord(s.extent) {
		return
	}
	at := a.points(s.extent)
	c.said = append(c.said, s)
	c.claims = append(c.claims, ibid.Claim{
		ClaimID: strconv.Itoa(len(c.claims)), Text: a.say(s.unit, s.extent), Context: context, Extent: ibid.Between(int64(at.Start), int64(at.End)),
	})
}

// say is what the text at e of a unit says.
func (a *answer) say(unit int, e extent) string {
	u := &a.units[unit]
	switch {
	case u.row != nil:
		var all []string
		for _, cell := range u.row {
			if !cell.meets(e) || !a.hasWord(cell.extent) {
				continue
			}
			text := strings.Join(strings.Fields(strings.ReplaceAll(a.render(cell.extent), "<br>", " ")), " ")
			all = append(all, labelled(strings.TrimRight(a.render(cell.header), ": "), text))
		}
		return strings.Join(all, "; ")
	case u.block < 0 && u.key != "":
		return labelled(u.key, unescaped(a.render(u.value)))
	case u.block < 0:
		return unescaped(a.render(e))
	}
	return a.render(e)
}

// labelled is a value with the head of its column or the name of its member, unless that is a
// word such as "answer" and the value has words enough to stand alone.
func labelled(label, value string) string {
	if label == "" || plainLabels[folded(label)] && len(strings.Fields(value)) > 2 {
		return value
	}
	return label + ": " + value
}

var plainLabels = wordSet(listText("plain_labels"))

// scopes are the scopes of the citations in code points. A mark where no text is may
// stand in a claim of the row all the same.
func (c *Cutter) scopes(provided bool) [][]ibid.Interval {
	a := &c.answer
	all := make([][]ibid.Interval, len(c.placed))
	for i := range c.placed {
		p := &c.placed[i]
		if !p.known {
			continue
		}
		all[i] = []ibid.Interval{}
		if len(p.scope) == 0 && provided && slices.ContainsFunc(c.said, func(s spoken) bool {
			return s.meets(p.at) || p.at.empty() && s.start < p.at.start && p.at.start <= s.end
		}) {
			p.scope = []extent{p.at}
		}
		for _, e := range p.scope {
			at := a.points(e)
			all[i] = append(all[i], ibid.Between(int64(at.Start), int64(at.End)))
		}
	}
	return all
}

// Backed returns the text of claim k that citation i backs, and whether that is the
// whole claim. It is about the row that was cut last.
func (c *Cutter) Backed(k, i int) (text string, whole bool) {
	a := &c.answer
	s, p := c.said[k], &c.placed[i]
	if !p.known || s.empty() {
		return c.claims[k].Text, true
	}
	var parts []string
	left := s.extent // what is not backed yet
	for _, e := range p.scope {
		at := e.and(s.extent)
		if at.empty() || !a.hasWord(at) {
			continue
		}
		if !a.hasWord(extent{left.start, at.start}) {
			left.start = at.end
		}
		if s.unit >= 0 {
			parts = append(parts, a.say(s.unit, at))
		} else {
			parts = append(parts, a.render(at))
		}
	}
	if text = strings.Join(parts, " "); text == "" || !a.hasWord(left) || text == c.claims[k].Text {
		return c.claims[k].Text, true
	}
	return text, false
}

func (c *Cutter) takeProvided(row *ibid.Answer) {
	a := &c.answer
	own := a.s[OwnStart(a.s):]
	before, dense := int64(utf8.RuneCountInString(a.s[:len(a.s)-len(own)])), ""
	var sentences map[string]ibid.Interval
	for i := range row.Claims {
		given := &row.Claims[i]
		claim := ibid.Claim{ClaimID: given.ClaimID, Text: given.Text}
		if at := given.Extent; at.Known() && 0 <= at.Start.Value && at.Start.Value < at.End.Value && at.End.Value <= int64(a.text.Len()) {
			claim.Extent = at
		} else {
			if dense == "" {
				dense = squeezed(own)
			}
			if claim.Extent = onceIn(own, dense, claim.Text); claim.Extent.Known() {
				claim.Extent.Start.Value += before
				claim.Extent.End.Value += before
			} else {
				if sentences == nil {
					sentences = c.bySentence()
				}
				claim.Extent = sentences[sentenceKey(claim.Text)]
			}
		}
		s := spoken{unit: -1}
		if at := claim.Extent; at.Known() {
			s.extent = a.bytes(int(at.Start.Value), int(at.End.Value))
			claim.Context = c.contextOf(s.extent)
			if claim.Text == "" {
				claim.Text = a.s[s.start:s.end]
			}
		}
		claim.Text = withoutMarks(claim.Text)
		c.said = append(c.said, s)
		c.claims = append(c.claims, claim)
	}
}

// bySentence returns the places of sentences by their text without marks, null of a text that occurs twice.
func (c *Cutter) bySentence() map[string]ibid.Interval {
	all := make(map[string]ibid.Interval, len(c.sentences))
	for k := range c.sentences {
		s := &c.sentences[k]
		key := sentenceKey(c.answer.say(s.unit, s.extent))
		p := c.answer.points(s.extent)
		if _, twice := all[key]; twice {
			all[key] = ibid.Interval{}
		} else {
			all[key] = ibid.Between(int64(p.Start), int64(p.End))
		}
	}
	return all
}

// sentenceKey is a sentence without white space and without the full stop at its end.
func sentenceKey(s string) string { return strings.TrimRight(squeezed(s), ".") }

// contextOf is the sentences that a claim of the row stands in.
func (c *Cutter) contextOf(e extent) string {
	var all []string
	for k := range c.sentences {
		if s := &c.sentences[k]; s.meets(e) {
			all = append(all, c.answer.say(s.unit, s.extent))
		}
	}
	return strings.Join(all, " ")
}

// withoutMarks is text without the marks in it, or text if it has none or nothing
// else.
func withoutMarks(text string) string {
	if !strings.ContainsAny(text, "[^<【(") {
		return text
	}
	a := newAnswer(text)
	a.findMarks(nil)
	if len(a.marks) == 0 {
		return text
	}
	if cut := a.render(extent{0, len(a.s)}); cut != "" {
		return cut
	}
	return text
}

// Once returns where in a text a passage stands, in code points, white space ignored: programs
// that cut answers into claims change it. It is null if the passage does so nowhere or more than
// once, and for one of nothing but white space.
func Once(text, passage string) ibid.Interval { return onceIn(text, squeezed(text), passage) }

// squeezed is a text without its white space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// onceIn is [Once] in a text of which dense is what is squeezed.
func onceIn(text, dense, passage string) ibid.Interval {
	passage = squeezed(strings.ToValidUTF8(passage, "\ufffd"))
	from := strings.Index(dense, passage)
	if passage == "" || from < 0 || strings.Contains(dense[from+1:], passage) {
		return ibid.Interval{}
	}
	start, count, size := 0, 0, 0 // size is of what is squeezed so far
	for _, r := range text {
		if !unicode.IsSpace(r) {
			if size == from {
				start = count
			}
			if size += utf8.RuneLen(r); size >= from+len(passage) {
				break
			}
		}
		count++
	}
	return ibid.Between(int64(start), int64(count)+1)
}
