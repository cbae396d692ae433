package convert

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/claims"
	"ibid/metrics/presence"
)

// inline is answers whose citations stand in their text. The markers are those
// of package presence; the answer stays as it is, and answer_start and
// answer_end of a citation are the interval of its marker, of a statement the
// whole element. method is the form of the marker, such as "numbered".
//
// A record has the members of jsonl but citations, and may have references or
// sources: what the numbers in the answer stand for, counted from 1. An element
// is the name of a document or an object with doc (else url, else id), title,
// text, cited_text, source_type, page, start, end and unit. References come
// first, then sources, then the answer's own list of references (see
// [claims.References]), then the row's documents. Two texts under one name are
// two documents (see [documentNames]).
//
//   - [file:page:start-end] gives one citation per span, as written: what the
//     offsets count is for the run to state. An excerpt is the cited_text, but
//     of several spans it is kept in source_reference, since it does not say
//     which of them it quotes.
//   - [n], 【n†…】, ^n and [^n] give one citation per number, to the source of that
//     number: to the whole document unless the source names a place. What stands
//     behind a dagger is the locator of source_reference. 【turn:n†…】 counts
//     the sources of another turn, so only a locator that is the name of exactly
//     one source says which is meant.
//   - <statement>…<cite>[a-b]</cite></statement> gives one citation per range:
//     sentences of the only source, counted from 0, the last included. They are
//     its blocks. An answer of nothing but statements has them as its claims,
//     unless the record gives claims.
//
// A number without a source gives a citation of no document with the marker as
// title, and a warning; so does a malformed marker, of which nothing is used.
//
// A .txt or .md file is one answer: its id is the file's name, its query "". A
// .json file holds one record, several, or a list of them.
var inline = Format{
	Name:    "inline",
	Summary: "answers that carry their citations in the text",
	Input:   "JSON Lines, JSON or text files, or a directory of them",
	streams: true,
	fits: func(o *object) bool {
		markers, _ := presence.Parse(o.peek("answer"))
		return o.peek("id") != "" && !o.has("citations") && (listsInline(o) || len(markers) > 0)
	},
	convert: func(ctx context.Context, r *run) error {
		return r.eachFile(ctx, []string{".jsonl", ".ndjson", ".json", ".txt"}, func(path string) error {
			c := &inlineReader{jsonlReader: newJSONLReader(r, path)}
			return c.read(ctx)
		})
	},
}

// listsInline reports whether a record lists what numbers in its answer stand for.
func listsInline(o *object) bool {
	return !o.has("citations") && o.has("answer") && (o.isList("references") || o.isList("sources"))
}

// An inlineReader reads one file.
type inlineReader struct {
	jsonlReader
	sources sourceList
}

// read converts the file.
func (c *inlineReader) read(ctx context.Context) (err error) {
	c.record.sources, c.amend = &c.sources, c.cite
	name := unpackedName(filepath.Base(c.file))
	switch extension := filepath.Ext(name); {
	case c.file == stdinPath:
		return c.jsonlReader.read(ctx)
	case extension == ".txt" || extension == ".md":
		err = c.readText(name)
	case extension == ".json":
		err = c.eachRecord(ctx, c.file, wholeShape, func(rec *foreignRecord) error {
			if rec.reason == emptyFile {
				return nil
			}
			return c.readable(c.value)(rec)
		})
	default:
		return c.jsonlReader.read(ctx)
	}
	c.settle()
	return err
}

// readText converts a file that is one answer.
func (c *inlineReader) readText(name string) error {
	data, reason, err := c.whole(c.file)
	if err != nil {
		return err
	}
	c.report.Records++
	answer := string(data)
	if reason == "" && !utf8.ValidString(answer) {
		at, size := 0, 0
		for r := ' '; r != utf8.RuneError || size != 1; r, size = utf8.DecodeRune(data[at:]) {
			at += size
		}
		c.fail(position{1, 1}.after(data[:at]).err(c.file, "invalid UTF-8"))
		return nil
	}
	row := ibid.Answer{File: c.file, ID: name, System: "default", Answer: answer}
	if reason == "" {
		c.sources.reset()
		reason = c.cite(&row, position{})
	}
	if reason != "" {
		c.fail(RecordError{File: c.file, Reason: reason})
		return nil
	}
	return c.row(&row)
}

// maxInlineCitations is the most citations that one answer can have: a few
// bytes of ranges stand for thousands.
const maxInlineCitations = 100_000

// A markerReader turns the markers of one answer into citations of its row.
type markerReader struct {
	row     *ibid.Answer
	sources *sourceList
	report  func(marker *presence.Inline, format string, args ...any)

	unlisted int // markers with numbers, in a record that lists no sources
}

