package convert

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid"
)

// alce is the results of ALCE (Gao et al., EMNLP 2023): a question, the output of a
// model with marks [1][2], and the documents that they count from 1.
//
// The id is sample_id, else id, else the number of the record; the model is that of args.
// A document is called by its id, else its url, else its title. Its text is sent, which
// some retrievers extract, else text, as in ALCE's own scorer. The output of QAMPARI
// (its records have answers) is a list with commas: each element behind the question is
// a claim, as it is there.
//
// ALCE's scorer looks at the first line of an output only; here all of it counts.
var alce = researchFormat{
	name:    "alce",
	summary: "ALCE results: ASQA, QAMPARI and ELI5 outputs with numbered documents",
	fits: func(o *object) bool {
		return o.peek("question") != "" && o.isList("docs") && o.has("output")
	},
	records: listed("data"),
	read:    alceRecord,
}.format()

func alceRecord(c *researchReader, o *object) {
	r := &c.row
	r.ID = cmp.Or(o.first("sample_id", "id").label(), r.ID)
	r.Query, r.Answer = o.get("question").required(), o.get("output").required()
	if o.in != nil {
		r.Model = o.in.get("args").object().peek("model")
	}
	var sources []ibid.Citation
	for i, d := range o.get("docs").objects() {
		title, url := d.get("title").string(), d.get("url").string()
		id := d.get("id").label()
		text, given := d.first("sent", "text").text()
		name := c.source(ibid.Document{
			Doc: cmp.Or(id, url, title, "["+strconv.Itoa(i+1)+"]"), Title: title,
			Text: text, HasText: given, Metadata: d.rest(),
		})
		sources = append(sources, ibid.Citation{Doc: name, Title: title})
	}
	if reason := c.markers(sources); reason != "" {
		o.get("output").fail("%s", reason)
	}
	if o.isList("answers") {
		c.alceList()
	}
}

var numberMarker = regexp.MustCompile(`\[[0-9]+\]`)

// alceList makes the elements of a list claims.
func (c *researchReader) alceList() {
	c.row.HasClaims = true
	rest := strings.TrimRight(c.row.Answer, " \t\r\n")
	rest = strings.TrimRight(strings.TrimRight(rest, "."), ",")
	at := 0 // in code points
	for element := range strings.SplitSeq(rest, ",") {
		text := strings.TrimSpace(element)
		if text != "" {
			start := at + utf8.RuneCountInString(element[:strings.Index(element, text)])
			c.claim(text, start)
			c.row.Claims[len(c.row.Claims)-1].Text = c.row.Query + " " + strings.TrimSpace(numberMarker.ReplaceAllString(text, ""))
		}
		at += utf8.RuneCountInString(element) + 1
	}
}
