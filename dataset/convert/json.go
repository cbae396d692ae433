package convert

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth is how deep values may be nested. No record of ours needs ten.
const maxDepth = 200

// A jsonReader reads one JSON text (RFC 8259) strictly: a repeated member, an
// unpaired surrogate, invalid UTF-8 or anything after the value is an error,
// and so is a value of another type than the caller asks for.
//
// The first error stays: every method after it returns a zero value, and the
// caller looks at err once at the end.
type jsonReader struct {
	data []byte
	pos  int
	path []byte // where in the value, such as citations[2].start
	deep int
	err  *jsonError
}

// A jsonError is what is wrong at a byte of the text.
type jsonError struct {
	offset int
	msg    string
}

func (j *jsonReader) reset(data []byte) { *j = jsonReader{data: data, path: j.path[:0]} }

// fail records the first error, at a byte offset, below the current path.
func (j *jsonReader) fail(offset int, format string, args ...any) {
	if j.err != nil {
		return
	}
	msg := fmt.Sprintf(format, args...)
	if len(j.path) > 0 {
		msg = clipped(string(j.path)) + ": " + msg
	}
	j.err = &jsonError{offset, msg}
}

// skipSpace goes to the next byte that is not white space and returns it, or 0
// at the end.
func (j *jsonReader) skipSpace() byte {
	for j.pos < len(j.data) {
		switch c := j.data[j.pos]; c {
		case ' ', '\t', '\r', '\n':
			j.pos++
		default:
			return c
		}
	}
	return 0
}

// kind names the type of the value that begins at the current byte, "" if none
// does.
func (j *jsonReader) kind() string {
	switch c := j.skipSpace(); {
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case c == '"':
		return "a string"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	case c == 't' || c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	}
	return ""
}

// want reports whether the next value is of a kind, and fails if it is not.
func (j *jsonReader) want(kind string) bool {
	if j.err != nil {
		return false
	}
	switch got := j.kind(); got {
	case kind:
		return true
	case "":
		j.unexpected("a value")
	case "null", "a boolean":
		// One letter is enough to read on, but not to say what a line of prose holds.
		if !bytes.HasPrefix(j.data[j.pos:], []byte(j.literal())) {
			j.unexpected(kind)
			return false
		}
		fallthrough
	default:
		j.fail(j.pos, "want %s, got %s", kind, got)
	}
	return false
}

// unexpected fails at the current byte.
func (j *jsonReader) unexpected(want string) {
	if j.pos >= len(j.data) {
		j.fail(j.pos, "truncated: the line ends where %s should be", want)
		return
	}
	r, size := utf8.DecodeRune(j.data[j.pos:])
	if r == utf8.RuneError && size == 1 {
		j.fail(j.pos, "invalid UTF-8: byte 0x%02x", j.data[j.pos])
		return
	}
	j.fail(j.pos, "want %s, got %q", want, r)
}

// expect consumes one byte of punctuation.
func (j *jsonReader) expect(c byte) bool {
	if j.err != nil {
		return false
	}
	if j.skipSpace() != c || j.pos >= len(j.data) {
		j.unexpected(strconv.QuoteRune(rune(c)))
		return false
	}
	j.pos++
	return true
}

// end fails unless nothing but white space is left.
func (j *jsonReader) end() {
	if j.err == nil && (j.skipSpace() != 0 || j.pos < len(j.data)) {
		j.fail(j.pos, "something follows the record on its line")
	}
}

// null consumes a null and reports whether there was one.
func (j *jsonReader) null() bool {
	if j.err != nil || j.kind() != "null" {
		return false
	}
	return j.word("null")
}

// literal is the one that a null or a boolean at the current byte must be.
func (j *jsonReader) literal() string {
	switch j.data[j.pos] {
	case 't':
		return "true"
	case 'f':
		return "false"
	}
	return "null"
}

// word consumes a literal.
func (j *jsonReader) word(w string) bool {
	for i := range len(w) {
		if j.pos >= len(j.data) || j.data[j.pos] != w[i] {
			j.unexpected(w)
			return false
		}
		j.pos++
	}
	return true
}

// enter and leave bound the depth of nesting.
func (j *jsonReader) enter() bool {
	if j.deep++; j.deep > maxDepth {
		j.fail(j.pos, "nested deeper than %d", maxDepth)
		return false
	}
	return true
}

func (j *jsonReader) leave() { j.deep-- }

// object reads an object, calling member with each name; member must consume
// the value.
func (j *jsonReader) object(member func(name string)) {
	if !j.want("an object") || !j.enter() {
		return
	}
	defer j.leave()
	j.pos++
	if j.skipSpace() == '}' {
		j.pos++
		return
	}
	var seen names
	for {
		if c := j.skipSpace(); c != '"' {
			j.unexpected("a member name")
			return
		}
		at := j.pos
		name := j.name()
		if j.err == nil && !seen.add(name) {
			j.fail(at, "repeated member %s", quoted(name))
		}
		if !j.expect(':') {
			return
		}
		base := len(j.path)
		if base > 0 {
			j.path = append(j.path, '.')
		}
		j.path = append(j.path, name...)
		member(name)
		j.path = j.path[:base]
		if j.err != nil {
			return
		}
		if j.skipSpace() == '}' {
			j.pos++
			return
		}
		if !j.expect(',') {
			return
		}
	}
}

// list reads a list, calling element with each index; element must consume the
// value.
func (j *jsonReader) list(element func(i int)) {
	if !j.want("a list") || !j.enter() {
		return
	}
	defer j.leave()
	j.pos++
	if j.skipSpace() == ']' {
		j.pos++
		return
	}
	for i := 0; ; i++ {
		base := len(j.path)
		j.path = append(j.path, '[')
		j.path = strconv.AppendInt(j.path, int64(i), 10)
		j.path = append(j.path, ']')
		element(i)
		j.path = j.path[:base]
		if j.err != nil {
			return
		}
		if j.skipSpace() == ']' {
			j.pos++
			return
		}
		if !j.expect(',') {
			return
		}
	}
}

// raw consumes any value and returns its bytes as they are; what it holds is
// checked like everything else.
func (j *jsonReader) raw() []byte {
	if j.err != nil {
		return nil
	}
	kind := j.kind()
	start := j.pos
	switch kind {
	case "an object":
		j.object(func(string) { j.raw() })
	case "a list":
		j.list(func(int) { j.raw() })
	case "a string":
		j.bytes()
	case "a number":
		j.number()
	case "null", "a boolean":
		j.word(j.literal())
	default:
		j.unexpected("a value")
	}
	if j.err != nil {
		return nil
	}
	return j.data[start:j.pos]
}
