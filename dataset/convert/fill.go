package convert

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"

	"ibid"
)

// A filler makes an exchange of a row that a program gives:
//
//	id, model, system, provider, query, cost_usd, tokens, latency_ms, tags
//	fixed_system  the system whatever the options say
//	parts      texts, or {text, hidden, cites}; joined they are the answer
//	documents  {doc, title, type, text or pages or blocks, metadata, pdf, apart, standoff,
//	           common, fixed}; rows do not carry what lies apart, offsets into standoff may count as
//	           those of brat do, a common text is called as where it was met first, and a fixed
//	           name stays even if another text has it
//	cites      {source, quote, start, end, unit, page, title, type, method, id, confidence,
//	           relevance, token_contribution, claim, reference, in}
//	numbered   what [n] in the text stands for, where that is not the documents; null where no number is a mark
//	claims     {id, text, start, end, cites}, or {id, text, part, cites}; the id is the number if absent
//	labels     {annotator, claim, citation, kind, value}, claim being an id or a number
//	truth      {annotator, chunk, start, end, quote, value}: a place in a document of the row, said
//	           by value, which moves to its quote unless it is quoted: then a run moves it; only
//	           {annotator} marked nothing; without an end it is where the quote is, else name and
//	           value stay as a member
//	marked_as  what places are marked as, and
//	ignored    what has no place in a row: texts that are counted
//	kept       {key, value} for members that have no column
//	warn       texts, or {at, text}: at is a part of the record
//	left_out   true for one that is left out on purpose, but for its documents
//
// The source of a cite is {document: n} or {result: n} of the request, {chunk: n} of the
// row's documents, or what documents are; local says that its name tells it from others in
// the request only; {missing: name} is one that there should be and is not, {named: name} one
// that stands elsewhere. in says where in the answer it stands: {part}, {part, at}, {part,
// start, end, text, link} or the same without a part for the whole answer, or false if that is
// not known; role is segment unless it says marker or has link or at. A cite in parts[].cites
// stands on its part, one in claims[].cites on its claim. A row with parts that says nothing of
// cites, claims or truth has the marks of its text read; with false as cites it has none, and its
// citations are not known.
type filler struct {
	p        *program
	rec      *programRecord
	response any // what the program looked at
	x        *exchange
	own      []int       // sources that the row lists
	first    int         // number of the first of them, see Options.FirstMark
	claim    *ibid.Claim // that the citations being read back, nil if none
	err      error       // the first thing that is no row
}

// fill makes the exchange of a row. The error is the program's: it gives no row.
func (f *filler) fill(row any) error {
	o, ok := row.(map[string]any)
	if !ok {
		return fmt.Errorf("row: want an object, got %s", kindOfTree(row))
	}
	x := f.x
	x.collected, x.leftOut = f.p.says["collection"], f.isTrue(o, "left_out")
	x.row.HasCitations = o["cites"] != false && (o["parts"] != nil || o["cites"] != nil || o["numbered"] != nil)
	x.responseID = f.text(o, "id")
	x.row.Model = cmp.Or(f.text(o, "model"), x.row.Model)
	x.ownSystem, x.row.System = f.text(o, "system"), cmp.Or(x.row.System, f.text(o, "fixed_system"))
	if x.row.Provider = f.p.name; x.collected {
		x.row.Provider = f.text(o, "provider")
	}
	f.took(&x.row, o)
	for _, d := range f.list(o, "documents") {
		f.own = append(f.own, f.source(d))
	}
	parts := f.list(o, "parts")
	for i, v := range parts {
		f.part(i, v)
	}
	x.complete()
	for i, v := range parts {
		if part, ok := v.(map[string]any); ok {
			for _, c := range f.list(part, "cites") {
				f.cite(c, i)
			}
		}
	}
	if x.row.HasCitations {
		for _, c := range f.list(o, "cites") {
			f.cite(c, noPart)
		}
	}
	f.claims(o)
	f.judgments(o)
	f.marks(o)
	f.warnings(o)
	x.spanLabel, _ = f.texts(o, "marked_as")
	x.ignored, _ = f.texts(o, "ignored")
	tags := member[map[string]any](f, o, "tags", anObject)
	for key := range tags {
		x.row.Tags = append(x.row.Tags, ibid.Tag{Key: key, Value: f.text(tags, key)})
	}
	f.members(&x.kept, f.list(o, "kept"))
	if !x.collected {
		x.row.SourceRecord = f.record()
	}
	return f.err
}

