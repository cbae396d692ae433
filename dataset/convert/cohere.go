package convert

import (
	"fmt"
	"slices"

	"ibid"
)

// cohere is Chat with documents: versions 1 and 2, responses and streams.
//
// A citation is an interval of the content block that content_index names, else
// of the first text, with the text that stands there, and has one or more sources,
// each of which becomes a citation of a whole document. A document is called by
// its id; its text is its member text, snippet or content, else all of it as JSON.
// Citations of thoughts and plans are not of the answer; they are kept with the
// row.
var cohere = exchangeFormat{
	name:    "cohere",
	summary: "Cohere Chat with documents, versions 1 and 2, and streams",
	fits: func(o *object) bool {
		return o.isObject("message") && o.has("finish_reason") || o.peek("type") == "message-start" ||
			o.peek("event_type") != "" && !isInteraction(o) || o.peek("generation_id") != "" && o.peek("response_id") != ""
	},
	response: cohereResponse,
	request:  cohereRequest,
	stream:   func() eventReader { return &cohereStream{lastEvent: lastEvent{name: "message-end"}} },
}.format()

func cohereResponse(x *exchange, o *object) {
	if failed(o) {
		return
	}
	message := o.get("message").object()
	if message == nil {
		cohereFirst(x, o)
		return
	}
	x.responseID = o.get("id").string()
	message.get("role")
	if content := message.get("content"); content.kind() == aString {
		x.addText(content.string())
	} else {
		for _, block := range content.objects() {
			cohereBlock(x, block)
		}
	}
	for _, c := range message.get("citations").objects() {
		cohereCitation(x, c)
	}
	x.rest(message)
	x.rest(o)
}

// cohereBlock reads one block of the content.
func cohereBlock(x *exchange, block *object) {
	switch kind := block.get("type").required(); kind {
	case "text":
		x.addText(block.get("text").required())
		x.rest(block)
	default:
		x.addHidden("") // it counts, but what it says is not the answer
		x.keep(block.path(), block.raw())
	}
}

// cohereFirst reads a response of version 1.
func cohereFirst(x *exchange, o *object) {
	x.responseID = o.first("response_id", "generation_id").string()
	part := x.addText(o.get("text").required())
	documents := map[string]int{}
	for _, d := range o.get("documents").objects() {
		doc := cohereDocument(d.get("id").label(), d)
		documents[doc.Doc] = x.cohereSource(doc)
	}
	for _, c := range o.get("citations").objects() {
		m := x.cohereMark(c, part)
		before := len(x.citations)
		for _, id := range c.get("document_ids").elements() {
			name := id.label()
			source, known := documents[name]
			if !known {
				source = x.cohereSource(ibid.Document{Doc: name})
			}
			cite := x.citeWhole(source, m)
			cite.Method = "document"
			x.citationRest(cite, c, "type")
		}
		if len(x.citations) == before {
			x.citationRest(x.cite(noSource, m), c, "type")
		}
	}
	x.rest(o)
}

// cohereMark reads where in a part of the answer a citation stands.
func (x *exchange) cohereMark(c *object, part int) int {
	return x.addSegment(part, c.get("start").offset(), c.get("end").offset(), c.get("text").string())
}

// cohereCitation reads a citation of version 2.
func cohereCitation(x *exchange, c *object) {
	if kind := c.get("type").string(); kind == "THINKING_CONTENT" || kind == "PLAN" {
		x.keep(c.path(), c.raw())
		return
	}
	part := slices.IndexFunc(x.parts, func(p part) bool { return !p.hidden })
	if n := c.get("content_index"); n.given() {
		at := n.offset()
		if at < 0 || at >= int64(len(x.parts)) {
			n.fail("there are %d blocks of content", len(x.parts))
			return
		}
		part = int(at)
	}
	if part < 0 {
		c.fail("a citation of an answer without a text")
		return
	}
	if x.parts[part].hidden {
		x.keep(c.path(), c.raw())
		return
	}
	m := x.cohereMark(c, part)
	some := false
	for _, s := range c.get("sources").objects() {
		some = true
		cite := x.citeWhole(x.cohereSource(cohereSourceOf(s)), m)
		cite.Method = s.get("type").string()
		x.citationRest(cite, c)
		x.citationRest(cite, s)
	}
	if !some {
		x.citationRest(x.cite(noSource, m), c)
	}
}

// cohereSourceOf is the document that a source is, or the output of a tool.
func cohereSourceOf(s *object) ibid.Document {
	id := s.get("id").label()
	in := s.first("document", "tool_output").object()
	if in == nil {
		return ibid.Document{Doc: id}
	}
	d := cohereDocument(id, in)
	d.SourceType = s.get("type").string()
	return d
}

