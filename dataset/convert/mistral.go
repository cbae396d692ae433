package convert

import (
	"encoding/json"
	"strings"

	"ibid/dataset"
)

// mistral is Chat Completions and Conversations with chunks: a reference chunk
// follows the text that it supports.
//
// A reference has no offsets; its interval of the answer is the text chunk before
// it. A document is called by its id: what the last message of a tool in the
// request, a JSON object, has under that id, gives its title and text. A
// tool_reference is called by its URL, else by its title.
var mistral = Format{
	Name:       "mistral",
	Summary:    "Mistral Chat Completions and Conversations with reference chunks",
	Input:      "JSON or JSON Lines files, or a directory of them",
	CodePoints: true,
	streams:    true,
	options:    exchangeOptions,
	fits:       hasChunks,
	convert: exchanges(exchangeFormat{
		name:     "mistral",
		response: mistralResponse,
		request:  mistralRequest,
	}),
}

// hasChunks reports whether a response says what it says in chunks.
func hasChunks(o *object) bool {
	if o.isList("outputs") && (o.has("conversation_id") || o.peek("object") == "conversation.response") {
		return true
	}
	m := firstMessage(o)
	return m != nil && m.isList("content")
}

func mistralResponse(x *exchange, o *object) {
	if failed(o) {
		return
	}
	x.responseID = o.first("id", "conversation_id").string()
	if model := o.get("model").string(); model != "" {
		x.model = model
	}
	if outputs := o.get("outputs"); outputs.given() {
		for _, out := range outputs.objects() {
			if out.get("type").required() != "message.output" {
				x.keep(out.path(), out.raw())
				continue
			}
			if model := out.get("model").string(); model != "" {
				x.model = model
			}
			mistralContent(x, out.get("content"))
			x.rest(out)
		}
	} else if message := chosen(x, o); message != nil {
		message.get("role")
		mistralContent(x, message.get("content"))
		x.rest(message)
	}
	x.rest(o)
}

// mistralContent reads a string, or chunks.
func mistralContent(x *exchange, content value) {
	if content.kind() == "a string" {
		x.say(content.string())
		return
	}
	before := noPart // the text that a reference is for
	for _, chunk := range content.objects() {
		m := noMark
		if before != noPart {
			m = x.markPart(before)
		}
		switch kind := chunk.get("type").required(); kind {
		case "text":
			before = x.say(chunk.get("text").required())
			x.rest(chunk)
		case "reference":
			for _, id := range chunk.get("reference_ids").elements() {
				c := x.citeWhole(x.called(id.label()), m)
				c.Method = kind
				x.citationRest(c, chunk)
			}
		case "tool_reference":
			d := dataset.Document{Doc: chunk.get("url").string(), Title: chunk.get("title").string(), SourceType: chunk.get("tool").string()}
			if d.Doc == "" {
				d.Doc = d.Title
			}
			if d.Doc == "" {
				chunk.fail("neither url nor title")
				return
			}
			c := x.citeWhole(x.sameSource(d), m)
			c.Method = kind
			x.citationRest(c, chunk, "description", "favicon")
		default:
			x.keep(chunk.path(), chunk.raw())
		}
	}
}

// called returns the source of that name, one without a text if there is none.
func (x *exchange) called(name string) int {
	for i, s := range x.sources {
		if s.Doc == name {
			return i
		}
	}
	i := x.addSource(dataset.Document{Doc: name})
	x.sources[i].unnamed = x.request == nil
	return i
}

func mistralRequest(q *request, o *object) {
	q.model = o.get("model").string()
	input := o.first("messages", "inputs")
	if input.kind() == "a string" {
		q.query = input.string()
		return
	}
	for _, message := range input.objects() {
		text := spoken(message.get("content"))
		switch message.get("role").string() {
		case "user":
			if text != "" {
				q.query = text
			}
		case "tool":
			q.documents = mistralDocuments(text)
		}
	}
}

// mistralDocuments are the members of what a tool has returned; nil if that is no
// JSON object.
func mistralDocuments(returned string) []*source {
	var t jsonText
	if !strings.HasPrefix(strings.TrimSpace(returned), "{") || !json.Valid([]byte(returned)) {
		return nil
	}
	o := t.open([]byte(returned))
	if o == nil {
		return nil
	}
	var all []*source
	for _, m := range o.members {
		v := o.get(m.name)
		d := dataset.Document{Doc: m.name}
		if in := v.object(); v.kind() == "an object" && in != nil {
			d.Title, d.Doc = in.peek("title"), m.name
			d.Text, d.HasText = mistralText(in)
		} else if v.kind() == "a string" {
			d.Text, d.HasText = v.text()
		}
		all = append(all, &source{Document: d})
	}
	return all
}

// mistralText is the text of a document that a tool has returned.
func mistralText(o *object) (text string, known bool) {
	for _, name := range []string{"text", "content", "snippet", "description"} {
		if v := o.get(name); v.kind() == "a string" {
			return v.text()
		}
	}
	var said []string
	for _, v := range o.get("snippets").elements() {
		if v.kind() == "a string" {
			said = append(said, v.string())
			continue
		}
		for _, inner := range v.elements() {
			said = append(said, inner.string())
		}
	}
	return strings.Join(said, "\n"), len(said) > 0
}
