package convert

import (
	"slices"

	"ibid/dataset"
)

// The values that members with a fixed set of values may have.
var (
	units = []string{"codepoint", "utf16", "byte", "page", "block", "document"}
	kinds = []string{"support", "relevant", "needs_citation", "factual"}
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
	"context_text":      "cited_text",
	"relevance_score":   "relevance",
}

// optionalText consumes a string or a null; given is false for null.
func (j *jsonReader) optionalText() (s string, given bool) {
	if j.null() {
		return "", false
	}
	s = j.text()
	return s, j.err == nil
}

func (j *jsonReader) optionalInt(bits int) dataset.NullInt {
	if j.null() {
		return dataset.NullInt{}
	}
	n := j.integer(bits)
	return dataset.NullInt{Value: n, Valid: j.err == nil}
}

func (j *jsonReader) optionalFloat() dataset.NullFloat {
	if j.null() {
		return dataset.NullFloat{}
	}
	f := j.float()
	return dataset.NullFloat{Value: f, Valid: j.err == nil}
}

// oneOf consumes one of a fixed set of strings, or a null.
func (j *jsonReader) oneOf(values []string) string {
	j.skipSpace()
	at := j.pos
	s, given := j.optionalText()
	if given && !slices.Contains(values, s) {
		msg := "unknown value " + quoted(s)
		if near := dataset.Nearest(s, values); near != "" {
			msg += ", did you mean " + near + "?"
		}
		j.fail(at, "%s", msg)
	}
	return s
}

// decodeList consumes a list of objects or a null and appends the elements.
func decodeList[T any](j *jsonReader, to []T, element func(*T)) (list []T, known bool) {
	if j.err != nil || j.null() {
		return to, false
	}
	j.list(func(int) {
		var zero T
		to = append(to, zero)
		element(&to[len(to)-1])
	})
	return to, j.err == nil
}

func (j *jsonReader) texts() (list []string, known bool) {
	if j.err != nil || j.null() {
		return nil, false
	}
	list = []string{}
	j.list(func(int) { list = append(list, j.text()) })
	return list, j.err == nil
}

// aliased reads an object under our names; a member given under both names is
// an error.
func (j *jsonReader) aliased(member func(name string)) {
	var ours names
	j.object(func(name string) {
		own, ok := aliases[name]
		if !ok {
			own = name
		}
		if !ours.add(own) {
			j.fail(j.pos, "%s is given under two names", own)
			return
		}
		member(own)
	})
}

func (c *jsonlRecord) citation(out *dataset.Citation) {
	j := &c.json
	out.DocNull = true
	var more extra
	j.aliased(func(name string) {
		switch name {
		case "cited_text":
			out.CitedText, _ = j.optionalText()
		case "title":
			out.Title, _ = j.optionalText()
		case "answer_start":
			out.AnswerStart = j.optionalInt(64)
		case "answer_end":
			out.AnswerEnd = j.optionalInt(64)
		case "citation_id":
			out.CitationID, _ = j.optionalText()
		case "claim_id":
			out.ClaimID, _ = j.optionalText()
		case "source_type":
			out.SourceType, _ = j.optionalText()
		case "method":
			out.Method, _ = j.optionalText()
		case "confidence":
			out.Confidence = j.optionalFloat()
		case "relevance":
			out.Relevance = j.optionalFloat()
		case "token_contribution":
			out.TokenContribution = j.optionalInt(64)
		case "source_reference":
			out.SourceReference = j.referenceOf()
		default:
			if j.place(name, &out.Doc, &out.DocNull, &out.Page, &out.Start, &out.End, &out.Unit) {
				return
			}
			c.unknown = append(c.unknown, clipped("citations."+name))
			if value := j.raw(); j.err == nil {
				more.add(name, value)
			}
		}
	})
	out.SourceReference = more.reference(out.SourceReference)
}

// place reads the members that citations and truth share and reports whether
// name is one.
func (j *jsonReader) place(name string, doc *string, docNull *bool, page, start, end *dataset.NullInt, unit *string) bool {
	switch name {
	case "doc":
		s, given := j.optionalText()
		*doc, *docNull = s, !given
	case "page":
		*page = j.optionalInt(32)
	case "start":
		*start = j.optionalInt(64)
	case "end":
		*end = j.optionalInt(64)
	case "unit":
		*unit = j.oneOf(units)
	default:
		return false
	}
	return true
}

func (c *jsonlRecord) truth(out *dataset.Truth) {
	j := &c.json
	out.DocNull = true
	j.aliased(func(name string) {
		switch name {
		case "annotator":
			out.Annotator, _ = j.optionalText()
		case "claim_id":
			out.ClaimID, _ = j.optionalText()
		default:
			if !j.place(name, &out.Doc, &out.DocNull, &out.Page, &out.Start, &out.End, &out.Unit) {
				c.keep()
			}
		}
	})
}

func (c *jsonlRecord) claim(out *dataset.Claim) {
	j := &c.json
	j.object(func(name string) {
		switch name {
		case "claim_id":
			out.ClaimID, _ = j.optionalText()
		case "text":
			out.Text, _ = j.optionalText()
		case "start":
			out.Start = j.optionalInt(64)
		case "end":
			out.End = j.optionalInt(64)
		default:
			c.keep()
		}
	})
}

func (c *jsonlRecord) label(out *dataset.Label) {
	j := &c.json
	j.skipSpace()
	at := j.pos
	j.object(func(name string) {
		switch name {
		case "annotator":
			out.Annotator, _ = j.optionalText()
		case "claim_id":
			out.ClaimID, _ = j.optionalText()
		case "citation_id":
			out.CitationID, _ = j.optionalText()
		case "kind":
			out.Kind = j.oneOf(kinds)
		case "value":
			out.Value = j.optionalFloat()
		default:
			c.keep()
		}
	})
	if out.Kind == "" {
		j.fail(at, "kind is missing")
	}
}

func (c *jsonlRecord) message(out *dataset.Message) {
	j := &c.json
	j.skipSpace()
	at := j.pos
	j.object(func(name string) {
		switch name {
		case "role":
			out.Role = j.oneOf(roles)
		case "content":
			out.Content, _ = j.optionalText()
		default:
			c.keep()
		}
	})
	if out.Role == "" {
		j.fail(at, "role is missing")
	}
}

func (c *jsonlRecord) inlineDocument(out *dataset.Document) {
	j := &c.json
	j.skipSpace()
	at, named := j.pos, false
	j.object(func(name string) {
		named = named || name == "doc"
		if !c.documentMember(out, name) {
			c.keep()
		}
	})
	if !named {
		j.fail(at, "doc is missing")
	}
}

// documentMember reads one member of a document and reports whether it is a
// column.
func (c *jsonlRecord) documentMember(d *dataset.Document, name string) bool {
	j := &c.json
	switch name {
	case "doc":
		d.Doc = j.text() // a document without a name cannot be cited
	case "title":
		d.Title, _ = j.optionalText()
	case "text":
		d.Text, d.HasText = j.optionalText()
	case "source_type":
		d.SourceType, _ = j.optionalText()
	case "pages":
		d.Pages, d.HasPages = j.texts()
	case "blocks":
		d.Blocks, d.HasBlocks = j.texts()
	default:
		return false
	}
	return true
}
