package convert

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/metrics/claims"
)

// mostSearched is the limit on bytes of documents that are searched, in one row, for quotes of
// citations without a source name.
const mostSearched = 64 << 20

// Member names that other tools use.
var (
	// The name of a document.
	documentNameMembers = []string{
		"doc_id", "docid", "document_id", "id", "url", "source", "chunk_id", "passage_id", "node_id", "source_id", "file_name", "filename", "file_path", "filepath", "uri",
		"doc_name", "document_name", "source_name", "source_document", "source_file", "source_url", "file", "name", "path", "link", "href",
	}
	// Its text.
	documentTextMembers = []string{"content", "page_content", "snippet", "passage", "contents", "chunk"}
	// A quote of a citation or a mark.
	quoteMembers = []string{"quote", "quoted_text"}
	// Our members of citations that a list of sources may have.
	ofSources = []string{"title", "source_type", "confidence", "relevance", "source_reference"}
	// The sentence of the answer that a citation is for.
	claimMembers = []string{"claim", "sentence", "statement", "claim_text", "answer_text"}
	// The sources of a citation or a claim.
	sourceLists = slices.Concat(sentenceSources, []string{"doc_ids", "document_ids", "source_ids", "chunk_ids", "context_ids", "documents", "docs", "urls"})
)

// citations reads the member citations: names or numbers of sources, objects that only name
// sources, or citations. The value is a list, an object with the numbers of marks as member names, or
// a text with a list of names.
func (c *jsonlRecord) citations(v value) {
	var all []value
	switch {
	case isText(v):
		c.named = append([]string{}, cellParts(v.string())...)
		return
	case v.kind() == anObject && isCounted(v.object()):
		for _, e := range v.object().all() {
			all = append(all, e)
		}
	default:
		for _, e := range v.elements() {
			all = append(all, e)
		}
	}
	if len(all) > 0 && !slices.ContainsFunc(all, func(e value) bool { return !isLabel(e) }) {
		for _, e := range all {
			c.named = append(c.named, e.label())
		}
		return
	}
	r := &c.row
	r.HasCitations, c.listed = v.given(), len(all) > 0
	for _, e := range all {
		if e.want(anObject) {
			c.listed = c.listed && c.isSource(e)
			c.citation(e.object())
		}
	}
	r.HasCitations = r.HasCitations && v.r.err == nil
}

// citationsOfClaims adds a citation for each source that a claim lists.
func (c *jsonlRecord) citationsOfClaims(v value) {
	for i, o := range v.objects() {
		claim := &c.row.Claims[i]
		out := ibid.Citation{Unit: "document", ClaimID: claim.ClaimID, AnswerStart: claim.Start, AnswerEnd: claim.End}
		if start, end, ok := c.answerSpan(o, true); ok && !claim.Start.Known() {
			out.AnswerStart, out.AnswerEnd = integer(int64(start)), integer(int64(end))
		}
		if out.AnswerStart.Known() {
			out.AnswerRole = ibid.Segment
		} else if claim.ClaimID == "" {
			continue
		}
		for _, name := range sourceLists {
			if list := o.get(name); list.allElements(isLabel) {
				c.row.HasCitations = true
				for _, e := range list.elements() {
					out.Doc = e.label()
					c.row.Citations, c.excerpts = append(c.row.Citations, out), append(c.excerpts, "")
				}
				break
			}
		}
	}
}

// isCounted reports whether the members are called 0, 1, 2 … or 1, 2, 3 …, perhaps in brackets.
func isCounted(o *object) bool {
	for i, m := range o.members {
		if n, err := strconv.Atoi(withoutBrackets(m.name)); err != nil || n != i && n != i+1 {
			return false
		}
	}
	return len(o.members) > 0
}

// isSource reports whether a citation only names a source, in a member of other tools, without a
// place in the source or in the answer.
func (c *jsonlRecord) isSource(v value) bool {
	o := v.object()
	_, _, inAnswer := c.answerSpan(o, true)
	return !inAnswer && onlySource(o) && slices.ContainsFunc(documentNameMembers, o.names)
}

// onlySource reports whether a citation has no member of ours that states a place.
func onlySource(o *object) bool {
	return !slices.ContainsFunc(o.members, func(m objectMember) bool {
		ours := cmp.Or(aliases[m.name], m.name)
		return slices.Contains(quoteMembers, ours) || citationColumns.find(ours) != nil && !slices.Contains(ofSources, ours)
	})
}

