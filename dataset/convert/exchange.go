package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibid/dataset"
	"ibid/metrics/token"
)

// An exchange is one answer as its provider gave it, before anything has been
// proved: what the provider formats decode their records to.
type exchange struct {
	id, system, model, query string

	givenID    string   // beside the response
	responseID string   // the response's own
	request    *request // nil if it is not known

	parts     []part
	sources   []*source
	unasked   map[string]int // sources of a request that is not known, by their number
	citations []foundCitation
	marks     []answerMark

	unread   extra          // members that have no column and belong to no citation
	kept     map[string]int // how often each name was kept
	unknown  []string       // dotted names of members that the format does not have
	warnings []string

	text  string      // the answer, once it is complete
	whole *token.Text // the same, nil until asked for
}

// A part is one piece of the answer: a content block, or the part of a message.
// A hidden one, such as a thought, is counted but does not belong to the answer.
type part struct {
	text   []byte
	hidden bool
	at     int // where it begins in the answer, in code points; once it is complete
	chars  int // its length in code points, 0 if hidden

	tokens *token.Text // its text, nil until asked for
}

// A source is one thing that citations point into. Its Doc is what it is called
// by the provider; the name it gets may differ (see [documentNames]).
type source struct {
	dataset.Document

	unnamed bool // Doc is only its place in a request that is not known

	find *searched // its text, nil until asked for
}

// A foundCitation is a citation but for what must be proved or named.
type foundCitation struct {
	dataset.Citation

	source int   // index in sources, or noSource: then Doc stands as it is
	mark   int   // index in marks, or noMark
	more   extra // members that have no column

	proof evidence // of the offsets into the source, if they are tested
	test  bool     // Start and End are characters of the source, and CitedText its quote
}

// An answerMark is what a provider says of where in the answer a citation
// stands. Several citations may share one.
type answerMark struct {
	quote       // offsets as given, and what is said to stand there
	part  int   // whose text the offsets count from, or wholeAnswer
	given given // what of it the provider gives

	inPart, inWhole evidence
	warned          bool // what is wrong with it has been said
}

// A given says what a provider gives of a place in the answer.
type given uint8

const (
	givenOffsets given = iota // start and end
	givenPoint                // start, which is the place behind what is cited for
	givenPart                 // a part as a whole
	givenEnd                  // the point behind a part
	givenSpan                 // code points of the answer that need no proof: they were found in it
)

const (
	noSource    = -1
	noMark      = -1
	wholeAnswer = -1
)

// say adds a part to the answer and returns its index.
func (x *exchange) say(text string) int {
	x.parts = append(x.parts, part{text: []byte(text)})
	return len(x.parts) - 1
}

// think adds a part that is counted but not of the answer.
func (x *exchange) think(text string) int {
	i := x.say(text)
	x.parts[i].hidden = true
	return i
}

// complete makes the answer of the parts.
func (x *exchange) complete() {
	var b strings.Builder
	n := 0
	for i := range x.parts {
		p := &x.parts[i]
		p.at = n
		if p.hidden {
			continue
		}
		b.Write(p.text)
		p.chars = len([]rune(string(p.text)))
		n += p.chars
	}
	x.text = b.String()
}

// answer is the text of the answer.
func (x *exchange) answer() *token.Text {
	if x.whole == nil {
		x.whole = token.NewText(x.text)
	}
	return x.whole
}

// partText is the text of a part.
func (x *exchange) partText(i int) *token.Text {
	p := &x.parts[i]
	if p.tokens == nil {
		p.tokens = token.NewText(string(p.text))
	}
	return p.tokens
}

// searched is the source's text, nil if it is not known.
func (s *source) searched() *searched {
	if s.find == nil {
		if text, ok := textOf(&s.Document); ok {
			s.find = newSearched(token.NewText(text))
		}
	}
	return s.find
}

// textOf is the text of a document, that of its pages or of its blocks. ok is
// false if none is known.
func textOf(d *dataset.Document) (text string, ok bool) {
	switch {
	case d.HasText:
		return d.Text, true
	case d.HasPages:
		return strings.Join(d.Pages, ""), true
	case d.HasBlocks:
		return strings.Join(d.Blocks, ""), true
	}
	return "", false
}

