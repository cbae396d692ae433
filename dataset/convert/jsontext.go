package convert

import (
	"iter"
	"strconv"

	"ibid/dataset"
)

// A jsonText is one JSON text of a foreign file. It is checked as a whole first;
// then its values are asked for by name, and what nobody asked for can be told
// from what was.
//
// The first mistake stays: every method after it returns a zero value, and the
// caller looks at err once at the end.
type jsonText struct {
	data []byte
	json jsonReader
	err  *jsonError
}

// open checks the text and returns its object, nil if it is none.
func (r *jsonText) open(data []byte) *object {
	r.data, r.err = data, nil
	j := &r.json
	j.reset(data)
	if m := mark(data); m != "" {
		r.err = &jsonError{0, "the record begins with " + m}
		return nil
	}
	if j.skipSpace() == 0 && j.pos == len(data) {
		r.err = &jsonError{0, "empty line"}
		return nil
	}
	start := j.pos
	j.object(func(string) { j.raw() })
	if j.end(); j.err != nil {
		r.err = j.err
		return nil
	}
	return value{r: r, start: start, end: len(data), index: noIndex}.object()
}

// seek prepares the reader for the value at a byte that has been checked.
func (r *jsonText) seek(at int) *jsonReader {
	r.json.reset(r.data)
	r.json.pos = at
	return &r.json
}

// A value is one value of a text, absent if end is 0.
type value struct {
	r          *jsonText
	in         *object // that has it as a member, or its list; nil for the text itself
	name       string
	index      int // in the list that is the member; noIndex if the member itself is meant
	start, end int
}

const noIndex = -1

// path is where the value is, such as content[2].citations[0].type.
func (v value) path() string {
	if v.in == nil {
		return ""
	}
	p := v.name
	if up := v.in.path(); up != "" {
		p = up + "." + p
	}
	if v.index != noIndex {
		p = indexed(p, v.index)
	}
	return p
}

// fail keeps the text's first mistake, at v.
func (v value) fail(format string, args ...any) {
	if v.r.err != nil {
		return
	}
	at := v.start
	if v.end == 0 && v.in != nil {
		at = v.in.start
	}
	j := v.r.seek(at)
	j.path = append(j.path, v.path()...)
	j.fail(at, format, args...)
	v.r.err = j.err
}

// kind names the type of the value, "" if it is absent.
func (v value) kind() string {
	if v.end == 0 {
		return ""
	}
	return v.r.seek(v.start).kind()
}

// given reports whether the value is there and not null.
func (v value) given() bool { return v.end != 0 && v.r.data[v.start] != 'n' }

// is reports whether the value is given, and fails if it is of another kind.
func (v value) is(kind string) bool {
	if v.r.err != nil || !v.given() {
		return false
	}
	if got := v.kind(); got != kind {
		v.fail("want %s, got %s", kind, got)
		return false
	}
	return true
}

// raw is the JSON of the value, nil if it is absent.
func (v value) raw() []byte { return v.r.data[v.start:v.end] }

// text is a string; "" and false if it is null or absent.
func (v value) text() (s string, given bool) {
	if !v.is("a string") {
		return "", false
	}
	return v.r.seek(v.start).text(), true
}

// string is a string, "" if it is null or absent.
func (v value) string() string {
	s, _ := v.text()
	return s
}

// required is a string that must be given.
func (v value) required() string {
	s, given := v.text()
	if !given {
		v.missing()
	}
	return s
}

// missing fails because the value is null or absent.
func (v value) missing() {
	if v.end == 0 {
		v.fail("missing")
	} else {
		v.fail("null, but it must be given")
	}
}

// label is a string or a number as text: ids are either.
func (v value) label() string {
	if v.r.err == nil && v.kind() == "a number" {
		return string(v.raw())
	}
	return v.string()
}

// integer is an integer of 64 bits, null if it is null or absent.
func (v value) integer() dataset.NullInt {
	if !v.is("a number") {
		return dataset.NullInt{}
	}
	n, err := strconv.ParseInt(string(v.raw()), 10, 64)
	if err != nil {
		v.fail("want an integer of 64 bits, got %s", shorten(string(v.raw()), 40))
		return dataset.NullInt{}
	}
	return integer(n)
}

// offset is an integer that must be given.
func (v value) offset() int64 {
	n := v.integer()
	if !n.Valid {
		v.missing()
	}
	return n.Value
}

