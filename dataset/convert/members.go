package convert

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"ibid"
	"ibid/dataset"
)

// A column is a member of our own records: its name, and how it is read.
type column[T any] struct {
	name string
	read func(*T, value)
}

// columns are those of a record, or of the elements of one of its lists.
type columns[T any] []column[T]

// find is the column of a name, nil if there is none.
func (c columns[T]) find(name string) *column[T] {
	for i := range c {
		if c[i].name == name {
			return &c[i]
		}
	}
	return nil
}

// read reads the member of a name and reports whether it is a column.
func (c columns[T]) read(to *T, name string, v value) bool {
	found := c.find(name)
	if found != nil {
		found.read(to, v)
	}
	return found != nil
}

// names are those of the columns, and of more members.
func (c columns[T]) names(more ...string) []string {
	all := make([]string, 0, len(c)+len(more))
	for _, column := range c {
		all = append(all, column.name)
	}
	return append(all, more...)
}

// The columns of rows, but for lists, and of the elements of lists.
var (
	rowColumns = columns[jsonlRecord]{
		{"id", func(c *jsonlRecord, v value) { c.row.ID, c.hasID = v.label(), v.given() }},
		{"system", func(c *jsonlRecord, v value) {
			if s, given := v.text(); given {
				c.row.System, c.hasSystem = s, true
			}
		}},
		{"query", func(c *jsonlRecord, v value) { c.row.Query, c.row.QueryNull = v.string(), !v.given() }},
		{"answer", func(c *jsonlRecord, v value) { c.row.Answer, c.row.AnswerNull = c.answer(v), !v.given() }},
		{"provider", func(c *jsonlRecord, v value) { c.row.Provider = v.string() }},
		{"model", func(c *jsonlRecord, v value) { c.row.Model = v.string() }},
		{"answer_cost_usd", func(c *jsonlRecord, v value) { c.row.CostUSD = v.float() }},
		{"answer_tokens", func(c *jsonlRecord, v value) { c.row.Tokens = v.integerOf(64) }},
		{"answer_latency_ms", func(c *jsonlRecord, v value) { c.row.LatencyMillis = v.float() }},
		{"unread_marks", func(c *jsonlRecord, v value) { c.row.UnreadMarks = v.integerOf(64) }},
	}
	citationColumns = columns[ibid.Citation]{
		{"doc", func(c *ibid.Citation, v value) { c.Doc, c.DocNull = v.label(), !v.given() }},
		{"page", func(c *ibid.Citation, v value) { c.Page = v.integerOf(32) }},
		{"start", func(c *ibid.Citation, v value) { c.Start = v.integerOf(64) }},
		{"end", func(c *ibid.Citation, v value) { c.End = v.integerOf(64) }},
		{"unit", func(c *ibid.Citation, v value) { c.Unit = v.oneOf(units) }},
		{"cited_text", func(c *ibid.Citation, v value) { c.CitedText = v.string() }},
		{"title", func(c *ibid.Citation, v value) { c.Title = v.string() }},
		{"answer_start", func(c *ibid.Citation, v value) { c.AnswerStart = v.integerOf(64) }},
		{"answer_end", func(c *ibid.Citation, v value) { c.AnswerEnd = v.integerOf(64) }},
		{"answer_role", func(c *ibid.Citation, v value) {
			var err error
			if c.AnswerRole, err = ibid.ParseRole(v.string()); err != nil {
				v.fail("%v", err)
			}
		}},
		{"citation_id", func(c *ibid.Citation, v value) { c.CitationID = v.label() }},
		{"claim_id", func(c *ibid.Citation, v value) { c.ClaimID = v.label() }},
		{"source_type", func(c *ibid.Citation, v value) { c.SourceType = v.string() }},
		{"method", func(c *ibid.Citation, v value) { c.Method = v.string() }},
		{"confidence", func(c *ibid.Citation, v value) { c.Confidence = v.float() }},
		{"relevance", func(c *ibid.Citation, v value) { c.Relevance = v.float() }},
		{"token_contribution", func(c *ibid.Citation, v value) { c.TokenContribution = v.integerOf(64) }},
		{"source_reference", func(c *ibid.Citation, v value) { c.SourceReference = v.column() }},
	}
	truthColumns = columns[ibid.Mark]{
		{"doc", func(m *ibid.Mark, v value) { m.Doc, m.DocNull = v.label(), !v.given() }},
		{"page", func(m *ibid.Mark, v value) { m.Page = v.integerOf(32) }},
		{"start", func(m *ibid.Mark, v value) { m.Start = v.integerOf(64) }},
		{"end", func(m *ibid.Mark, v value) { m.End = v.integerOf(64) }},
		{"unit", func(m *ibid.Mark, v value) { m.Unit = v.oneOf(units) }},
		{"annotator", func(m *ibid.Mark, v value) { m.Annotator = v.label() }},
		{"cited_text", func(m *ibid.Mark, v value) { m.CitedText = v.string() }},
		{"claim_id", func(m *ibid.Mark, v value) { m.ClaimID = v.label() }},
	}
	claimColumns = columns[ibid.Claim]{
		{"claim_id", func(c *ibid.Claim, v value) { c.ClaimID = v.label() }},
		{"text", func(c *ibid.Claim, v value) { c.Text = v.string() }},
		{"start", func(c *ibid.Claim, v value) { c.Start = v.integerOf(64) }},
		{"end", func(c *ibid.Claim, v value) { c.End = v.integerOf(64) }},
	}
	labelColumns = columns[ibid.Label]{
		{"annotator", func(l *ibid.Label, v value) { l.Annotator = v.label() }},
		{"claim_id", func(l *ibid.Label, v value) { l.ClaimID = v.label() }},
		{"citation_id", func(l *ibid.Label, v value) { l.CitationID = v.label() }},
		{"kind", func(l *ibid.Label, v value) { l.Kind = v.oneOf(kinds) }},
		{"value", func(l *ibid.Label, v value) { l.Value = v.float() }},
	}
	documentColumns = columns[ibid.Document]{
		{"doc", func(d *ibid.Document, v value) { d.Doc = v.required() }}, // without a name it cannot be cited
		{"title", func(d *ibid.Document, v value) { d.Title = v.string() }},
		{"text", func(d *ibid.Document, v value) { d.Text, d.HasText = v.text() }},
		{"source_type", func(d *ibid.Document, v value) { d.SourceType = v.string() }},
		{"partial", func(d *ibid.Document, v value) { d.Partial = v.isTrue() }},
		{"pages", func(d *ibid.Document, v value) { d.Pages, d.HasPages = v.texts() }},
		{"blocks", func(d *ibid.Document, v value) { d.Blocks, d.HasBlocks = v.texts() }},
	}
	messageColumns = columns[ibid.Message]{
		{"role", func(m *ibid.Message, v value) { m.Role = v.oneOf(roles) }},
		{"content", func(m *ibid.Message, v value) { m.Content = v.string() }},
	}
)

