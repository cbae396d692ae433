package convert

import (
	"ibid/dataset"
)

// keepTrusts is a response of Keeptrusts with citations of its Knowledge Base and
// of its Codebase Context Fabric.
//
// text_span is an interval of the answer in code points with the end excluded; the
// answer is not quoted, so nothing proves it, and there are no offsets into the
// sources. An asset of the Knowledge Base is called by its id, a file of the
// Fabric by its path. source_reference stays as it is.
var keepTrusts = Format{
	Name:       "keeptrusts",
	Summary:    "Keeptrusts responses citing the Knowledge Base and the Codebase Context Fabric",
	Input:      "JSON or JSON Lines files, or a directory of them",
	CodePoints: true,
	streams:    true,
	options:    exchangeOptions,
	fits:       func(o *object) bool { return o.peek("response") != "" && o.isList("citations") },
	convert: exchanges(exchangeFormat{
		name:     "keeptrusts",
		response: keepTrustsResponse,
		request:  openAIRequest,
	}),
}

func keepTrustsResponse(x *exchange, o *object) {
	x.responseID = o.first("id", "response_id", "request_id").string()
	if model := o.get("model").string(); model != "" {
		x.model = model
	}
	if query := o.first("query", "prompt").string(); query != "" {
		x.query = query
	}
	if system := o.get("system").string(); system != "" {
		x.system = system
	}
	part := x.say(o.get("response").required())
	all := o.get("citations")
	if !all.given() {
		all.missing()
	}
	for _, c := range all.objects() {
		keepTrustsCitation(x, c, part)
	}
	o.unread(func(v value) { x.unknown = append(x.unknown, clipped(v.path())) })
	x.rest(o)
}

func keepTrustsCitation(x *exchange, o *object, part int) {
	m := noMark
	if s := o.get("text_span").object(); s != nil {
		m = x.addMark(answerMark{part: part, quote: quote{start: s.get("start").offset(), end: s.get("end").offset()}})
	}
	d := dataset.Document{SourceType: o.get("source_type").string()}
	reference := o.get("source_reference")
	if ref := reference.object(); ref != nil {
		d.Doc, d.Title = ref.peek("asset_id"), ref.peek("asset_title")
		if d.Doc == "" {
			d.Doc = ref.peek("file_path")
		}
		if symbol := ref.peek("symbol"); d.Title == "" {
			d.Title = symbol
		}
	}
	source := noSource
	if d.Doc != "" {
		source = x.sourceOfType(d)
	}
	c := x.cite(source, m)
	c.Title, c.SourceType = d.Title, d.SourceType
	c.CitationID = o.get("citation_id").label()
	c.Relevance = o.get("relevance_score").float()
	c.TokenContribution = o.get("token_contribution").integer()
	c.SourceReference = reference.reference()
	x.citationRest(c, o)
}

// sourceOfType returns the source of that name and type.
func (x *exchange) sourceOfType(d dataset.Document) int {
	for i, s := range x.sources {
		if s.Doc == d.Doc && s.SourceType == d.SourceType {
			return i
		}
	}
	return x.addSource(d)
}