// cohereDocument is a document whose members have any names.
func cohereDocument(id string, o *object) ibid.Document {
	d := ibid.Document{Doc: id, Title: o.get("title").string()}
	for _, name := range []string{"text", "snippet", "content"} {
		if v := o.get(name); !d.HasText && v.kind() == aString {
			d.Text, d.HasText = v.text()
		}
	}
	if !d.HasText && len(o.members) > 0 {
		d.Text, d.HasText = compact(o.raw()), true
	}
	return d
}

// cohereSource returns the source of that id: what the request says of it, where
// that is the same or the response says nothing.
func (x *exchange) cohereSource(d ibid.Document) int {
	return x.sourceLike(d, func(s *source) bool { return !d.HasText || s.Text == d.Text })
}

func cohereRequest(q *request, o *object) {
	q.model = o.get("model").string()
	q.query = o.get("message").string()
	q.ask(o.get("messages"), "content", "user")
	for i, v := range o.get("documents").elements() {
		id := fmt.Sprintf("doc_%d", i)
		if v.kind() == aString {
			q.addDocument(source{Document: ibid.Document{Doc: id, Text: v.string(), HasText: true, SourceType: "document"}})
			continue
		}
		d := v.mustObject()
		if d == nil {
			return
		}
		if own := d.get("id").label(); own != "" {
			id = own
		}
		in := d
		if data := d.get("data"); data.kind() == aString {
			q.addDocument(source{Document: ibid.Document{Doc: id, Text: data.string(), HasText: true, SourceType: "document"}})
			continue
		} else if o := data.object(); o != nil {
			in = o
		}
		doc := cohereDocument(id, in)
		doc.SourceType = "document"
		q.addDocument(source{Document: doc})
	}
}

// A cohereStream reads the events of one response of version 2. The last event of
// version 1 repeats the whole response.
type cohereStream struct {
	lastEvent
	begun bool
}

func (s *cohereStream) begins(o *object) bool {
	return o.peek("type") == "message-start" || o.peek("event_type") == "stream-start"
}

func (s *cohereStream) event(x *exchange, o *object) {
	if o.has("event_type") {
		if o.get("event_type").string() == "stream-end" {
			if response := o.get("response").mustObject(); response != nil {
				cohereResponse(x, response)
			}
			s.seen = true
		}
		return
	}
	kind := o.get("type")
	if kind.required() == "message-start" {
		s.begun = true
		x.responseID = o.get("id").string()
		return
	}
	if !s.begun {
		kind.fail("%s before message-start", quoted(kind.string()))
		return
	}
	if kind.string() == "message-end" {
		s.seen = true
		x.keep("message-end", o.raw())
		return
	}
	delta := o.get("delta").object()
	if delta == nil || !delta.isObject("message") {
		return
	}
	s.message(x, o, delta.get("message").object())
}

// message adds what an event says of the message.
func (s *cohereStream) message(x *exchange, o, message *object) {
	switch o.get("type").string() {
	case "content-start":
		if n := o.get("index"); n.offset() != int64(len(x.parts)) {
			n.fail("content block %d, and the next is %d", n.offset(), len(x.parts))
			return
		}
		if block := message.get("content").mustObject(); block != nil {
			if block.get("type").required() == "text" {
				x.addText(block.get("text").string())
			} else {
				x.addHidden(block.get("thinking").string())
			}
		}
	case "content-delta":
		n := o.get("index")
		at := n.offset()
		if at < 0 || at >= int64(len(x.parts)) {
			n.fail("content block %d has not begun", at)
			return
		}
		if block := message.get("content").mustObject(); block != nil {
			x.parts[at].text = append(x.parts[at].text, block.first("text", "thinking").string()...)
		}
	case "citation-start":
		if c := message.get("citations"); c.kind() == anObject {
			cohereCitation(x, c.object())
		} else {
			for _, c := range c.objects() {
				cohereCitation(x, c)
			}
		}
	case "tool-plan-delta", "tool-call-start", "tool-call-delta":
		x.keep(o.get("type").string(), message.raw())
	}
}

func (s *cohereStream) end(x *exchange) string {
	for i := range x.parts {
		if p := &x.parts[i]; p.hidden && len(p.text) > 0 {
			x.keep(indexed("content", i)+".thinking", jsonString(string(p.text)))
		}
	}
	return s.lastEvent.end(x)
}
