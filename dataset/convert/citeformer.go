package convert

import (
	"fmt"
	"regexp"

	"ibid"
)

// citeFormer is a GenerationResult of citeformer, schemas 1 to 3.
//
// span is the interval of the marker in the answer, source_span one of the
// source's content, both in code points; source_id counts the sources from 1. A
// source is called by the id of its metadata, else by its title. Markers and
// citations run in parallel: where the answer holds markers such as [1], but not as
// many as there are citations, cited_text, source_span and document_title of all of
// them stay null, and so do those of a list rich_citations or
// last_rich_citations beside them that is not as long. What verification and
// entailment say is kept in source_reference, where the judge recorded finds entailment_score. A
// VerificationReport is the member verification of the result, or of the record that has it as
// response: its score of a citation stands where the result has none.
var citeFormer = exchangeFormat{
	name:     "citeformer",
	summary:  "citeformer GenerationResult, schemas 1 to 3",
	fits:     func(o *object) bool { return o.has("schema_version") && (o.has("text") || o.has("per_citation")) },
	response: citeFormerResult,
	request:  openAIRequest,
}.format()

// citeFormerSchema is the newest schema that is known.
const citeFormerSchema = 3

var numberMarker = regexp.MustCompile(`\[[0-9]+\]`)

func citeFormerResult(x *exchange, o *object) {
	version := o.get("schema_version")
	if v := version.offset(); v < 1 || v > citeFormerSchema {
		version.fail("schema %d, and 1 to %d are known", v, citeFormerSchema)
		return
	}
	if !o.has("text") && o.has("per_citation") {
		o.fail("a VerificationReport holds no answer: import the GenerationResult with it, {\"response\": RESULT, \"verification\": REPORT}")
		return
	}
	x.identify(o, "id", "result_id")
	text := o.get("text").required()
	x.addText(text)
	sources := citeFormerSources(x, o)
	markers := map[int64]string{} // as the references write them
	for _, ref := range o.get("references").objects() {
		markers[ref.get("source_id").offset()] = ref.get("inline_marker").string()
		x.keep(ref.path(), ref.raw())
	}
	all := o.get("citations")
	if !all.given() {
		all.missing()
	}
	count, saysMore := 0, false // whether any citation says more than where it stands
	for _, c := range all.objects() {
		saysMore = saysMore || c.has("cited_text") || c.has("source_span") || c.has("document_title")
		count++
	}
	inText := len(numberMarker.FindAllStringIndex(text, -1))
	rich := inText == 0 || inText == count
	if !rich && saysMore {
		x.warn(fmt.Sprintf("%d markers in the text and %d citations: cited_text, source_span and document_title stay null", inText, count))
	}
	beside := citeFormerBeside(x, o, count)
	scores := citeFormerReport(x, o, count)
	for i, c := range all.objects() {
		from := c
		if beside != nil {
			from = beside[i]
		}
		citeFormerCitation(x, c, sources, markers, inText > 0, from, rich)
		if score := scores[i]; score != nil && !c.has("entailment_score") && len(x.citations) > 0 {
			x.citations[len(x.citations)-1].more.add("entailment_score", score)
		}
	}
	o.unread(func(v value) {
		if v.name != "usage" && v.name != "verification" {
			x.unknown = append(x.unknown, clipped(v.path()))
		}
	})
	x.rest(o)
}

// citeFormerReport are the scores of a VerificationReport, as JSON, by the indices of count
// citations. The report stays with the record.
func citeFormerReport(x *exchange, o *object, count int) map[int][]byte {
	v := o.get("verification")
	if !v.given() && o.in != nil {
		v = o.in.get("verification")
	}
	report := v.object()
	if report == nil {
		return nil
	}
	x.keep("verification", v.raw())
	scores := map[int][]byte{}
	for _, c := range report.get("per_citation").objects() {
		index := c.get("citation_index")
		at := index.offset()
		switch score := c.get("entailment_score"); {
		case at < 0 || at >= int64(count):
			x.warn(fmt.Sprintf("%s: citation %d, and there are %d, counted from 0", index.path(), at, count))
		case score.is(aNumber):
			scores[int(at)] = score.raw()
		}
	}
	return scores
}

