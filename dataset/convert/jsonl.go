package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/metrics/claims"
)

// jsonl is our own columns, one row as one JSON object on each line.
//
// Missing and null members are null, but a missing query is empty; [] is known to be empty. A row without citations, or
// with null, has the marks of its answer read: numbers count its documents from 1. If it has
// documents and no marks, it cites nothing; with neither, citations are null. A line that has
// doc and no id is a document. Where the first answer of a file has no id, its answers are
// numbered. The specification's names (file_name,
// start_char …) and those of other tools stand for ours (see [otherNames]); a member
// that is one of ours misspelt makes its record an error. Offsets are written as they are: a row may state
// any unit, and so may the run file; a run proves them by the quotes.
var jsonl = Format{
	Name:    "jsonl",
	Summary: "our own columns, one JSON object on each line",
	Input:   "JSON Lines files (.jsonl, .ndjson), JSON arrays (.json) or a directory of them",
	streams: true,
	options: []string{"columns"},
	convert: func(ctx context.Context, r *run) error {
		return r.eachFile(ctx, []string{".jsonl", ".ndjson", ".json"}, func(path string) error {
			c := newJSONLReader(r, path)
			return c.read(ctx)
		})
	},
}

// isOurs reports whether the first record of a file is one of our columns.
func isOurs(o *object) bool {
	if !o.has("id") && o.peek("doc") != "" {
		return true
	}
	ours := o.has("id") || o.isList("documents") || o.isList("truth") || o.isList("citations")
	return ours && o.peekKind("answer") == aString && o.find("annotation_id") == nil
}

// A jsonlReader reads one file of our own columns.
type jsonlReader struct {
	*run
	file   string
	record jsonlRecord
}

func newJSONLReader(r *run, path string) jsonlReader {
	return jsonlReader{run: r, file: path, record: jsonlRecord{number: &r.numbered, first: r.firstMark(), text: jsonText{limits: r.Limits}}}
}

func (c *jsonlReader) read(ctx context.Context) error {
	c.record.columns = c.Columns
	s, err := c.shape()
	if err != nil {
		return err
	}
	return c.eachRecord(ctx, c.file, s, c.value)
}

// shape says whether the file is one JSON text or JSON Lines. Standard input is one text
// if it begins with a list.
func (c *jsonlReader) shape() (shape, error) {
	if c.file != stdinPath || c.spooled != nil {
		if s, err := c.shapeOf(c.file); s == wholeShape || err != nil {
			return s, err
		}
		return lineShape, nil
	}
	in := bufio.NewReader(c.Stdin)
	c.Stdin = in
	start, _ := in.Peek(len(utf8Mark) + 1) // an error comes again
	if bytes.HasPrefix(bytes.TrimPrefix(start, utf8Mark), []byte{'['}) {
		return wholeShape, nil
	}
	return lineShape, nil
}

// row reads the marks of the record's row where it has no citations, and
// writes it. Without marks and without a list of sources its citations stay unknown. Names as
// citations are a list of sources that marks number, unless they are numbers themselves; where
// the answer has no marks, all of it cites them. named is nil where the record has no citations,
// and empty where it says that there are none. others are texts that may be the answers.
func (c *jsonlReader) row(row *ibid.Answer, named []string, others []memberText, at position) error {
	row.File = c.file
	oneText := c.record.oneText && len(row.Documents) == 1
	if oneText && !hasPlaces(row, nil) {
		if passages := numberedPassages(row.Documents[0].Text); passages != nil {
			row.Documents, oneText = passages, false
		}
	}
	tellApart(row, named, c.firstMark())
	sources := citedSources{documents: row.Documents, first: c.firstMark()}
	counted := !slices.ContainsFunc(named, func(name string) bool { return !isNumber(name) }) &&
		!slices.ContainsFunc(row.Citations, func(c ibid.Citation) bool { return !isNumber(c.Doc) })
	for _, is := range sources.resolve(row.Citations, c.record.excerpts) {
		tally(c.report.ReadAs, is+" as citations.doc")
	}
	listed := sources.cite(named)
	if c.record.listed && !row.AnswerNull {
		listed, row.Citations, row.HasCitations = row.Citations, nil, false
		for i := range listed {
			listed[i].Unit = "document"
		}
	}
	if !row.HasCitations && !row.AnswerNull {
		m := markReader{row: row, sources: documentSources(row.Documents), known: row.HasDocuments, oneText: oneText, first: c.firstMark(), report: func(format string, args ...any) {
			c.warn(RecordError{File: c.file, Line: at.line, Reason: fmt.Sprintf(format, args...)})
		}}
		if !counted {
			m.sources, m.known, m.listed = listed, true, true
		}
		if reason := m.read(); reason != "" {
			c.fail(at.err(c.file, "answer: "+reason))
			return nil
		}
		c.report.addMarks(m.zero, m.last)
		if len(row.Citations) == 0 {
			m.elsewhere(others, c.report.AnswersElsewhere)
			row.Citations = listed
		}
		row.HasCitations = row.HasDocuments || len(row.Citations) > 0 || named != nil
	}
	return c.run.row(row)
}

