package convert

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"ibid/dataset"
	"ibid/metrics/token"
)

// A rowKey stands for the id and the system of a row. Two rows have the same one
// by chance once in 2^64.
type rowKey uint64

var rowSeed = maphash.MakeSeed()

func keyOf(id, system string) rowKey {
	return rowKey(maphash.String(rowSeed, system+"\x00"+id))
}

// again reports whether a row of that id and system has been written before.
func (r *run) again(id, system string) bool {
	if r.seen == nil {
		r.seen = map[rowKey]struct{}{}
	}
	key := keyOf(id, system)
	_, seen := r.seen[key]
	r.seen[key] = struct{}{}
	return seen
}

// write writes the row of an exchange whose offsets have been examined, and the
// documents it brings.
func (c *exchangeReader) write(x *exchange, at position) error {
	if c.run.again(x.id, x.system) {
		c.fail(at.err(c.file, fmt.Sprintf("the answer of system %s to %s is there twice", quoted(x.system), quoted(x.id))))
		return nil
	}
	row := dataset.Row{
		File: c.file, ID: x.id, Query: x.query, Answer: x.text,
		System: x.system, Provider: c.format.name, Model: x.model,
		Citations: make([]dataset.Citation, 0, len(x.citations)), HasCitations: true,
	}
	w := exchangeWriter{exchangeReader: c, x: x, at: at, names: &c.names}
	if !c.Docs {
		w.names = &documentNames{}
	}
	if err := w.documents(&row); err != nil {
		return err
	}
	for i := range x.citations {
		row.Citations = append(row.Citations, w.citation(&x.citations[i]))
	}
	if !x.unread.empty() {
		row.Tags = []dataset.Tag{{Key: referenceTag, Value: x.unread.object()}}
	}
	for _, name := range x.unknown {
		c.report.unknownField(name)
	}
	for _, text := range x.warnings {
		w.warn("%s", text)
	}
	return c.row(&row)
}

// An exchangeWriter makes the row of one exchange.
type exchangeWriter struct {
	*exchangeReader
	x     *exchange
	at    position
	names *documentNames
	named []string // the names of the sources
}

func (w *exchangeWriter) warn(format string, args ...any) {
	w.run.warn(w.at.err(w.file, fmt.Sprintf(format, args...)))
}

// documents names the sources and writes them, as documents of their own or of
// the row. A row that brings no text leaves it unknown what there is.
func (w *exchangeWriter) documents(row *dataset.Row) error {
	for _, s := range w.x.sources {
		_, known := textOf(&s.Document)
		row.HasDocuments = row.HasDocuments || known && !w.Docs
	}
	w.named = make([]string, len(w.x.sources))
	for i, s := range w.x.sources {
		name, first := w.names.of(w.calledBy(s), contentOf(&s.Document), s.HasText || s.HasPages || s.HasBlocks)
		w.named[i] = name
		if !first {
			continue
		}
		d := s.Document
		d.Doc = name
		switch {
		case w.Docs:
			if err := w.document(&d); err != nil {
				return err
			}
		case row.HasDocuments:
			row.Documents = append(row.Documents, d)
		}
	}
	return nil
}

// calledBy is what a source is called. One that only its place in a request which
// we do not know tells from others is called by the answer, too.
func (w *exchangeWriter) calledBy(s *source) string {
	if s.unnamed {
		return w.x.id + " " + s.Doc
	}
	return s.Doc
}