// citeFormerBeside is a list of rich fields beside count citations, nil if there
// is none or it does not run in parallel.
func citeFormerBeside(x *exchange, o *object, count int) []*object {
	list := o.first("rich_citations", "last_rich_citations")
	if !list.given() {
		return nil
	}
	var all []*object
	for _, c := range list.objects() {
		all = append(all, c)
	}
	if len(all) == count {
		return all
	}
	x.keep(list.name, list.raw())
	if len(all) > 0 {
		x.warn(fmt.Sprintf("%s has %d elements, and there are %d citations: cited_text, source_span and document_title stay null", list.name, len(all), count))
	}
	return nil
}

func citeFormerSources(x *exchange, o *object) []int {
	var all []int
	for i, s := range o.get("sources").objects() {
		var d ibid.Document
		if about := s.get("metadata").object(); about != nil {
			d.Doc, d.Title, d.SourceType = about.get("id").label(), about.peek("title"), about.peek("type")
			d.Metadata = compact(about.raw())
		}
		if d.Doc == "" {
			d.Doc = d.Title
		}
		unnamed := d.Doc == ""
		if unnamed {
			d.Doc = fmt.Sprintf("source %d", i+1)
		}
		d.Text, d.HasText = s.get("content").text()
		k := x.addSource(d)
		x.sources[k].unnamed = unnamed
		all = append(all, k)
		x.rest(s)
	}
	return all
}

// citeFormerCitation reads one citation. from has its rich fields.
func citeFormerCitation(x *exchange, o *object, sources []int, markers map[int64]string, numbered bool, from *object, rich bool) {
	id := o.get("source_id")
	n := id.offset()
	if n < 1 {
		id.fail("source %d: sources count from 1", n)
		return
	}
	m := answerMark{part: wholeAnswer, role: ibid.Marker}
	m.start, m.end = pair(o.get("span"))
	if m.text = markers[n]; m.text == "" && numbered {
		m.text = fmt.Sprintf("[%d]", n)
	}
	source := noSource
	switch {
	case n <= int64(len(sources)):
		source = sources[n-1]
	case len(sources) == 0:
		source = x.called(fmt.Sprintf("source %d", n))
		x.sources[source].unnamed = true
	}
	c := x.cite(source, x.addMark(m))
	if source == noSource {
		c.Doc, c.DocNull = fmt.Sprintf("source %d", n), false
		x.warn(fmt.Sprintf("%s: the result has %d sources", id.path(), len(sources)))
	} else {
		c.Title, c.SourceType = x.sources[source].Title, x.sources[source].SourceType
	}
	c.Method = "marker"
	if rich {
		c.CitedText = from.get("cited_text").string()
		if title := from.get("document_title").string(); title != "" {
			c.Title = title
		}
		if at := from.get("source_span"); at.given() {
			start, end := pair(at)
			c.Start, c.End, c.test = integer(start), integer(end), true
		}
	}
	if source != noSource && x.sources[source].HasText && !c.Start.Known() && c.CitedText == "" {
		c.Unit = "document"
	}
	if from != o {
		for _, name := range []string{"cited_text", "document_title", "source_span"} {
			if !o.has(name) {
				o.get(name)
			}
		}
		x.citationRest(c, from, "document_index", "source_id", "start_char_index", "end_char_index")
	}
	x.citationRest(c, o, "verified", "entailment_score", "cited_text", "source_span", "document_title")
}

// pair reads a span, which is a list of two integers.
func pair(v value) (start, end int64) {
	if !v.given() {
		v.missing()
	}
	n := 0
	for i, e := range v.elements() {
		switch i {
		case 0:
			start = e.offset()
		case 1:
			end = e.offset()
		}
		n++
	}
	if n != 2 {
		v.fail("want two offsets, got %d", n)
	}
	return start, end
}