// value converts one record.
func (c *jsonlReader) value(from *foreignRecord) error {
	rec, at := &c.record, from.at
	c.report.Records++
	if from.reason != "" {
		c.fail(at.err(from.file, from.reason))
		return nil
	}
	if e := rec.decode(from.data); e != nil {
		c.fail(e.in(from.data, at, c.file))
		return nil
	}
	if rec.isDocument && !c.Docs {
		c.fail(at.err(c.file, cmp.Or(c.NoDocs, "a document, and no place for documents was given (--docs)")))
		return nil
	}
	c.tallyNames()
	if rec.isDocument {
		return c.run.document(&rec.document)
	}
	return c.row(&rec.row, rec.named, rec.others, at)
}

// tallyNames counts the members of the record that are no column of ours, or have another name.
func (c *jsonlReader) tallyNames() {
	for _, name := range c.record.unknown {
		tally(c.report.UnknownFields, name)
	}
	for _, names := range c.record.renamed {
		tally(c.report.ReadAs, names[0]+" as "+names[1])
	}
	for _, name := range c.record.text.inQuotes {
		tally(c.report.ReadAs, name+" in quotes as a number")
	}
}

// A jsonlRecord decodes one line after the other into the same row or document.
type jsonlRecord struct {
	text jsonText

	isDocument bool
	row        ibid.Answer
	named      []string     // citations that are names or numbers of sources, and no objects
	others     []memberText // texts beside the answer that are called as answers are
	hasID      bool
	hasSystem  bool
	oneText    bool // its documents are one text, and no list
	listed     bool // its citations only name sources: a list, as named is
	sources    citedSources
	excerpts   []string // of each citation, see excerptOf
	listedAs   string   // the name of its documents in the record
	document   ibid.Document

	number *int // of the answer, over all files that have no ids
	ids    idSource
	first  int // number of the first source, see Options.FirstMark

	columns map[string]string // see Options.Columns
	renamed [][2]string       // members that were read under another name, and that name
	unknown []string          // dotted names of the members that are no column of ours
	extra   extra             // their values, but those of citations
}

// An idSource says where the ids of a file's answers come from.
type idSource uint8

const (
	idsNotKnown idSource = iota // no answer has been read
	idsGiven
	idsNumbered
)

// referenceTag is the tag that keeps what has no column and belongs to no
// citation.
const referenceTag = "source_reference"

// decode reads one line. The row or the document it leaves is valid until the
// next call, its strings for good.
func (c *jsonlRecord) decode(line []byte) *jsonError {
	c.unknown, c.renamed, c.text.inQuotes = c.unknown[:0], c.renamed[:0], nil
	c.extra.reset()
	if o := c.text.open(line); o != nil {
		if c.isDocument = o.find("doc") != nil && o.find("id") == nil; c.isDocument {
			c.decodeDocument(o)
		} else {
			c.decodeRow(o)
		}
	}
	return c.text.err
}

