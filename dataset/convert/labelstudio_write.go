package convert

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"ibid"
)

// write writes the row of a task whose marks have been examined, and its documents.
func (c *studioReader) write(t *studioTask) error {
	system := cmp.Or(t.system, c.System, "default")
	if c.run.isRepeated(t.id, system) {
		c.fail(t.at.err(c.file, fmt.Sprintf("task %s of system %s is there twice", quoted(t.id), quoted(system))))
		return nil
	}
	c.row = ibid.Answer{
		File: c.file, ID: t.id, Query: t.query, Answer: t.answer,
		System: system, Provider: t.provider, Model: t.model,
	}
	if t.claim != "" {
		c.row.Claims, c.row.HasClaims = []ibid.Claim{{ClaimID: t.claimID, Text: t.claim}}, true
	}
	names, err := c.documents(t)
	if err != nil {
		return err
	}
	w := studioWriter{studioReader: c, t: t, names: names}
	for i := range t.annotations {
		w.annotation(&t.annotations[i])
	}
	w.rest()
	return c.run.row(&c.row)
}

// documents names the texts of a task, by their fields, and writes them: as documents
// of their own, or of the row.
func (c *studioReader) documents(t *studioTask) (map[string]string, error) {
	fields := c.layout.documents(t)
	names := make(map[string]string, len(fields))
	for _, f := range fields {
		t.data.get(f.key)
		text := f.searched().text.String()
		name := t.nameOf(f, len(fields))
		if name == "" {
			name = c.call(text, t.id+"/"+f.key)
		}
		unique, first := c.names.of(name, text, true)
		if t.blind == nil {
			name = unique
		}
		names[f.key] = name
		d := ibid.Document{Doc: name, Text: text, HasText: true}
		if len(fields) == 1 {
			d.Title = t.title
		}
		switch {
		case !c.Docs || name != unique: // a blind sample names documents as its dataset does, whose rows may have their own
			c.row.Documents, c.row.HasDocuments = append(c.row.Documents, d), true
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
	case t.blind != nil:
		return t.blind.document(f.key)
	case several == 1:
		return t.doc
	}
	return ""
}

// A studioWriter makes the row of one task.
type studioWriter struct {
	*studioReader
	t     *studioTask
	names map[string]string // of documents, by field
	kept  extra
}

func (w *studioWriter) warn(v *object, format string, args ...any) {
	at := w.t.at.after(w.t.record[:v.start])
	w.run.warn(at.err(w.file, fmt.Sprintf(format, args...)))
}

// annotation adds what one person said.
func (w *studioWriter) annotation(a *studioAnnotation) {
	if !a.counts() {
		what := "skipped annotation"
		if a.replaced {
			what = "replaced annotation"
			w.warn(a.object, "annotator %s has a later annotation of this task: this one does not count", quoted(a.annotator))
		}
		tally(w.report.Ignored, what)
		w.kept.add(a.path(), a.raw())
		return
	}
	places := ""
	for i := range a.choices {
		ch := &a.choices[i]
		if w.t.blind != nil && ch.control == blindPlaces && len(ch.options) == 1 {
			places = ch.options[0]
			continue
		}
		w.choice(a, ch)
	}
	w.truth(a, places)
	for _, item := range a.others {
		what := cmp.Or(item.peek("type"), "result without a type")
		if what == "choices" {
			what = "choices of a mark"
		}
		tally(w.report.Ignored, clipped(what))
		w.kept.add(item.path(), item.raw())
	}
	w.keepUnread(a.object)
}

// choice adds the label that a choice is.
func (w *studioWriter) choice(a *studioAnnotation, ch *studioChoice) {
	q, known := w.t.question(ch.control)
	value, decided, reason := verdictOf(q.Kind, ch.options)
	switch {
	case !known:
		tally(w.report.Ignored, clipped("choices of "+cmp.Or(ch.control, "no control")))
		w.kept.add(ch.item.path(), ch.item.raw())
		return
	case reason != "":
		w.warn(ch.item, "%s: %s: no label", ch.control, reason)
		w.kept.add(ch.item.path(), ch.item.raw())
		return
	case !decided:
		w.kept.add(ch.item.path(), ch.item.raw())
		return
	}
	q.Annotator = a.annotator
	if slices.ContainsFunc(w.row.Labels, func(l ibid.Label) bool { l.Value = q.Value; return l == q }) {
		w.warn(ch.item, "%s: annotator %s has answered this before: no second label", ch.control, quoted(a.annotator))
		w.kept.add(ch.item.path(), ch.item.raw())
		return
	}
	q.Value = ibid.Some(value)
	w.row.Labels, w.row.HasLabels = append(w.row.Labels, q), true
	if q.ClaimID == wholeAnswerClaim && !w.row.HasClaims && w.t.blind == nil {
		whole := ibid.Claim{ClaimID: wholeAnswerClaim, Text: w.t.answer, Start: integer(0), End: integer(int64(len([]rune(w.t.answer))))}
		w.row.Claims, w.row.HasClaims = []ibid.Claim{whole}, true
	}
	ch.item.readUsual()
	w.keepUnread(ch.item)
}

// truth adds the marks of one person, or that there are none. Whose marks are not all
// known is left out: less than they marked is not what they said.
func (w *studioWriter) truth(a *studioAnnotation, places string) {
	var placed []*studioMark
	reason := ""
	if a.homeless {
		reason = "some mark is in no text"
	}
	for i := range a.marks {
		m := &a.marks[i]
		f := w.layout.fieldOf(w.t, m)
		switch {
		case f == nil:
			reason = "no field of the task has the text of " + quoted(m.to)
			tally(w.report.Ignored, "mark in no text")
			w.kept.add(m.item.path(), m.item.raw())
			continue
		case w.names[f.key] == "":
			tally(w.report.Ignored, "mark in "+f.key)
			w.kept.add(m.item.path(), m.item.raw())
			continue
		}
		placed = append(placed, m)
		w.keepUnread(m.item)
		w.keepUnread(m.value)
		for _, label := range m.labels {
			tally(w.report.SpanLabels, label)
		}
		if labels := m.value.get("labels"); labels.given() {
			w.kept.add(labels.path(), labels.raw())
		}
	}
	asked := w.layout.asked
	if w.t.blind != nil && reason == "" {
		asked, reason = blindTruth(places, len(placed))
	}
	switch {
	case reason != "":
		w.warn(a.object, "annotator %s is left out of the truth: %s", quoted(a.annotator), reason)
		return
	case len(placed) == 0 && !asked:
		return
	}
	w.row.HasTruth = true
	if len(placed) == 0 {
		w.row.Truth = append(w.row.Truth, ibid.Mark{Annotator: a.annotator, DocNull: true})
	}
	for _, m := range placed {
		f := w.layout.fieldOf(w.t, m)
		t := ibid.Mark{Annotator: a.annotator, Doc: w.names[f.key]}
		t.Start, t.End, t.Unit = m.place(f.searched().text, w.reading)
		w.row.Truth = append(w.row.Truth, t)
		if v := m.verdict(w.reading); v != proved {
			w.warn(m.item, "%s", markReasons[v])
		}
	}
}

// rest keeps what has no column.
func (w *studioWriter) rest() {
	for kind, n := range w.t.others {
		for range n {
			tally(w.report.Ignored, kind)
		}
	}
	w.keepUnread(w.t.root)
	w.keepUnread(w.t.data)
	w.row.Tags = w.kept.tags()
}

// keepUnread keeps the members of an object that nobody has read and that say
// anything, under their places in the record.
func (w *studioWriter) keepUnread(o *object) {
	o.unread(func(v value) {
		if v.given() {
			w.kept.add(clipped(v.path()), v.raw())
		}
	})
}

// The values of labels of support, by what people could choose. See the guide for
// annotators.
var studioSupport = map[string]float64{
	"supported": 1, "fully supported": 1, "full": 1, "fully": 1, "full support": 1, "supports": 1, "attributable": 1, "complete": 1, "yes": 1,
	"mostly supported": 0.8, "mostly": 0.8, "mostly supports": 0.8,
	"partially supported": 0.5, "partly supported": 0.5, "partial": 0.5, "partially": 0.5, "partly": 0.5, "partial support": 0.5, "partially supports": 0.5,
	"not supported": 0, "unsupported": 0, "no support": 0, "none": 0, "not attributable": 0, "incomplete": 0, "no": 0,
	"contradicted": 0, "contradicts": 0, "contradictory": 0, "refuted": 0, "refutes": 0,
}

// The same of questions for yes or no.
var studioYesNo = map[string]float64{
	"yes": 1, "true": 1, "relevant": 1, "factual": 1, "needed": 1, "needs citation": 1,
	"no": 0, "false": 0, "irrelevant": 0, "not relevant": 0, "not factual": 0, "not needed": 0, "needs no citation": 0,
}

// studioUnsure are answers that say nothing.
var studioUnsure = []string{"unsure", "not sure", "unclear", "unknown", "cannot tell", "can't tell", "undecided", "n/a", "skip"}

// studioKinds are the kinds of labels, by a part of the names of controls.
var studioKinds = []struct{ part, kind string }{
	{"needs citation", ibid.NeedsCitationLabel},
	{"relevan", ibid.RelevantLabel},
	{"factual", ibid.FactualLabel},
	{"support", ibid.SupportLabel},
	{"verdict", ibid.SupportLabel},
	{"attribut", ibid.SupportLabel},
	{"entail", ibid.SupportLabel},
}

// studioWord is a name or an option, so that its form does not count.
func studioWord(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(s))), " ")
}