// answerSpan returns the place in the answer of the sentence that a citation or a claim names, in code
// points. The member text counts only where the citation states no place: else it may be the source's.
func (c *jsonlRecord) answerSpan(o *object, placeless bool) (start, end int, ok bool) {
	names := claimMembers
	if placeless {
		names = append(slices.Clone(names), "text")
	}
	for _, name := range names {
		if text := o.peek(name); len(strings.Fields(text)) > 2 {
			if at := strings.Index(c.row.Answer, text); at >= 0 {
				start = utf8.RuneCountInString(c.row.Answer[:at])
				return start, start + utf8.RuneCountInString(text), true
			}
		}
	}
	return 0, 0, false
}

// nameSource renames the source name and the quote of a citation or a mark to our members. Of
// several names it takes that of a document of the row, else a URL. Without a known name it takes
// any text that equals the name of a document of the row.
func (c *jsonlRecord) nameSource(o *object, list string) {
	if o.find("doc") == nil && o.find("file_name") == nil {
		var best *objectMember
		for _, name := range documentNameMembers {
			if !o.names(name) {
				continue
			}
			m := o.find(name)
			if c.sources.has(o.valueOf(m).label()) {
				best = m
				break
			}
			if best == nil || name == "url" {
				best = m
			}
		}
		for i := 0; i < len(o.members) && best == nil; i++ {
			if m := &o.members[i]; citationColumns.find(m.name) == nil && c.sources.has(o.peek(m.name)) {
				best = m
			}
		}
		c.renameMember(best, list, "doc")
	}
	if o.find("cited_text") == nil {
		for _, name := range quoteMembers {
			if o.peekKind(name) == aString {
				c.renameMember(o.find(name), list, "cited_text")
				break
			}
		}
	}
}

// citation adds the citation of an object, or one for each source that it lists.
func (c *jsonlRecord) citation(o *object) {
	out := ibid.Citation{DocNull: true}
	c.rename(o, "citations")
	own := o.find("doc") != nil || o.find("file_name") != nil
	whole := !own && onlySource(o)
	c.nameSource(o, "citations")
	var more extra
	for name, v := range o.ours() {
		if !citationColumns.read(&out, name, v) {
			if name != surroundings {
				c.unknown = append(c.unknown, clipped("citations."+name))
			}
			more.add(name, v.raw())
		}
	}
	out.SourceReference = more.reference(out.SourceReference)
	if start, end, ok := c.answerSpan(o, whole); ok && !out.AnswerStart.Known() {
		out.AnswerStart, out.AnswerEnd, out.AnswerRole = integer(int64(start)), integer(int64(end)), ibid.Segment
	}
	add := func() {
		if whole && !out.DocNull {
			out.Unit = "document"
		}
		c.row.Citations, c.excerpts = append(c.row.Citations, out), append(c.excerpts, excerptOf(o))
	}
	if !own {
		for _, of := range []string{"source", "document"} {
			if inner := o.get(of); inner.kind() == anObject && out.DocNull {
				if i := slices.IndexFunc(documentNameMembers, inner.object().names); i >= 0 {
					out.Doc, out.DocNull = inner.object().get(documentNameMembers[i]).label(), false
				}
			}
		}
		for _, name := range sourceLists {
			if list := o.get(name); out.DocNull && list.allElements(isLabel) {
				for _, e := range list.elements() {
					out.Doc, out.DocNull = e.label(), false
					add()
				}
				if !out.DocNull {
					return
				}
			}
		}
	}
	add()
}

// citedSources finds the document of a row that a citation refers to: by its name; by its title or
// the last element of its name, with or without the ending, if no other document has the same; by
// its number in the list, if no document is named by a number; or by a quote.
type citedSources struct {
	documents []ibid.Document
	first     int // number of the first of them

	names, titles map[string]int // places; -1 of a title of several
	numbers       bool           // some name is a number
	positions     bool           // the names are the numbers of the positions
	searched      int
}

