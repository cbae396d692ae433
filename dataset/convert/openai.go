package convert

import (
	"strings"

	"ibid"
)

// openAI is the Responses API and Chat Completions with annotations, of OpenAI
// and of those who answer like it.
//
// A url_citation is an interval of the text that carries it, which usually is the
// link that the text shows for it: the link proves what the offsets count. A
// file_citation has an index, behind what the file is cited for, or start and end
// as xAI has it. A file_path cites nothing; it is kept with the row. Of several
// choices the first is the answer. A stream is read where it repeats the whole
// response at its end, as that of the Responses API does.
var openAI = exchangeFormat{
	name:    "openai",
	summary: "OpenAI Responses and Chat Completions with annotations",
	fits: func(o *object) bool {
		return o.peek("object") == "response" || o.peek("type") == "response.created" ||
			strings.HasPrefix(o.peek("object"), "chat.completion") && (hasAnnotations(o) || !listsSources(o) && !hasChunks(o))
	},
	response: openAIResponse,
	request:  openAIRequest,
	stream:   func() eventReader { return &openAIStream{lastEvent{name: "response.completed"}} },
}.format()

// hasAnnotations reports whether the first choice of a completion has annotations.
func hasAnnotations(o *object) bool {
	m := firstMessage(o)
	return m != nil && m.isList("annotations") && string(compact(m.get("annotations").raw())) != "[]"
}

// firstMessage is the message of the first choice, nil if there is none. What it
// reads does not count for o.
func firstMessage(o *object) *object {
	if !o.isList("choices") {
		return nil
	}
	peeked := o.value.object()
	for _, choice := range peeked.get("choices").objects() {
		if choice.isObject("message") {
			return choice.get("message").object()
		}
		break
	}
	return nil
}

func openAIResponse(x *exchange, o *object) {
	if failed(o) {
		return
	}
	if strings.HasPrefix(o.peek("object"), "chat.completion.chunk") {
		o.fail("a chunk of a stream: save the whole response")
		return
	}
	x.identify(o, "id")
	if o.has("output") {
		openAIOutput(x, o)
	} else if message := chosen(x, o); message != nil {
		openAIMessage(x, message)
	}
	x.rest(o)
}

// failed fails if a response is an error and nothing else.
func failed(o *object) bool {
	if o.isObject("error") {
		o.fail("the response is an error: %s", quoted(string(o.get("error").raw())))
	}
	return o.r.err != nil
}

// chosen is the message of the first choice. The others are kept.
func chosen(x *exchange, o *object) (message *object) {
	choices := o.get("choices")
	if !choices.given() {
		choices.missing()
	}
	for i, choice := range choices.objects() {
		if i > 0 {
			x.keep(choice.path(), choice.raw())
			continue
		}
		message = choice.get("message").mustObject()
		x.rest(choice)
	}
	if message == nil {
		choices.fail("no choice")
	}
	return message
}

func openAIMessage(x *exchange, message *object) {
	message.get("role")
	part := wholeAnswer
	if content := message.get("content"); content.kind() == aList {
		for _, piece := range content.objects() {
			if piece.get("type").string() == "text" {
				x.addText(piece.get("text").required())
			} else {
				x.keep(piece.path(), piece.raw())
			}
		}
	} else if text, given := content.text(); given {
		part = x.addText(text)
	}
	annotations := message.get("annotations")
	if part != wholeAnswer && withoutOffsets(annotations) {
		openAISources(x, annotations, string(x.parts[part].text))
	} else {
		for _, a := range annotations.objects() {
			openAIAnnotation(x, a, part)
		}
	}
	x.rest(message)
}

// withoutOffsets reports whether the annotations are URLs all of which stand at
// 0–0, as those of Perplexity's models at OpenRouter do: a list of sources.
func withoutOffsets(annotations value) bool {
	some := false
	for _, a := range annotations.objects() {
		in := a.value.object()
		if inner := in.get("url_citation").object(); inner != nil {
			in = inner
		}
		start, end := in.get("start_index"), in.get("end_index")
		if a.peek("type") != "url_citation" || !start.given() || !end.given() || start.offset() != 0 || end.offset() != 0 {
			return false
		}
		some = true
	}
	return some
}

