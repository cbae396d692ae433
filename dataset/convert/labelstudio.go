package convert

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"ibid"
	"ibid/metrics/token"
)

//go:embed labelstudio.jq
var studioText string

// studioProgram makes of a task what a [studioTask] is.
var studioProgram = func() *program {
	p, err := newProgram("label-studio", studioText)
	if err != nil {
		panic("convert: labelstudio.jq: " + err.Error())
	}
	return p
}()

// labelStudio is the JSON export of Label Studio: tasks with the annotations of
// several people. Records of JSON_MIN, which does not say what is an answer, and marks in
// HTML, whose offsets count what a browser shows, are refused.
//
// Each task is a row. Its id is the member id of the data, else the task's; query is
// query, question or prompt; answer is answer, response or output; system, provider
// and model are those of the data. Citations are null.
//
// Marked text is truth, whatever its label, by annotator (completed_by: an e-mail
// address, else a user name, else a number). Who submitted a task without a mark
// marked nothing; who skipped it (was_cancelled) did not see it. Where no one marked
// any text in a file that has other results, marks were not asked for, and truth is
// null. Who marked something that is no text, such as a part of a picture, is left
// out of the row's truth, with a warning: the rest of their marks is not all of them.
//
// A text is called by the member doc of the data, else by the id of the first task
// that has it and the name of its field. The export does not say which field a
// control is about; where names do not tell, quotes do.
//
// Choices of the controls whose names say support, verdict, attribution or entailment,
// relevance, needs_citation or factual become labels on the claim of the data, else
// on the answer as a whole. What else there is stands under its place in the tag
// source_reference and is counted; predictions are counted only.
//
// Offsets count code points, zero-based, end exclusive, unless the quotes prove that
// they count UTF-16 units, as those of older versions do.
var labelStudio = Format{
	Name:       "label-studio",
	Summary:    "Label Studio exports (JSON): places and choices of several annotators",
	Input:      "JSON or JSON Lines files, or a directory of them",
	CodePoints: true,
	streams:    true,
	options:    []string{"system"},
	fits: func(o *object) bool {
		return o.isObject("data") && (o.isList("annotations") || o.isList("completions")) || !o.has("data") && o.find("annotation_id") != nil
	},
	convert: func(ctx context.Context, r *run) error {
		c := &studioReader{run: r, called: map[[32]byte]string{}}
		return r.eachFile(ctx, []string{".json", ".jsonl", ".ndjson"}, func(path string) error { return c.read(ctx, path) })
	},
}

// A studioReader converts one file after the other.
type studioReader struct {
	*run
	called map[[32]byte]string // names of texts without one of their own, by digest

	file    string
	layout  studioLayout
	proof   proof
	reading int
	text    jsonText
}

// read converts one file, in three passes: the first finds which fields are marked,
// the second proves the offsets, the third writes.
func (c *studioReader) read(ctx context.Context, path string) error {
	c.file, c.layout, c.proof = path, newStudioLayout(), proof{}
	if path == stdinPath {
		if err := c.spool(); err != nil {
			return err
		}
	}
	s, err := c.shapeOf(path)
	if err != nil {
		return err
	}
	err = c.eachTask(ctx, s, func(t *studioTask, _ *RecordError) error {
		c.layout.vote(t)
		return nil
	})
	if err != nil {
		return err
	}
	c.layout.settle()
	err = c.eachTask(ctx, s, func(t *studioTask, _ *RecordError) error {
		c.examine(&c.proof, t)
		return nil
	})
	if err != nil {
		return err
	}
	c.reading = c.settleFile(&c.proof, path)
	return c.eachTask(ctx, s, func(t *studioTask, bad *RecordError) error {
		c.report.Records++
		if bad != nil {
			c.fail(*bad)
			return nil
		}
		c.examine(&proof{}, t)
		return c.write(t)
	})
}

// eachTask calls do with every task of the file. One that cannot be read is empty.
func (c *studioReader) eachTask(ctx context.Context, s shape, do func(*studioTask, *RecordError) error) error {
	return c.eachRecord(ctx, c.file, s, func(rec *foreignRecord) error {
		piece, bad := newPiece(rec, &c.text)
		if bad != nil {
			return do(&studioTask{}, bad)
		}
		from := &programRecord{pieces: []recordPiece{piece}, number: rec.number, limits: c.Limits}
		made, err := studioProgram.first(ctx, "row", from, piece.tree)
		if err != nil {
			e := from.mistake(studioProgram, err, from.whole())
			return do(&studioTask{}, &e)
		}
		return do(newStudioTask(from, made), nil)
	})
}

