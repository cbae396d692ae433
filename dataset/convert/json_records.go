package convert

import "bytes"

// jsonRecords divides a JSON text into its records: the elements of a list, or
// the values that follow each other. It finds their extent only, so that one
// bad record does not take the others along; what they hold is for a jsonReader
// to check.
type jsonRecords struct {
	data   []byte
	pos    int
	begun  bool
	inList bool
}

// next returns the extent of the next record, an empty one after the last. If
// there is a reason, the text cannot be divided any further at start.
func (s *jsonRecords) next() (start, end int, reason string) {
	c := s.space()
	switch {
	case !s.begun:
		s.begun = true
		if s.inList = c == '['; s.inList {
			s.pos++
			if s.space() == ']' {
				return s.endList()
			}
		}
	case s.inList && c == ']':
		return s.endList()
	case s.inList && c == ',':
		s.pos++
		s.space()
	case s.inList && s.pos < len(s.data):
		return s.pos, s.pos, "want ',' or ']' after a record"
	}
	start = s.pos
	s.pos = valueEnd(s.data, start)
	switch {
	case s.pos > start:
		return start, s.pos, ""
	case start < len(s.data):
		return start, start, "want a record"
	case s.inList:
		return start, start, "truncated: the list of records does not end"
	}
	return start, start, ""
}

func (s *jsonRecords) endList() (start, end int, reason string) {
	s.pos++
	if s.space(); s.pos < len(s.data) {
		return s.pos, s.pos, "something follows the list of records"
	}
	s.inList = false
	return s.pos, s.pos, ""
}

// space goes to the next byte that is not white space and returns it, or 0 at
// the end.
func (s *jsonRecords) space() byte {
	for ; s.pos < len(s.data); s.pos++ {
		if c := s.data[s.pos]; !isJSONSpace(c) {
			return c
		}
	}
	return 0
}

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// valueEnd returns where the value that begins at start ends, if it is one:
// behind the bracket that closes its first, or before the next punctuation.
func valueEnd(data []byte, start int) int {
	depth := 0
	for i := start; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			if i = stringEnd(data, i); depth == 0 {
				return min(i+1, len(data))
			}
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || isJSONSpace(c)):
			return i
		}
	}
	return len(data)
}

// stringEnd returns the index of the quotation mark that closes the string at
// start.
func stringEnd(data []byte, start int) int {
	for i := start + 1; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data)
		}
		i += n
		escapes := 0
		for data[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}
