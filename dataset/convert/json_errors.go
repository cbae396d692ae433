package convert

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// noObject says what begins at a byte instead of an object.
func (r *jsonText) noObject(at int) *jsonError {
	kind := kindOf(r.data[at])
	// One letter is enough to tell a literal, but not to say what a line of prose holds.
	if word := literals[r.data[at]]; kind == "" || word != "" && !bytes.HasPrefix(r.data[at:], []byte(word)) {
		want := anObject
		if kind == "" {
			want = "a value"
		}
		return r.unexpected(at, "", want)
	}
	return &jsonError{at, "want an object, got " + kind}
}

// literals are those of JSON, by their first letter.
var literals = map[byte]string{'n': "null", 't': "true", 'f': "false"}

// explain says in our words what jsontext finds wrong, and where.
func (r *jsonText) explain(err error) *jsonError {
	d := &r.decoder
	data, path := r.data, containerPath(d)
	wrong, ok := err.(*jsontext.SyntacticError)
	if !ok {
		wrong = &jsontext.SyntacticError{ByteOffset: d.InputOffset(), Err: err}
	}
	at := int(wrong.ByteOffset)
	if wrong.Err == jsontext.ErrDuplicateName {
		return r.errorAt(at, path, "repeated member "+quoted(wrong.JSONPointer.LastToken()))
	}
	// Find the token that cannot be read, and what it should be.
	begin := skipSpace(data, int(d.InputOffset()))
	in, n := d.StackIndex(d.StackDepth())
	named := in == '{' && n%2 == 1
	if named {
		if begin == len(data) || data[begin] != ':' {
			return r.unexpected(begin, path, "':'")
		}
		path = memberPath(path, d.StackPointer().LastToken())
	} else if n > 0 && (begin == len(data) || data[begin] != ',') {
		return r.unexpected(begin, path, "','")
	}
	if n > 0 {
		begin = skipSpace(data, begin+1)
	}
	switch {
	case in == '{' && !named:
		if begin == len(data) || data[begin] != '"' {
			return r.unexpected(begin, path, "a member name")
		}
	case in == '[':
		path = indexed(path, int(n))
	}
	if begin == len(data) {
		return r.unexpected(begin, path, "a value")
	}
	truncated := wrong.Err == io.ErrUnexpectedEOF
	switch kindOf(data[begin]) {
	case aString:
		return r.wrongString(at, path, truncated)
	case aNumber:
		if truncated {
			at = len(data)
		}
		return r.unexpected(at, path, "a digit")
	case aNull, aBoolean:
		return r.unexpected(at, path, literals[data[begin]])
	}
	return r.unexpected(begin, path, "a value")
}

// wrongString says what is wrong at a byte within a string.
func (r *jsonText) wrongString(at int, path string, truncated bool) *jsonError {
	rest := r.data[at:]
	switch {
	case truncated && len(rest) > 1 && rest[0] == '\\':
		return r.errorAt(at, path, "truncated: the line ends within an escape sequence")
	case truncated || len(rest) == 0:
		return r.errorAt(len(r.data), path, "truncated: the line ends within a string")
	case rest[0] < 0x20:
		return r.errorAt(at, path, fmt.Sprintf("control character U+%04X in a string", rest[0]))
	case rest[0] != '\\':
		return r.errorAt(at, path, fmt.Sprintf("invalid UTF-8: byte 0x%02x", rest[0]))
	case len(rest) < 6 || rest[1] != 'u':
		return r.errorAt(at, path, "unknown escape sequence")
	}
	if _, err := strconv.ParseUint(string(rest[2:6]), 16, 32); err != nil {
		return r.errorAt(at, path, `want four hexadecimal digits after \u`)
	}
	return r.errorAt(at, path, "unpaired surrogate")
}

// unexpected is an error at a byte where something else should be.
func (r *jsonText) unexpected(at int, path, want string) *jsonError {
	if at >= len(r.data) {
		return r.errorAt(at, path, fmt.Sprintf("truncated: the line ends where %s should be", want))
	}
	c, size := utf8.DecodeRune(r.data[at:])
	if c == utf8.RuneError && size == 1 {
		return r.errorAt(at, path, fmt.Sprintf("invalid UTF-8: byte 0x%02x", r.data[at]))
	}
	return r.errorAt(at, path, fmt.Sprintf("want %s, got %q", want, c))
}

func (r *jsonText) errorAt(at int, path, msg string) *jsonError {
	if path != "" {
		msg = clipped(path) + ": " + msg
	}
	return &jsonError{at, msg}
}

// containerPath is where the object or list is that is being read, such as
// citations[2].
func containerPath(d *jsontext.Decoder) string {
	path, level := "", 1
	for name := range d.StackPointer().Tokens() {
		if level == d.StackDepth() {
			break
		}
		if in, n := d.StackIndex(level); in == '[' {
			path = indexed(path, int(n)-1)
		} else {
			path = memberPath(path, name)
		}
		level++
	}
	return path
}