// openAISources reads annotations without offsets: markers such as [1] in the text
// count them from 1. One that no marker names is cited at the point 0, where it
// backs nothing.
func openAISources(x *exchange, annotations value, text string) {
	var sources []int
	for _, a := range annotations.objects() {
		in := a
		if inner := a.get("url_citation").object(); inner != nil {
			in = inner
		}
		sources = append(sources, x.sameSource(ibid.Document{Doc: in.get("url").required(), Title: in.get("title").string(), SourceType: "web"}))
		x.keep(a.path(), a.raw())
	}
	x.citeNumbers(text, sources)
	marked := map[int]bool{}
	for i := range x.citations {
		marked[x.citations[i].source] = true
	}
	for _, s := range sources {
		if marked[s] {
			continue
		}
		marked[s] = true
		c := x.citeWhole(s, x.addMark(answerMark{part: wholeAnswer, given: givenSpan, role: ibid.Marker}))
		c.Method = "url_citation"
	}
}

func openAIOutput(x *exchange, o *object) {
	for _, item := range o.get("output").objects() {
		if item.get("type").required() != "message" {
			x.keep(item.path(), item.raw())
			continue
		}
		for _, content := range item.get("content").objects() {
			if content.get("type").required() != "output_text" {
				x.keep(content.path(), content.raw())
				continue
			}
			part := x.addText(content.get("text").required())
			for _, a := range content.get("annotations").objects() {
				openAIAnnotation(x, a, part)
			}
			x.rest(content)
		}
		x.rest(item)
	}
}

// openAIAnnotation reads one annotation of a text, which is part of the answer.
// Chat Completions have its members in an object of their own.
func openAIAnnotation(x *exchange, o *object, part int) {
	kind := o.get("type")
	in := o
	if inner := o.get(kind.required()).object(); inner != nil {
		in = inner
	}
	var d ibid.Document
	m := answerMark{part: part, role: ibid.Marker}
	switch kind.string() {
	case "url_citation":
		d = ibid.Document{Doc: in.get("url").required(), Title: in.get("title").string(), SourceType: "web"}
		m.link = d.Doc
	case "file_citation", "container_file_citation":
		d = ibid.Document{Doc: in.first("filename", "file_id").required(), SourceType: "file"}
	case "file_path", "file":
		x.keep(o.path(), o.raw())
		return
	default:
		kind.fail("unknown kind of annotation %s", quoted(kind.string()))
		return
	}
	switch {
	case in.has("start_index") || in.has("end_index"):
		m.start, m.end = in.get("start_index").offset(), in.get("end_index").offset()
	case in.has("index"):
		m.given, m.start = givenPoint, in.get("index").offset()
	default:
		in.fail("no start_index and end_index, nor index")
	}
	c := x.citeWhole(x.sameSource(d), x.addMark(m))
	c.Title, c.Method = d.Title, kind.string()
	if in != o {
		x.citationRest(c, o)
	}
	x.citationRest(c, in, "file_id", "container_id", "content")
}

func openAIRequest(q *request, o *object) {
	q.model = o.get("model").string()
	q.ask(o.first("messages", "input"), "content", "user")
}

// messageText is the text of a message: a string, or the texts of its pieces.
func messageText(content value) string {
	if content.kind() == aString {
		return content.string()
	}
	var texts []string
	for _, piece := range content.elements() {
		if piece.kind() == aString {
			texts = append(texts, piece.string())
		} else if o := piece.object(); o != nil && o.has("text") && o.get("text").kind() == aString {
			texts = append(texts, o.get("text").string())
		}
	}
	return strings.Join(texts, "\n")
}

// An openAIStream reads the events of one response, the last of which repeats it.
type openAIStream struct{ lastEvent }

func (s *openAIStream) begins(o *object) bool { return o.peek("type") == "response.created" }

func (s *openAIStream) event(x *exchange, o *object) {
	switch kind := o.get("type").string(); kind {
	case "response.completed", "response.incomplete":
		if response := o.get("response").mustObject(); response != nil {
			openAIResponse(x, response)
		}
		s.seen = true
	case "response.failed", "error":
		o.fail("the stream is an error: %s", quoted(string(o.raw())))
	case "":
		o.fail("no event of the Responses API: streams of Chat Completions are not read, save the whole response")
	}
}
