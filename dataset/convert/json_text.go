package convert

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// text consumes a string.
func (j *jsonReader) text() string { return string(j.bytes()) }

// name consumes a string that is probably the name of a column.
func (j *jsonReader) name() string {
	b := j.bytes()
	if s, ok := columnNames[string(b)]; ok {
		return s
	}
	return string(b)
}

// bytes consumes a string and returns it, a part of the text where it can be.
func (j *jsonReader) bytes() []byte {
	if !j.want("a string") {
		return nil
	}
	j.pos++
	start := j.pos
	plain := true             // all ASCII
	for j.pos < len(j.data) { // the usual string has no escapes
		c := j.data[j.pos]
		if c == '"' {
			if text := j.data[start:j.pos]; plain || utf8.Valid(text) {
				j.pos++
				return text
			}
			j.pos = start // to find the place
			break
		}
		if c == '\\' || c < 0x20 {
			if !plain {
				j.pos = start
			}
			break
		}
		plain = plain && c < utf8.RuneSelf
		j.pos++
	}
	if j.pos >= len(j.data) && !plain {
		j.pos = start
	}
	return j.escaped(start)
}

// escaped goes on with a string whose bytes from start to the current one are
// ASCII without escapes.
func (j *jsonReader) escaped(start int) []byte {
	buf := append(make([]byte, 0, 2*(j.pos-start)+32), j.data[start:j.pos]...)
	for j.pos < len(j.data) {
		switch c := j.data[j.pos]; {
		case c == '"':
			j.pos++
			return buf
		case c == '\\':
			if buf = j.escape(buf); j.err != nil {
				return nil
			}
		case c < 0x20:
			j.fail(j.pos, "control character U+%04X in a string", c)
			return nil
		default:
			r, size := utf8.DecodeRune(j.data[j.pos:])
			if r == utf8.RuneError && size == 1 {
				j.fail(j.pos, "invalid UTF-8: byte 0x%02x", c)
				return nil
			}
			buf = append(buf, j.data[j.pos:j.pos+size]...)
			j.pos += size
		}
	}
	j.fail(j.pos, "truncated: the line ends within a string")
	return nil
}

// escape appends what an escape sequence stands for.
func (j *jsonReader) escape(buf []byte) []byte {
	at := j.pos
	if j.pos++; j.pos >= len(j.data) {
		j.fail(j.pos, "truncated: the line ends within a string")
		return nil
	}
	c := j.data[j.pos]
	j.pos++
	switch c {
	case '"', '\\', '/':
		return append(buf, c)
	case 'b':
		return append(buf, '\b')
	case 'f':
		return append(buf, '\f')
	case 'n':
		return append(buf, '\n')
	case 'r':
		return append(buf, '\r')
	case 't':
		return append(buf, '\t')
	case 'u':
		r := j.hex4(at)
		if utf16.IsSurrogate(r) && j.err == nil {
			if j.pos+1 < len(j.data) && j.data[j.pos] == '\\' && j.data[j.pos+1] == 'u' {
				j.pos += 2
				r = utf16.DecodeRune(r, j.hex4(at))
			} else {
				r = utf8.RuneError
			}
			if r == utf8.RuneError {
				j.fail(at, "unpaired surrogate")
			}
		}
		return utf8.AppendRune(buf, r)
	}
	j.fail(at, "unknown escape sequence")
	return nil
}

// hex4 consumes the four digits of an escape that begins at byte at.
func (j *jsonReader) hex4(at int) rune {
	if j.pos+4 > len(j.data) {
		j.fail(at, "truncated: the line ends within an escape sequence")
		return 0
	}
	digits := j.data[j.pos : j.pos+4]
	n, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil {
		j.fail(at, "want four hexadecimal digits after \\u")
		return 0
	}
	j.pos += 4
	return rune(n)
}