func (c *jsonlRecord) decodeRow(o *object) {
	r := &c.row
	*r = ibid.Answer{
		AnswerNull: true, System: "default",
		Citations: r.Citations[:0], Truth: r.Truth[:0], Claims: r.Claims[:0], Labels: r.Labels[:0],
		Documents: r.Documents[:0], Messages: r.Messages[:0], Tags: r.Tags[:0],
	}
	c.named, c.others, c.excerpts, c.oneText, c.listed = nil, nil, c.excerpts[:0], false, false
	c.sources = citedSources{}
	c.rename(o, "")
	cited := c.listed // citations are documents
	c.hasID, c.hasSystem = false, false
	numbered := numberedTexts(o)
	var citations, stated value
	var conversation []ibid.Message
	for name, v := range o.all() {
		switch name {
		case "citations":
			citations = v
		case "truth":
			if v.kind() == anObject { // of the specification
				v = v.object().get("citation_spans")
			}
			r.Truth, r.HasTruth = decodeList(v, r.Truth, c.truth)
		case "claims":
			if v.allElements(isText) {
				texts, _ := v.texts()
				for _, text := range texts {
					r.Claims = append(r.Claims, ibid.Claim{Text: text})
				}
				r.HasClaims = true
				continue
			}
			r.Claims, r.HasClaims = decodeList(v, r.Claims, c.claim)
			stated = v
		case "labels":
			r.Labels, r.HasLabels = decodeList(v, r.Labels, c.label)
		case "documents":
			r.Documents, r.HasDocuments = c.inlineDocuments(v, r.Documents)
			c.sources = citedSources{documents: r.Documents, first: c.first}
		case "conversation":
			if o.has("messages") || !isConversation(v) {
				c.keep(v)
				continue
			}
			r.Messages, r.HasMessages = decodeList(v.object().get("messages"), r.Messages, c.message)
			conversation = r.Messages
		case "messages":
			r.Messages, r.HasMessages = decodeList(v, r.Messages, c.message)
		case "tags":
			if isText(v) { // of another tool
				c.keep(v)
				continue
			}
			for key, v := range v.object().all() {
				if text, given := v.text(); given { // a null value is an absent tag
					r.Tags = append(r.Tags, ibid.Tag{Key: key, Value: text})
				}
			}
		default:
			if slices.Contains(numbered, name) {
				r.Documents, r.HasDocuments = append(r.Documents, c.textDocument(len(r.Documents), v)), true
			} else if !rowColumns.read(c, name, v) {
				c.keep(v)
				if isText(v) && isOtherName(name, "answer") {
					c.others = append(c.others, memberText{name, v.string()})
				}
			}
		}
	}
	if r.Answer == "" {
		asked := ""
		for _, m := range conversation { // the last answer, and the question before it
			switch m.Role {
			case "user":
				asked = m.Content
			case "assistant":
				r.Query, r.QueryNull, r.Answer, r.AnswerNull = asked, false, m.Content, false
			}
		}
	}
	c.nameTexts(o)
	c.sources = citedSources{documents: r.Documents, first: c.first}
	switch {
	case cited:
		r.Citations, r.HasCitations = documentSources(r.Documents), true
	case citations.given():
		c.citations(citations) // the documents are known
	default:
		c.citationsOfClaims(stated)
	}
	c.identify(o)
	if !c.hasSystem {
		r.System = cmp.Or(r.Model, r.Provider, r.System)
	}
	if !c.extra.empty() {
		at := slices.IndexFunc(r.Tags, func(t ibid.Tag) bool { return t.Key == referenceTag })
		if at < 0 {
			at = len(r.Tags)
			r.Tags = append(r.Tags, ibid.Tag{Key: referenceTag})
		} else {
			c.extra.addText(referenceTag, r.Tags[at].Value)
		}
		r.Tags[at].Value = c.extra.object()
	}
	sortTags(r.Tags)
}

// identify gives an answer its number where the file has no ids.
func (c *jsonlRecord) identify(o *object) {
	if c.ids == idsNotKnown {
		if c.ids = idsGiven; o.find("id") == nil && o.has("answer") && (o.has("query") || o.has("documents")) {
			c.ids = idsNumbered
		}
	}
	switch {
	case c.ids == idsNumbered && c.hasID:
		o.get("id").fail("the answers of the file have no ids, from the first on, and are numbered")
	case c.ids == idsNumbered:
		*c.number++
		c.row.ID = strconv.Itoa(*c.number)
		c.renamed = append(c.renamed, [2]string{"the position", "id"})
	case !c.hasID:
		o.fail("id is missing")
	}
}

func sortTags(tags []ibid.Tag) {
	slices.SortFunc(tags, func(a, b ibid.Tag) int { return strings.Compare(a.Key, b.Key) })
}

// decodeList reads a list of objects or a null and appends the elements.
func decodeList[T any](v value, to []T, element func(*object, *T)) (list []T, known bool) {
	for _, o := range v.objects() {
		var zero T
		to = append(to, zero)
		element(o, &to[len(to)-1])
	}
	return to, v.given() && v.r.err == nil
}

// keep stores a member that is no column under its place in the record.
func (c *jsonlRecord) keep(v value) {
	if c.text.err != nil {
		return
	}
	at := v.path()
	c.unknown = append(c.unknown, clipped(withoutIndices(at)))
	c.extra.add(at, v.raw())
}

// withoutIndices turns truth[3].note into truth.note.
func withoutIndices(path string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(path, "[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, path, _ = strings.Cut(after, "]")
	}
}

// The values that members with a fixed set of values may have.
var (
	units = []string{"codepoint", "utf16", "byte", "page", "block", "document"}
	kinds = ibid.LabelKinds()
	roles = []string{"user", "assistant", "tool", "system"}
)

