package convert

import (
	"cmp"
	"fmt"
	"strings"

	"ibid"
	"ibid/metrics/token"
)

// The Interactions API of Gemini answers in steps (in its first version: outputs). The
// texts of the steps model_output are the answer, each a part of its own; a stream gives
// a step in pieces. An annotation is an interval of its text, which it cites a URL, a file or
// a place for. Its offsets are said to be bytes of the text, and nothing is quoted. Where they
// cannot be bytes, because one divides a character or is beyond the end, and can all be code
// points, they are read so, with a warning.

// isInteraction reports whether a response is of the Interactions API.
func isInteraction(o *object) bool {
	return o.peek("object") == "interaction" || o.has("status") && (o.isList("steps") || o.isList("outputs")) ||
		strings.HasPrefix(o.peek("event_type"), "interaction.")
}

func geminiInteraction(x *exchange, o *object) {
	if failed(o) {
		return
	}
	if status := o.get("status"); status.string() == "failed" || status.string() == "cancelled" {
		status.fail("the interaction is %s", status.string())
		return
	}
	x.responseID = cmp.Or(o.get("id").string(), x.responseID)
	x.model = cmp.Or(o.get("model").string(), o.get("agent").string(), x.model)
	var q request
	q.askInteraction(o.get("input"))
	for _, step := range o.get("steps").objects() {
		geminiStep(x, &q, step)
	}
	geminiContents(x, o.get("outputs"))
	x.query = cmp.Or(x.query, q.query)
	o.get("output_text") // the same again
	x.rest(o)
	interactionUnits(x)
}

func geminiStep(x *exchange, q *request, step *object) {
	switch kind := step.get("type"); kind.required() {
	case "model_output":
		if e := step.get("error"); e.given() {
			e.fail("the model's output is an error: %s", quoted(string(e.raw())))
		}
		geminiContents(x, step.get("content"))
		x.rest(step)
	case "user_input":
		q.query = cmp.Or(messageText(step.get("content")), q.query)
	default:
		x.keep(step.path(), step.raw())
	}
}

func geminiContents(x *exchange, list value) {
	for _, content := range list.objects() {
		if content.get("type").required() != "text" {
			x.keep(content.path(), content.raw())
			continue
		}
		part := x.addText(content.get("text").string())
		for _, a := range content.get("annotations").objects() {
			geminiAnnotation(x, a, part)
		}
		x.rest(content)
	}
}

// geminiAnnotation reads an annotation of a text. Those of the first version have no type.
func geminiAnnotation(x *exchange, o *object, part int) {
	kind := cmp.Or(o.get("type").string(), "url_citation")
	var d ibid.Document
	switch kind {
	case "url_citation":
		d = ibid.Document{Doc: o.first("url", "source").string(), Title: o.get("title").string(), SourceType: "web"}
	case "file_citation":
		name := o.get("file_name").string()
		d = ibid.Document{Doc: cmp.Or(o.get("document_uri").string(), name, o.get("source").string()), Title: name, SourceType: "file"}
	case "place_citation":
		d = ibid.Document{Doc: cmp.Or(o.get("url").string(), o.get("place_id").string()), Title: o.get("name").string(), SourceType: "place"}
	default:
		x.keep(o.path(), o.raw()) // such as the words of a recording
		return
	}
	m := noMark
	if end := o.camel("endIndex").integer(); end.Known() {
		m = x.addSegment(part, o.camel("startIndex").integer().Value, end.Value, "")
	}
	cited := noSource
	if d.Doc != "" {
		cited = x.sameSource(d)
	}
	c := x.citeWhole(cited, m)
	c.Title, c.SourceType, c.Method = d.Title, d.SourceType, kind
	c.Page = o.get("page_number").integer()
	x.citationRest(c, o, "source", "place_id", "media_id", "custom_metadata", "review_snippets")
}

// interactionUnits takes marks for code points where they cannot be bytes.
func interactionUnits(x *exchange) {
	for part := range x.parts {
		text := token.NewText(string(x.parts[part].text))
		bytes, points := true, true
		var marks []*answerMark
		for i := range x.marks {
			m := &x.marks[i]
			if m.part != part {
				continue
			}
			marks = append(marks, m)
			_, _, fits := Reading{Unit: token.Byte}.Span(text, m.start, m.end)
			bytes = bytes && fits
			_, _, fits = Reading{Unit: token.CodePoint}.Span(text, m.start, m.end)
			points = points && fits
		}
		if bytes || !points {
			continue
		}
		for _, m := range marks {
			m.unit = fixedUnit(token.CodePoint) + 1
		}
		x.warn(fmt.Sprintf("annotations of text %d cannot be bytes: read as characters", part+1))
	}
}

// askInteraction takes the query from the input of an interaction: a text, a piece of content,
// a list of either, or the last of the user's steps or turns.
func (q *request) askInteraction(input value) {
	switch input.kind() {
	case aString:
		q.query = input.string()
	case anObject:
		q.query = input.object().peek("text")
	case aList:
		whole := false // some element is no turn, so the list is one
		for _, e := range input.elements() {
			if e.kind() != anObject {
				whole = true
				continue
			}
			switch o := e.object(); {
			case o.peek("type") == "user_input" || o.peek("role") == "user":
				q.query = cmp.Or(messageText(o.get("content")), q.query)
			case o.peek("type") == "text":
				whole = true
			}
		}
		if whole {
			q.query = messageText(input)
		}
	}
}

// An interactionStream reads the events of an interaction.
type interactionStream struct {
	lastEvent
	parts map[int64]int // of the steps
}

func (s *interactionStream) event(x *exchange, o *object) {
	kind := o.get("event_type").string()
	switch {
	case kind == "error":
		o.fail("the stream is an error: %s", quoted(string(o.raw())))
	case strings.HasPrefix(kind, "interaction."):
		s.seen = s.seen || strings.HasPrefix(kind, "interaction.complete")
		if in := o.get("interaction").object(); in != nil {
			if len(s.parts) > 0 { // the whole may be here again
				in.get("steps")
				in.get("outputs")
			}
			if !s.seen {
				in.get("status")
			}
			geminiInteraction(x, in)
		}
	case kind == "step.start" || kind == "content.start":
		step := o.first("step", "content").object()
		if step != nil && (step.peek("type") == "model_output" || kind == "content.start" && step.peek("type") == "text") {
			s.part(x, o)
		}
	case kind == "step.delta" || kind == "content.delta":
		s.delta(x, o)
	}
}

// part is the part of the answer that an event is about.
func (s *interactionStream) part(x *exchange, event *object) int {
	if s.parts == nil {
		s.parts = map[int64]int{}
	}
	index := event.get("index").integer().Value
	part, known := s.parts[index]
	if !known {
		part = x.addText("")
		s.parts[index] = part
	}
	return part
}

func (s *interactionStream) delta(x *exchange, o *object) {
	delta := o.get("delta").mustObject()
	if delta == nil {
		return
	}
	kind := delta.get("type").string()
	if kind != "text" && kind != "text_annotation" && kind != "text_annotation_delta" {
		x.keep(delta.path(), delta.raw())
		return
	}
	part := s.part(x, o)
	x.parts[part].text = append(x.parts[part].text, delta.get("text").string()...)
	for _, a := range delta.get("annotations").objects() {
		geminiAnnotation(x, a, part)
	}
	x.rest(delta)
}

func (s *interactionStream) end(x *exchange) string {
	interactionUnits(x)
	return s.lastEvent.end(x)
}