// cite reads the markers of the row's answer. The reason is why the row cannot
// be converted.
func (c *inlineReader) cite(row *ibid.Answer, at position) (reason string) {
	if len(row.Citations) > 0 {
		return "citations are given, and format inline reads them from the answer: import it as jsonl"
	}
	if row.AnswerNull {
		return ""
	}
	items, bad := presence.Parse(row.Answer)
	if n := countCitations(items); n > maxInlineCitations {
		return fmt.Sprintf("answer: %d citations, more than %d", n, maxInlineCitations)
	}
	c.sources.settle(row)
	warn := func(format string, args ...any) {
		c.warn(RecordError{File: c.file, Line: at.line, Reason: "answer: " + fmt.Sprintf(format, args...)})
	}
	for i := range bad {
		warn("characters %d-%d: %s: %s", bad[i].Start, bad[i].End, bad[i].Reason, quoted(bad[i].Text))
	}
	m := markerReader{row: row, sources: &c.sources}
	m.report = func(marker *presence.Inline, format string, args ...any) {
		warn("characters %d-%d: %s", marker.Start, marker.End, fmt.Sprintf(format, args...))
	}
	m.read(items)
	if m.unlisted > 0 {
		warn("%d markers name sources by number, and the record has no references, sources or documents", m.unlisted)
	}
	return ""
}

// countCitations returns how many citations the markers stand for.
func countCitations(items []presence.Inline) int {
	n := 0
	for i := range items {
		n += len(items[i].Spans)
		for _, r := range items[i].Numbers {
			if items[i].Form != presence.Statement {
				n += r.Last - r.First
			}
			n++
		}
	}
	return n
}

func (m *markerReader) read(items []presence.Inline) {
	m.row.HasCitations = true
	claims := !m.row.HasClaims && onlyStatements(m.row.Answer, items)
	if claims {
		m.row.HasClaims = true
	}
	for i := range items {
		marker := &items[i]
		switch marker.Form {
		case presence.Located:
			m.located(marker)
		case presence.Statement:
			claim := ""
			if claims {
				claim = m.claim(marker)
			}
			m.statement(marker, claim)
		default:
			m.numbered(marker)
		}
	}
}

// citation adds a citation of a marker: a copy of to, with its answer side.
func (m *markerReader) citation(marker *presence.Inline, to ibid.Citation) {
	to.AnswerStart, to.AnswerEnd = integer(int64(marker.Start)), integer(int64(marker.End))
	to.Method, to.AnswerRole = marker.Form.String(), ibid.Marker
	if marker.Form == presence.Statement {
		to.AnswerRole = ibid.Segment
	}
	m.row.Citations = append(m.row.Citations, to)
}

// located reads [file:page:start-end].
func (m *markerReader) located(marker *presence.Inline) {
	to := ibid.Citation{Doc: marker.File, Page: integer(int64(marker.Page))}
	if len(marker.Spans) == 1 {
		to.CitedText = marker.Excerpt
	} else if marker.HasExcerpt {
		var more extra
		more.addText("excerpt", marker.Excerpt)
		to.SourceReference = more.object()
	}
	for _, s := range marker.Spans {
		to.Start, to.End = integer(s.Start), integer(s.End)
		m.citation(marker, to)
	}
}

// numbered reads the markers whose numbers stand for sources.
func (m *markerReader) numbered(marker *presence.Inline) {
	if marker.HasTurn {
		m.otherTurn(marker)
		return
	}
	known := len(m.sources.all)
	for _, r := range marker.Numbers {
		for n := r.First; n <= r.Last; n++ {
			if 1 <= n && n <= known {
				m.source(marker, &m.sources.all[n-1])
			} else {
				m.nowhere(marker, n)
			}
		}
		if (r.First < 1 || r.Last > known) && m.sources.known {
			m.report(marker, "%s: the record lists %d sources", quoted(marker.String()), known)
		}
	}
	if !m.sources.known {
		m.unlisted++
	}
}

// otherTurn reads 【turn:n†locator】.
func (m *markerReader) otherTurn(marker *presence.Inline) {
	if x, ok := m.sources.named(marker.Locator); ok {
		m.source(marker, x)
		return
	}
	m.nowhere(marker, marker.Numbers[0].First)
	m.report(marker, "%s: no source is named so, and its number counts those of a turn", quoted(marker.String()))
}

