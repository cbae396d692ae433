package convert

import (
	"slices"
	"strings"

	"ibid/dataset"
)

// A jsonlRecord decodes one line after the other into the same row or document.
type jsonlRecord struct {
	json    jsonReader
	members []jsonMember

	isDocument bool
	row        dataset.Row
	document   dataset.Document

	unknown []string // dotted names of the members that are no column of ours
	extra   extra    // their values, but those of citations

	// sources, unless nil, takes the lists that numbers in the answer stand for.
	sources *sourceList
}

// A jsonMember is one member of the record's own object.
type jsonMember struct {
	name       string
	start, end int // of its value
}

// referenceTag is the tag that keeps what has no column and belongs to no
// citation.
const referenceTag = "source_reference"

// decode reads one line. The row or the document it leaves is valid until the
// next call, its strings for good.
func (c *jsonlRecord) decode(line []byte) *jsonError {
	c.clear(line)
	j := &c.json
	if m := mark(line); m != "" {
		return &jsonError{0, "the line begins with " + m}
	}
	if j.skipSpace() == 0 && j.pos == len(line) {
		return &jsonError{0, "empty line"}
	}
	start := j.pos
	// What the record is shows only at its end, so its members are read twice:
	// first their extent and syntax, then their meaning.
	j.object(func(name string) {
		j.skipSpace()
		begin := j.pos
		j.raw()
		c.members = append(c.members, jsonMember{name, begin, j.pos})
	})
	if j.end(); j.err != nil {
		return j.err
	}
	if c.has("doc") && !c.has("id") {
		c.isDocument = true
		c.decodeDocument()
	} else {
		c.decodeRow(start)
	}
	return j.err
}

func (c *jsonlRecord) clear(line []byte) {
	c.json.reset(line)
	c.members, c.unknown, c.isDocument = c.members[:0], c.unknown[:0], false
	c.extra.reset()
	if c.sources != nil {
		c.sources.reset()
	}
	r := &c.row
	*r = dataset.Row{
		QueryNull: true, AnswerNull: true, System: "default",
		Citations: r.Citations[:0], Truth: r.Truth[:0], Claims: r.Claims[:0], Labels: r.Labels[:0],
		Documents: r.Documents[:0], Messages: r.Messages[:0], Tags: r.Tags[:0],
	}
	c.document = dataset.Document{}
}

func (c *jsonlRecord) has(name string) bool {
	return slices.ContainsFunc(c.members, func(m jsonMember) bool { return m.name == name })
}

// given reports whether there is a member of that name other than null.
func (c *jsonlRecord) given(name string) bool {
	return slices.ContainsFunc(c.members, func(m jsonMember) bool {
		return m.name == name && string(c.json.data[m.start:m.end]) != "null"
	})
}

// each reads the members one by one; member must consume the value.
func (c *jsonlRecord) each(member func(name string)) {
	for _, m := range c.members {
		c.json.pos = m.start
		c.json.path = append(c.json.path[:0], m.name...)
		member(m.name)
		if c.json.err != nil {
			return
		}
	}
	c.json.path = c.json.path[:0]
}

// keep stores a member that is no column under its place in the record.
func (c *jsonlRecord) keep() {
	at := string(c.json.path)
	value := c.json.raw()
	if c.json.err != nil {
		return
	}
	c.unknown = append(c.unknown, clipped(withoutIndices(at)))
	c.extra.add(at, value)
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

func (c *jsonlRecord) decodeRow(start int) {
	j, r := &c.json, &c.row
	var hasID bool
	c.each(func(name string) {
		switch name {
		case "id":
			r.ID, hasID = j.optionalText()
		case "query":
			var given bool
			r.Query, given = j.optionalText()
			r.QueryNull = !given
		case "answer":
			var given bool
			r.Answer, given = j.optionalText()
			r.AnswerNull = !given
		case "system":
			if s, given := j.optionalText(); given {
				r.System = s
			}
		case "provider":
			r.Provider, _ = j.optionalText()
		case "model":
			r.Model, _ = j.optionalText()
		case "citations":
			r.Citations, r.HasCitations = decodeList(j, r.Citations, c.citation)
		case "truth":
			r.Truth, r.HasTruth = decodeList(j, r.Truth, c.truth)
		case "claims":
			r.Claims, r.HasClaims = decodeList(j, r.Claims, c.claim)
		case "labels":
			r.Labels, r.HasLabels = decodeList(j, r.Labels, c.label)
		case "documents":
			r.Documents, r.HasDocuments = decodeList(j, r.Documents, c.inlineDocument)
		case "messages":
			r.Messages, r.HasMessages = decodeList(j, r.Messages, c.message)
		case "tags":
			c.tags()
		default:
			if c.sources == nil || !c.sources.member(c, name) {
				c.keep()
			}
		}
	})
	if !hasID {
		j.fail(start, "id is missing")
	}
	c.keepExtra()
}

// tags reads the map of tags; a null value is an absent tag.
func (c *jsonlRecord) tags() {
	j := &c.json
	if j.null() {
		return
	}
	j.object(func(name string) {
		if value, given := j.optionalText(); given {
			c.row.Tags = append(c.row.Tags, dataset.Tag{Key: name, Value: value})
		}
	})
}

// keepExtra puts what has no column into a tag of its own and sorts the tags.
func (c *jsonlRecord) keepExtra() {
	r := &c.row
	if !c.extra.empty() {
		at := slices.IndexFunc(r.Tags, func(t dataset.Tag) bool { return t.Key == referenceTag })
		if at < 0 {
			at = len(r.Tags)
			r.Tags = append(r.Tags, dataset.Tag{Key: referenceTag})
		} else {
			c.extra.addText(referenceTag, r.Tags[at].Value)
		}
		r.Tags[at].Value = c.extra.object()
	}
	slices.SortFunc(r.Tags, func(a, b dataset.Tag) int { return strings.Compare(a.Key, b.Key) })
}

// decodeDocument reads a line of documents. What has no column goes into its
// metadata.
func (c *jsonlRecord) decodeDocument() {
	j, d := &c.json, &c.document
	c.each(func(name string) {
		switch {
		case name == "metadata":
			d.Metadata = j.referenceOf()
		case !c.documentMember(d, name):
			c.keep()
		}
	})
	d.Metadata = c.extra.reference(d.Metadata)
}