// examine examines the marks of a task, text by text.
func (c *studioReader) examine(p *proof, t *studioTask) {
	byField := map[string][]*markedSpan{}
	for i := range t.annotations {
		for k := range t.annotations[i].marks {
			m := &t.annotations[i].marks[k]
			if f := c.layout.fieldOf(t, m); f != nil && !isStudioRole(f.key) {
				byField[f.key] = append(byField[f.key], &m.markedSpan)
			}
		}
	}
	for i := range t.fields {
		f := &t.fields[i]
		if marks := byField[f.key]; len(marks) > 0 {
			p.examineMarks(f.searched(), marks)
		}
	}
}

// A studioTask is one task of an export.
type studioTask struct {
	filler
	row         ibid.Answer // but for documents and truth
	doc, title  string      // of its only text
	fields      []studioField
	documents   map[string]any // names of the documents of a task of ours, by field; else nil
	annotations []studioAnnotation
	answers     int // results that are no marks in texts
	made        map[string]any
}

// A studioField is one string of a task's data.
type studioField struct {
	key, text string
	find      *searched // nil until asked for
}

// A studioAnnotation is what one person marked.
type studioAnnotation struct {
	annotator, places string
	homeless          bool // some mark is no text
	marks             []studioMark
	item              any
}

// A studioMark is a place that somebody marked in some text of a task.
type studioMark struct {
	markedSpan
	to     string // the control's object, by its name in the labeling configuration
	source string // the field of the data, if the export says it
	path   string
	labels []string
	kept   []any
	item   any
}

// newStudioTask is what the program makes of a task.
func newStudioTask(from *programRecord, made any) *studioTask {
	t := &studioTask{filler: filler{rec: from}}
	o := t.object(made, "task")
	t.made = o
	t.documents, _ = o["documents"].(map[string]any)
	t.doc, t.title = t.text(o, "doc"), t.text(o, "title")
	t.row = ibid.Answer{
		ID: t.text(o, "id"), Query: t.text(o, "query"), Answer: t.text(o, "answer"),
		System: t.text(o, "system"), Provider: t.text(o, "provider"), Model: t.text(o, "model"),
	}
	for _, v := range t.list(o, "claims") {
		c := t.object(v, "claims")
		t.row.Claims, t.row.HasClaims = append(t.row.Claims, ibid.Claim{
			ClaimID: t.text(c, "id"), Text: t.text(c, "text"), Start: t.integer(c, "start"), End: t.integer(c, "end"),
		}), true
	}
	for _, v := range t.list(o, "labels") {
		l := t.object(v, "labels")
		t.row.Labels, t.row.HasLabels = append(t.row.Labels, ibid.Label{
			Annotator: t.text(l, "annotator"), Kind: t.text(l, "kind"), ClaimID: t.text(l, "claim"), CitationID: t.text(l, "citation"), Value: t.number(l, "value"),
		}), true
	}
	for _, v := range t.list(o, "fields") {
		f := t.object(v, "fields")
		t.fields = append(t.fields, studioField{key: t.text(f, "key"), text: t.text(f, "text")})
	}
	t.answers = int(t.integer(o, "answers").Value)
	for _, v := range t.list(o, "annotations") {
		a := t.object(v, "annotations")
		annotation := studioAnnotation{annotator: t.text(a, "by"), places: t.text(a, "places"), homeless: t.isTrue(a, "homeless"), item: a["item"]}
		for _, v := range t.list(a, "marks") {
			annotation.marks = append(annotation.marks, t.studioMark(t.object(v, "marks")))
		}
		t.annotations = append(t.annotations, annotation)
	}
	return t
}

func (t *studioTask) studioMark(o map[string]any) studioMark {
	m := studioMark{to: t.text(o, "to"), source: t.text(o, "source"), path: t.text(o, "path"), kept: t.list(o, "kept"), item: o["item"]}
	m.quote = quote{text: t.text(o, "quote"), start: t.integer(o, "start").Value, end: t.integer(o, "end").Value}
	m.labels, _ = t.texts(o, "labels")
	return m
}

// searched is the text of the field.
func (f *studioField) searched() *searched {
	if f.find == nil {
		f.find = newSearched(token.NewText(f.text))
	}
	return f.find
}

// field is the string of that name, nil if there is none.
func (t *studioTask) field(key string) *studioField {
	i := slices.IndexFunc(t.fields, func(f studioField) bool { return f.key == key })
	if i < 0 {
		return nil
	}
	return &t.fields[i]
}

