package convert

import (
	"cmp"
	"fmt"
	"strings"

	"ibid"
)

// anthropic is the Messages API with citations: responses and event streams.
//
// Each citation stands on a text block, which is its interval of the answer; the
// answer is the text blocks one behind the other. A char_location counts
// characters of the source; page_location and content_block_location are kept in
// units page and block, search_result_location in blocks of the search result;
// web_search_result_location has a URL and a quote, but no place.
//
// A document of the request is called by its title, else by its number; a search
// result by its source. Its text is that of a plain text, the pages of a PDF for
// which the request gives text or pages beside the data, else the pages that are
// read from the data, or the blocks of custom content. Without the request a document is known by its title alone.
var anthropic = exchangeFormat{
	name:    "anthropic",
	summary: "Anthropic Messages: responses and event streams with citations",
	fits: func(o *object) bool {
		return o.peek("type") == "message" && o.isList("content") || o.peek("type") == "message_start"
	},
	response: anthropicResponse,
	request:  anthropicRequest,
	stream:   func() eventReader { return &anthropicStream{lastEvent: lastEvent{name: "message_stop"}} },
}.format()

func anthropicResponse(x *exchange, o *object) {
	if o.peek("type") == "error" {
		o.fail("the response is an error: %s", quoted(string(o.get("error").raw())))
		return
	}
	x.identify(o, "id")
	content := o.get("content")
	if !content.given() {
		content.missing()
	}
	for _, block := range content.objects() {
		if block.get("type").required() != "text" {
			x.keep(block.path(), block.raw())
			continue
		}
		part := x.addText(block.get("text").required())
		for _, c := range block.get("citations").objects() {
			anthropicCitation(x, c, part)
		}
		x.rest(block)
	}
	x.rest(o)
}

// anthropicPlaces are the units of the kinds of citations, and what the members that count
// in them are called behind start_ and end_.
var anthropicPlaces = map[string]struct{ unit, member string }{
	"char_location":          {"", "char_index"},
	"page_location":          {"page", "page_number"},
	"content_block_location": {"block", "block_index"},
	"search_result_location": {"block", "block_index"},
}

// anthropicCitation reads one citation of a text block.
func anthropicCitation(x *exchange, o *object, part int) {
	kind := o.get("type")
	place, known := anthropicPlaces[kind.required()]
	switch {
	case known:
		c := anthropicCited(x, o, part)
		c.between(o, place.unit, "start_"+place.member, "end_"+place.member)
		x.citationRest(c, o, "file_id")
	case kind.string() == "web_search_result_location":
		d := ibid.Document{Doc: o.get("url").required(), Title: o.get("title").string(), SourceType: "web"}
		c := x.citeWhole(x.sameSource(d), x.markPart(part))
		c.Method, c.CitedText = kind.string(), o.get("cited_text").string()
		x.citationRest(c, o, "encrypted_index")
	default:
		kind.fail("unknown kind of citation %s", quoted(kind.string()))
	}
}

// anthropicCited begins a citation of a document or search result by its number.
func anthropicCited(x *exchange, o *object, part int) *foundCitation {
	isResult := o.peek("type") == "search_result_location"
	index, title, of := o.get("document_index"), o.get("document_title").string(), ""
	if isResult {
		index, title, of = o.get("search_result_index"), o.get("title").string(), o.get("source").string()
	}
	c := x.citeNumbered(index.offset(), isResult, title, of, x.markPart(part))
	c.Title, c.Method, c.CitedText = title, o.peek("type"), o.get("cited_text").string()
	return c
}

func anthropicRequest(q *request, o *object) {
	q.model = o.get("model").string()
	for _, message := range o.get("messages").objects() {
		content := message.get("content")
		role := message.get("role").string()
		if content.kind() == aString {
			if role == "user" {
				q.query = content.string()
			}
			continue
		}
		var texts []string
		for _, block := range content.objects() {
			if text := anthropicBlock(q, block); text != "" {
				texts = append(texts, text)
			}
		}
		if role == "user" && len(texts) > 0 {
			q.query = strings.Join(texts, "\n")
		}
	}
}

// anthropicBlock reads one block of a request: its sources, or what it says.
func anthropicBlock(q *request, block *object) (text string) {
	switch block.get("type").string() {
	case "text":
		return block.get("text").string()
	case "document":
		q.addDocument(anthropicDocument(q, block))
	case "search_result":
		q.addResult(block)
	case "tool_result":
		if content := block.get("content"); content.kind() == aList {
			for _, inner := range content.objects() {
				anthropicBlock(q, inner)
			}
		}
	}
	return ""
}