// took fills in what a row does not have yet: the question, and what its answer took.
func (f *filler) took(row *ibid.Answer, o map[string]any) {
	row.Query = cmp.Or(row.Query, f.text(o, "query"))
	row.CostUSD = cmp.Or(row.CostUSD, f.number(o, "cost_usd"))
	row.LatencyMillis = cmp.Or(row.LatencyMillis, f.number(o, "latency_ms"))
	tokens := f.number(o, "tokens")
	row.Tokens = cmp.Or(row.Tokens, ibid.SomeIf(int64(tokens.Value), tokens.Known()))
}

// claims adds the claims, with the citations that back them.
func (f *filler) claims(o map[string]any) {
	x := f.x
	list := f.list(o, "claims")
	x.row.HasClaims = o["claims"] != nil
	for i, v := range list {
		c := f.object(v, indexed("claims", i))
		claim := ibid.Claim{ClaimID: cmp.Or(f.text(c, "id"), strconv.Itoa(i)), Text: f.text(c, "text"), Start: f.integer(c, "start"), End: f.integer(c, "end")}
		if n := f.integer(c, "part"); n.Known() && 0 <= n.Value && n.Value < int64(len(x.parts)) {
			p := &x.parts[n.Value]
			claim.Start, claim.End = integer(int64(p.at)), integer(int64(p.at+p.chars))
		}
		x.row.Claims = append(x.row.Claims, claim)
		f.claim = &claim
		for _, cite := range f.list(c, "cites") {
			f.cite(cite, noPart)
		}
	}
	f.claim = nil
}

// warnings adds what a reader should know.
func (f *filler) warnings(o map[string]any) {
	for _, v := range f.list(o, "warn") {
		w, placed := v.(map[string]any)
		if !placed {
			f.x.warn(f.textOf(v, "warn"))
		} else if p, ok := f.rec.find(w["at"]); ok {
			f.x.warnings = append(f.x.warnings, exchangeWarning{p.position(), f.text(w, "text")})
		}
	}
}

// judgments adds what people say: labels, and the truth.
func (f *filler) judgments(o map[string]any) {
	x := f.x
	x.row.HasLabels, x.row.HasTruth = o["labels"] != nil, o["truth"] != nil
	for _, v := range f.list(o, "labels") {
		l := f.object(v, "labels")
		label := ibid.Label{Annotator: f.text(l, "annotator"), Kind: f.text(l, "kind"), Value: f.number(l, "value"), CitationID: f.text(l, "citation")}
		if id, isText := l["claim"].(string); isText {
			label.ClaimID = id
		} else if n := f.integer(l, "claim"); n.Known() {
			label.ClaimID = strconv.FormatInt(n.Value, 10)
		}
		x.row.Labels = append(x.row.Labels, label)
	}
	for _, v := range f.list(o, "truth") {
		m := f.object(v, "truth")
		if len(m) == 1 {
			x.truth = append(x.truth, foundTruth{annotator: f.text(m, "annotator"), source: noSource})
			continue
		}
		t := foundTruth{annotator: f.text(m, "annotator"), name: f.text(m, "name"), value: []byte(f.rec.raw(m["value"])), quoted: f.isTrue(m, "quoted")}
		end := f.integer(m, "end")
		t.span.quote = quote{text: f.text(m, "quote"), start: f.integer(m, "start").Value, end: end.Value, open: !end.Known()}
		if t.span.quote.open {
			t.span.quote.end = t.span.quote.start + 1
		}
		if p, ok := f.rec.find(m["value"]); ok {
			t.file, t.at = p.piece.file, p.position()
		}
		chunk := f.integer(m, "chunk").Value
		if chunk < 0 || chunk >= int64(len(f.own)) || x.sources[f.own[chunk]].searched() == nil {
			f.wrong("truth.chunk", "a document of the row with its text", m["chunk"])
			return
		}
		t.source = f.own[chunk]
		x.truth = append(x.truth, t)
	}
}