// source adds a citation of a source, of all of it unless it names a place.
func (m *markerReader) source(marker *presence.Inline, x *inlineSource) {
	to := x.citation
	if !to.Page.Known() && !to.Start.Known() && !to.End.Known() && to.Unit == "" && to.CitedText == "" {
		to.Unit = "document"
	}
	m.locator(marker, &to)
	m.citation(marker, to)
}

// nowhere adds a citation whose number stands for no source.
func (m *markerReader) nowhere(marker *presence.Inline, number int) {
	var more extra
	more.add("number", []byte(strconv.Itoa(number)))
	to := ibid.Citation{DocNull: true, Title: marker.String(), SourceReference: more.object()}
	m.locator(marker, &to)
	m.citation(marker, to)
}

// locator keeps what stands behind a dagger.
func (m *markerReader) locator(marker *presence.Inline, to *ibid.Citation) {
	if marker.Form == presence.Dagger && marker.Locator != "" {
		var more extra
		more.addText("locator", marker.Locator)
		to.SourceReference = more.reference(to.SourceReference)
	}
}

// statement reads the <cite> of a statement: blocks of the only source.
func (m *markerReader) statement(marker *presence.Inline, claim string) {
	if len(marker.Numbers) == 0 {
		return
	}
	to := ibid.Citation{DocNull: true}
	if len(m.sources.all) == 1 {
		x := &m.sources.all[0].citation
		to.Doc, to.DocNull, to.Title, to.SourceType = x.Doc, x.DocNull, x.Title, x.SourceType
	} else if m.sources.known {
		m.report(marker, "a statement cites sentences of one source, and the record lists %d", len(m.sources.all))
	} else {
		m.unlisted++
	}
	to.Unit, to.ClaimID = "block", claim
	for _, r := range marker.Numbers {
		to.Start, to.End = integer(int64(r.First)), integer(int64(r.Last)+1)
		if len(m.sources.all) != 1 {
			to.Title = fmt.Sprintf("[%d-%d]", r.First, r.Last)
		}
		m.citation(marker, to)
	}
}

// claim makes a statement a claim of the row and returns its id, "" if it says
// nothing.
func (m *markerReader) claim(marker *presence.Inline) string {
	text := strings.TrimSpace(marker.Body)
	if text == "" {
		return ""
	}
	blank := 0 // code points before the text
	for _, r := range marker.Body {
		if !unicode.IsSpace(r) {
			break
		}
		blank++
	}
	start := int64(marker.BodyStart + blank)
	id := strconv.Itoa(len(m.row.Claims))
	m.row.Claims = append(m.row.Claims, ibid.Claim{
		ClaimID: id, Text: text,
		Start: integer(start), End: integer(start + int64(len([]rune(text)))),
	})
	return id
}

// onlyStatements reports whether the answer is statements, at least one, and
// white space.
func onlyStatements(answer string, items []presence.Inline) bool {
	next, some := 0, false // items[next] is the next statement to end
	n := 0
	for _, r := range answer {
		for next < len(items) && (n >= items[next].End || items[next].Form != presence.Statement) {
			next++
		}
		inside := next < len(items) && n >= items[next].Start
		if !inside && !unicode.IsSpace(r) {
			return false
		}
		some = some || inside
		n++
	}
	return some
}

// A sourceList is what the numbers in an answer stand for.
type sourceList struct {
	all   []inlineSource
	known bool // the record has such a list; it may be empty
	names documentNames

	byName map[string]int // index in all, or severalSources; nil until asked for
}

// An inlineSource is one source: a citation of it, but for its answer side, and
// its text if the record has one.
type inlineSource struct {
	citation ibid.Citation
	text     string
	hasText  bool
}

func (s *sourceList) reset() {
	s.all, s.known, s.byName = s.all[:0], false, nil
	s.names.reset()
}

// member reads a member that lists sources and reports whether it does.
// Sources beside references are an unknown member like any other.
func (s *sourceList) member(c *jsonlRecord, record *object, list value) bool {
	if list.name != "references" && (list.name != "sources" || record.has("references")) {
		return false
	}
	s.known = s.known || list.given()
	for _, v := range list.elements() {
		s.all = append(s.all, inlineSource{citation: ibid.Citation{DocNull: true}})
		x := &s.all[len(s.all)-1]
		if v.kind() == aString {
			x.citation.Doc = v.string()
			x.citation.DocNull = strings.TrimSpace(x.citation.Doc) == ""
		} else if v.want(anObject) {
			x.decode(c, v.object())
		}
	}
	return true
}

// sourceMembers are the columns of a citation that a source can have.
var sourceMembers = []string{"doc", "page", "start", "end", "unit", "title", "cited_text", "source_type", "source_reference"}