// index finds the names and the titles.
func (s *citedSources) index() {
	if s.names != nil || len(s.documents) == 0 {
		return
	}
	s.names, s.titles, s.positions = make(map[string]int), make(map[string]int), true
	for i := range s.documents {
		d := &s.documents[i]
		s.names[d.Doc] = i
		s.numbers = s.numbers || isNumber(d.Doc)
		s.positions = s.positions && d.Doc == strconv.Itoa(i+s.first)
		base := path.Base(d.Doc)
		for _, title := range []string{d.Title, base, strings.TrimSuffix(base, path.Ext(base))} {
			title = plainTitle(title)
			if of, taken := s.titles[title]; taken && of != i {
				s.titles[title] = -1
			} else if title != "" {
				s.titles[title] = i
			}
		}
	}
}

func plainTitle(title string) string { return strings.ToLower(strings.TrimSpace(title)) }

// has reports whether a document has the name.
func (s *citedSources) has(name string) bool {
	s.index()
	_, ok := s.names[name]
	return ok
}

// byName returns the document with a name, title or number, and which of these it is; nil if there is
// none. fromZero says that numbers count from 0.
func (s *citedSources) byName(name string, fromZero bool) (d *ibid.Document, is string) {
	s.index()
	first := s.first
	if fromZero {
		first = 0
	}
	n, err := strconv.Atoi(withoutBrackets(name))
	counts := err == nil && first <= n && n < first+len(s.documents)
	i, titled := s.titles[plainTitle(name)]
	at, named := s.names[name]
	switch {
	case counts && s.positions:
		return &s.documents[n-first], "a number"
	case named:
		return &s.documents[at], "a name"
	case titled && i >= 0:
		return &s.documents[i], "a title"
	case counts && !s.numbers:
		return &s.documents[n-first], "a number"
	}
	return nil, ""
}

// byText returns the first document that contains a text of at least three words, else nil.
func (s *citedSources) byText(text string) *ibid.Document {
	if len(strings.Fields(text)) < 3 {
		return nil
	}
	has := func(part string) bool {
		s.searched += len(part)
		return s.searched <= mostSearched && strings.Contains(part, text)
	}
	for i := range s.documents {
		d := &s.documents[i]
		if has(d.Text) || slices.ContainsFunc(d.Pages, has) || slices.ContainsFunc(d.Blocks, has) {
			return d
		}
	}
	return nil
}

// cite returns a citation for each label: of a whole document, or of a quote.
func (s *citedSources) cite(labels []string) (all []ibid.Citation) {
	fromZero := slices.ContainsFunc(labels, func(label string) bool { return withoutBrackets(label) == "0" })
	for _, label := range labels {
		to := ibid.Citation{Doc: label, Unit: "document"}
		if d, _ := s.byName(label, fromZero); d != nil {
			to = citationOf(d)
			to.Unit = "document"
		} else if d := s.byText(label); d != nil {
			to = citationOf(d)
			to.CitedText = label
		}
		all = append(all, to)
	}
	return all
}

// resolve sets the document of citations that name it by number or title, or only quote it. excerpts
// are texts beside the citations, which become their quotes where a document contains them. by lists
// what each resolved citation had.
func (s *citedSources) resolve(citations []ibid.Citation, excerpts []string) (by []string) {
	fromZero := slices.ContainsFunc(citations, func(c ibid.Citation) bool { return withoutBrackets(c.Doc) == "0" })
	for i := range citations {
		c := &citations[i]
		d, is := s.byName(c.Doc, fromZero)
		if c.DocNull {
			if d, is = s.byName(c.Title, false); is != "a title" {
				d = nil
			}
			quote := c.CitedText
			if quote == "" && i < len(excerpts) {
				quote = excerpts[i]
			}
			if of := s.byText(quote); of != nil && (d == nil || d == of) {
				if d == nil {
					d, is = of, "a quote"
				}
				c.CitedText = quote
			}
		}
		if d != nil && d.Doc != c.Doc {
			c.Doc, c.DocNull = d.Doc, false
			by = append(by, is)
		}
	}
	return by
}

// Lists of other tools with one name, or one title, for each text of another list.
var (
	textNames = []string{
		"doc_ids", "document_ids", "docids", "context_ids", "retrieved_context_ids", "retrieved_doc_ids", "retrieved_document_ids", "retrieved_ids",
		"chunk_ids", "passage_ids", "source_ids", "ids", "doc_names", "document_names", "source_names", "context_names", "file_names", "filenames", "files",
		"source_files", "context_sources", "retrieved_sources", "urls", "source_urls", "context_urls", "links", "sources", "references", "metadatas", "citations",
	}
	textTitles = []string{"titles", "context_titles", "doc_titles", "document_titles", "source_titles"}
)

