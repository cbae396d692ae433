package convert

import (
	"slices"
	"strings"

	"ibid"
)

// The members that records of our own columns have, by the list that they are in; "" is
// the record itself.
var memberNames = map[string][]string{
	"": {
		"id", "query", "answer", "system", "provider", "model", "citations", "truth", "claims", "labels", "documents", "messages", "tags",
		"answer_cost_usd", "answer_tokens", "answer_latency_ms",
	},
	"citations": {
		"doc", "page", "start", "end", "unit", "cited_text", "title", "answer_start", "answer_end", "answer_role", "citation_id", "claim_id",
		"source_type", "method", "confidence", "relevance", "token_contribution", "source_reference",
	},
	"truth":     {"annotator", "doc", "page", "start", "end", "unit", "cited_text", "claim_id", "method"},
	"claims":    {"claim_id", "text", "start", "end"},
	"labels":    {"annotator", "claim_id", "citation_id", "kind", "value"},
	"documents": {"doc", "title", "text", "source_type", "pages", "blocks", "metadata"},
	"messages":  {"role", "content"},
}

// otherNames are what other tools call our members, the likeliest first. They stand for
// ours where ours is absent and suits says that they hold the same.
var otherNames = []struct {
	ours   string
	theirs []string
	suits  func(value) bool
}{
	{"query", []string{"question", "prompt", "input", "user_input"}, isText},
	{"answer", []string{"response", "output", "completion"}, isText},
	{"truth", []string{"ground_truth", "gold", "reference_spans"}, listsSpans},
	{"documents", []string{"contexts", "retrieved_contexts", "sources"}, listsTexts},
}

// fitsLoosely reports whether a record that is of no other format is one of our columns:
// it has an answer, perhaps under another name or a misspelt one, and an id or a question.
func fitsLoosely(o *object) bool {
	var names []string
	for _, m := range o.members {
		for _, other := range otherNames {
			if slices.Contains(other.theirs, m.name) && other.suits(o.valueOf(&m)) {
				names = append(names, other.ours)
			}
		}
		if ibid.Slip(m.name, []string{"answer"}) != "" {
			names = append(names, "answer")
		}
		names = append(names, m.name)
	}
	return hasColumns(names, "answer") && (hasColumns(names, "id") || hasColumns(names, "query"))
}

// ourColumns are the columns of a table by our names, as far as they are those of a row:
// other tools call a question and an answer otherwise.
func ourColumns(columns []string) []string {
	ours := slices.Clone(columns)
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

func isText(v value) bool { return v.kind() == aString }

// listsSpans reports whether a value is a list of places in documents.
func listsSpans(v value) bool {
	return v.allElements(func(e value) bool {
		o := e.object()
		return o != nil && (o.has("doc") || o.has("file_name") || o.has("annotator"))
	})
}

// listsTexts reports whether a value is a list of texts, or of documents with one.
func listsTexts(v value) bool {
	return v.allElements(func(e value) bool {
		if e.kind() != anObject {
			return e.kind() == aString
		}
		o := e.object()
		return o.has("text") && (o.peek("doc") != "" || o.peek("id") != "" || o.peek("url") != "")
	})
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
// that Options.Columns names ("" leaves one as it is), and at the top those that other tools use. A member that
// is probably one of ours misspelt is an error: its value would be missing, and the
// number that comes of it wrong.
func (c *jsonlRecord) rename(o *object, list string) {
	if o == nil {
		return
	}
	for i := range o.members {
		m := &o.members[i]
		ours, named := c.columns[memberPath(list, m.name)]
		ours = strings.TrimPrefix(ours, list+".")
		switch {
		case !named || ours == "":
		case o.find(ours) != nil && ours != m.name:
			o.valueOf(m).fail("%s is given, too", ours)
			return
		default:
			c.renamed = append(c.renamed, [2]string{memberPath(list, m.name), memberPath(list, ours)})
			m.name = ours
		}
	}
	if list == "" {
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

// renameOthers takes the names of other tools for ours.
func (c *jsonlRecord) renameOthers(o *object) {
	for _, other := range otherNames {
		if o.find(other.ours) != nil || other.ours == "documents" && c.sources != nil {
			continue
		}
		for _, name := range other.theirs {
			if m := o.find(name); m != nil && other.suits(o.valueOf(m)) {
				c.renamed = append(c.renamed, [2]string{name, other.ours})
				m.name = other.ours
				break
			}
		}
	}
}

// checkColumns refuses names that are none of ours.
func checkColumns(columns map[string]string) error {
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
		names := memberNames[list]
		if slices.Contains(names, strings.TrimPrefix(ours, list+".")) || ours == "" {
			continue
		}
		e := &UsageError{Msg: "--columns " + theirs + "=" + ours + ": there is no column " + quoted(ours), Hint: "ibid help columns lists them"}
		if near := ibid.Nearest(ours, all); near != "" {
			e.Hint = "did you mean " + near + "?"
		}
		return e
	}
	return nil
}