// studioTexts are members of a task's data which it is likely that people mark, and
// studioRoles those that are the question, the answer, or name something: nothing to find
// evidence in.
var (
	studioTexts = []string{"text", "document", "context", "passage", "content"}
	studioRoles = []string{
		"id", "system", "provider", "model", "claim", "claim_id", "doc", "title", blindMember,
		"query", "question", "prompt", "answer", "response", "output",
	}
)

func isStudioRole(key string) bool { return slices.Contains(studioRoles, key) }

// A studioLayout is what a file tells of the labeling configuration, which is not
// part of the export.
type studioLayout struct {
	votes map[string]map[string]int // for each object of the configuration, the quotes that a field holds
	field map[string]string         // the field of each object; "" if there is none
	asked bool                      // people were asked to mark texts

	marks   map[string]int // in each object
	answers int            // results that are no marks in texts
}

func newStudioLayout() studioLayout {
	return studioLayout{
		votes: map[string]map[string]int{}, field: map[string]string{},
		marks: map[string]int{},
	}
}

// stated is worth more than any number of quotes.
const stated = 1 << 40

// vote counts, for every mark of a task, the fields in which its quote stands.
func (l *studioLayout) vote(t *studioTask) {
	for i := range t.annotations {
		for k := range t.annotations[i].marks {
			l.voteFor(t, &t.annotations[i].marks[k])
		}
	}
	l.answers += t.answers
}

func (l *studioLayout) voteFor(t *studioTask, m *studioMark) {
	if l.votes[m.to] == nil {
		l.votes[m.to] = map[string]int{}
	}
	l.marks[m.to]++
	for i := range t.fields {
		f := &t.fields[i]
		votes := 0
		if m.source == f.key {
			votes = stated
		}
		var p proof
		if isQuote(m.quote.text) {
			e := p.examine(f.searched(), &m.quote)
			if e.exact&shownReadings != 0 || e.alike>>p.documented&1 == 1 {
				votes++
			}
		}
		l.votes[m.to][f.key] += votes
	}
}

// shownReadings are those that Label Studio has had, code points and UTF-16.
const shownReadings readingSet = 1<<0 | 1<<1