// members adds {key, value} to others that have no column.
func (f *filler) members(to *extra, list []any) {
	for _, v := range list {
		m := f.object(v, "kept")
		to.add(clipped(f.text(m, "key")), []byte(f.json(m["value"])))
	}
}

// json is a value as compact JSON: an object as the record has it, or of members in an order.
func (f *filler) json(v any) string {
	if o, ok := v.(map[string]any); ok && o["$members"] != nil {
		var more extra
		f.members(&more, f.list(o, "$members"))
		return more.reference("")
	}
	return f.rec.raw(v)
}

// wrong keeps the first thing that is no row.
func (f *filler) wrong(at, want string, got any) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: want %s, got %s", at, want, kindOfTree(got))
	}
}

// as is a value of a kind, which is called want.
func as[T any](f *filler, v any, at, want string) T {
	of, ok := v.(T)
	if !ok {
		f.wrong(at, want, v)
	}
	return of
}

// member is a member of a kind, nothing if it is null or absent.
func member[T any](f *filler, o map[string]any, name, want string) (of T) {
	if v := o[name]; v != nil {
		return as[T](f, v, name, want)
	}
	return of
}

func (f *filler) textOf(v any, at string) string { return as[string](f, v, at, "a text") }

func (f *filler) object(v any, at string) map[string]any {
	return as[map[string]any](f, v, at, anObject)
}

func (f *filler) text(o map[string]any, name string) string {
	return member[string](f, o, name, "a text")
}

func (f *filler) isTrue(o map[string]any, name string) bool {
	return member[bool](f, o, name, aBoolean)
}

func (f *filler) list(o map[string]any, name string) []any { return member[[]any](f, o, name, aList) }

func (f *filler) number(o map[string]any, name string) ibid.Number {
	if v := o[name]; v != nil {
		if n, ok := gojq.ToFloat64(v); ok {
			return ibid.Some(n)
		}
		f.wrong(name, "a number", v)
	}
	return ibid.Number{}
}

func (f *filler) integer(o map[string]any, name string) ibid.Integer {
	if v := o[name]; v != nil {
		if n, want := wholeNumber(v); want == "" {
			return integer(int64(n.(int)))
		}
		f.wrong(name, "an integer", v)
	}
	return ibid.Integer{}
}

// texts are the texts of a list; known is false if it is null or absent.
func (f *filler) texts(o map[string]any, name string) (all []string, known bool) {
	list := f.list(o, name)
	if list == nil {
		return nil, o[name] != nil
	}
	all = make([]string, len(list))
	for i, v := range list {
		all[i] = f.textOf(v, indexed(name, i))
	}
	return all, true
}

func (f *filler) part(i int, v any) {
	p, at := part{}, indexed("parts", i)
	switch v := v.(type) {
	case string:
		p.text = v
	case nil:
		f.wrong(at, "a text", v)
	default:
		o := f.object(v, at)
		p.text, p.hidden = f.textOf(o["text"], at+".text"), f.isTrue(o, "hidden")
	}
	f.x.parts = append(f.x.parts, p)
}

