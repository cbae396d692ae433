package convert

import (
	"cmp"
	"encoding/json"
	"strings"

	"ibid"
)

// mistral is Chat Completions and Conversations with chunks: a reference chunk
// follows the text that it supports.
//
// A reference has no offsets; its interval of the answer is the text chunk before
// it. A document is called by its id: what the last message of a tool in the
// request, a JSON object, has under that id, gives its title and text. A
// tool_reference is called by its URL, else by its title.
var mistral = exchangeFormat{
	name:     "mistral",
	summary:  "Mistral Chat Completions and Conversations with reference chunks",
	fits:     hasChunks,
	response: mistralResponse,
	request:  mistralRequest,
}.format()

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
	x.identify(o, "id", "conversation_id")
	if outputs := o.get("outputs"); outputs.given() {
		for _, out := range outputs.objects() {
			if out.get("type").required() != "message.output" {
				x.keep(out.path(), out.raw())
				continue
			}
			x.model = cmp.Or(out.get("model").string(), x.model)
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
	if content.kind() == aString {
		x.addText(content.string())
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
			before = x.addText(chunk.get("text").required())
			x.rest(chunk)
		case "reference":
			for _, id := range chunk.get("reference_ids").elements() {
				c := x.citeWhole(x.called(id.label()), m)
				c.Method = kind
				x.citationRest(c, chunk)
			}
		case "tool_reference":
			d := ibid.Document{Title: chunk.get("title").string(), SourceType: chunk.get("tool").string()}
			d.Doc = cmp.Or(chunk.get("url").string(), d.Title)
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

func mistralRequest(q *request, o *object) {
	q.model = o.get("model").string()
	input := o.first("messages", "inputs")
	q.ask(input, "content", "user")
	if input.kind() != aList {
		return
	}
	for _, message := range input.objects() {
		if message.get("role").string() == "tool" {
			q.documents = mistralDocuments(messageText(message.get("content")))
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
	for name, v := range o.all() {
		d := ibid.Document{Doc: name}
		switch v.kind() {
		case anObject:
			in := v.object()
			d.Title = in.peek("title")
			d.Text, d.HasText = mistralText(in)
		case aString:
			d.Text, d.HasText = v.text()
		}
		all = append(all, &source{Document: d})
	}
	return all
}

// mistralText is the text of a document that a tool has returned.
func mistralText(o *object) (text string, known bool) {
	for _, name := range []string{"text", "content", "snippet", "description"} {
		if v := o.get(name); v.kind() == aString {
			return v.text()
		}
	}
	var texts []string
	for _, v := range o.get("snippets").elements() {
		if v.kind() == aString {
			texts = append(texts, v.string())
			continue
		}
		for _, inner := range v.elements() {
			texts = append(texts, inner.string())
		}
	}
	return strings.Join(texts, "\n"), len(texts) > 0
}
