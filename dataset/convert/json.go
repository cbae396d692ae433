package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"ibid"
	"ibid/dataset"
)

// maxDepth is how deep values may be nested. No record of ours needs ten.
const maxDepth = 200

// A jsonText is one JSON text of a foreign file: an object. Package jsontext checks
// it as a whole first, strictly (RFC 8259): a repeated member, an unpaired
// surrogate, invalid UTF-8 or anything after the object is an error. Then its
// values are asked for by name.
//
// The first error stays: every method after it returns a zero value, and the
// caller looks at err once at the end.
type jsonText struct {
	data   []byte
	err    *jsonError
	limits int // by which the limits of elements and values are multiplied; 0 is 1
	values int // that the tree which is being made may still have

	inQuotes []string // dotted names of members that are numbers in quotes

	decoder jsontext.Decoder
	input   bytes.Buffer
	names   map[string]string // of members, so that the usual ones are allocated once
}

// A jsonError is what is wrong at a byte of the text.
type jsonError struct {
	offset int
	msg    string
}

// in is the error in a record that begins at a position of a file.
func (e *jsonError) in(record []byte, at position, file string) RecordError {
	return at.after(record[:min(e.offset, len(record))]).err(file, e.msg)
}

// open checks the text and returns its object, nil if it is none.
func (r *jsonText) open(data []byte) *object {
	if r.err = r.checkAll(data); r.err != nil {
		return nil
	}
	return value{r: r, start: skipSpace(data, 0), end: len(data), index: noIndex}.object()
}

// checkAll checks the text, which then is that of r.
func (r *jsonText) checkAll(data []byte) *jsonError {
	r.data = data
	start := skipSpace(data, 0)
	if m := mark(data); m != "" {
		return &jsonError{0, "the line begins with " + m}
	}
	if start == len(data) {
		return &jsonError{0, "empty line"}
	}
	return r.check(start)
}

// check reads the whole text. What passes can be cut into values by its brackets.
func (r *jsonText) check(start int) *jsonError {
	r.input = *bytes.NewBuffer(r.data)
	d := &r.decoder
	d.Reset(&r.input)
	for ended := false; !ended; {
		if _, err := d.ReadToken(); err != nil && d.StackDepth() == 0 {
			first, _ := utf8.DecodeRune(r.data[start:])
			return &jsonError{start, fmt.Sprintf("want an object, got %q", first)}
		} else if err != nil {
			return r.explain(err)
		}
		if r.data[start] != '{' {
			return &jsonError{start, "want an object, got " + kindOf(r.data[start])}
		}
		depth := d.StackDepth()
		if depth > maxDepth {
			return r.errorAt(int(d.InputOffset())-1, pointerPath(d.StackPointer()), fmt.Sprintf("nested deeper than %d", maxDepth))
		}
		ended = depth == 0
	}
	if rest := skipSpace(r.data, int(d.InputOffset())); rest < len(r.data) {
		return &jsonError{rest, "something follows the record on its line"}
	}
	return nil
}

// explain says what jsontext finds wrong, and where.
func (r *jsonText) explain(err error) *jsonError {
	wrong, ok := err.(*jsontext.SyntacticError)
	if !ok {
		wrong = &jsontext.SyntacticError{ByteOffset: r.decoder.InputOffset(), Err: err}
	}
	reason := wrong.Err.Error()
	switch {
	case wrong.Err == jsontext.ErrDuplicateName:
		reason = "repeated member " + quoted(wrong.JSONPointer.LastToken())
		wrong.JSONPointer = wrong.JSONPointer.Parent()
	case wrong.Err == io.ErrUnexpectedEOF:
		wrong.ByteOffset, reason = int64(len(r.data)), "truncated: the text ends before its object does"
	}
	return r.errorAt(int(wrong.ByteOffset), pointerPath(wrong.JSONPointer), shorten(reason, 300))
}

// pointerPath is a JSON pointer as a path such as citations[2].
func pointerPath(p jsontext.Pointer) (path string) {
	for name := range p.Tokens() {
		if i, err := strconv.Atoi(name); err == nil && path != "" {
			path = indexed(path, i)
		} else {
			path = memberPath(path, name)
		}
	}
	return path
}

// errorAt is an error at a byte of the text, in a value at a path.
func (r *jsonText) errorAt(at int, path, msg string) *jsonError {
	if path != "" {
		msg = clipped(path) + ": " + msg
	}
	return &jsonError{at, msg}
}