// document is a document as a program gives it.
func (f *filler) document(o map[string]any) source {
	d := ibid.Document{Doc: f.text(o, "doc"), Title: f.text(o, "title"), SourceType: f.text(o, "type"), Partial: f.isTrue(o, "partial")}
	d.Text, d.HasText = f.text(o, "text"), o["text"] != nil
	d.Pages, d.HasPages = f.texts(o, "pages")
	d.Blocks, d.HasBlocks = f.texts(o, "blocks")
	if all, isObject := o["metadata"].(map[string]any); o["metadata"] != nil && (!isObject || len(all) > 0) {
		d.Metadata = f.json(o["metadata"])
	}
	s := source{Document: d, unnamed: f.isTrue(o, "local") && f.x.request == nil, apart: f.isTrue(o, "apart"), common: f.isTrue(o, "common"), fixed: f.isTrue(o, "fixed")}
	if o["standoff"] != nil {
		s.standoff, s.marked = true, f.isTrue(f.object(o["standoff"], "standoff"), "marked")
	}
	return s
}

// source adds a source, unless one of that name says the same or more, and returns its index.
func (f *filler) source(v any) int {
	s := f.document(f.object(v, "source"))
	none := !s.HasText && !s.HasPages && !s.HasBlocks
	for i, k := range f.x.sources {
		if k.Doc == s.Doc && (s.SourceType == "" || k.SourceType == "" || k.SourceType == s.SourceType) && (none && !f.x.collected || s.like(k)) {
			return i
		}
	}
	f.x.sources = append(f.x.sources, &s)
	return len(f.x.sources) - 1
}

// like reports whether two sources hold the same.
func (s *source) like(k *source) bool {
	return s.HasText == k.HasText && s.Text == k.Text && s.HasPages == k.HasPages && s.HasBlocks == k.HasBlocks &&
		slices.Equal(s.Pages, k.Pages) && slices.Equal(s.Blocks, k.Blocks)
}

// cite adds a citation that stands on a part, unless it says otherwise.
func (f *filler) cite(v any, part int) {
	x := f.x
	o := f.object(v, "cites")
	if reason, bad := o[badElement]; bad {
		x.bad = append(x.bad, reason)
		return
	}
	if f.err != nil {
		return
	}
	citations, marks := len(x.citations), len(x.marks)
	defer func() {
		if f.err != nil { // it costs this citation
			x.bad = append(x.bad, f.err.Error())
			x.citations, x.marks, f.err = x.citations[:citations], x.marks[:marks], nil
		}
	}()
	mark, whole := f.mark(o, part)
	var c *foundCitation
	of, _ := o["source"].(map[string]any)
	chunk := f.integer(of, "chunk")
	switch n := f.integer(of, "document"); {
	case o["source"] == nil:
		c = x.cite(noSource, mark)
	case of == nil:
		f.wrong("source", "an object", o["source"])
		return
	case n.Known() && f.ownDocument(n.Value) != noSource:
		c = x.cite(f.ownDocument(n.Value), mark)
	case n.Known():
		c = x.citeNumbered(n.Value, false, f.text(of, "title"), "", mark)
	case of["result"] != nil:
		c = x.citeNumbered(f.integer(of, "result").Value, true, f.text(of, "title"), f.text(of, "doc"), mark)
	case chunk.Known() && 0 <= chunk.Value && chunk.Value < int64(len(f.own)):
		c = x.cite(f.own[chunk.Value], mark)
	case chunk.Known():
		x.warn(fmt.Sprintf("chunk %d is cited, and the response has %d", chunk.Value, len(f.own)))
		c = x.cite(noSource, mark)
		c.Doc, c.DocNull = fmt.Sprintf("chunk %d", chunk.Value), false
	case of["named"] != nil:
		c = x.cite(noSource, mark)
		c.Doc, c.DocNull = f.text(of, "named"), false
	case of["missing"] != nil:
		c = x.cite(noSource, mark)
		c.Doc, c.DocNull = f.text(of, "missing"), false
		x.warn(quoted(c.Doc) + " is cited, and there is no such source")
	case f.text(of, "doc") == "":
		c = x.cite(noSource, mark)
	default:
		c = x.cite(f.source(of), mark)
	}
	f.about(c, o)
	if whole != noPart {
		p := x.parts[whole]
		c.AnswerStart, c.AnswerEnd, c.AnswerRole = integer(int64(p.at)), integer(int64(p.at+p.chars)), ibid.Segment
	}
}