// textBlocks are the texts of content blocks, or a string that stands for one.
func textBlocks(v value) []string {
	if v.kind() == aString {
		return []string{v.string()}
	}
	all := []string{}
	for _, b := range v.objects() {
		all = append(all, b.get("text").string())
	}
	return all
}

// anthropicDocument is the next document of a request.
func anthropicDocument(q *request, block *object) source {
	title := block.get("title").string()
	d := ibid.Document{Doc: cmp.Or(title, fmt.Sprintf("document %d", len(q.documents))), Title: title}
	if about, given := block.get("context").text(); given {
		var more extra
		more.addText("context", about)
		d.Metadata = more.object()
	}
	from := block.get("source").mustObject()
	if from == nil {
		return source{}
	}
	switch from.get("type").string() {
	case "text":
		d.Text, d.HasText = from.get("data").text()
	case "content":
		d.Blocks, d.HasBlocks = textBlocks(from.get("content")), true
	default: // base64, url, file: somebody may give the text, and a PDF in base64 has it
		for _, o := range []*object{block, from} {
			if d.HasText || d.HasPages {
				break
			}
			d.Text, d.HasText = o.get("text").text()
			d.Pages, d.HasPages = o.get("pages").texts()
		}
		s := source{Document: d}
		if from.get("media_type").string() == "application/pdf" {
			q.readPDF(&s, from.get("data"))
		}
		return s
	}
	return source{Document: d}
}

// An anthropicStream reads the events of one message.
type anthropicStream struct {
	lastEvent
	parts  map[int64]int    // of the open content blocks; noPart for those that are no text
	others map[int64][]byte // what those say
}

const noPart = -1

func (s *anthropicStream) begins(o *object) bool { return o.peek("type") == "message_start" }

func (s *anthropicStream) event(x *exchange, o *object) {
	kind := o.get("type")
	if s.parts == nil && kind.string() != "message_start" && kind.string() != "ping" && kind.string() != "error" {
		kind.fail("%s before message_start", quoted(kind.string()))
		return
	}
	switch kind.required() {
	case "message_start":
		s.parts, s.others = map[int64]int{}, map[int64][]byte{}
		if message := o.get("message").mustObject(); message != nil {
			x.responseID = message.get("id").string()
			x.model = cmp.Or(message.get("model").string(), x.model)
			message.get("content")
			x.rest(message)
		}
	case "content_block_start":
		s.start(x, o)
	case "content_block_delta":
		s.delta(x, o)
	case "content_block_stop":
		n := o.get("index")
		if _, open := s.parts[n.offset()]; !open {
			n.fail("content block %d is not open", n.offset())
		}
		if texts := s.others[n.offset()]; len(texts) > 0 {
			x.keep(indexed("content", int(n.offset()))+".delta", jsonString(string(texts)))
		}
		delete(s.parts, n.offset())
		delete(s.others, n.offset())
	case "message_delta":
		x.rest(o)
	case "message_stop":
		s.seen = true
	case "error":
		o.fail("the stream is an error: %s", quoted(string(o.get("error").raw())))
	}
}

func (s *anthropicStream) start(x *exchange, o *object) {
	n := o.get("index")
	if _, open := s.parts[n.offset()]; open {
		n.fail("content block %d is open already", n.offset())
		return
	}
	block := o.get("content_block").mustObject()
	if block == nil {
		return
	}
	if block.get("type").required() != "text" {
		s.parts[n.offset()] = noPart
		x.keep(indexed("content", int(n.offset())), block.raw())
		return
	}
	part := x.addText(block.get("text").string())
	s.parts[n.offset()] = part
	for _, c := range block.get("citations").objects() {
		anthropicCitation(x, c, part)
	}
}

func (s *anthropicStream) delta(x *exchange, o *object) {
	n := o.get("index")
	part, open := s.parts[n.offset()]
	if !open {
		n.fail("content block %d is not open", n.offset())
		return
	}
	delta := o.get("delta").mustObject()
	if delta == nil {
		return
	}
	switch kind := delta.get("type").required(); {
	case part == noPart:
		for _, name := range []string{"partial_json", "thinking", "signature"} {
			s.others[n.offset()] = append(s.others[n.offset()], delta.get(name).string()...)
		}
	case kind == "text_delta":
		x.parts[part].text = append(x.parts[part].text, delta.get("text").required()...)
	case kind == "citations_delta":
		if c := delta.get("citation").mustObject(); c != nil {
			anthropicCitation(x, c, part)
		}
	default:
		delta.get("type").fail("unknown delta %s of a text block", quoted(kind))
	}
}