// addSource adds a source and returns its index.
func (x *exchange) addSource(d dataset.Document) int {
	x.sources = append(x.sources, &source{Document: d})
	return len(x.sources) - 1
}

// sameSource returns the source that is called and says the same, a new one if
// there is none.
func (x *exchange) sameSource(d dataset.Document) int {
	for i, s := range x.sources {
		if s.Doc == d.Doc && s.HasText == d.HasText && s.Text == d.Text {
			return i
		}
	}
	return x.addSource(d)
}

// cite adds a citation of a source.
func (x *exchange) cite(source, mark int) *foundCitation {
	x.citations = append(x.citations, foundCitation{source: source, mark: mark})
	c := &x.citations[len(x.citations)-1]
	c.DocNull = source == noSource
	return c
}

// citeNumbered adds a citation of document n of the request, or of search result
// n, both counted from 0. title and of are what the citation says of it: of is the
// source of a search result.
//
// Where the request is known and has no such source, the citation points to
// nothing. Where it is not known, the source is called as the citation says; only
// if that is nothing, or another source's, by its number.
func (x *exchange) citeNumbered(n int64, isResult bool, title, of string, mark int) *foundCitation {
	called := fmt.Sprintf("document %d", n)
	if isResult {
		called = fmt.Sprintf("search result %d", n)
	}
	if x.request == nil {
		return x.cite(x.numbered(called, title, of), mark)
	}
	count, base := len(x.request.documents), 0
	if isResult {
		count, base = len(x.request.results), len(x.request.documents)
	}
	if 0 <= n && n < int64(count) {
		return x.cite(base+int(n), mark)
	}
	c := x.cite(noSource, mark)
	c.Doc, c.DocNull = called, false
	x.warn(called + " is cited, and the request has " + strconv.Itoa(count))
	return c
}

// numbered is a source of a request that is not known.
func (x *exchange) numbered(called, title, of string) int {
	if i, known := x.unasked[called]; known {
		return i
	}
	d := dataset.Document{Doc: cmp.Or(of, title), Title: title}
	unnamed := d.Doc == "" || slices.ContainsFunc(x.sources, func(s *source) bool { return s.Doc == d.Doc })
	if unnamed {
		d.Doc = called
	}
	i := x.addSource(d)
	x.sources[i].unnamed = unnamed
	if x.unasked == nil {
		x.unasked = map[string]int{}
	}
	x.unasked[called] = i
	return i
}

// citeWhole adds a citation of a whole source.
func (x *exchange) citeWhole(source, mark int) *foundCitation {
	c := x.cite(source, mark)
	if source != noSource {
		c.Title, c.SourceType = x.sources[source].Title, x.sources[source].SourceType
		if _, known := textOf(&x.sources[source].Document); known {
			c.Unit = "document"
		}
	}
	return c
}

// markPart adds a mark that is a part as a whole.
func (x *exchange) markPart(part int) int {
	return x.addMark(answerMark{part: part, given: givenPart})
}

func (x *exchange) addMark(m answerMark) int {
	x.marks = append(x.marks, m)
	return len(x.marks) - 1
}

// rest keeps the members of an object that nobody has read and that say anything:
// they go with the record.
func (x *exchange) rest(o *object) {
	o.unread(func(v value) {
		if v.given() {
			x.keep(v.path(), v.raw())
		}
	})
}

// keep keeps a value that has no column under its place in the record. The events
// of a stream can bring several for one place.
func (x *exchange) keep(path string, value []byte) {
	name := clipped(path)
	if x.kept == nil {
		x.kept = map[string]int{}
	}
	if x.kept[name]++; x.kept[name] > 1 {
		name += "#" + strconv.Itoa(x.kept[name])
	}
	x.unread.add(name, value)
}

// citationRest keeps the members of a citation that nobody has read and that say
// anything. Those that are not among known are new to the format, and are reported.
func (x *exchange) citationRest(c *foundCitation, o *object, known ...string) {
	o.unread(func(v value) {
		switch {
		case !slices.Contains(known, v.name):
			x.unknown = append(x.unknown, clipped(withoutIndices(v.path())))
		case !v.given():
			return
		}
		c.more.add(v.name, v.raw())
	})
}

// warn keeps what a reader of the result should know.
func (x *exchange) warn(text string) { x.warnings = append(x.warnings, text) }
