package convert

import (
	"bytes"
	"context"
	"slices"
)

// A studioMin gathers the records of JSON_MIN that are of one task: an annotation each, with
// the members of the task's data and what each control was answered. They become one
// task as the JSON export has it.
//
// JSON_MIN does not say which members are answers. A list of objects with start and end,
// or with the size of a picture, is marks; a member whose name says what a label is about
// (see [kindOfControl]) is a choice, if it is a text or choices; all else is data.
type studioMin struct {
	id    string
	first foreignRecord
	data  extra // of the first record

	annotations bytes.Buffer
}

// isStudioMin reports whether a record is of JSON_MIN.
func isStudioMin(o *object) bool {
	return !o.has("data") && (o.find("annotation_id") != nil || o.find("annotator") != nil)
}

// studioMinAnnotation are the members of a record that are about its annotation, and
// their names in the export.
var studioMinAnnotation = map[string]string{
	"annotation_id": "id", "annotator": "completed_by", "created_at": "created_at", "updated_at": "updated_at", "lead_time": "lead_time",
}

// add adds a record.
func (m *studioMin) add(o *object) {
	var annotation, data extra
	var result bytes.Buffer
	answer := func(kind, control string, value []byte) {
		var item extra
		item.addText("type", kind)
		item.addText("from_name", control)
		item.addText("to_name", control)
		item.add("value", value)
		if result.Len() > 0 {
			result.WriteByte(',')
		}
		result.WriteString(item.object())
	}
	for name, v := range o.all() {
		switch about, known := studioMinAnnotation[name]; {
		case known:
			annotation.add(about, v.raw())
		case name == "id": // of the task; an id of its data is gone
		case v.allElements(isMinMark) && string(compact(v.raw())) != "[]":
			for _, e := range v.elements() {
				kind := "labels"
				if e.object().has("startOffset") {
					kind = "hypertextlabels"
				} else if !e.object().has("start") {
					kind = "mark"
				}
				answer(kind, name, e.raw())
			}
		case kindOfControl(name) != "" && v.kind() == aString:
			answer("choices", name, []byte(`{"choices":[`+string(v.raw())+`]}`))
		case kindOfControl(name) != "" && v.kind() == anObject && v.object().isList("choices"):
			answer("choices", name, v.raw())
		default:
			data.add(name, v.raw())
		}
	}
	annotation.add("result", []byte("["+result.String()+"]"))
	if m.annotations.Len() > 0 {
		m.annotations.WriteByte(',')
	} else {
		m.data = data
	}
	m.annotations.WriteString(annotation.object())
}

// isMinMark reports whether a value is a mark.
func isMinMark(v value) bool {
	if v.kind() != anObject {
		return false
	}
	o := v.object()
	return o.find("start") != nil && o.find("end") != nil || o.find("original_width") != nil
}

// task is the task that the records are of.
func (m *studioMin) task() foreignRecord {
	rec := m.first
	var task extra
	if m.id != "" {
		task.add("id", []byte(m.id))
	}
	data := m.data.buf.Bytes()
	if len(data) == 0 {
		data = []byte("{")
	}
	task.add("data", append(slices.Clone(data), '}'))
	task.add("annotations", []byte("["+m.annotations.String()+"]"))
	rec.data = []byte(task.object())
	return rec
}

// eachStudioRecord calls do with every task of the file: records of JSON_MIN that follow
// each other and are of one task are one.
func (c *studioReader) eachStudioRecord(ctx context.Context, s shape, do func(*foreignRecord) error) error {
	var m *studioMin
	flush := func() error {
		if m == nil {
			return nil
		}
		rec := m.task()
		m = nil
		return do(&rec)
	}
	err := c.eachRecord(ctx, c.file, s, func(rec *foreignRecord) error {
		var o *object
		if rec.reason == "" {
			o = c.text.open(rec.data)
		}
		if o == nil || !isStudioMin(o) {
			if err := flush(); err != nil {
				return err
			}
			return do(rec)
		}
		id := string(o.get("id").raw())
		if m != nil && (m.id != id || id == "") {
			if err := flush(); err != nil {
				return err
			}
			o = c.text.open(rec.data) // what was flushed was read by the same reader
		}
		if m == nil {
			m = &studioMin{id: id, first: *rec}
			m.first.data = nil
		}
		m.add(o)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}