// memberNames are the members of records, by the list that they are in; "" is the record
// itself.
var memberNames = map[string][]string{
	"":          rowColumns.names("citations", "truth", "claims", "labels", "documents", "messages", "tags"),
	"citations": citationColumns.names(),
	"truth":     truthColumns.names("method"),
	"claims":    claimColumns.names(),
	"labels":    labelColumns.names(),
	"documents": documentColumns.names("metadata"),
	"messages":  messageColumns.names(),
}

// An otherName is what a member of ours is called elsewhere.
type otherName struct {
	ours   string
	theirs []string
	suits  func(value) bool
}

// otherNames lists the names of our members in other tools, the most common first. A member with
// such a name is read as ours if ours is absent and suits accepts its value.
var otherNames = []otherName{
	{"id", []string{"record_id", "query_id"}, isLabel},
	{"query", []string{"question", "prompt", "input", "user_input", "main_input"}, isText},
	{"answer", []string{
		"response", "output", "completion", "actual_output", "actualOutput", "main_output", "result",
		"prediction", "predicted_answer", "generated_answer", "generated_text", "generation", "model_answer", "model_output", "model_response",
		"statements", "sentences",
	}, holdsAnswer},
	{"truth", []string{"ground_truth", "gold", "reference_spans"}, listsSpans},
	{"documents", []string{
		"contexts", "retrieved_contexts", "retrieval_context", "retrievalContext", "context", "docs", "source_documents", "sources", "references",
		"passages", "chunks", "ctxs", "search_results", "results", "retrieved_context", "retrieved_documents", "retrieved_docs", "retrieved_passages", "retrieved_chunks",
		"source_texts", "retrieved_texts", "snippets",
	}, listsTexts},
	{"system", []string{"app_id"}, isText},
}