// decode reads a source that is an object. What has no column goes into
// source_reference.
func (x *inlineSource) decode(c *jsonlRecord, o *object) {
	out := &x.citation
	var more extra
	for name, v := range o.ours() {
		switch {
		case name == "text":
			x.text, x.hasText = v.text()
		case name == "url" || name == "id": // below
		case slices.Contains(sourceMembers, name):
			citationColumns.read(out, name, v)
		default:
			c.unknown = append(c.unknown, clipped(o.name+"."+name))
			more.add(name, v.raw())
		}
	}
	if o.r.err != nil {
		return
	}
	for _, best := range []string{"url", "id"} {
		v := o.get(best)
		if v.end == 0 {
			continue
		}
		name := ""
		if kind := v.kind(); kind == aString || kind == aNumber {
			name = v.label()
		}
		if out.DocNull && strings.TrimSpace(name) != "" {
			out.Doc, out.DocNull = name, false
		} else {
			more.add(best, v.raw())
		}
	}
	out.SourceReference = more.reference(out.SourceReference)
}

// settle makes the answer's own list of references or else the row's documents the
// sources if the record lists no others, and puts the texts of those it lists among the row's documents.
func (s *sourceList) settle(row *ibid.Answer) {
	if own := ownSources(row); !s.known && len(own) > 0 {
		s.known, s.all = true, append(s.all, own...)
		return
	}
	if !s.known {
		s.known = row.HasDocuments
		for i := range row.Documents {
			d := &row.Documents[i]
			s.all = append(s.all, inlineSource{citation: ibid.Citation{Doc: d.Doc, Title: d.Title, SourceType: d.SourceType}})
		}
		return
	}
	for i := range row.Documents {
		d := &row.Documents[i]
		s.names.of(d.Doc, d.Text, d.HasText)
	}
	texts := false
	for i := range s.all {
		if x := &s.all[i]; x.hasText {
			s.addText(row, x, i+1)
			texts = true
		}
	}
	if !texts {
		return
	}
	// The record brings the texts of its sources: the others are known without.
	row.HasDocuments = true
	for i := range s.all {
		c := &s.all[i].citation
		if !c.DocNull && !s.names.has(c.Doc) {
			s.names.of(c.Doc, "", false)
			row.Documents = append(row.Documents, ibid.Document{Doc: c.Doc, Title: c.Title, SourceType: c.SourceType})
		}
	}
}

// ownSources are the sources that the answer lists itself, by their numbers. One
// that goes by the name or the title of a document of the row is that document.
func ownSources(row *ibid.Answer) []inlineSource {
	var all []inlineSource
	for _, r := range claims.References(row.Answer) {
		if r.Number < 1 || r.Number > presence.MaxRange {
			continue
		}
		for len(all) < r.Number {
			all = append(all, inlineSource{citation: ibid.Citation{DocNull: true}})
		}
		c := &all[r.Number-1].citation
		*c = ibid.Citation{Doc: r.Target, Title: r.Title}
		for i := range row.Documents {
			d := &row.Documents[i]
			if d.Doc == r.Target || d.Doc == r.Title || d.Title != "" && d.Title == r.Title {
				c.Doc, c.Title, c.SourceType = d.Doc, d.Title, d.SourceType
				break
			}
		}
	}
	return all
}

// addText gives the text of source number a document of the row.
func (s *sourceList) addText(row *ibid.Answer, x *inlineSource, number int) {
	c := &x.citation
	base := c.Doc
	if c.DocNull {
		base = c.Title
	}
	if base == "" {
		base = "[" + strconv.Itoa(number) + "]"
	}
	name, first := s.names.of(base, x.text, true)
	c.Doc, c.DocNull = name, false
	if first {
		row.Documents = append(row.Documents, ibid.Document{Doc: name, Title: c.Title, Text: x.text, HasText: true, SourceType: c.SourceType})
	}
}

// named returns the only source that goes by a name.
func (s *sourceList) named(name string) (*inlineSource, bool) {
	if s.byName == nil {
		s.byName = map[string]int{}
		for i := range s.all {
			c := &s.all[i].citation
			if !c.DocNull {
				s.call(c.Doc, i)
			}
			if c.Title != "" {
				s.call(c.Title, i)
			}
		}
	}
	i, ok := s.byName[name]
	if !ok || i == severalSources {
		return nil, false
	}
	return &s.all[i], true
}

// severalSources stands for the index of a name that is not one source's alone.
const severalSources = -1

// call notes that source i goes by a name.
func (s *sourceList) call(name string, i int) {
	if other, ok := s.byName[name]; ok && other != i {
		i = severalSources
	}
	s.byName[name] = i
}
