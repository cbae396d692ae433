package documents

import (
	"bytes"
	"strconv"
	"strings"
)

// A scanner cuts the content of a page, a character map or a whole file into
// tokens. Nothing is an error: what makes no sense is a word.
//
// Source: ISO 32000-1, 7.2 and 7.3.
type scanner struct {
	data   []byte
	pos    int
	peeked *token
}

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenNumber           // 12, -.5
	tokenName             // /Name, without the slash
	tokenString           // (…) or <…>, decoded
	tokenOpen             // [ or <<
	tokenClose            // ] or >>
	tokenWord             // an operator, a keyword, anything else
)

type token struct {
	kind   tokenKind
	number float64
	text   string
}

func (s *scanner) ended() bool { return s.peek().kind == tokenEnd }

func (s *scanner) peek() token {
	if s.peeked == nil {
		t := s.scan()
		s.peeked = &t
	}
	return *s.peeked
}

func (s *scanner) next() token {
	if s.peeked != nil {
		t := *s.peeked
		s.peeked = nil
		return t
	}
	return s.scan()
}

const pdfSpace = "\x00\t\n\f\r "

func isPDFSpace(c byte) bool { return strings.IndexByte(pdfSpace, c) >= 0 }

func isPDFRegular(c byte) bool { return !isPDFSpace(c) && strings.IndexByte("()<>[]{}/%", c) < 0 }

func (s *scanner) scan() token {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case isPDFSpace(c):
			s.pos++
		case c == '%':
			if end := bytes.IndexAny(s.data[s.pos:], "\r\n"); end >= 0 {
				s.pos += end
			} else {
				s.pos = len(s.data)
			}
		case c == '/':
			s.pos++
			return token{kind: tokenName, text: unescapedName(s.regular())}
		case c == '(':
			return s.literal()
		case c == '<' || c == '>':
			s.pos++
			if s.pos < len(s.data) && s.data[s.pos] == c {
				s.pos++
				return token{kind: map[byte]tokenKind{'<': tokenOpen, '>': tokenClose}[c], text: string([]byte{c, c})}
			}
			if c == '<' {
				return s.hex()
			}
		case c == '[':
			s.pos++
			return token{kind: tokenOpen, text: "["}
		case c == ']':
			s.pos++
			return token{kind: tokenClose, text: "]"}
		case !isPDFRegular(c):
			s.pos++
		default:
			word := s.regular()
			if c <= '9' { // digits, signs and the full stop come before letters
				if n, err := strconv.ParseFloat(word, 64); err == nil {
					return token{kind: tokenNumber, number: n}
				}
			}
			return token{kind: tokenWord, text: word}
		}
	}
	return token{}
}

// regular reads characters that are neither space nor delimiters.
func (s *scanner) regular() string {
	start := s.pos
	for s.pos < len(s.data) && isPDFRegular(s.data[s.pos]) {
		s.pos++
	}
	return string(s.data[start:s.pos])
}

func unescapedName(name string) string {
	if !strings.Contains(name, "#") {
		return name
	}
	var b []byte
	for i := 0; i < len(name); i++ {
		if name[i] == '#' && i+2 < len(name) {
			if v, err := strconv.ParseUint(name[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
		}
		b = append(b, name[i])
	}
	return string(b)
}

// literal reads a string in parentheses.
func (s *scanner) literal() token {
	var b []byte
	depth := 0
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		s.pos++
		switch c {
		case '(':
			if depth++; depth == 1 {
				continue
			}
		case ')':
			if depth--; depth == 0 {
				return token{kind: tokenString, text: string(b)}
			}
		case '\\':
			b = s.escape(b)
			continue
		}
		b = append(b, c)
	}
	return token{kind: tokenString, text: string(b)}
}

// escape reads what follows a backslash.
func (s *scanner) escape(b []byte) []byte {
	if s.pos >= len(s.data) {
		return b
	}
	c := s.data[s.pos]
	s.pos++
	switch c {
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'b':
		return append(b, '\b')
	case 'f':
		return append(b, '\f')
	case '\r':
		if s.pos < len(s.data) && s.data[s.pos] == '\n' {
			s.pos++
		}
		return b
	case '\n':
		return b
	}
	if c < '0' || c > '7' {
		return append(b, c)
	}
	v := c - '0'
	for i := 0; i < 2 && s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '7'; i++ {
		v = v<<3 | (s.data[s.pos] - '0')
		s.pos++
	}
	return append(b, v)
}

// hex reads a string in hexadecimal, behind its "<".
func (s *scanner) hex() token {
	var b []byte
	half, high := false, byte(0)
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		s.pos++
		if c == '>' {
			break
		}
		v, err := strconv.ParseUint(string(rune(c)), 16, 8)
		if err != nil {
			continue
		}
		if half {
			b = append(b, high<<4|byte(v))
		}
		half, high = !half, byte(v)
	}
	if half {
		b = append(b, high<<4)
	}
	return token{kind: tokenString, text: string(b)}
}

// skipPicture passes over the data of a picture in the content of a page, which
// begin behind the word ID.
func (s *scanner) skipPicture() {
	s.peeked = nil
	for from := s.pos; ; {
		i := bytes.Index(s.data[from:], []byte("EI"))
		if i < 0 {
			s.pos = len(s.data)
			return
		}
		at := from + i
		from = at + 2
		if at > 0 && isPDFSpace(s.data[at-1]) && (from == len(s.data) || isPDFSpace(s.data[from])) {
			s.pos = from
			return
		}
	}
}
