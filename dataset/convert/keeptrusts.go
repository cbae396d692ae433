package convert

import (
	"cmp"

	"ibid"
)

// keepTrusts is a response of Keeptrusts with citations of its Knowledge Base and
// of its Codebase Context Fabric.
//
// text_span is an interval of the answer in code points with the end excluded; the
// answer is not quoted, so nothing proves it, and there are no offsets into the
// sources. An asset of the Knowledge Base is called by its id, a file of the
// Fabric by its path. source_reference stays as it is.
var keepTrusts = exchangeFormat{
	name:     "keeptrusts",
	summary:  "Keeptrusts responses citing the Knowledge Base and the Codebase Context Fabric",
	fits:     func(o *object) bool { return o.peek("response") != "" && o.isList("citations") },
	response: keepTrustsResponse,
	request:  openAIRequest,
}.format()

func keepTrustsResponse(x *exchange, o *object) {
	x.identify(o, "id", "response_id", "request_id")
	x.query = cmp.Or(o.first("query", "prompt").string(), x.query)
	x.system = cmp.Or(o.get("system").string(), x.system)
	part := x.addText(o.get("response").required())
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
		m = x.addSegment(part, s.get("start").offset(), s.get("end").offset(), "")
	}
	d := ibid.Document{SourceType: o.get("source_type").string()}
	reference := o.get("source_reference")
	if ref := reference.object(); ref != nil {
		d.Doc = cmp.Or(ref.peek("asset_id"), ref.peek("file_path"))
		d.Title = cmp.Or(ref.peek("asset_title"), ref.peek("symbol"))
	}
	cited := noSource
	if d.Doc != "" {
		cited = x.sourceLike(d, func(s *source) bool { return s.SourceType == d.SourceType })
	}
	c := x.cite(cited, m)
	c.Title, c.SourceType = d.Title, d.SourceType
	c.CitationID = o.get("citation_id").label()
	c.Relevance = o.get("relevance_score").float()
	c.TokenContribution = o.get("token_contribution").integer()
	c.SourceReference = reference.reference()
	x.citationRest(c, o)
}
