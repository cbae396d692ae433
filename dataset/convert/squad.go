package convert

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"ibid"
	"ibid/metrics/token"
)

// squad is the form of SQuAD 1.1 and 2.0 (Rajpurkar et al., 2016 and 2018), which
// CMRC 2018 and other collections share: questions about a paragraph, each with
// the answers that people marked in it.
//
// A question is a row: its id, and its answers as truth. Nobody's name is given,
// so the first answer is that of annotator 1, the second that of annotator 2. The
// row's answer is "" and its citations are null. A question that cannot be
// answered (is_impossible) has an empty truth; one without answers that is not
// said to be so has none.
//
// An answer is a text and where it starts; it ends where a text of its length in
// the same unit does. The unit is the one of code points, UTF-16 units and bytes
// that puts most texts of the file where the paragraph has them: SQuAD counts code
// points, CMRC 2018 UTF-16 units. A text that is elsewhere, but once only, moves
// there. One that the paragraph does not have once is no place: it is not in the
// truth, it is warned of, and it is kept in the tag source_reference.
//
// A paragraph is a document, called by the title of its article, else by its own
// id, the next ones with that name NAME#2, NAME#3 and so on (see [documentNames]).
var squad = Format{
	Name:       "squad",
	Summary:    "SQuAD 1.1 and 2.0, CMRC 2018: questions with the answers that people marked in paragraphs",
	Input:      "JSON files, or a directory of them",
	CodePoints: true,
	streams:    true,
	fits:       fitsSquad,
	convert: func(ctx context.Context, r *run) error {
		return r.eachFile(ctx, []string{".json"}, func(path string) error {
			c := &squadReader{run: r, file: path}
			return c.read(ctx)
		})
	},
}

func fitsSquad(o *object) bool {
	if !o.isList("data") {
		return false
	}
	for _, article := range o.get("data").objects() {
		return article.isList("paragraphs")
	}
	return false
}

// squadUnits are the units that offsets may count, the usual one first.
var squadUnits = [...]token.Unit{token.CodePoint, token.UTF16, token.Byte}

// A squadReader converts one file after the other.
type squadReader struct {
	*run
	file       string
	data       []byte
	text       jsonText
	paragraphs []squadParagraph
}

// A squadParagraph is one text with its questions.
type squadParagraph struct {
	document  ibid.Document
	text      *token.Text
	questions []squadQuestion
}

// A squadQuestion is one question, or what is wrong with it.
type squadQuestion struct {
	id, query  string
	impossible bool
	answers    []squadAnswer
	more       extra // members that have no column
	at         int   // byte of the file
	bad        *RecordError
}

// A squadAnswer is one answer, once for each of squadUnits.
type squadAnswer struct {
	spans [len(squadUnits)]markedSpan
	given []byte // as JSON
	at    int    // byte of the file
}

// read converts one file.
func (c *squadReader) read(ctx context.Context) error {
	data, reason, err := c.whole(c.file)
	if err != nil {
		return err
	}
	if reason != "" {
		c.lost(RecordError{File: c.file, Reason: reason})
		return nil
	}
	c.data = data
	c.decode()
	unit, reading := c.prove()
	for i := range c.paragraphs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.write(&c.paragraphs[i], unit, reading); err != nil {
			return err
		}
	}
	return nil
}

// lost counts a record of which no question can be told.
func (c *squadReader) lost(e RecordError) {
	c.report.Records++
	c.fail(e)
}

// mistake takes what is wrong since it was last asked for, nil if nothing is:
// what follows in the file is read all the same.
func (c *squadReader) mistake() *RecordError {
	if c.text.err == nil {
		return nil
	}
	e := c.text.err.in(c.data, position{1, 1}, c.file)
	c.text.err = nil
	return &e
}

// check counts a record that is lost if anything is wrong.
func (c *squadReader) check() {
	if e := c.mistake(); e != nil {
		c.lost(*e)
	}
}

// decode reads the articles, and what can be read of them.
func (c *squadReader) decode() {
	o := c.text.open(c.data)
	if o == nil {
		c.check()
		return
	}
	version := o.get("version").label()
	o.require("data")
	for _, v := range o.get("data").elements() {
		if v.want(anObject) {
			c.article(v.object(), version)
		}
		c.check()
	}
	o.unread(func(v value) { c.report.unknownField(clipped(v.name)) })
	c.check()
}

func (c *squadReader) article(o *object, version string) {
	title := o.get("title").string()
	list := o.get("paragraphs")
	o.require("paragraphs")
	c.check()
	var about extra // what is known of the article
	if version != "" {
		about.addText("version", version)
	}
	o.unread(func(v value) { about.add(v.name, v.raw()) })
	for _, v := range list.elements() {
		if v.want(anObject) {
			c.paragraph(v.object(), title, about.reference(""))
		}
		c.check()
	}
}