func memberPath(of, name string) string {
	if of == "" {
		return name
	}
	return of + "." + name
}

// indexed is the path of a list's element, such as claims[3].
func indexed(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// The kinds of values, as messages name them.
const (
	anObject = "an object"
	aList    = "a list"
	aString  = "a string"
	aNumber  = "a number"
	aBoolean = "a boolean"
	aNull    = "null"
)

// kindOf names the type of the value that begins with a byte, "" if none does.
func kindOf(c byte) string {
	switch {
	case c == '{':
		return anObject
	case c == '[':
		return aList
	case c == '"':
		return aString
	case c == '-' || '0' <= c && c <= '9':
		return aNumber
	case c == 't' || c == 'f':
		return aBoolean
	case c == 'n':
		return aNull
	}
	return ""
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
	p := memberPath(v.in.path(), v.name)
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
	v.r.err = v.r.errorAt(at, v.path(), fmt.Sprintf(format, args...))
}

// kind names the type of the value, "" if it is absent.
func (v value) kind() string {
	if v.end == 0 {
		return ""
	}
	return kindOf(v.r.data[v.start])
}

// given reports whether the value is there and not null.
func (v value) given() bool { return v.end != 0 && v.r.data[v.start] != 'n' }

// is reports whether the value is given, and fails if it is of another kind.
func (v value) is(kind string) bool { return v.given() && v.want(kind) }

// want reports whether the value, which must be there, is of a kind, and fails if
// it is not.
func (v value) want(kind string) bool {
	if v.r.err != nil {
		return false
	}
	got := v.kind()
	if got != kind {
		v.fail("want %s, got %s", kind, got)
	}
	return got == kind
}

// raw is the JSON of the value, nil if it is absent.
func (v value) raw() []byte { return v.r.data[v.start:v.end] }

// text is a string; "" and false if it is null or absent.
func (v value) text() (s string, given bool) {
	if !v.is(aString) {
		return "", false
	}
	return unquoted(v.raw()), true
}

// unquoted is what a JSON string that has been checked stands for.
func unquoted(literal []byte) string {
	if inner := literal[1 : len(literal)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	text, _ := jsontext.AppendUnquote(nil, literal)
	return string(text)
}

// string is a string, "" if it is null or absent.
func (v value) string() string {
	s, _ := v.text()
	return s
}

// required is a string that must be given.
func (v value) required() string {
	if !v.want(aString) {
		return ""
	}
	return unquoted(v.raw())
}

// oneOf is one of a fixed set of strings, "" if it is null or absent.
func (v value) oneOf(values []string) string {
	s, given := v.text()
	if given && !slices.Contains(values, s) {
		v.fail("%s", unknownValue(s, values))
	}
	return s
}

// unknownValue is the message for a string that is not one of the values of a member.
func unknownValue(s string, values []string) string {
	msg := "unknown value " + quoted(s)
	if near := ibid.Nearest(s, values); near != "" {
		msg += ", did you mean " + near + "?"
	}
	return msg
}

// label is a string or a number as text: ids are either.
func (v value) label() string {
	if v.r.err == nil && v.kind() == aNumber {
		return numberLabel(string(v.raw()))
	}
	return v.string()
}

// number is a number as it is written, also in quotes; "" if it is null or absent, or fails to be
// what is wanted.
func (v value) number(want string) string {
	if v.r.err != nil || !v.given() {
		return ""
	}
	switch kind := v.kind(); kind {
	case aNumber:
		return string(v.raw())
	case aString:
		s := v.string()
		if f, err := strconv.ParseFloat(s, 64); err == nil && f-f == 0 && s[0] != '+' {
			v.r.inQuotes = append(v.r.inQuotes, withoutIndices(v.path()))
			return s
		}
		v.fail("want %s, got %s", want, quoted(s))
	default:
		v.fail("want %s, got %s", want, kind)
	}
	return ""
}

// integerOf is an integer of at most bits bits, null if it is null or absent.
func (v value) integerOf(bits int) ibid.Integer {
	literal := v.number("an integer")
	if literal == "" {
		return ibid.Integer{}
	}
	n, ok := dataset.WholeNumber(literal)
	if !ok || n>>(bits-1) != n>>63 {
		v.fail("want an integer of %d bits, got %s", bits, shorten(literal, 40))
		return ibid.Integer{}
	}
	return integer(n)
}

// float is a double, null if it is null or absent.
func (v value) float() ibid.Number {
	literal := v.number(aNumber)
	if literal == "" {
		return ibid.Number{}
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		v.fail("%s is out of range", shorten(literal, 40))
		return ibid.Number{}
	}
	return ibid.Some(f)
}

// isTrue reports whether the value, which may be null, is true.
func (v value) isTrue() bool { return v.is(aBoolean) && v.r.data[v.start] == 't' }

// column is the value of a column that holds JSON text, given either as that text
// or as the value itself, "" if it is null or absent. A string that is no JSON text is kept as a
// JSON string.
func (v value) column() string {
	switch {
	case v.r.err != nil || !v.given():
		return ""
	case v.kind() != aString:
		return compact(v.raw())
	}
	s := []byte(v.string())
	if json.Valid(s) {
		return compact(s)
	}
	return string(jsonString(string(s)))
}

// elements are those of a list; of none, if it is null or absent.
func (v value) elements() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		if !v.is(aList) {
			return
		}
		eachChild(v.r.data, v.start, func(i int, _ []byte, at int) int {
			if most := mostElements * max(v.r.limits, 1); i == most {
				v.fail("limits: more than %d elements", most)
				return -1
			}
			end := valueEnd(v.r.data, at)
			if !yield(i, value{v.r, v.in, v.name, i, at, end}) || v.r.err != nil {
				return -1
			}
			return end
		})
	}
}