// kindOfControl is the kind of label that a control asks for, "" if it is none.
func kindOfControl(name string) string {
	name = studioWord(name)
	for _, k := range studioKinds {
		if strings.Contains(name, k.part) {
			return k.kind
		}
	}
	return ""
}

// question is what a choice answers: a label without annotator and value. ok is false
// if it answers nothing that we know.
func (t *studioTask) question(control string) (q ibid.Label, ok bool) {
	if t.blind != nil {
		return t.blind.question(control)
	}
	q = ibid.Label{Kind: kindOfControl(control), ClaimID: t.claimID}
	if q.ClaimID == "" && t.answer != "" {
		q.ClaimID = wholeAnswerClaim
	}
	return q, q.Kind != "" && q.ClaimID != ""
}

// wholeAnswerClaim is the id of the claim that is the answer as a whole.
const wholeAnswerClaim = "answer"

// verdictOf is the value of a choice. decided is false if the person did not decide;
// reason says why the choice cannot be understood.
func verdictOf(kind string, options []string) (value float64, decided bool, reason string) {
	if len(options) == 0 {
		return 0, false, ""
	}
	if len(options) > 1 {
		return 0, false, "more than one option was chosen"
	}
	word := studioWord(options[0])
	if slices.Contains(studioUnsure, word) {
		return 0, false, ""
	}
	values := studioYesNo
	if kind == ibid.SupportLabel {
		values = studioSupport
	}
	value, decided = values[word]
	if !decided {
		return 0, false, "unknown option " + quoted(options[0])
	}
	return value, true, ""
}
