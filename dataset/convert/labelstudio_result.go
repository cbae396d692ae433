package convert

import (
	"strconv"
	"strings"
)

// A studioMark is a place that somebody marked in some text of a task.
type studioMark struct {
	markedSpan
	to     string // the control's object, by its name in the labeling configuration
	source string // the field of the data, if the export says it
	html   bool   // offsets count the text that HTML shows
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

// isStudioRegion reports whether a result of that type is a mark.
func isStudioRegion(kind string) bool { return !studioAnswers[kind] }

// result reads one result. region says that a mark with the same id stands beside it.
func (a *studioAnnotation) result(item *object, region bool) {
	kind := item.get("type").string()
	value := item.get("value")
	switch {
	case kind == "choices" && !region && value.kind() == "an object":
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
	m = studioMark{to: item.get("to_name").string(), item: item, value: v}
	if source, stated := strings.CutPrefix(item.get("source").string(), "$"); stated {
		m.source = source
	}
	switch {
	case kind == "hypertextlabels" || kind == "hypertext" || v.isObject("globalOffsets"):
		if m.html, ok = true, m.offsetsOfHTML(v); !ok {
			return m, false
		}
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
	m.labels, _ = v.first("labels", "hypertextlabels").texts()
	return m, item.r.err == nil
}

// offsetsOfHTML reads the offsets of a mark in HTML: those into the text as a whole,
// else those into its only node.
func (m *studioMark) offsetsOfHTML(v *object) bool {
	if whole := v.get("globalOffsets").object(); whole != nil {
		for _, name := range []string{"start", "end", "startOffset", "endOffset"} {
			v.get(name)
		}
		return m.offsetsOf(whole, "start", "end")
	}
	const only = "/text()[1]"
	for _, name := range []string{"start", "end"} {
		if path := v.get(name).string(); path != only && path != only[1:] {
			return false
		}
	}
	return m.offsetsOf(v, "startOffset", "endOffset")
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
