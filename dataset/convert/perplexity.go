package convert

import (
	"fmt"
	"slices"

	"ibid"
	"ibid/metrics/presence"
)

// perplexity is Sonar: Chat Completions with a list of sources beside them, which
// markers such as [1] in the answer count from 1. Its Responses API is read as
// openai is.
//
// citations are the URLs of the sources. search_results say more of them, where
// there are as many and of the same URLs; else they are kept with the row. A
// snippet of a search result goes into the metadata of its document, because it is
// not the document's text.
var perplexity = exchangeFormat{
	name:     "perplexity",
	summary:  "Perplexity Sonar responses, with markers that count their sources",
	fits:     func(o *object) bool { return listsSources(o) },
	response: perplexityResponse,
	request:  openAIRequest,
}.format()

// listsSources reports whether a completion has a list of sources beside it.
func listsSources(o *object) bool {
	return o.isList("choices") && (o.isList("citations") || o.isList("search_results"))
}

func perplexityResponse(x *exchange, o *object) {
	if o.has("output") {
		openAIResponse(x, o)
		return
	}
	if failed(o) {
		return
	}
	x.identify(o, "id")
	message := chosen(x, o)
	if message == nil {
		return
	}
	message.get("role")
	text := message.get("content").string()
	x.addText(text)
	x.rest(message)
	x.citeNumbers(text, perplexitySources(x, o))
	x.rest(o)
}

// perplexitySources returns the sources that the markers count.
func perplexitySources(x *exchange, o *object) []int {
	var listed []ibid.Document
	for _, url := range o.get("citations").elements() {
		listed = append(listed, ibid.Document{Doc: url.required(), SourceType: "web"})
	}
	results := o.get("search_results")
	var found []ibid.Document
	for _, r := range results.objects() {
		d := ibid.Document{Doc: r.get("url").required(), Title: r.get("title").string(), SourceType: "web"}
		d.Metadata = r.rest()
		found = append(found, d)
	}
	sameURL := func(a, b ibid.Document) bool { return a.Doc == b.Doc }
	if len(listed) == 0 || slices.EqualFunc(listed, found, sameURL) {
		listed = found
	} else if len(found) > 0 {
		x.keep("search_results", results.raw())
		x.warn(fmt.Sprintf("search_results are not those of citations: %d and %d", len(found), len(listed)))
	}
	all := make([]int, len(listed))
	for i, d := range listed {
		all[i] = x.sameSource(d)
	}
	return all
}

// citeNumbers adds a citation for each number of the markers in a text, which is
// the whole answer, that counts sources from 1.
func (x *exchange) citeNumbers(text string, sources []int) {
	items, _ := presence.Parse(text)
	if n := countCitations(items); n > maxInlineCitations {
		x.warn(fmt.Sprintf("%d markers, more than %d: none is read", n, maxInlineCitations))
		return
	}
	for i := range items {
		marker := &items[i]
		if marker.Form == presence.Located || marker.Form == presence.Statement || marker.HasTurn {
			continue
		}
		m := x.addMark(answerMark{
			quote: quote{start: int64(marker.Start), end: int64(marker.End)},
			part:  wholeAnswer, given: givenSpan, role: ibid.Marker,
		})
		for _, r := range marker.Numbers {
			for n := r.First; n <= r.Last; n++ {
				source := noSource
				if 1 <= n && n <= len(sources) {
					source = sources[n-1]
				} else {
					x.warn(fmt.Sprintf("characters %d-%d of the answer: %s: the response lists %d sources", marker.Start, marker.End, quoted(marker.String()), len(sources)))
				}
				c := x.citeWhole(source, m)
				c.Method = marker.Form.String()
				if source == noSource {
					c.Title = marker.String()
					c.more.add("number", fmt.Appendf(nil, "%d", n))
				}
			}
		}
	}
}