func (c *squadReader) paragraph(o *object, title, about string) {
	id, context := o.get("id").label(), o.get("context").required()
	list := o.get("qas")
	o.require("qas")
	if e := c.mistake(); e != nil {
		c.lost(*e)
		return // where nothing is a text, nothing is an answer
	}
	var more extra
	if id != "" {
		more.addText("id", id)
	}
	o.unread(func(v value) { more.add(v.name, v.raw()) })
	stem := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(c.file), ".gz"), ".json")
	p := squadParagraph{text: token.NewText(context), document: ibid.Document{
		Doc: cmp.Or(title, id, stem), Title: title, Text: context, HasText: true, Metadata: more.reference(about),
	}}
	for _, v := range list.elements() {
		q := squadQuestion{at: v.start}
		if v.want(anObject) {
			q.decode(v.object())
		}
		q.bad = c.mistake()
		p.questions = append(p.questions, q)
	}
	c.paragraphs = append(c.paragraphs, p)
}

// says is something about what begins at a byte of the file.
func (c *squadReader) says(at int, reason string) RecordError {
	return (&jsonError{offset: at, msg: reason}).in(c.data, position{1, 1}, c.file)
}

func (q *squadQuestion) decode(o *object) {
	q.id, q.query = o.get("id").label(), o.get("question").required()
	if q.id == "" {
		o.fail("id is missing")
	}
	q.impossible = o.get("is_impossible").isTrue()
	for _, a := range o.get("answers").objects() {
		given := a.get("text").required()
		start := a.get("answer_start").offset()
		out := squadAnswer{given: a.raw(), at: a.start}
		whole := token.NewText(given)
		for u, unit := range squadUnits {
			out.spans[u].quote = quote{text: given, start: start, end: start + int64(whole.Units(unit))}
		}
		a.unread(func(v value) { q.more.add(fmt.Sprintf("answers[%d].%s", len(q.answers), v.name), v.raw()) })
		q.answers = append(q.answers, out)
	}
	if q.impossible && len(q.answers) > 0 {
		o.get("is_impossible").fail("the question has answers")
	}
	o.unread(func(v value) { q.more.add(v.name, v.raw()) })
}

// prove finds the unit under which most answers stand where they are said to, and
// how its offsets are read.
func (c *squadReader) prove() (unit, reading int) {
	var proofs [len(squadUnits)]proof
	for u := range squadUnits {
		proofs[u].documented = indexOf(Reading{Unit: squadUnits[u]})
		for i := range c.paragraphs {
			var marks []*markedSpan
			for k := range c.paragraphs[i].questions {
				q := &c.paragraphs[i].questions[k]
				for a := range q.answers {
					if q.bad == nil {
						marks = append(marks, &q.answers[a].spans[u])
					}
				}
			}
			proofs[u].examineMarks(c.paragraphs[i].text, marks)
		}
		if proofs[u].offsets().Proved > proofs[unit].offsets().Proved {
			unit = u
		}
	}
	return unit, c.settleFile(&proofs[unit], c.file)
}

// write converts the questions of one paragraph.
func (c *squadReader) write(p *squadParagraph, unit, reading int) error {
	d := p.document
	name, first := c.names.of(d.Doc, d.Text, true)
	d.Doc = name
	if c.Docs && first {
		if err := c.document(&d); err != nil {
			return err
		}
	}
	for i := range p.questions {
		q := &p.questions[i]
		c.report.Records++
		if q.bad == nil && c.isRepeated(q.id, "default") {
			e := c.says(q.at, "question "+quoted(q.id)+" is there twice")
			q.bad = &e
		}
		if q.bad != nil {
			c.fail(*q.bad)
			continue
		}
		row := ibid.Answer{File: c.file, ID: q.id, Query: q.query, System: "default", HasTruth: q.impossible}
		if !c.Docs {
			row.Documents, row.HasDocuments = []ibid.Document{d}, true
		}
		c.truth(&row, q, p, name, unit, reading)
		row.Tags = q.more.tags()
		if err := c.row(&row); err != nil {
			return err
		}
	}
	return nil
}

// truth adds the answers of a question that have a place in the paragraph called
// doc.
func (c *squadReader) truth(row *ibid.Answer, q *squadQuestion, p *squadParagraph, doc string, unit, reading int) {
	for i := range q.answers {
		a := &q.answers[i]
		span := &a.spans[unit]
		switch v := span.verdict(reading); v {
		case repaired:
			c.warn(c.says(a.at, markReasons[v]))
		case mismatched, degenerate:
			c.warn(c.says(a.at, "the paragraph does not have "+quoted(span.quote.text)+" exactly once: it is no truth of question "+quoted(q.id)))
			q.more.add(indexed("answers", i), a.given)
			continue
		}
		start, end, _ := span.place(p.text, reading)
		row.Truth = append(row.Truth, ibid.Mark{Annotator: strconv.Itoa(i + 1), Doc: doc, Start: start, End: end})
	}
	row.HasTruth = row.HasTruth || len(row.Truth) > 0
}