// ownDocument is document n of the conversation, if the response brings it: those of the
// request come before.
func (f *filler) ownDocument(n int64) int {
	if f.x.request != nil {
		n -= int64(len(f.x.request.documents))
	}
	if n < 0 || n >= int64(len(f.own)) {
		return noSource
	}
	return f.own[n]
}

// about fills in what a cite says of itself.
func (f *filler) about(c *foundCitation, o map[string]any) {
	c.CitedText, c.Method, c.CitationID = f.text(o, "quote"), f.text(o, "method"), f.text(o, "id")
	c.Title, c.SourceType = f.text(o, "title"), f.text(o, "type")
	c.Page, c.Start, c.End, c.Unit = f.integer(o, "page"), f.integer(o, "start"), f.integer(o, "end"), f.text(o, "unit")
	c.Confidence, c.Relevance = f.number(o, "confidence"), f.number(o, "relevance")
	c.TokenContribution = f.integer(o, "token_contribution")
	c.test = c.Start.Known() && c.Unit == ""
	if r := o["reference"]; r != nil {
		c.SourceReference = f.json(r)
	}
	if n := f.integer(o, "claim"); n.Known() {
		c.ClaimID = strconv.FormatInt(n.Value, 10)
	}
	if f.claim != nil {
		if c.ClaimID = f.claim.ClaimID; o["in"] != false {
			c.AnswerRole = ibid.Segment
		}
		if o["in"] == nil {
			c.AnswerStart, c.AnswerEnd = f.claim.Start, f.claim.End
		}
	}
	if c.source == noSource {
		return
	}
	s := f.x.sources[c.source]
	c.Title, c.SourceType = cmp.Or(c.Title, s.Title), cmp.Or(c.SourceType, s.SourceType)
	if _, known := textOf(&s.Document); known && c.Unit == "" && !c.Start.Known() && !c.Page.Known() && c.CitedText == "" {
		c.Unit = "document"
	}
}

// mark adds where in the answer a cite stands, noMark if that is not known, or is a whole part.
func (f *filler) mark(o map[string]any, part int) (mark, whole int) {
	in := map[string]any{}
	if o["in"] == false || o["in"] == nil && part == noPart {
		return noMark, noPart
	} else if o["in"] != nil {
		in = f.object(o["in"], "in")
	}
	if n := f.integer(in, "part"); n.Known() {
		part = int(n.Value)
	}
	if part >= len(f.x.parts) || part < noPart {
		f.wrong("in.part", fmt.Sprintf("one of %d parts", len(f.x.parts)), part)
		return noMark, noPart
	}
	m := answerMark{part: part, role: ibid.Segment}
	m.start, m.end = f.integer(in, "start").Value, f.integer(in, "end").Value
	m.text, m.link = f.text(in, "text"), f.text(in, "link")
	switch at := f.integer(in, "at"); {
	case at.Known():
		m.point, m.start, m.role = true, at.Value, ibid.Marker
	case in["end"] == nil && (part == noPart || f.x.parts[part].hidden):
		return noMark, noPart
	case in["end"] == nil:
		return noMark, part
	case m.link != "" || f.text(in, "role") == ibid.Marker.String():
		m.role = ibid.Marker
	}
	if m.part == noPart || f.x.parts[m.part].hidden {
		m.part = wholeAnswer
	}
	if last := len(f.x.marks) - 1; last >= 0 && f.x.marks[last] == m {
		return last, noPart // several citations share it
	}
	f.x.marks = append(f.x.marks, m)
	return len(f.x.marks) - 1, noPart
}

