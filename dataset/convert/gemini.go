package convert

import (
	"cmp"
	"fmt"
	"strings"

	"ibid"
	"ibid/metrics/token"
)

// gemini is generateContent of Gemini and Vertex AI with grounding, under the
// names of the API or those of its Python library (grounding_metadata).
//
// A segment of groundingSupports is an interval of the answer, in bytes of its
// part or of all parts together: both are tried. It is supported by the chunks
// that its indices name, each of which becomes a citation with the confidence
// that stands at its place; if there are not as many scores as indices, there is
// none. A chunk is called by its URI, else by its document or its title; the text
// of retrieved content is the document's. citationMetadata says where the answer
// recites a source: method recitation. Of several candidates the first is the
// answer; parts that are thoughts are not in it.
//
// An event of a stream (streamGenerateContent with alt=sse) is a response with the
// next piece of the answer. Pieces that follow each other are one part. A file of
// events holds one answer.
//
// The Interactions API is read, too (see [geminiInteraction]).
var gemini = exchangeFormat{
	name:     "gemini",
	summary:  "Gemini and Vertex AI: responses, interactions and event streams with grounding",
	fits:     func(o *object) bool { return o.isList("candidates") || isInteraction(o) },
	answer:   Reading{Unit: token.Byte},
	response: geminiResponse,
	request:  geminiRequest,
	stream:   func() eventReader { return &geminiStream{lastEvent: lastEvent{name: "a finishReason"}} },
}.format()

// camel returns a member under its name, or under the same with underscores.
func (o *object) camel(name string) value {
	var b strings.Builder
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return o.first(name, b.String())
}

func geminiResponse(x *exchange, o *object) {
	if isInteraction(o) {
		geminiInteraction(x, o)
		return
	}
	if failed(o) {
		return
	}
	x.responseID = o.camel("responseId").string()
	x.model = cmp.Or(o.camel("modelVersion").string(), x.model)
	candidates := o.get("candidates")
	if !candidates.given() && !o.camel("promptFeedback").given() {
		candidates.missing()
	}
	for i, candidate := range candidates.objects() {
		if i > 0 {
			x.keep(candidate.path(), candidate.raw())
			continue
		}
		geminiCandidate(x, candidate, false)
	}
	x.rest(o)
}

// geminiPart reads a part. joined says that it may go on with the one before.
func geminiPart(x *exchange, p *object, joined bool) {
	text, isText := p.get("text").text()
	thought := string(p.get("thought").raw()) == "true"
	last := len(x.parts) - 1
	switch {
	case joined && last >= 0 && x.parts[last].hidden == thought:
		x.parts[last].text = append(x.parts[last].text, text...)
	case thought:
		x.addHidden(text)
	default:
		x.addText(text)
	}
	if thought || !isText {
		x.keep(p.path(), p.raw())
	} else {
		x.rest(p)
	}
}

// A geminiStream reads the events of one answer.
type geminiStream struct {
	lastEvent
	interaction *interactionStream // nil if it is none
}

// begins is known of interactions only: no other event says that it is the first.
func (s *geminiStream) begins(o *object) bool {
	return o.peek("event_type") == "interaction.created" || o.peek("event_type") == "interaction.start"
}

func (s *geminiStream) event(x *exchange, o *object) {
	if o.has("event_type") {
		if s.interaction == nil {
			s.interaction = &interactionStream{lastEvent: lastEvent{name: "interaction.completed"}}
		}
		s.interaction.event(x, o)
		return
	}
	if failed(o) {
		return
	}
	for _, candidate := range o.get("candidates").objects() {
		index := candidate.get("index")
		if index.given() && index.offset() != 0 {
			x.keep(candidate.path(), candidate.raw())
			continue
		}
		s.seen = s.seen || candidate.camel("finishReason").string() != ""
		geminiCandidate(x, candidate, true)
	}
	x.responseID = cmp.Or(o.camel("responseId").string(), x.responseID)
	x.model = cmp.Or(o.camel("modelVersion").string(), x.model)
	x.rest(o)
}

func (s *geminiStream) end(x *exchange) string {
	if s.interaction != nil {
		return s.interaction.end(x)
	}
	return s.lastEvent.end(x)
}