// plainly is the name of a member, or of a column of a table, without capitals and spaces if that, and
// not the name itself, is one of ours or of other tools, such as Question and "Retrieved Contexts"; else
// the name.
func plainly(name string, inTable bool) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || unicode.IsUpper(r) }) {
		return name
	}
	known := func(name string) bool {
		return slices.Contains(memberNames[""], name) || inTable && isTableColumn(name) ||
			slices.ContainsFunc(otherNames, func(n otherName) bool { return slices.Contains(n.theirs, name) })
	}
	plain := underscores.Replace(strings.ToLower(strings.TrimSpace(name)))
	if known(name) || !known(plain) {
		return name
	}
	return plain
}

var underscores = strings.NewReplacer(" ", "_", "-", "_")

// fitsLoosely reports whether a record that is of no other format is one of our columns:
// it has an answer, perhaps under a misspelt name, and an id, or one under another name, and
// with either a question or documents.
func fitsLoosely(o *object) bool {
	var names []string
	own := false
	unwrap(o)
	for _, m := range o.members {
		m.name = plainly(m.name, false)
		for _, other := range otherNames {
			if slices.Contains(other.theirs, m.name) && other.suits(o.valueOf(&m)) {
				names = append(names, other.ours)
			}
		}
		if m.name == "answer" || ibid.Slip(m.name, []string{"answer"}) != "" {
			own, names = true, append(names, "answer")
		}
		names = append(names, m.name)
	}
	return hasColumns(names, "answer") && (own && hasColumns(names, "id") || hasColumns(names, "query") || hasColumns(names, "documents"))
}

// ourColumns are the columns of a table by our names, as far as they are those of a row:
// other tools call a question and an answer otherwise.
func ourColumns(columns []string) []string {
	ours := slices.Clone(columns)
	for i, name := range ours {
		if plain := plainly(name, true); !slices.Contains(columns, plain) {
			ours[i] = plain
		}
	}
	for _, other := range otherNames {
		if other.ours != "query" && other.ours != "answer" || slices.Contains(ours, other.ours) {
			continue
		}
		for _, name := range other.theirs {
			if i := slices.Index(ours, name); i >= 0 {
				ours[i] = other.ours
				break
			}
		}
	}
	return ours
}

// IsOther reports whether a Parquet file has rows with the columns of other tools: it has no
// citations, answers, and one of ours under another name. renamed are the columns that its user
// names ours.
func IsOther(path string, renamed map[string]string) bool {
	names, err := dataset.ParquetColumns(path)
	if err != nil {
		return false
	}
	names = (&run{Options: Options{Columns: renamed}}).renamed(names)
	other := func(ours string) bool {
		other := func(name string) bool { return isOtherName(name, ours) }
		return !slices.Contains(names, ours) && slices.ContainsFunc(names, other)
	}
	answers := slices.Contains(names, "answer") || other("answer")
	return answers && !slices.Contains(names, "citations") && (other("answer") || other("query") || other("documents"))
}

// isOtherName reports whether other tools call a member of ours so.
func isOtherName(name, ours string) bool {
	return slices.ContainsFunc(otherNames, func(n otherName) bool {
		return n.ours == ours && slices.Contains(n.theirs, name)
	})
}

