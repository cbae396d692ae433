package convert

import (
	"encoding/json"
	"strconv"
	"strings"

	"ibid/dataset"
)

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
	citation dataset.Citation
	text     string
	hasText  bool
}

func (s *sourceList) reset() {
	s.all, s.known, s.byName = s.all[:0], false, nil
	s.names.reset()
}

// member reads a member that lists sources and reports whether name is one.
// Sources beside references are an unknown member like any other.
func (s *sourceList) member(c *jsonlRecord, name string) bool {
	switch {
	case name != "references" && (name != "sources" || c.given("references")):
		return false
	case c.json.null():
		return true
	}
	s.known = true
	c.json.list(func(int) {
		s.all = append(s.all, inlineSource{citation: dataset.Citation{DocNull: true}})
		x := &s.all[len(s.all)-1]
		if c.json.kind() == "a string" {
			x.citation.Doc = c.json.text()
			x.citation.DocNull = strings.TrimSpace(x.citation.Doc) == ""
			return
		}
		x.decode(c, name)
	})
	return true
}

// decode reads a source that is an object, an element of the named list. What
// has no column goes into source_reference.
func (x *inlineSource) decode(c *jsonlRecord, list string) {
	j, out := &c.json, &x.citation
	var more extra
	var names []keptMember
	j.aliased(func(name string) {
		switch name {
		case "title":
			out.Title, _ = j.optionalText()
		case "text":
			x.text, x.hasText = j.optionalText()
		case "cited_text":
			out.CitedText, _ = j.optionalText()
		case "source_type":
			out.SourceType, _ = j.optionalText()
		case "source_reference":
			out.SourceReference = j.referenceOf()
		case "url", "id":
			names = append(names, keptMember{name, j.raw()})
		default:
			if j.place(name, &out.Doc, &out.DocNull, &out.Page, &out.Start, &out.End, &out.Unit) {
				return
			}
			c.unknown = append(c.unknown, clipped(list+"."+name))
			if value := j.raw(); j.err == nil {
				more.add(name, value)
			}
		}
	})
	if j.err != nil {
		return
	}
	for _, best := range []string{"url", "id"} {
		for _, k := range names {
			if k.name != best {
				continue
			}
			if name := scalar(k.value); out.DocNull && name != "" {
				out.Doc, out.DocNull = name, false
			} else {
				more.add(k.name, k.value)
			}
		}
	}
	out.SourceReference = more.reference(out.SourceReference)
}

// scalar is the text of a JSON string or number that is not blank, "" of
// anything else.
func scalar(value []byte) string {
	switch c := value[0]; {
	case c == '"':
		var s string
		if json.Unmarshal(value, &s) != nil || strings.TrimSpace(s) == "" {
			return ""
		}
		return s
	case c == '-' || '0' <= c && c <= '9':
		return string(value)
	}
	return ""
}

// settle makes the row's documents the sources if the record lists no others,
// and puts the texts of those it lists among the row's documents.
func (s *sourceList) settle(row *dataset.Row) {
	if !s.known {
		s.known = row.HasDocuments
		for i := range row.Documents {
			d := &row.Documents[i]
			s.all = append(s.all, inlineSource{citation: dataset.Citation{Doc: d.Doc, Title: d.Title, SourceType: d.SourceType}})
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
			row.Documents = append(row.Documents, dataset.Document{Doc: c.Doc, Title: c.Title, SourceType: c.SourceType})
		}
	}
}

// addText gives the text of source number a document of the row.
func (s *sourceList) addText(row *dataset.Row, x *inlineSource, number int) {
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
		row.Documents = append(row.Documents, dataset.Document{Doc: name, Title: c.Title, Text: x.text, HasText: true, SourceType: c.SourceType})
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
