package convert

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"ibid"
)

// longCite is the predictions of LongCite (Zhang et al., 2024), for LongBench-Cite and other
// long texts: an answer in statements, each with the sentences of the text that it cites.
//
// A statement is a claim, and the answer is the prediction without its marks, as LongCite's
// own scorer reads it. A citation has the offsets that LongCite found for the sentences
// (code points of the context from 0, the end excluded) and what stands there. The context
// is context, or splited_context without its marks <C0>: what had been trimmed off its
// beginning is found by the citations, which then move. Predictions for LongBench-Cite have no context: then
// what is cited is known, and no more. The document is called by idx.
var longCite = researchFormat{
	name:    "longcite",
	summary: "LongCite predictions: statements with cited sentences of a long text",
	fits: func(o *object) bool {
		return o.isList("statements") && o.has("prediction") || o.isList("statements_with_citations")
	},
	read: longCiteRecord,
}.format()

var (
	longCiteCite = regexp.MustCompile(`(?s)<cite>.*?</cite>`)
	longCiteTag  = regexp.MustCompile(`</?statement>`)
	longCiteMark = regexp.MustCompile(`<C[0-9]+>`)
)

func longCiteRecord(c *researchReader, o *object) {
	r := &c.row
	r.ID = cmp.Or(o.get("idx").label(), r.ID)
	r.Query = o.get("query").string()
	marked, statements := o.get("prediction"), o.get("statements")
	if !statements.given() {
		marked, statements = o.get("answer"), o.get("statements_with_citations")
	}
	prediction := marked.required()
	r.Answer = strings.TrimSpace(longCiteTag.ReplaceAllString(longCiteCite.ReplaceAllString(prediction, ""), ""))
	c.more.addText(marked.name, prediction)
	context, given := o.get("context").text()
	trimmed := false
	if !given {
		if context, trimmed = o.get("splited_context").text(); trimmed {
			context, given = longCiteMark.ReplaceAllString(context, ""), true
		}
	}
	name := c.source(ibid.Document{Doc: r.ID, Text: context, HasText: given})
	if dataset := o.get("dataset").string(); dataset != "" {
		r.Tags = append(r.Tags, ibid.Tag{Key: "dataset", Value: dataset})
	}
	r.HasCitations, r.HasClaims = true, true
	rest, before := r.Answer, 0 // the answer behind the last statement, and what is before it
	for _, s := range statements.objects() {
		text := strings.TrimSpace(s.get("statement").required())
		start := -1
		if at := strings.Index(rest, text); at >= 0 && text != "" {
			start = before + utf8.RuneCountInString(rest[:at])
			before = start + utf8.RuneCountInString(text)
			rest = rest[at+len(text):]
		}
		c.claim(text, start)
		claim := r.Claims[len(r.Claims)-1]
		for _, cited := range s.get("citation").objects() {
			c.cite(&claim, longCiteCitation(cited, name))
		}
		s.unread(func(v value) { c.more.add(v.path(), v.raw()) })
	}
	if trimmed {
		untrim(r.Citations, context)
	}
}

// untrim moves citations of a text whose beginning was trimmed off after their offsets had
// been found, if all that the text holds once are off by the same.
func untrim(all []ibid.Citation, text string) {
	by, known := int64(0), false
	for i := range all {
		c := &all[i]
		cited := strings.TrimSpace(c.CitedText)
		at := strings.Index(text, cited)
		if cited == "" || at < 0 || strings.Contains(text[at+1:], cited) || !c.Start.Known() || !c.End.Known() {
			continue
		}
		blank := strings.Index(c.CitedText, cited) // bytes, all of them white space
		off := c.Start.Value + int64(utf8.RuneCountInString(c.CitedText[:blank])) - int64(utf8.RuneCountInString(text[:at]))
		if off < 0 || known && off != by {
			return
		}
		by, known = off, true
	}
	for i := range all {
		if c := &all[i]; c.Start.Known() && c.End.Known() {
			c.Start.Value, c.End.Value = max(0, c.Start.Value-by), c.End.Value-by
		}
	}
}

func longCiteCitation(o *object, doc string) ibid.Citation {
	to := ibid.Citation{Doc: doc, CitedText: o.get("cite").string()}
	to.Start, to.End = o.first("start_char", "start_char_idx").integer(), o.first("end_char", "end_char_idx").integer()
	to.SourceReference = o.rest()
	return to
}