func isText(v value) bool { return v.kind() == aString }

func isLabel(v value) bool { return v.kind() == aString || v.kind() == aNumber }

// listsSpans reports whether a value is a list of places in documents, also as citation_spans of
// an object.
func listsSpans(v value) bool {
	if v.kind() == anObject {
		v = v.object().get("citation_spans")
	}
	return v.allElements(func(e value) bool {
		o := e.object()
		return o != nil && (o.has("doc") || o.has("file_name") || o.has("annotator"))
	})
}

// holdsAnswer reports whether a value is a text, or a list of sentences with their sources (see
// [jsonlRecord.answer]).
func holdsAnswer(v value) bool {
	cites := false
	return isText(v) || v.allElements(func(e value) bool {
		if e.kind() != anObject {
			return false
		}
		o := e.object()
		cites = cites || slices.ContainsFunc(sentenceSources, o.has)
		return sentenceText(o) != nil
	}) && cites
}

// isConversation reports whether a value is an object with a list of messages.
func isConversation(v value) bool {
	return v.kind() == anObject && v.object().get("messages").allElements(func(e value) bool {
		return e.kind() == anObject && slices.Contains(roles, e.object().peek("role")) && e.object().peekKind("content") == aString
	})
}

// listsTexts reports whether a value is a text, a list of texts or documents, or these by their
// names.
func listsTexts(v value) bool {
	is := func(e value) bool { return isText(e) || isDocument(e) || isPassage(e) }
	if v.kind() != anObject {
		return isText(v) || v.allElements(is)
	}
	if isDocument(v) {
		return true
	}
	for _, e := range v.object().all() {
		if !is(e) || isText(e) && !strings.Contains(e.string(), " ") { // {"lang": "en"} are no texts
			return false
		}
	}
	return true
}

// isPassage reports whether a value is a list of texts, or of a title and the sentences below it.
func isPassage(v value) bool {
	return v.kind() == aList && v.allElements(func(e value) bool { return isText(e) || e.allElements(isText) })
}

// isDocument reports whether a value is an object with the text or the name of a document.
func isDocument(v value) bool {
	if v.kind() != anObject {
		return false
	}
	o := v.object()
	return o.has("text") || slices.ContainsFunc(documentTextMembers, o.has) || o.names("doc") || slices.ContainsFunc(documentNameMembers, o.names)
}

// allElements reports whether a value is a list whose elements all are something.
func (v value) allElements(is func(value) bool) bool {
	if v.kind() != aList {
		return false
	}
	for _, e := range v.elements() {
		if !is(e) {
			return false
		}
	}
	return true
}

// rename gives the members of an object in a list ("" is the record) our names: those
// that Options.Columns names ("" keeps one as it is), and at the top those that other tools use. A member that
// is probably one of ours misspelt is an error: its value would be missing, and the
// number that comes of it wrong.
func (c *jsonlRecord) rename(o *object, list string) {
	if o == nil {
		return
	}
	o.members = slices.DeleteFunc(o.members, func(m objectMember) bool {
		ours, said := c.columns[memberPath(list, m.name)]
		if said = said && ours == ""; said {
			c.keep(o.valueOf(&m))
		}
		return said
	})
	var called []string // the names of members after renaming, if there is any
	for i := 0; i < len(o.members) && len(c.columns) > 0; i++ {
		theirs := o.members[i].name
		called = append(called, cmp.Or(strings.TrimPrefix(c.columns[memberPath(list, theirs)], list+"."), theirs))
	}
	for i, ours := range called {
		switch m := &o.members[i]; {
		case ours == m.name:
		case slices.Index(called, ours) != i || slices.Contains(called[i+1:], ours):
			o.valueOf(m).fail("%s is given, too", ours)
			return
		default:
			c.renameMember(m, list, ours)
		}
	}
	if list == "" {
		unwrap(o)
		for i := range o.members {
			if plain := plainly(o.members[i].name, false); o.find(plain) == nil {
				c.renameMember(&o.members[i], "", plain)
			}
		}
		c.listedAs = ""
		c.renameOthers(o)
	}
	names := memberNames[list]
	for i := range o.members {
		m := &o.members[i]
		_, isAlias := aliases[m.name]
		_, isOther := c.columns[memberPath(list, m.name)]
		if isAlias || isOther || slices.Contains(names, m.name) {
			continue
		}
		if meant := ibid.Slip(m.name, names); meant != "" && o.find(meant) == nil {
			o.valueOf(m).fail("no such member, did you mean %s? (if it is something else: --columns %s=)", meant, memberPath(list, m.name))
			return
		}
	}
}