// nameTexts names documents that are texts without names, by a list of equal length in the record,
// and gives them titles the same way. Numbers that could be positions are no names.
func (c *jsonlRecord) nameTexts(o *object) {
	documents := c.row.Documents
	for i := range documents {
		if d := &documents[i]; d.Doc != strconv.Itoa(i+c.first) || !d.HasText {
			return
		}
	}
	if len(documents) == 0 || slices.ContainsFunc(c.row.Truth, func(m ibid.Mark) bool { return !m.DocNull && isNumber(m.Doc) }) {
		return
	}
	for _, list := range textTitles {
		if titles := namesIn(o.get(list), len(documents)); titles != nil {
			c.renamed = append(c.renamed, [2]string{list, "documents.title"})
			for i := range documents {
				documents[i].Title = titles[i]
			}
			break
		}
	}
	for _, list := range textNames {
		names := namesIn(o.get(list), len(documents))
		quoted := citedSources{documents: documents}
		if list == "citations" && slices.ContainsFunc(names, func(name string) bool { return quoted.byText(name) != nil }) {
			continue
		}
		if names != nil {
			c.renamed = append(c.renamed, [2]string{list, "documents.doc"})
			for i := range documents {
				documents[i].Doc = names[i]
			}
			return
		}
	}
}

// longName is the limit on bytes of a name.
const longName = 500

// namesIn returns the n names in a list of labels, or of objects with a name; nil if it has other elements.
func namesIn(v value, n int) (names []string) {
	if inner := onlyElement(v); inner.kind() == aList {
		v = inner
	}
	if v.kind() != aList {
		return nil
	}
	for _, e := range v.elements() {
		name := ""
		switch {
		case isLabel(e):
			name = strings.TrimSpace(e.label())
		case e.kind() == anObject:
			if i := slices.IndexFunc(documentNameMembers, e.object().names); i >= 0 {
				name = e.object().get(documentNameMembers[i]).label()
			}
		}
		place, err := strconv.Atoi(name)
		if name == "" || len(name) > longName || len(names) == n || err == nil && 0 <= place && place <= n {
			return nil
		}
		names = append(names, name)
	}
	if len(names) < n {
		return nil
	}
	return names
}

// isCitedText reports whether a citation is a source with its text. The text must not be a part of
// the answer, and the citation must not state a place.
func isCitedText(e value, answer string) bool {
	if e.kind() != anObject {
		return false
	}
	o := e.object()
	text := excerptOf(o)
	return text != "" && !strings.Contains(answer, text) && onlySource(o) && !slices.ContainsFunc(o.members, func(m objectMember) bool { return o.isList(m.name) })
}

// numberedTexts returns the names of the members context_1, context_2 … of a record. It returns none
// if the record has a list of sources or citations, or if a member is shorter than four words and is
// neither a file name nor a URL.
func numberedTexts(o *object) (names []string) {
	if o.find("documents") != nil || o.find("citations") != nil {
		return nil
	}
	for _, m := range o.members {
		before := len(names)
		if found := numberedText.FindStringSubmatch(m.name); found != nil && o.peek(m.name) != "" {
			names = append(names, m.name)
			if text := o.peek(m.name); len(strings.Fields(text)) < 4 && !isURL(text) && !claims.IsFileName(text) {
				return nil
			}
			if n, _ := strconv.Atoi(found[2]); n != before+1 || before > 0 && strings.TrimRight(names[0], "1") != m.name[:len(m.name)-len(found[2])] {
				return nil
			}
		}
	}
	return names
}

var numberedText = regexp.MustCompile(`^(context|source|document|doc|passage|chunk|snippet)_?(\d{1,2})$`)

// excerptOf returns the text of a citation from the first member that other tools use for the text of
// a document. It returns "" if there is no such member.
func excerptOf(o *object) string {
	for _, name := range append([]string{"text"}, documentTextMembers...) {
		if text := o.peek(name); text != "" {
			return text
		}
	}
	return ""
}

// withoutBrackets removes square brackets around a name.
func withoutBrackets(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
}

// isNumber reports whether a name is a number, perhaps in brackets.
func isNumber(name string) bool { return strings.Trim(withoutBrackets(name), "0123456789") == "" }