// marks reads the marks in the text if neither the row nor a part has cites, or if the row has
// the list numbered, which the numbers count; else they count the sources of the request and of
// the response. A source of that list with the member cited, a method, is also cited where no mark
// names it: at the point 0, where it backs no text.
func (f *filler) marks(o map[string]any) {
	x, sources := f.x, f.own
	list := f.list(o, "numbered")
	said := o["cites"] != nil || o["claims"] != nil || o["truth"] != nil
	for _, v := range f.list(o, "parts") {
		part, _ := v.(map[string]any)
		said = said || part["cites"] != nil
	}
	if o["numbered"] == nil && said || !x.row.HasCitations {
		return
	}
	if o["numbered"] != nil {
		sources = nil
		for _, v := range list {
			if v == nil {
				sources = append(sources, noSource)
			} else {
				sources = append(sources, f.source(v))
			}
		}
	} else if x.request != nil { // its sources come first
		sources = nil
		for i := range len(x.request.documents) + len(x.request.results) {
			sources = append(sources, i)
		}
		sources = append(sources, f.own...)
	}
	numbered := make([]ibid.Citation, len(sources))
	for i, source := range sources {
		if numbered[i] = (ibid.Citation{DocNull: true, Title: "[" + strconv.Itoa(i+1) + "]"}); source != noSource {
			numbered[i] = citationOf(&x.sources[source].Document)
		}
	}
	m := markReader{
		row: &ibid.Answer{Answer: x.row.Answer}, sources: numbered,
		known: o["numbered"] != nil || o["documents"] != nil || len(sources) > 0, listed: o["numbered"] != nil, first: f.first,
		report: func(format string, args ...any) { x.warn(fmt.Sprintf(format, args...)) },
	}
	if reason := m.read(); reason != "" {
		x.warn(reason + ": no mark is read")
	}
	x.zeroMark, x.lastMark = m.zero, m.last
	for i, c := range m.row.Citations {
		found := foundCitation{Citation: c, source: m.cites[i], mark: noMark}
		if found.source != noSource {
			found.source = sources[found.source]
		}
		if found.source != noSource && !x.collected {
			if _, known := textOf(&x.sources[found.source].Document); !known && found.Unit == "document" {
				found.Unit = ""
			}
		}
		x.citations = append(x.citations, found)
	}
	for i, v := range list {
		o, _ := v.(map[string]any)
		method := f.text(o, "cited")
		if method == "" || slices.ContainsFunc(x.citations, func(c foundCitation) bool { return c.source == sources[i] }) {
			continue
		}
		c := x.cite(sources[i], noMark)
		c.AnswerStart, c.AnswerEnd, c.AnswerRole = integer(0), integer(0), ibid.Marker
		f.about(c, map[string]any{"method": method})
	}
}

// longText is the longest text that stays in a source record.
const longText = 4 << 10

// record is the record that the row comes from, as compact JSON; the events of a stream are
// a list.
func (f *filler) record() string {
	var b bytes.Buffer
	for i := range f.rec.pieces {
		if i > 0 {
			b.WriteByte(',')
		}
		shortJSON(&b, f.rec.pieces[i].data)
	}
	if len(f.rec.pieces) == 1 {
		return b.String()
	}
	return "[" + b.String() + "]"
}

// shortJSON writes checked JSON without white space; of long texts their digest and length.
func shortJSON(b *bytes.Buffer, data []byte) {
	for at := 0; at < len(data); {
		switch c := data[at]; {
		case isJSONSpace(c):
			at++
		case c != '"':
			b.WriteByte(c)
			at++
		default:
			end := stringEnd(data, at) + 1
			if end-at <= longText || data[min(skipSpace(data, end), len(data)-1)] == ':' {
				b.Write(data[at:end])
			} else {
				text := unquoted(data[at:end])
				fmt.Fprintf(b, `{"sha256":"%x","length":%d}`, sha256.Sum256([]byte(text)), len(text))
			}
			at = end
		}
	}
}

// accountMembers are the members of a response that have an account of what it took.
var accountMembers = []string{"usage", "usageMetadata", "usage_metadata", "meta", "metrics"}

// unknownMembers are the members of the record that neither the program nor its comments name.
func (f *filler) unknownMembers() (names []string) {
	if len(f.rec.pieces) > 1 {
		return nil
	}
	o, _ := f.response.(map[string]any)
	for name := range o {
		if !f.p.words()[name] && !slices.Contains(accountMembers, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