// unwrap moves the members of an object such as output, which contains the answer, to the record, if
// the record has no answer itself. Of two members with one name the moved one becomes output.NAME.
func unwrap(o *object) {
	isAnswer := func(name string) bool { return name == "answer" || isOtherName(name, "answer") }
	for _, m := range o.members {
		if isAnswer(m.name) && holdsAnswer(o.valueOf(&m)) {
			return
		}
	}
	for _, m := range o.members {
		if !isAnswer(m.name) || !o.isObject(m.name) {
			continue
		}
		inner := o.valueOf(&m).object()
		at := slices.IndexFunc(inner.members, func(of objectMember) bool {
			return (isAnswer(of.name) || of.name == "text" || of.name == "content") && isText(inner.valueOf(&of))
		})
		if at < 0 {
			continue
		}
		o.members = slices.DeleteFunc(o.members, func(of objectMember) bool { return of == m })
		for i, of := range inner.members {
			if i == at {
				of.name = "answer"
			}
			if o.find(of.name) != nil {
				of.name = m.name + "." + of.name
			}
			o.members = append(o.members, of)
		}
		return
	}
}

// renameOthers takes the names of other tools for ours.
func (c *jsonlRecord) renameOthers(o *object) {
	for _, other := range otherNames {
		if o.find(other.ours) != nil || other.ours == "system" && (o.has("model") || o.has("provider")) {
			continue
		}
		for _, name := range other.theirs {
			if m := o.find(name); m != nil && other.suits(o.valueOf(m)) {
				c.renameMember(m, "", other.ours)
				if other.ours == "documents" {
					c.listedAs = name
				}
				break
			}
		}
	}
	answer, cited := o.peek("answer"), 0
	isSource := func(e value) bool { cited++; return isCitedText(e, answer) }
	if m := o.find("citations"); m != nil && o.find("documents") == nil && o.valueOf(m).allElements(isSource) && cited > 0 {
		c.renameMember(m, "", "documents")
		c.listedAs, c.listed = "citations", true
	}
}

// checkColumns refuses names that are none of ours. In tables citations and truth have columns
// of the rows.
func checkColumns(columns map[string]string, tables bool) error {
	var all []string
	for list, names := range memberNames {
		for _, name := range names {
			all = append(all, memberPath(list, name))
		}
	}
	slices.Sort(all)
	for theirs, ours := range columns {
		list, _, nested := strings.Cut(theirs, ".")
		if !nested {
			list = ""
		}
		names, known := memberNames[list]
		if !known {
			lists := slices.DeleteFunc(slices.Sorted(maps.Keys(memberNames)), func(l string) bool { return l == "" })
			return ibid.Usagef("--columns %s=%s: there is no list %s", theirs, ours, quoted(list)).With("lists are " + strings.Join(lists, ", "))
		}
		if slices.Contains(names, strings.TrimPrefix(ours, list+".")) || ours == "" || tables && !nested && isTableColumn(ours) {
			continue
		}
		e := ibid.Usagef("--columns %s=%s: there is no column %s", theirs, ours, quoted(ours)).With("ibid help columns lists them")
		if near := ibid.Nearest(ours, all); near != "" {
			e.Hint = "did you mean " + near + "?"
		}
		return e
	}
	return nil
}
