package convert

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/token"
)

// An exchange is one answer as its provider gave it, before anything has been
// proved: what the provider formats decode their records to.
type exchange struct {
	// row is the answer, without what must be proved or named: citations, documents and truth. Its
	// text is that of the parts, once it is complete. HasCitations is false if it says nothing of
	// them. SourceRecord is "" of items, which keep members in kept.
	row ibid.Answer

	ownSystem string        // of the response itself
	collected bool          // it is an item of a collection
	leftOut   bool          // only its documents are written
	bad       []any         // what could not be made a citation: the reasons
	lost      []RecordError // the same, as they are reported

	responseID string   // the response's own
	request    *request // nil if it is not known

	parts     []part
	sources   []*source
	unasked   map[string]int // sources of a request that is not known, by their number
	citations []foundCitation

	zeroMark, lastMark bool // see Report

	marks []answerMark

	truth []foundTruth

	again     bool     // another row of its record has the same truth
	spanLabel []string // what marks are called
	ignored   []string // kinds of what has no place in a row

	kept     extra    // members that have no column and belong to no citation
	unknown  []string // dotted names of members that the format does not have
	warnings []exchangeWarning

	whole *token.Text // the answer, nil until asked for
}

// An exchangeWarning is what a reader should know; a zero place is that of the row.
type exchangeWarning struct {
	at   position
	text string
}

// A part is one piece of the answer: a content block, or the part of a message.
// A hidden one, such as a thought, is counted but does not belong to the answer.
type part struct {
	text   string
	hidden bool
	at     int // where it begins in the answer, in code points; once it is complete
	chars  int // its length in code points, 0 if hidden

	tokens *token.Text // its text, nil until asked for
}

// A source is one thing that citations point into. Its Doc is what it is called
// by the provider; the name it gets may differ (see [documentNames]).
type source struct {
	ibid.Document

	unnamed bool   // Doc is only its place in a request that is not known
	problem string // why its text is not known, if somebody tried to read it

	shared bool      // other exchanges have it, too
	apart  bool      // rows do not carry it
	common bool      // it is called as the first source of that text
	fixed  bool      // it keeps its name
	find   *searched // its text, nil until asked for

	standoff bool         // offsets count it as those of brat do
	marked   bool         // its file begins with a byte order mark
	counted  *countedText // what they count, if standoff
}

// A foundCitation is a citation but for what must be proved or named.
type foundCitation struct {
	ibid.Citation

	source int // index in sources, or noSource: then Doc stands as it is
	mark   int // index in marks, or noMark: then its place in the answer is known

	span markedSpan // the offsets into the source, and what they say if they are tested
	test bool       // Start and End are characters of the source, and CitedText its quote
}

// A foundTruth is a place that a person marked. One that is not found stays as a member of the
// record.
type foundTruth struct {
	annotator string
	source    int // noSource where somebody marked nothing
	span      markedSpan
	quoted    bool   // it stays where it is, with its quote, for a run to move
	file      string // and the place of its value
	at        position
	name      string // of the member
	value     []byte
}

// An answerMark is what a provider says of where in the answer a citation
// stands. Several citations may share one.
type answerMark struct {
	quote      // offsets as given, and what is said to stand there
	part  int  // index of the part that the offsets count from, or wholeAnswer
	point bool // start alone is given, which is the place behind what is cited for
	role  ibid.Role

	inPart, inWhole markedSpan // the same, examined in either text
	warned          bool       // what is wrong with it has been said
}

const (
	noSource    = -1
	noMark      = -1
	wholeAnswer = -1
	noPart      = -1
)

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
		b.WriteString(p.text)
		p.chars = utf8.RuneCountInString(p.text)
		n += p.chars
	}
	x.row.Answer = b.String()
}

// answer is the text of the answer.
func (x *exchange) answer() *token.Text {
	if x.whole == nil {
		x.whole = token.NewText(x.row.Answer)
	}
	return x.whole
}