// objects are the elements of a list that must be objects.
func (v value) objects() iter.Seq2[int, *object] {
	return func(yield func(int, *object) bool) {
		for i, e := range v.elements() {
			if !e.want(anObject) || !yield(i, e.object()) {
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
}

// object is an object, nil if it is null or absent.
func (v value) object() *object {
	if !v.is(anObject) {
		return nil
	}
	o := &object{value: v, members: make([]objectMember, 0, 8)}
	eachChild(v.r.data, v.start, func(_ int, name []byte, at int) int {
		end := valueEnd(v.r.data, at)
		o.members = append(o.members, objectMember{name: v.r.nameOf(name), start: at, end: end})
		return end
	})
	return o
}

// nameOf is the name of a member.
func (r *jsonText) nameOf(literal []byte) string {
	if name, known := r.names[string(literal)]; known {
		return name
	}
	name := unquoted(literal)
	if r.names == nil {
		r.names = map[string]string{}
	}
	if len(r.names) < maxNames && len(literal) < 100 {
		r.names[string(literal)] = name
	}
	return name
}

// find returns a member, nil if there is none, or no object.
func (o *object) find(name string) *objectMember {
	if o == nil {
		return nil
	}
	for i := range o.members {
		if o.members[i].name == name {
			return &o.members[i]
		}
	}
	return nil
}

// valueOf is the value of a member.
func (o *object) valueOf(m *objectMember) value {
	return value{o.r, o, m.name, noIndex, m.start, m.end}
}

// get returns a member, an absent value if there is none.
func (o *object) get(name string) value {
	if m := o.find(name); m != nil {
		return o.valueOf(m)
	}
	return value{r: o.r, in: o, name: name, index: noIndex}
}

// all are the members by name.
func (o *object) all() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if o == nil {
			return
		}
		for i := range o.members {
			if m := &o.members[i]; o.r.err != nil || !yield(m.name, o.valueOf(m)) {
				return
			}
		}
	}
}

// has reports whether a member is given.
func (o *object) has(name string) bool {
	m := o.find(name)
	return m != nil && o.r.data[m.start] != 'n'
}

// peekKind is the kind of a member, "" if there is none.
func (o *object) peekKind(name string) string {
	if m := o.find(name); m != nil {
		return kindOf(o.r.data[m.start])
	}
	return ""
}

// isObject reports whether a member is an object.
func (o *object) isObject(name string) bool { return o.peekKind(name) == anObject }

// isList reports the same of a list.
func (o *object) isList(name string) bool { return o.peekKind(name) == aList }

// peek is a string member, "" if it is none.
func (o *object) peek(name string) string {
	if m := o.find(name); m != nil && o.r.data[m.start] == '"' {
		return unquoted(o.r.data[m.start:m.end])
	}
	return ""
}
