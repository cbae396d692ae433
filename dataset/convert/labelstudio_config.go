package convert

import (
	"bytes"
	"encoding/xml"
	"io"
)

// A configTag is one of a labeling configuration.
type configTag struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []configTag
}

// newTag makes a configTag of a name and pairs of attributes and values.
func newTag(name string, attributes ...string) configTag {
	t := configTag{XMLName: xml.Name{Local: name}}
	for i := 0; i < len(attributes); i += 2 {
		t.Attrs = append(t.Attrs, xml.Attr{Name: xml.Name{Local: attributes[i]}, Value: attributes[i+1]})
	}
	return t
}

func (t configTag) with(children ...configTag) configTag {
	t.Children = append(t.Children, children...)
	return t
}

// WriteBlindConfig writes the labeling configuration that shows tasks. It knows
// nothing of them but how many texts and questions a task has.
func WriteBlindConfig(w io.Writer, tasks []BlindTask) error {
	s := shapeOfTasks(tasks)
	spaces := newTag("Style") // without it spaces at the ends of lines are lost
	spaces.Text = ".htx-text { white-space: pre-wrap; }"
	view := newTag("View").with(spaces,
		newTag("Header", "value", "Question"), newTag("Text", "name", "question", "value", "$question"),
		newTag("Header", "value", "Answer"), newTag("Text", "name", "answer", "value", "$answer"),
	)
	for k := range s.documents {
		document := numbered(blindDocument, k)
		view = view.with(
			newTag("Header", "value", "$"+document+"_name"),
			newTag("Labels", "name", numbered(blindEvidence, k), "toName", document).with(newTag("Label", "value", "Evidence")),
			newTag("Text", "name", document, "value", "$"+document),
		)
	}
	view = view.with(newTag("Header", "value", "Places in the documents that are evidence"),
		choices(blindPlaces, "question", true, placesMarked, placesNone, placesUnknown))
	for k := range s.support {
		view = view.with(askedIn(numbered(blindSupport, k), "Supported", "Mostly supported", "Partially supported", "Not supported")...)
	}
	for k := range s.yesNo {
		view = view.with(askedIn(numbered(blindYesNo, k), "Yes", "No")...)
	}
	var b bytes.Buffer
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(view); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

// askedIn shows a question with its options.
func askedIn(name string, options ...string) []configTag {
	return []configTag{newTag("Text", "name", name, "value", "$"+name), choices(blindChoice+name, name, false, options...)}
}

func choices(name, of string, required bool, options ...string) configTag {
	t := newTag("Choices", "name", name, "toName", of, "choice", "single-radio")
	if required {
		t.Attrs = append(t.Attrs, newTag("", "required", "true").Attrs...)
	}
	for _, o := range options {
		t = t.with(newTag("Choice", "value", o))
	}
	return t
}