// partText is the text of a part.
func (x *exchange) partText(i int) *token.Text {
	p := &x.parts[i]
	if p.tokens == nil {
		p.tokens = token.NewText(p.text)
	}
	return p.tokens
}

// searched is the source's text, nil if it is not known.
func (s *source) searched() *searched {
	if c := s.counted; c != nil {
		if c.find == nil {
			s.counted = newCountedText(s.Text, c.folded, c.marked)
		}
		return s.counted.find
	}
	if s.find == nil {
		if text, ok := textOf(&s.Document); ok {
			s.find = newSearched(token.NewText(text))
		}
	}
	return s.find
}

// textOf is the text of a document, that of its pages or of its blocks. ok is
// false if none is known.
func textOf(d *ibid.Document) (text string, ok bool) {
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

// forget drops what can be made again.
func (x *exchange) forget() {
	x.whole = nil
	for i := range x.parts {
		x.parts[i].tokens = nil
	}
	for _, s := range x.sources {
		if !s.shared {
			if s.find = nil; s.counted != nil {
				s.counted.find = nil
			}
		}
	}
}

// size is about how many bytes the exchange holds, without what others have, too.
func (x *exchange) size() int {
	n := len(x.row.SourceRecord)/2 + len(x.row.Answer)
	for _, s := range x.sources {
		if text, _ := textOf(&s.Document); !s.shared {
			n += len(text)
		}
	}
	for i := range x.citations {
		n += len(x.citations[i].CitedText) + len(x.citations[i].Doc)
	}
	return n
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
	d := ibid.Document{Doc: cmp.Or(of, title), Title: title}
	unnamed := d.Doc == "" || slices.ContainsFunc(x.sources, func(s *source) bool { return s.Doc == d.Doc })
	if unnamed {
		d.Doc = called
	}
	i := len(x.sources)
	x.sources = append(x.sources, &source{Document: d, unnamed: unnamed})
	x.unasked[called] = i
	return i
}

// warn keeps what a reader of the result should know.
func (x *exchange) warn(text string) {
	x.warnings = append(x.warnings, exchangeWarning{text: text})
}

// A rowKey stands for the id and the system of a row. Two rows have the same one
// by chance once in 2^64.
type rowKey uint64

var rowSeed = maphash.MakeSeed()

func keyOf(id, system string) rowKey {
	return rowKey(maphash.String(rowSeed, system+"\x00"+id))
}

// isRepeated reports whether a row of that id and system has been written before.
func (r *run) isRepeated(id, system string) bool {
	key := keyOf(id, system)
	_, seen := r.seen[key]
	r.seen[key] = struct{}{}
	return seen
}

// write writes the row of an exchange whose offsets have been examined, and the
// documents it brings.
func (c *exchangeReader) write(x *exchange, at position) error {
	if !x.leftOut && c.run.isRepeated(x.row.ID, x.row.System) {
		c.fail(at.err(c.file, fmt.Sprintf("the answer of system %s to %s is there twice", quoted(x.row.System), quoted(x.row.ID))))
		return nil
	}
	row := &x.row
	row.File = c.file
	w := exchangeWriter{exchangeReader: c, x: x, at: at, names: &c.names}
	if !x.collected && !c.Docs {
		w.names = &documentNames{}
	}
	if err := w.documents(row); err != nil {
		return err
	}
	if x.leftOut {
		c.report.LeftOut++
		return nil
	}
	for i := range x.citations {
		row.Citations = append(row.Citations, w.citation(&x.citations[i]))
	}
	w.nameOthers(row)
	w.truth(row)
	row.Tags = append(x.kept.tags(), row.Tags...)
	sortTags(row.Tags)
	for _, name := range x.unknown {
		tally(c.report.UnknownFields, name)
	}
	for _, label := range x.spanLabel {
		tally(c.report.SpanLabels, label)
	}
	for _, kind := range x.ignored {
		tally(c.report.Ignored, clipped(kind))
	}
	c.report.addMarks(x.zeroMark, x.lastMark)
	for _, e := range x.lost {
		c.run.warn(e)
		c.report.BadAnnotations++
	}
	for _, warning := range x.warnings {
		c.warn(cmp.Or(warning.at, at).err(c.file, warning.text))
	}
	return c.row(row)
}

// An exchangeWriter makes the row of one exchange.
type exchangeWriter struct {
	*exchangeReader
	x     *exchange
	at    position
	names *documentNames
	named []string // the names of the sources

	complete bool // there are no sources but these
}

func (w *exchangeWriter) warn(format string, args ...any) {
	w.run.warn(w.at.err(w.file, fmt.Sprintf(format, args...)))
}

// documents names the sources and writes them, as documents of their own or of
// the row. A row that brings no text leaves it unknown what there is. Beside documents of
// their own a row lists the names of its sources, of which there may be none: those of
// other rows are not among them.
func (w *exchangeWriter) documents(row *ibid.Answer) error {
	for _, s := range w.x.sources {
		_, known := textOf(&s.Document)
		row.HasDocuments = row.HasDocuments || (known || w.x.collected) && !s.apart
	}
	w.complete = row.HasDocuments
	row.HasDocuments = row.HasDocuments || w.Docs && !w.x.collected
	w.named = make([]string, len(w.x.sources))
	for i, s := range w.x.sources {
		if s.apart && w.x.leftOut {
			continue
		}
		name, first := w.names.of(w.calledBy(s), contentOf(&s.Document), s.HasText || s.HasPages || s.HasBlocks)
		d := s.Document
		if s.fixed && name != s.Doc { // another document has its name
			w.named[i] = s.Doc
			row.Documents, row.HasDocuments = append(row.Documents, d), true
			continue
		}
		w.named[i], d.Doc = name, name
		if err := w.place(row, &d, first); err != nil {
			return err
		}
	}
	return nil
}

// nameOthers renames what a row cites beside its sources, so that it is no document of another row:
// it does not exist if the sources are complete, else it is one more source without a text.
func (w *exchangeWriter) nameOthers(row *ibid.Answer) {
	for i := range row.Citations {
		c := &row.Citations[i]
		switch {
		case !w.Docs || !row.HasDocuments || c.DocNull || w.x.citations[i].source != noSource:
		case w.complete:
			c.Doc = w.names.missing(c.Doc)
		default:
			c.Doc, _ = w.names.of(c.Doc, "", false)
			if documentOf(row, c.Doc) == nil {
				row.Documents = append(row.Documents, ibid.Document{Doc: c.Doc})
			}
		}
	}
}

// calledBy is what a source is called. One that only its place in a request which
// we do not know tells from others is called by the answer, too.
func (w *exchangeWriter) calledBy(s *source) string {
	if s.unnamed {
		return w.x.row.ID + " " + s.Doc
	}
	if s.common {
		return w.names.common(s.Text, s.Doc)
	}
	return s.Doc
}

// contentOf tells documents of one name apart.
func contentOf(d *ibid.Document) string {
	var b strings.Builder
	b.WriteString(d.Text)
	for _, parts := range [][]string{d.Pages, d.Blocks} {
		b.WriteByte(0)
		for _, p := range parts {
			b.WriteString(strconv.Itoa(len(p)))
			b.WriteByte(0)
			b.WriteString(p)
		}
	}
	return b.String()
}

// citation completes a citation by the readings of the file.
func (w *exchangeWriter) citation(c *foundCitation) ibid.Citation {
	out := c.Citation
	if c.source != noSource {
		out.Doc, out.DocNull = w.named[c.source], false
	}
	if c.test && c.Start.Known() && c.End.Known() {
		var text *searched
		if c.source != noSource {
			text = w.x.sources[c.source].searched()
		}
		out.Start, out.End, out.Unit = c.span.quote.placed(text, w.proof.chosen)
	}
	if c.mark != noMark {
		m := &w.x.marks[c.mark]
		start, end, why := w.interval(m)
		if why != "" && !m.warned {
			m.warned = true
			w.warn("characters %d-%d of the answer: %s", m.start, m.end, why)
		}
		out.AnswerStart, out.AnswerEnd, out.AnswerRole = start, end, m.role
	}
	return out
}

// truth gives the row the places that people marked. Systems are measured against it: a place of
// which only the start is given is left out if it is not found.
func (w *exchangeWriter) truth(row *ibid.Answer) {
	for i := range w.x.truth {
		t := &w.x.truth[i]
		if t.source == noSource {
			row.Truth = append(row.Truth, ibid.Mark{Annotator: t.annotator, DocNull: true})
			continue
		}
		v := t.span.verdict(w.proof.chosen)
		lost := t.span.quote.open && v > repaired
		reason := markReasons[v]
		switch {
		case lost:
			reason = fmt.Sprintf("the document does not have %s exactly once: it is no truth of %s", quoted(t.span.quote.text), quoted(w.x.row.ID))
		case t.quoted:
			reason = quotedReasons[v]
		}
		if v != proved && !w.x.again {
			if t.name != "" {
				reason = t.name + ": " + reason
			}
			w.run.warn(t.at.err(t.file, reason))
		}
		if lost {
			w.x.kept.add(t.name, t.value)
			continue
		}
		row.Truth = append(row.Truth, w.mark(t))
	}
	row.HasTruth = w.x.row.HasTruth && (len(row.Truth) > 0 || len(w.x.truth) == 0)
}

// mark is a place of the truth.
func (w *exchangeWriter) mark(t *foundTruth) ibid.Mark {
	s := w.x.sources[t.source]
	m := ibid.Mark{Annotator: t.annotator, Doc: w.named[t.source]}
	if t.quoted {
		m.CitedText = t.span.quote.text
		m.Start, m.End, m.Unit = t.span.quote.placed(s.searched(), w.proof.chosen)
		return m
	}
	m.Start, m.End, m.Unit = t.span.place(s.searched(), w.proof.chosen)
	if s.counted != nil && m.Unit == "" {
		m.Start.Value, m.End.Value = s.counted.original(m.Start.Value), s.counted.original(m.End.Value)
	}
	return m
}

// interval is where a mark stands in the answer, in code points. why says what is
// wrong with it, if anything; a place that is wrong is worse than none.
func (w *exchangeWriter) interval(m *answerMark) (start, end ibid.Integer, why string) {
	text, base, span := w.x.answer(), int64(0), &m.inWhole
	if m.part != wholeAnswer && !w.proof.fromAnswer {
		text, base, span = w.x.partText(m.part), int64(w.x.parts[m.part].at), &m.inPart
	}
	r := readings[w.proof.chosenAnswer]
	if m.point {
		at, ok := r.point(text, m.start)
		if !ok {
			return ibid.Integer{}, ibid.Integer{}, "not in the answer"
		}
		return integer(base + at), integer(base + at), ""
	}
	switch span.verdict(w.proof.chosenAnswer) {
	case degenerate:
		return ibid.Integer{}, ibid.Integer{}, "no span"
	case repaired:
		return integer(base + span.evidence.lo), integer(base + span.evidence.hi), "the text is not there, but found once elsewhere: moved to it"
	case mismatched:
		return ibid.Integer{}, ibid.Integer{}, "the text is not there, nor found once elsewhere"
	}
	lo, hi, ok := r.Span(text, m.start, m.end)
	if ok {
		return integer(base + int64(lo)), integer(base + int64(hi)), ""
	}
	if r.Unit != token.CodePoint {
		return ibid.Integer{}, ibid.Integer{}, "not in the answer"
	}
	from, to := r.units(m.start, m.end)
	return integer(base + from), integer(base + to), "beyond the end of the answer"
}

// point is the code point that an offset stands before.
func (r Reading) point(text *token.Text, at int64) (cp int64, ok bool) {
	if r.OneBased {
		at--
	}
	if at < 0 || at > int64(text.Units(r.Unit)) {
		return 0, false
	}
	n, first := text.CodePoint(r.Unit, int(at))
	return int64(n), first
}
