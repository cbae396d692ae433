package convert

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/metrics/token"
)

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
		return o.isObject("data") && (o.isList("annotations") || o.isList("completions")) || isStudioMin(o)
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
	row     ibid.Answer
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
		if t != nil {
			c.layout.vote(t)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.layout.settle()
	err = c.eachTask(ctx, s, func(t *studioTask, _ *RecordError) error {
		if t != nil {
			c.examine(&c.proof, t)
		}
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

// eachTask calls do with every task of the file, or with what is wrong with it.
func (c *studioReader) eachTask(ctx context.Context, s shape, do func(*studioTask, *RecordError) error) error {
	return c.eachRecord(ctx, c.file, s, func(rec *foreignRecord) error {
		t := &studioTask{at: rec.at, record: rec.data}
		o, bad := rec.open(&c.text)
		if bad == nil {
			t.decode(o)
			bad = rec.mistake(&c.text)
		}
		if bad != nil {
			t = nil
		}
		return do(t, bad)
	})
}

// examine examines the marks of a task, text by text.
func (c *studioReader) examine(p *proof, t *studioTask) {
	byField := map[string][]*markedSpan{}
	for i := range t.annotations {
		for k := range t.annotations[i].marks {
			m := &t.annotations[i].marks[k]
			if f := c.layout.fieldOf(t, m); f != nil && !isStudioRole(f.key) && t.annotations[i].counts() {
				byField[f.key] = append(byField[f.key], &m.markedSpan)
			}
		}
	}
	for i := range t.fields {
		f := &t.fields[i]
		if marks := byField[f.key]; len(marks) > 0 {
			p.examineMarks(f.searched().text, marks)
		}
	}
}

// A studioTask is one task as the export has it.
type studioTask struct {
	id, system, provider, model string
	query, answer               string
	claim, claimID              string // "" if there is none
	doc, title                  string // of its only text

	root, data  *object
	fields      []studioField // members of the data that are strings, in order
	annotations []studioAnnotation
	others      map[string]int // what else was said of the task, by kind
	blind       *blindTask     // nil if the task is not of ours

	at     position // of the record in the file
	record []byte
}

// A studioField is one string of a task's data.
type studioField struct {
	key, text string
	find      *searched // nil until asked for
}

// searched is the text of the field.
func (f *studioField) searched() *searched {
	if f.find == nil {
		f.find = newSearched(token.NewText(f.text))
	}
	return f.find
}

// isStudioMin reports whether a record is of JSON_MIN.
func isStudioMin(o *object) bool { return !o.has("data") && o.find("annotation_id") != nil }

// field is the string of that name, nil if there is none.
func (t *studioTask) field(key string) *studioField {
	i := slices.IndexFunc(t.fields, func(f studioField) bool { return f.key == key })
	if i < 0 {
		return nil
	}
	return &t.fields[i]
}

// The members of a task's data that are columns of ours, the first that is given.
var (
	studioQuery  = []string{"query", "question", "prompt"}
	studioAnswer = []string{"answer", "response", "output"}
	studioTexts  = []string{"text", "document", "context", "passage", "content"} // which it is likely that people mark
)

// isStudioRole reports whether a field is the question, the answer, or names
// something: nothing to find evidence in.
func isStudioRole(key string) bool {
	switch key {
	case "id", "system", "provider", "model", "claim", "claim_id", "doc", "title", blindMember:
		return true
	}
	return slices.Contains(studioQuery, key) || slices.Contains(studioAnswer, key)
}

// decode reads a task. What is wrong it leaves with the text.
func (t *studioTask) decode(o *object) {
	t.root = o
	if isStudioMin(o) {
		o.fail("a record of JSON_MIN: export the project from Label Studio as JSON")
		return
	}
	if t.data = o.get("data").mustObject(); t.data == nil {
		return
	}
	for _, m := range t.data.members {
		if t.data.r.data[m.start] == '"' {
			t.fields = append(t.fields, studioField{key: m.name, text: t.data.peek(m.name)})
		}
	}
	t.blind = readBlindTask(t.data)
	t.columns()
	for _, a := range o.first("annotations", "completions").objects() {
		t.annotation(a)
	}
	t.latest()
	t.others = map[string]int{}
	for _, kind := range []string{"prediction", "draft"} {
		for range o.get(kind + "s").elements() {
			t.others[kind]++
		}
	}
}

// columns reads what columns of ours stand for.
func (t *studioTask) columns() {
	t.id = t.data.get("id").label()
	if t.id == "" {
		t.id = t.root.get("id").label()
	}
	if t.id == "" {
		t.root.fail("neither the task nor its data has an id")
	}
	for _, c := range []struct {
		to    *string
		names []string
	}{
		{&t.query, studioQuery},
		{&t.answer, studioAnswer},
		{&t.system, []string{"system"}},
		{&t.provider, []string{"provider"}},
		{&t.model, []string{"model"}},
		{&t.claim, []string{"claim"}},
		{&t.doc, []string{"doc"}},
		{&t.title, []string{"title"}},
	} {
		for _, name := range c.names {
			if t.field(name) != nil {
				*c.to = t.data.get(name).string()
				if t.blind != nil && *c.to == unused {
					*c.to = ""
				}
				break
			}
		}
	}
	if t.claim != "" {
		t.claimID = cmp.Or(t.data.get("claim_id").label(), "1")
	}
}

// A studioAnnotation is what one person said of a task.
type studioAnnotation struct {
	*object
	annotator string
	skipped   bool
	replaced  bool   // by a later one of the same person
	changed   string // when, as text that sorts by time

	marks    []studioMark
	choices  []studioChoice
	others   []*object // results that have no place in a row
	homeless bool      // some mark is no text
}

// annotation reads one annotation.
func (t *studioTask) annotation(o *object) {
	a := studioAnnotation{object: o, annotator: completedBy(o.get("completed_by"))}
	a.skipped = o.get("was_cancelled").isTrue() || o.get("skipped").isTrue()
	a.changed = cmp.Or(o.peek("updated_at"), o.peek("created_at"))
	var items []*object
	regions := map[string]bool{}
	for _, item := range o.get("result").objects() {
		items = append(items, item)
		if id := item.peek("id"); id != "" && !studioAnswers[item.peek("type")] {
			regions[id] = true
		}
	}
	for _, item := range items {
		a.result(item, regions[item.peek("id")])
	}
	t.annotations = append(t.annotations, a)
}

// completedBy is what a person is called: by number or name, or by an object that
// has one.
func completedBy(v value) string {
	if v.kind() != anObject {
		return v.label()
	}
	o := v.object()
	names := strings.TrimSpace(o.peek("first_name") + " " + o.peek("last_name"))
	name := cmp.Or(o.peek("email"), o.peek("username"), names)
	if name == "" {
		name = o.get("id").label()
	}
	return name
}

// latest leaves one annotation of each person: the one that was changed last, and of
// those changed at the same time the one that stands last.
func (t *studioTask) latest() {
	last := map[string]int{}
	for i := range t.annotations {
		a := &t.annotations[i]
		if a.skipped {
			continue
		}
		before, again := last[a.annotator]
		switch {
		case again && a.annotator == "":
			a.fail("a second annotation without completed_by: nobody can tell whose they are")
		case again && a.changed < t.annotations[before].changed:
			a.replaced = true
			continue
		case again:
			t.annotations[before].replaced = true
		}
		last[a.annotator] = i
	}
}

// counts reports whether an annotation says anything.
func (a *studioAnnotation) counts() bool { return !a.skipped && !a.replaced }

// A studioMark is a place that somebody marked in some text of a task.
type studioMark struct {
	markedSpan
	to     string // the control's object, by its name in the labeling configuration
	source string // the field of the data, if the export says it
	labels []string

	item, value *object
}

// A studioChoice is what somebody chose.
type studioChoice struct {
	control string
	options []string
	item    *object
}

// studioAnswers are the types of results that are no marks: they belong to the task,
// or to a mark that stands beside them.
var studioAnswers = map[string]bool{
	"choices": true, "textarea": true, "rating": true, "number": true, "datetime": true, "taxonomy": true,
	"pairwise": true, "ranker": true, "relation": true,
}

// result reads one result. region says that a mark with the same id stands beside it.
func (a *studioAnnotation) result(item *object, region bool) {
	kind := item.get("type").string()
	value := item.get("value")
	switch {
	case kind == "choices" && !region && value.kind() == anObject:
		options, _ := value.object().get("choices").texts()
		a.choices = append(a.choices, studioChoice{control: item.get("from_name").string(), options: options, item: item})
	case studioAnswers[kind]:
		a.others = append(a.others, item)
	default:
		m, ok := textMark(item)
		if !ok {
			a.homeless = true
			a.others = append(a.others, item)
			return
		}
		a.marks = append(a.marks, m)
		item.readUsual()
	}
}

// textMark reads a mark in a text; ok is false if it is in something else.
func textMark(item *object) (m studioMark, ok bool) {
	kind := item.peek("type")
	if !item.isObject("value") || item.has("original_length") || item.has("original_width") {
		return m, false
	}
	v := item.get("value").object()
	if v == nil {
		return m, false // the text has a mistake
	}
	m = studioMark{to: item.get("to_name").string(), item: item, value: v}
	if source, stated := strings.CutPrefix(item.get("source").string(), "$"); stated {
		m.source = source
	}
	switch {
	case kind == "hypertextlabels" || kind == "hypertext" || strings.Contains(v.peek("start"), "text()"):
		item.fail("a mark in HTML: show the text as <Text> in Label Studio, and export the project as JSON")
		return m, false
	case kind == "labels" || kind == "text" || kind == "richtext":
		if v.has("channel") || !m.offsetsOf(v, "start", "end") {
			return m, false
		}
	default:
		return m, false
	}
	if v.peek("text") != "" {
		// Line ends become a backslash and an n.
		m.quote.text = strings.ReplaceAll(v.get("text").string(), `\n`, "\n")
	}
	m.labels, _ = v.get("labels").texts()
	return m, item.r.err == nil
}

// offsetsOf reads a pair of offsets, which may be strings. Fractions are seconds, and
// then there is none.
func (m *studioMark) offsetsOf(o *object, start, end string) bool {
	for _, each := range []struct {
		name string
		to   *int64
	}{{start, &m.quote.start}, {end, &m.quote.end}} {
		n, err := strconv.ParseInt(o.get(each.name).label(), 10, 64)
		if err != nil {
			return false
		}
		*each.to = n
	}
	return true
}

// readUsual reads the members that every result has and that say nothing more.
func (o *object) readUsual() {
	for _, name := range []string{"id", "type", "from_name", "to_name", "origin", "source", "value"} {
		o.get(name)
	}
}

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
		a := &t.annotations[i]
		l.answers += len(a.choices) + len(a.others)
		for k := range a.marks {
			l.voteFor(t, &a.marks[k])
		}
	}
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
	if t.blind != nil {
		return t.field(m.to)
	}
	return t.field(l.field[m.to])
}

// documents are the fields of a task that people could mark.
func (l *studioLayout) documents(t *studioTask) []*studioField {
	marked := map[string]bool{}
	for _, key := range l.field {
		marked[key] = !isStudioRole(key)
	}
	var all, likely []*studioField
	for i := range t.fields {
		f := &t.fields[i]
		switch {
		case t.blind != nil:
			if t.blind.document(f.key) != "" {
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