// aliases are the specification's names of members of citations and truth.
var aliases = map[string]string{
	"file_name":         "doc",
	"page_number":       "page",
	"start_char":        "start",
	"end_char":          "end",
	"confidence_score":  "confidence",
	"extraction_method": "method",
	"relevance_score":   "relevance",
}

// surroundings is the specification's name of the text around a citation, which is no quote.
const surroundings = "context_text"

// ours are the members of an object under our names; a member given under both
// names is an error.
func (o *object) ours() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		for name, v := range o.all() {
			own := name
			if ours, isAlias := aliases[name]; isAlias {
				own = ours
				if m := o.find(own); m != nil {
					if m.start > v.start {
						v = o.valueOf(m)
					}
					v.fail("%s is given under two names", own)
					return
				}
			}
			if !yield(own, v) {
				return
			}
		}
	}
}

func (c *jsonlRecord) renameMember(m *objectMember, list, ours string) {
	if m != nil {
		c.renamed = append(c.renamed, [2]string{memberPath(list, m.name), memberPath(list, ours)})
		m.name = ours
	}
}

func (c *jsonlRecord) truth(o *object, out *ibid.Mark) {
	out.DocNull = true
	c.rename(o, "truth")
	c.nameSource(o, "truth")
	readColumns(c, o.ours(), truthColumns, out)
}

// answer reads a text, or a list of sentences with their sources. It joins the sentences, and
// writes each source behind its sentence as a mark, such as [1] or [tower.md].
func (c *jsonlRecord) answer(v value) string {
	if v.kind() != aList {
		return v.string()
	}
	var parts []string
	for _, o := range v.objects() {
		text := sentenceText(o)
		if text == nil {
			o.fail("want a text")
			return ""
		}
		parts = append(parts, o.valueOf(text).string())
		for name, e := range o.all() {
			switch {
			case name == text.name:
			case !slices.Contains(sentenceSources, name):
				c.keep(e)
			case isLabel(e):
				parts = append(parts, "["+e.label()+"]")
			default:
				for _, e := range e.elements() {
					parts = append(parts, "["+e.label()+"]")
				}
			}
		}
	}
	c.renamed = append(c.renamed, [2]string{"answer[]", "one text with marks"})
	return strings.Join(parts, " ")
}

// What other tools call the sources of a sentence, and its text.
var (
	sentenceSources = []string{"citations", "sources", "references", "refs", "citation", "source"}
	sentenceTexts   = []string{"text", "sentence", "statement", "claim"}
)

// sentenceText returns the member that holds the text of a sentence, or nil.
func sentenceText(o *object) *objectMember {
	i := slices.IndexFunc(sentenceTexts, func(name string) bool { return o.peekKind(name) == aString })
	if i < 0 {
		return nil
	}
	return o.find(sentenceTexts[i])
}

func (c *jsonlRecord) claim(o *object, out *ibid.Claim) {
	c.rename(o, "claims")
	if i := slices.IndexFunc(claimMembers, func(name string) bool { return o.peek(name) != "" }); i >= 0 && o.find("text") == nil {
		c.renameMember(o.find(claimMembers[i]), "claims", "text")
	}
	readColumns(c, o.all(), claimColumns, out)
}

func (c *jsonlRecord) label(o *object, out *ibid.Label) {
	c.rename(o, "labels")
	readColumns(c, o.all(), labelColumns, out)
	if out.Kind == "" {
		o.fail("kind is missing")
	}
}

func (c *jsonlRecord) message(o *object, out *ibid.Message) {
	readColumns(c, o.all(), messageColumns, out)
	if out.Role == "" {
		o.fail("role is missing")
	}
}

// readColumns reads members, and keeps those that are no columns.
func readColumns[T any](c *jsonlRecord, members iter.Seq2[string, value], of columns[T], out *T) {
	for name, v := range members {
		if !of.read(out, name, v) {
			c.keep(v)
		}
	}
}