// contentOf tells documents of one name apart.
func contentOf(d *dataset.Document) string {
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
func (w *exchangeWriter) citation(c *foundCitation) dataset.Citation {
	out := c.Citation
	if c.source != noSource {
		out.Doc, out.DocNull = w.named[c.source], false
	}
	if c.test && c.Start.Valid && c.End.Valid {
		w.place(&out, c)
	}
	if c.mark != noMark {
		w.answerSide(&out, c)
	}
	out.SourceReference = c.more.reference(out.SourceReference)
	return out
}

// place converts the offsets into the source to code points. Where that gives
// other numbers, the given ones stay in source_reference.
func (w *exchangeWriter) place(out *dataset.Citation, c *foundCitation) {
	q := c.quote()
	if c.source != noSource && w.x.sources[c.source].searched() != nil {
		out.Start, out.End, out.Unit = c.proof.placed(w.x.sources[c.source].searched().text, &q, w.proof.chosen)
	} else {
		r := readings[w.proof.chosen]
		lo, hi := r.units(q.start, q.end)
		if out.Start, out.End = integer(lo), integer(hi); r.Unit != token.CodePoint {
			out.Unit = r.Unit.String()
		}
	}
	if out.Start != c.Start || out.End != c.End {
		c.more.add("given", fmt.Appendf(nil, `{"start":%d,"end":%d}`, q.start, q.end))
	}
}

// answerSide gives the citation its interval of the answer.
func (w *exchangeWriter) answerSide(out *dataset.Citation, c *foundCitation) {
	m := &w.x.marks[c.mark]
	start, end, why := w.interval(m)
	if why != "" && !m.warned {
		m.warned = true
		w.warn("characters %d-%d of the answer: %s", m.start, m.end, why)
	}
	out.AnswerStart, out.AnswerEnd = start, end
	if m.given == givenOffsets && (start != integer(m.start) || end != integer(m.end)) || m.given == givenPoint && start != integer(m.start) {
		c.more.add("given_answer", w.givenAnswer(m, why != ""))
	}
}

// givenAnswer is a mark as the provider gave it.
func (w *exchangeWriter) givenAnswer(m *answerMark, text bool) []byte {
	b := fmt.Appendf(nil, `{"start":%d`, m.start)
	if m.given == givenOffsets {
		b = fmt.Appendf(b, `,"end":%d`, m.end)
	}
	if m.part > 0 {
		b = fmt.Appendf(b, `,"part":%d`, m.part)
	}
	if text && m.text != "" {
		b = append(append(b, `,"text":`...), jsonString(m.text)...)
	}
	return append(b, '}')
}

// interval is where a mark stands in the answer, in code points. why says what is
// wrong with it, if anything; a place that is wrong is worse than none.
func (w *exchangeWriter) interval(m *answerMark) (start, end dataset.NullInt, why string) {
	text, base, e := w.x.answer(), int64(0), &m.inWhole
	if m.part != wholeAnswer {
		p := &w.x.parts[m.part]
		from, to := integer(int64(p.at)), integer(int64(p.at+p.chars))
		switch m.given {
		case givenPart:
			return from, to, ""
		case givenEnd:
			return to, to, ""
		}
		if !w.proof.fromAnswer {
			text, base, e = w.x.partText(m.part), int64(p.at), &m.inPart
		}
	}
	if m.given == givenSpan {
		return integer(m.start), integer(m.end), ""
	}
	r := m.quote.read(readings[w.proof.chosenAnswer])
	if m.given == givenPoint {
		at, ok := r.point(text, m.start)
		if !ok {
			return dataset.NullInt{}, dataset.NullInt{}, "not in the answer"
		}
		return integer(base + at), integer(base + at), ""
	}
	kind := e.kind(&m.quote)
	quotes := (isQuote(m.text) || m.link != "" && e.exact != 0) && !kind.degenerate
	switch v := kind.verdict(w.proof.chosenAnswer); {
	case kind.degenerate:
		return dataset.NullInt{}, dataset.NullInt{}, "no span"
	case quotes && v == repaired:
		return integer(base + e.lo), integer(base + e.hi), "the text is not there, but found once elsewhere: moved to it"
	case quotes && v == mismatched:
		return dataset.NullInt{}, dataset.NullInt{}, "the text is not there, nor found once elsewhere"
	case quotes && e.shifted:
		return integer(base + e.lo), integer(base + e.hi), ""
	}
	lo, hi, ok := r.Span(text, m.start, m.end)
	if ok {
		return integer(base + int64(lo)), integer(base + int64(hi)), ""
	}
	if r.Unit != token.CodePoint {
		return dataset.NullInt{}, dataset.NullInt{}, "not in the answer"
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