// geminiCandidate reads one candidate. joined says that its parts may go on with
// those before.
func geminiCandidate(x *exchange, o *object, joined bool) {
	if content := o.get("content").object(); content != nil {
		for _, p := range content.get("parts").objects() {
			geminiPart(x, p, joined)
		}
		x.rest(content)
	}
	if g := o.camel("groundingMetadata").object(); g != nil {
		geminiGrounding(x, g)
	}
	if m := o.camel("citationMetadata").object(); m != nil {
		for _, c := range m.first("citations", "citationSources", "citation_sources").objects() {
			geminiRecitation(x, c)
		}
		x.rest(m)
	}
	x.rest(o)
}

func geminiGrounding(x *exchange, g *object) {
	var chunks []int // index in the sources
	for i, chunk := range g.camel("groundingChunks").objects() {
		chunks = append(chunks, x.addSource(geminiChunk(chunk, i)))
		x.rest(chunk)
	}
	for _, support := range g.camel("groundingSupports").objects() {
		geminiSupport(x, support, chunks)
	}
	x.rest(g)
}

// geminiChunk is what chunk n says of its source.
func geminiChunk(chunk *object, n int) ibid.Document {
	for _, kind := range []string{"web", "retrievedContext", "maps", "image"} {
		in := chunk.camel(kind).object()
		if in == nil {
			continue
		}
		d := ibid.Document{Title: in.get("title").string(), SourceType: kind}
		d.Doc = in.get("uri").string()
		if d.Doc == "" {
			d.Doc = cmp.Or(in.camel("documentName").string(), d.Title, fmt.Sprintf("chunk %d", n))
		}
		if kind == "retrievedContext" {
			d.Text, d.HasText = in.get("text").text()
			if rag := in.camel("ragChunk").object(); rag != nil && !d.HasText {
				d.Text, d.HasText = rag.get("text").text()
			}
		}
		d.Metadata = in.rest()
		return d
	}
	return ibid.Document{Doc: fmt.Sprintf("chunk %d", n)}
}

func geminiSupport(x *exchange, o *object, chunks []int) {
	m := noMark
	if s := o.get("segment").mustObject(); s != nil {
		part := int(s.camel("partIndex").integer().Value)
		start, end := s.camel("startIndex").integer().Value, s.camel("endIndex").integer().Value
		text := s.get("text").string()
		if part < 0 || part >= len(x.parts) {
			s.camel("partIndex").fail("there are %d parts", len(x.parts))
			return
		}
		if x.parts[part].hidden {
			part = wholeAnswer // parts that are thoughts are not always counted
		}
		m = x.addSegment(part, start, end, text)
	}
	var scores []ibid.Number
	given := o.camel("confidenceScores")
	for _, score := range given.elements() {
		scores = append(scores, score.float())
	}
	indices := o.camel("groundingChunkIndices")
	n := 0
	for range indices.elements() {
		n++
	}
	for k, index := range indices.elements() {
		at := index.offset()
		source := noSource
		if 0 <= at && at < int64(len(chunks)) {
			source = chunks[at]
		} else {
			x.warn(fmt.Sprintf("%s: the response has %d chunks", index.path(), len(chunks)))
		}
		c := x.citeWhole(source, m)
		c.Method = "grounding"
		if source == noSource {
			c.Doc, c.DocNull = fmt.Sprintf("chunk %d", at), false
		}
		switch {
		case len(scores) == n:
			c.Confidence = scores[k]
		case len(scores) > 0:
			c.more.add("confidenceScores", given.raw())
		}
	}
	if n == 0 {
		x.keep(o.path(), o.raw())
	}
	x.rest(o)
}

func geminiRecitation(x *exchange, o *object) {
	m := x.addSegment(wholeAnswer, o.camel("startIndex").integer().Value, o.camel("endIndex").integer().Value, "")
	d := ibid.Document{Title: o.get("title").string(), SourceType: "recitation"}
	d.Doc = cmp.Or(o.get("uri").string(), d.Title)
	source := noSource
	if d.Doc != "" {
		source = x.sameSource(d)
	}
	c := x.cite(source, m)
	c.Title, c.Method, c.SourceType = d.Title, "recitation", d.SourceType
	x.citationRest(c, o, "license", "publicationDate", "publication_date")
}

func geminiRequest(q *request, o *object) {
	q.model = cmp.Or(o.get("model").string(), o.get("agent").string())
	q.ask(o.get("contents"), "parts", "user", "")
	q.askInteraction(o.get("input"))
}
