package convert

import (
	"cmp"
	"fmt"

	"ibid"
	"ibid/metrics/token"
)

// copilot is an answer of the GitHub Copilot SDK with its normalised citations.
//
// A span of the answer has references, each of which becomes a citation of a
// source at a location: char, page or block. All offsets are documented as UTF-16
// units with the end excluded. A source is called by its URL, else by its path,
// its title or its id.
var copilot = exchangeFormat{
	name:     "copilot",
	summary:  "GitHub Copilot SDK answers with normalised citations",
	fits:     func(o *object) bool { return o.peek("content") != "" && o.isObject("citations") },
	source:   Reading{Unit: token.UTF16},
	answer:   Reading{Unit: token.UTF16},
	response: copilotAnswer,
	request:  openAIRequest,
}.format()

func copilotAnswer(x *exchange, o *object) {
	x.responseID = o.first("id", "messageId").string()
	part := x.addText(o.get("content").required())
	all := o.get("citations").mustObject()
	if all == nil {
		return
	}
	sources := map[string]int{}
	for _, s := range all.get("sources").objects() {
		id := s.get("id").required()
		d := ibid.Document{Title: s.get("title").string(), SourceType: s.get("provider").string()}
		d.Doc = cmp.Or(s.get("url").string(), s.get("path").string(), d.Title, id)
		d.Text, d.HasText = s.get("text").text()
		d.Metadata = s.rest()
		sources[id] = x.addSource(d)
	}
	for _, s := range all.get("spans").objects() {
		m := x.addSegment(part, s.get("startIndex").offset(), s.get("endIndex").offset(), "")
		before := len(x.citations)
		for _, r := range s.get("references").objects() {
			copilotReference(x, r, sources, m)
		}
		if len(x.citations) == before {
			x.keep(s.path(), s.raw())
			continue
		}
		x.rest(s)
	}
	x.rest(all)
	x.rest(o)
}

func copilotReference(x *exchange, o *object, sources map[string]int, m int) {
	id := o.get("sourceId").required()
	source, known := sources[id]
	if !known {
		source = noSource
		x.warn(fmt.Sprintf("%s: no source has the id %s", o.path(), quoted(id)))
	}
	c := x.cite(source, m)
	if known {
		c.Title, c.SourceType = x.sources[source].Title, x.sources[source].SourceType
	} else {
		c.Doc, c.DocNull = id, false
	}
	c.CitedText = o.get("citedText").string()
	if at := o.get("location").object(); at != nil {
		kind := at.get("type")
		c.Method = kind.required()
		switch c.Method {
		case "char":
			c.between(at, "", "startIndex", "endIndex")
		case "page":
			c.between(at, "page", "startPage", "endPage")
		case "block":
			c.between(at, "block", "startBlock", "endBlock")
		default:
			kind.fail("unknown kind of location %s", quoted(c.Method))
		}
		x.citationRest(c, at)
	}
	x.citationRest(c, o, "providerMetadata")
}
