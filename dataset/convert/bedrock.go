package convert

import (
	"cmp"
	"fmt"
	"strings"

	"ibid"
)

// bedrock is Amazon Bedrock: Converse with citations, and RetrieveAndGenerate.
//
// Of Converse, the text that carries citations is their interval of the answer;
// citations without a text are those of the text before
// them. documentChar counts
// characters, documentPage pages from 1, documentChunk and searchResultLocation
// blocks from 0, all with the end excluded. A document of the request is called by
// its name, a search result by its source, a page of the web by its URL.
//
// Of RetrieveAndGenerate, a span of the answer with its text has retrieved
// references, each of which becomes a citation of a whole document: the passage
// that was retrieved, called by where it comes from. What the end of a span means
// is not documented; its text proves it.
var bedrock = exchangeFormat{
	name:     "bedrock",
	summary:  "Amazon Bedrock Converse and RetrieveAndGenerate with citations",
	fits:     func(o *object) bool { return o.isObject("output") },
	response: bedrockResponse,
	request:  bedrockRequest,
}.format()

func bedrockResponse(x *exchange, o *object) {
	output := o.get("output").mustObject()
	if output == nil {
		return
	}
	if message := output.get("message").object(); message != nil {
		message.get("role")
		for _, block := range message.get("content").objects() {
			bedrockBlock(x, block)
		}
		x.rest(message)
	} else {
		x.responseID = o.get("sessionId").string()
		part := x.addText(output.get("text").required())
		for _, c := range o.get("citations").objects() {
			bedrockRetrieved(x, c, part)
		}
	}
	x.rest(output)
	x.rest(o)
}

// bedrockBlock reads one block of a message.
func bedrockBlock(x *exchange, block *object) {
	if text, given := block.get("text").text(); given {
		x.addText(text)
		x.rest(block)
		return
	}
	cited := block.get("citationsContent").object()
	if cited == nil {
		block.unread(func(v value) { x.keep(v.path(), v.raw()) })
		return
	}
	m, texts := noMark, []byte(nil)
	for _, piece := range cited.get("content").objects() {
		texts = append(texts, piece.get("text").string()...)
		x.rest(piece)
	}
	switch {
	case len(texts) > 0:
		m = x.markPart(x.addText(string(texts)))
	case len(x.parts) > 0:
		m = x.markPart(len(x.parts) - 1)
	}
	for _, c := range cited.get("citations").objects() {
		bedrockCitation(x, c, m)
	}
	x.rest(cited)
	x.rest(block)
}

// bedrockCitation reads one citation of Converse.
func bedrockCitation(x *exchange, o *object, m int) {
	location := o.get("location").mustObject()
	if location == nil {
		return
	}
	title, of := o.get("title").string(), o.get("source").string()
	if web := location.get("web").object(); web != nil {
		d := ibid.Document{Doc: web.get("url").required(), Title: title, SourceType: "web"}
		c := x.citeWhole(x.sameSource(d), m)
		c.Method = "web"
		c.CitedText = strings.Join(textBlocks(o.get("sourceContent")), "")
		x.citationRest(c, web, "domain")
		x.citationRest(c, o)
		return
	}
	for _, kind := range []struct{ name, unit, index string }{
		{"documentChar", "", "documentIndex"},
		{"documentPage", "page", "documentIndex"},
		{"documentChunk", "block", "documentIndex"},
		{"searchResultLocation", "block", "searchResultIndex"},
	} {
		in := location.get(kind.name).object()
		if in == nil {
			continue
		}
		c := x.citeNumbered(in.get(kind.index).offset(), kind.index == "searchResultIndex", title, of, m)
		c.Title, c.Method = title, kind.name
		c.between(in, kind.unit, "start", "end")
		c.CitedText = strings.Join(textBlocks(o.get("sourceContent")), "")
		x.citationRest(c, in)
		x.citationRest(c, o)
		return
	}
	location.fail("unknown kind of location")
}

// bedrockRetrieved reads one citation of RetrieveAndGenerate.
func bedrockRetrieved(x *exchange, o *object, part int) {
	m := noMark
	if generated := o.get("generatedResponsePart").object(); generated != nil {
		if text := generated.get("textResponsePart").object(); text != nil {
			if s := text.get("span").object(); s != nil {
				start, end := s.first("start", "beginOffsetInclusive"), s.first("end", "endOffsetExclusive")
				m = x.addSegment(part, start.offset(), end.offset(), text.get("text").string())
			}
		}
	}
	before := len(x.citations)
	for _, ref := range o.get("retrievedReferences").objects() {
		d := ibid.Document{Doc: cmp.Or(bedrockLocation(ref.get("location").object()), "retrieved reference")}
		if content := ref.get("content").object(); content != nil {
			d.Text, d.HasText = content.get("text").text()
		}
		c := x.citeWhole(x.sameSource(d), m)
		c.Method = "retrieved"
		if location := ref.get("location").object(); location != nil {
			c.SourceType = location.peek("type")
			c.more.add("location", location.raw())
		}
		x.citationRest(c, ref, "metadata")
	}
	if len(x.citations) == before {
		x.keep(o.path(), o.raw())
		return
	}
	x.rest(o)
}

// bedrockLocation is the name of the place that a passage was retrieved from, ""
// if it says none.
func bedrockLocation(o *object) string {
	for _, in := range o.all() {
		if in.kind() != anObject {
			continue
		}
		place := in.object()
		for _, name := range []string{"uri", "url", "id", "query"} {
			if s := place.peek(name); s != "" {
				return s
			}
		}
	}
	return ""
}

func bedrockRequest(q *request, o *object) {
	q.model = o.get("modelId").string()
	if input := o.get("input").object(); input != nil {
		q.query = input.get("text").string()
	}
	for _, message := range o.get("messages").objects() {
		var texts []string
		for _, block := range message.get("content").objects() {
			if text, given := block.get("text").text(); given {
				texts = append(texts, text)
			} else {
				bedrockSource(q, block)
			}
		}
		if message.get("role").string() == "user" && len(texts) > 0 {
			q.query = strings.Join(texts, "\n")
		}
	}
}

// bedrockSource reads a block of a request that citations can point into.
func bedrockSource(q *request, block *object) {
	if o := block.get("document").object(); o != nil {
		q.addDocument(bedrockDocument(q, o))
	}
	if o := block.get("searchResult").object(); o != nil {
		q.addResult(o)
	}
	if o := block.get("toolResult").object(); o != nil {
		for _, inner := range o.get("content").objects() {
			bedrockSource(q, inner)
		}
	}
}

// bedrockDocument is the next document of a request.
func bedrockDocument(q *request, o *object) source {
	name := o.get("name").string()
	d := ibid.Document{Doc: cmp.Or(name, fmt.Sprintf("document %d", len(q.documents))), Title: name}
	from := o.get("source").mustObject()
	if from == nil {
		return source{}
	}
	d.Text, d.HasText = from.get("text").text()
	if content := from.get("content"); content.given() {
		d.Blocks, d.HasBlocks = textBlocks(content), true
	}
	if !d.HasText && !d.HasBlocks {
		d.Text, d.HasText = o.get("text").text()
		d.Pages, d.HasPages = o.get("pages").texts()
	}
	s := source{Document: d}
	if o.get("format").string() == "pdf" {
		q.readPDF(&s, from.get("bytes"))
	}
	return s
}