// inlineDocuments reads a list of documents or texts. The names of texts are their numbers,
// which marks such as [1] refer to. A string in place of the list is parsed if it contains a
// list, and is otherwise the only text. Strings are names in a list called references, and in
// other lists if they are URLs. An object is a document, or texts by their names. A list is a title and
// a text, or its sentences, or one text; one that stands alone is the list of texts.
func (c *jsonlRecord) inlineDocuments(v value, to []ibid.Document) (list []ibid.Document, known bool) {
	add := func(i int, e value) {
		d := ibid.Document{Doc: strconv.Itoa(i + c.first)}
		switch {
		case e.kind() == aList && c.listedAs != "":
			title, text := titledText(e)
			if d.HasText = true; text == "" {
				d.Text = title
			} else {
				d.Doc, d.Text = title, text
			}
		case e.kind() != aString:
			if e.want(anObject) {
				c.inlineDocument(e.object(), &d)
			}
		default:
			d = c.textDocument(i, e)
		}
		to = append(to, d)
	}
	if v.kind() == aString && c.listedAs != "" {
		text := v.string()
		list, ok := cellList("", text)
		if !ok || !strings.HasPrefix(strings.TrimSpace(text), "[") {
			add(0, v)
			c.oneText = len(to) == 1 && to[0].HasText
			return to, v.r.err == nil
		}
		inner := &jsonText{limits: v.r.limits}
		defer func() {
			if inner.err != nil {
				v.fail("%s", inner.err.msg)
			}
		}()
		v = inner.open(fmt.Appendf(nil, `{"documents":%s}`, list)).get("documents")
	}
	if inner := onlyElement(v); inner.kind() == aList && inner.allElements(isText) {
		v = inner
	}
	switch {
	case v.kind() != anObject:
		for i, e := range v.elements() {
			add(i, e)
		}
	case isDocument(v):
		add(0, v)
	default: // by their names
		for name, e := range v.object().all() {
			add(len(to), e)
			if d := &to[len(to)-1]; e.kind() == aString || d.Doc == strconv.Itoa(len(to)-1+c.first) {
				d.Doc = name
			}
		}
	}
	return to, v.given() && v.r.err == nil
}

// textDocument returns source i of a record from a text: the name of a file, a URL, or the text itself.
func (c *jsonlRecord) textDocument(i int, v value) ibid.Document {
	text, given := v.text()
	if c.listedAs == "references" || isURL(text) || claims.IsFileName(text) {
		return ibid.Document{Doc: text}
	}
	return ibid.Document{Doc: strconv.Itoa(i + c.first), Text: text, HasText: given}
}

// onlyElement is the element of a list of one, else nothing.
func onlyElement(v value) (only value) {
	if v.kind() == aList {
		for i, e := range v.elements() {
			if only = e; i > 0 {
				return value{}
			}
		}
	}
	return only
}

// titledText reads a list of a title and a text, or of a title and its sentences. Where nothing
// follows the title there is no text.
func titledText(v value) (title, text string) {
	var all []string
	for i, e := range v.elements() {
		switch {
		case i == 0:
			title = e.required()
		case e.kind() == aList:
			more, _ := e.texts()
			all = append(all, more...)
		default:
			all = append(all, e.required())
		}
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return title, strings.Join(all, " ")
}

// isURL reports whether a text is a URL of the web and nothing else.
func isURL(text string) bool {
	return (strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")) && !strings.ContainsAny(text, " \t\n")
}

// inlineDocument reads a document of a row. Its name is the member doc, or else the first of
// documentNameMembers, or else a name in metadata, or else its number.
func (c *jsonlRecord) inlineDocument(o *object, out *ibid.Document) {
	c.rename(o, "documents")
	of := o
	names := documentNameMembers
	if o.find("doc") != nil {
		names = nil
	} else if meta := o.find("metadata"); !slices.ContainsFunc(names, o.names) && meta != nil && o.isObject("metadata") {
		of, names = o.valueOf(meta).object(), []string{"source", "doc_id", "document_id", "file_name", "file_path", "filename", "url"}
	}
	for _, name := range names {
		if of.names(name) {
			m := of.find(name)
			out.Doc = of.valueOf(m).label()
			if of == o {
				m.name = ""
			}
			break
		}
	}
	for _, name := range documentTextMembers {
		if o.find("text") == nil && o.peekKind(name) == aString {
			out.Partial = name == "snippet"
			o.find(name).name = "text"
		}
	}
	for name, v := range o.all() {
		if name != "" && !documentColumns.read(out, name, v) {
			c.keep(v)
		}
	}
}

// names reports whether a member can be the name of a document.
func (o *object) names(member string) bool {
	return strings.TrimSpace(o.peek(member)) != "" || o.peekKind(member) == aNumber
}

// decodeDocument reads a line that is a document. What has no column goes into its
// metadata.
func (c *jsonlRecord) decodeDocument(o *object) {
	d := &c.document
	*d = ibid.Document{}
	c.rename(o, "documents")
	for name, v := range o.all() {
		if name == "metadata" {
			d.Metadata = v.column()
		} else if !documentColumns.read(d, name, v) {
			c.keep(v)
		}
	}
	d.Metadata = c.extra.reference(d.Metadata)
}

func documentOf(r *ibid.Answer, doc string) *ibid.Document {
	for i := range r.Documents {
		if r.Documents[i].Doc == doc {
			return &r.Documents[i]
		}
	}
	return nil
}
