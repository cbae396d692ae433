package convert

import (
	"cmp"
	"slices"
	"strings"

	"ibid/metrics/token"
)

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
	key, text   string
	plain, html *searched // nil until asked for
}

// as is the text of the field, which may be HTML.
func (f *studioField) as(html bool) *searched {
	if html {
		if f.html == nil {
			f.html = newSearched(token.NewText(shownText(f.text)))
		}
		return f.html
	}
	if f.plain == nil {
		f.plain = newSearched(token.NewText(f.text))
	}
	return f.plain
}

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
	studioTexts  = []string{"text", "document", "context", "passage", "content", "html"} // which it is likely that people mark
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
	if !o.has("data") && (o.has("annotation_id") || o.has("annotator")) {
		o.fail("a record of JSON_MIN, which does not say what a mark is in: export as JSON")
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
		if id := item.peek("id"); id != "" && isStudioRegion(item.peek("type")) {
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
	if v.kind() != "an object" {
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

// isTrue is a boolean, false if it is null or absent.
func (v value) isTrue() bool { return v.is("a boolean") && v.r.data[v.start] == 't' }
