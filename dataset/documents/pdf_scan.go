package documents

import (
	"bytes"
	"strconv"
	"strings"
)

// A scanner cuts a character map or a whole file into tokens. Nothing is an error: what
// makes no sense is a word.
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
	tokenString           // (…) or <…>; number is at least its length in bytes
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
				return token{kind: map[byte]tokenKind{'<': tokenOpen, '>': tokenClose}[c]}
			}
			if c == '<' {
				return s.hex()
			}
		case c == '[':
			s.pos++
			return token{kind: tokenOpen}
		case c == ']':
			s.pos++
			return token{kind: tokenClose}
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

// literal passes over a string in parentheses.
func (s *scanner) literal() token {
	start, depth := s.pos, 0
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		s.pos++
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return token{kind: tokenString, number: float64(s.pos - start - 2)}
			}
		case '\\':
			s.pos++
		}
	}
	return token{kind: tokenString, number: float64(len(s.data) - start)}
}

// hex passes over a string in hexadecimal, behind its "<".
func (s *scanner) hex() token {
	start := s.pos
	if end := bytes.IndexByte(s.data[s.pos:], '>'); end >= 0 {
		s.pos += end + 1
	} else {
		s.pos = len(s.data)
	}
	return token{kind: tokenString, number: float64(s.pos-start) / 2}
}