// settle finds the field of every object: the one that holds most quotes; where they
// do not tell, the one of that name, then a name that texts have, then the first by
// name.
func (l *studioLayout) settle() {
	for to, votes := range l.votes {
		var keys []string
		for key := range votes {
			if votes[key] > 0 || !isStudioRole(key) {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 {
			continue
		}
		best := slices.MinFunc(keys, func(a, b string) int {
			return cmp.Or(-cmp.Compare(votes[a], votes[b]), cmp.Compare(rankField(a, to), rankField(b, to)), strings.Compare(a, b))
		})
		l.field[to] = best
	}
	l.asked = len(l.marks) == 0 && l.answers == 0
	for to := range l.marks {
		l.asked = l.asked || !isStudioRole(l.field[to])
	}
}

func rankField(key, to string) int {
	if key == to {
		return -1
	}
	if i := slices.Index(studioTexts, key); i >= 0 {
		return i
	}
	return len(studioTexts)
}

// fieldOf is the field of a task that a mark is in, nil if there is none.
func (l *studioLayout) fieldOf(t *studioTask, m *studioMark) *studioField {
	if t.documents != nil {
		return t.field(m.to)
	}
	return t.field(l.field[m.to])
}

// documents are the fields of a task that people could mark.
func (l *studioLayout) documentsOf(t *studioTask) []*studioField {
	marked := map[string]bool{}
	for _, key := range l.field {
		marked[key] = !isStudioRole(key)
	}
	var all, likely []*studioField
	for i := range t.fields {
		f := &t.fields[i]
		switch {
		case t.documents != nil:
			if t.documents[f.key] != nil {
				all = append(all, f)
			}
		case marked[f.key]:
			all = append(all, f)
		case slices.Contains(studioTexts, f.key):
			likely = append(likely, f)
		}
	}
	if len(all) == 0 {
		return likely
	}
	return all
}

// write writes the row of a task whose marks have been examined, and its documents.
func (c *studioReader) write(t *studioTask) error {
	r := &t.row
	r.File, r.System = c.file, cmp.Or(r.System, c.System, "default")
	if c.run.isRepeated(r.ID, r.System) {
		whole := t.rec.whole()
		c.fail(whole.position().err(c.file, fmt.Sprintf("task %s of system %s is there twice", quoted(r.ID), quoted(r.System))))
		return nil
	}
	names, err := c.documentsOf(t)
	if err != nil {
		return err
	}
	for _, v := range t.list(t.made, "warn") {
		o := t.object(v, "warn")
		c.warnAt(t, o["at"], t.text(o, "text"))
	}
	for _, v := range t.list(t.made, "ignored") {
		tally(c.report.Ignored, clipped(t.textOf(v, "ignored")))
	}
	var kept extra
	t.members(&kept, t.list(t.made, "kept"))
	for i := range t.annotations {
		c.truth(t, &t.annotations[i], names, &kept)
	}
	for _, v := range t.list(t.made, "data") {
		o := t.object(v, "data")
		if name := t.text(o, "key"); names[name] == "" {
			kept.add(clipped("data."+name), []byte(t.rec.raw(o["value"])))
		}
	}
	r.Tags = kept.tags()
	return c.row(r)
}

// warnAt warns of something at an object of the task.
func (c *studioReader) warnAt(t *studioTask, at any, text string) {
	p, _ := t.rec.find(at)
	c.warn(p.position().err(c.file, text))
}

// truth adds the marks of one person, or that there are none. Whose marks are not all
// known is left out: less than they marked is not what they said.
func (c *studioReader) truth(t *studioTask, a *studioAnnotation, names map[string]string, kept *extra) {
	var placed []*studioMark
	reason := ""
	if a.homeless {
		reason = "some mark is in no text"
	}
	for i := range a.marks {
		m := &a.marks[i]
		f := c.layout.fieldOf(t, m)
		if f != nil && names[f.key] != "" {
			placed = append(placed, m)
			t.members(kept, m.kept)
			for _, label := range m.labels {
				tally(c.report.SpanLabels, label)
			}
			continue
		}
		in := "no text"
		if f != nil {
			in = f.key
		} else {
			reason = "no field of the task has the text of " + quoted(m.to)
		}
		tally(c.report.Ignored, "mark in "+in)
		kept.add(m.path, []byte(t.rec.raw(m.item)))
	}
	asked := c.layout.asked
	if t.documents != nil && reason == "" {
		asked, reason = blindTruth(a.places, len(placed))
	}
	switch {
	case reason != "":
		c.warnAt(t, a.item, fmt.Sprintf("annotator %s is left out of the truth: %s", quoted(a.annotator), reason))
		return
	case len(placed) == 0 && !asked:
		return
	}
	t.row.HasTruth = true
	if len(placed) == 0 {
		t.row.Truth = append(t.row.Truth, ibid.Mark{Annotator: a.annotator, DocNull: true})
	}
	for _, m := range placed {
		f := c.layout.fieldOf(t, m)
		mark := ibid.Mark{Annotator: a.annotator, Doc: names[f.key]}
		mark.Start, mark.End, mark.Unit = m.place(f.searched().text, c.reading)
		t.row.Truth = append(t.row.Truth, mark)
		if v := m.verdict(c.reading); v != proved {
			c.warnAt(t, m.item, markReasons[v])
		}
	}
}

// documentsOf names the texts of a task, by their fields, and writes them: as documents
// of their own, or of the row.
func (c *studioReader) documentsOf(t *studioTask) (map[string]string, error) {
	fields := c.layout.documentsOf(t)
	names := make(map[string]string, len(fields))
	for _, f := range fields {
		text := f.searched().text.String()
		name := t.nameOf(f, len(fields))
		if name == "" {
			name = c.call(text, t.row.ID+"/"+f.key)
		}
		unique, first := c.names.of(name, text, true)
		if t.documents == nil {
			name = unique
		}
		names[f.key] = name
		d := ibid.Document{Doc: name, Text: text, HasText: true}
		if len(fields) == 1 {
			d.Title = t.title
		}
		switch {
		case !c.Docs || name != unique: // a blind sample names documents as its dataset does, whose rows may have their own
			t.row.Documents, t.row.HasDocuments = append(t.row.Documents, d), true
		case first:
			if err := c.document(&d); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// call returns the name of a text that has none of its own: the one that it has been
// given before, else a new one.
func (c *studioReader) call(text, name string) string {
	digest := sha256.Sum256([]byte(text))
	if called := c.called[digest]; called != "" {
		return called
	}
	c.called[digest] = name
	return name
}

// nameOf is what the task calls a text of its, of which it has several; "" if it does
// not.
func (t *studioTask) nameOf(f *studioField, several int) string {
	switch {
	case t.documents != nil:
		return t.documents[f.key].(string)
	case several == 1:
		return t.doc
	}
	return ""
}