// float is a double, null if it is null or absent.
func (v value) float() dataset.NullFloat {
	if !v.is("a number") {
		return dataset.NullFloat{}
	}
	f, err := strconv.ParseFloat(string(v.raw()), 64)
	if err != nil {
		v.fail("%s is out of range", shorten(string(v.raw()), 40))
		return dataset.NullFloat{}
	}
	return dataset.NullFloat{Value: f, Valid: true}
}

// reference is the value as compact JSON, "" if it is null or absent.
func (v value) reference() string {
	if v.r.err != nil || !v.given() {
		return ""
	}
	return compact(v.raw())
}

// elements are those of a list; of none, if it is null or absent.
func (v value) elements() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		if !v.is("a list") {
			return
		}
		s := jsonRecords{data: v.raw()}
		for i := 0; ; i++ {
			start, end, _ := s.next() // the text has been checked
			if start == end || v.r.err != nil {
				return
			}
			if !yield(i, value{v.r, v.in, v.name, i, v.start + start, v.start + end}) {
				return
			}
		}
	}
}

// objects are the elements of a list that must be objects.
func (v value) objects() iter.Seq2[int, *object] {
	return func(yield func(int, *object) bool) {
		for i, e := range v.elements() {
			o := e.mustObject()
			if o == nil || !yield(i, o) {
				return
			}
		}
	}
}

// texts are the strings of a list; known is false if it is null or absent.
func (v value) texts() (all []string, known bool) {
	if !v.given() {
		return nil, false
	}
	all = []string{}
	for _, e := range v.elements() {
		all = append(all, e.required())
	}
	return all, v.r.err == nil
}

// An object is one object of a text. Its members are found once, when it is
// first met.
type object struct {
	value
	members []objectMember
}

type objectMember struct {
	name       string
	start, end int
	read       bool
}

// object is an object, nil if it is null or absent.
func (v value) object() *object {
	if !v.is("an object") {
		return nil
	}
	o := &object{value: v, members: make([]objectMember, 0, 8)}
	j := v.r.seek(v.start)
	j.object(func(name string) {
		j.skipSpace()
		begin := j.pos
		j.pos = valueEnd(j.data, begin)
		o.members = append(o.members, objectMember{name: name, start: begin, end: j.pos})
	})
	return o
}

// mustObject is an object that must be given; nil only after a mistake.
func (v value) mustObject() *object {
	o := v.object()
	if o == nil && v.r.err == nil {
		v.missing()
	}
	return o
}

// get returns a member, which then counts as read.
func (o *object) get(name string) value {
	for i := range o.members {
		if m := &o.members[i]; m.name == name {
			m.read = true
			return value{o.r, o, name, noIndex, m.start, m.end}
		}
	}
	return value{r: o.r, in: o, name: name, index: noIndex}
}

// has reports whether a member is given, and does not count as reading it.
func (o *object) has(name string) bool {
	for i := range o.members {
		if m := &o.members[i]; m.name == name {
			return o.r.data[m.start] != 'n'
		}
	}
	return false
}

// isObject reports whether a member is an object, and does not count as reading
// it.
func (o *object) isObject(name string) bool {
	for i := range o.members {
		if m := &o.members[i]; m.name == name {
			return o.r.data[m.start] == '{'
		}
	}
	return false
}

// isList reports the same of a list.
func (o *object) isList(name string) bool {
	for i := range o.members {
		if m := &o.members[i]; m.name == name {
			return o.r.data[m.start] == '['
		}
	}
	return false
}

// peek is a string member, "" if it is none; that does not count as reading it.
func (o *object) peek(name string) string {
	for i := range o.members {
		if m := &o.members[i]; m.name == name && o.r.data[m.start] == '"' {
			return o.r.seek(m.start).text()
		}
	}
	return ""
}

// first returns the first of several members that is given.
func (o *object) first(names ...string) value {
	for _, name := range names {
		if o.has(name) {
			return o.get(name)
		}
	}
	return o.get(names[0])
}

// unread calls yield with every member that nobody has asked for.
func (o *object) unread(yield func(value)) {
	if o == nil || o.r.err != nil {
		return
	}
	for i := range o.members {
		if m := &o.members[i]; !m.read {
			yield(value{o.r, o, m.name, noIndex, m.start, m.end})
		}
	}
}
