package presence

import "strings"

const excerptWord = "excerpt:"

// excerptMark returns the length of "| excerpt:" at the beginning of s, 0 if it
// is not there.
func excerptMark(s string) int {
	rest := strings.TrimLeft(s[1:], " \t")
	if s[0] != '|' || !strings.HasPrefix(rest, excerptWord) {
		return 0
	}
	return len(s) - len(rest) + len(excerptWord)
}

// excerpt reads | excerpt: "…"] at the bar at i and returns where to go on. The
// quoted text may hold brackets, quotation marks and line ends; it stops at the
// first quotation mark that a ] follows.
func (s *scanner) excerpt(i int) int {
	text := s.text[:s.limit]
	mark := excerptMark(text[i:])
	if mark == 0 || len(s.open) == 0 {
		return i + 1
	}
	start := s.open[len(s.open)-1]
	head := s.text[start+1 : i]
	if !endsInOffsets(head) {
		return i + 1
	}
	c, reason := parseLocated(head)
	if reason == notACitation || s.holdsLocated(start) {
		return i + 1
	}
	quote := i + mark
	for quote < len(text) && (text[quote] == ' ' || text[quote] == '\t') {
		quote++
	}
	if quote == len(text) || text[quote] != '"' {
		return s.rejectExcerpt(start, quote, "excerpt is not quoted")
	}
	closing, end := closingQuote(text, quote+1)
	if end < 0 {
		return s.rejectExcerpt(start, quote+1, "excerpt is not closed")
	}
	s.open = s.open[:len(s.open)-1]
	s.lastClose = end
	if reason != "" {
		s.reject(start, end, reason)
		return end
	}
	c.Start, c.End = start, end
	c.Excerpt, c.HasExcerpt = text[quote+1:closing], true
	s.accept(c)
	return end
}

// rejectExcerpt reports the bracket up to its next ] or the end of the line.
func (s *scanner) rejectExcerpt(start, from int, reason string) int {
	end := s.limit
	if stop := strings.IndexAny(s.text[from:end], "]\n"); stop >= 0 {
		end = from + stop
		if s.text[end] == ']' {
			end++
		}
	}
	s.open = s.open[:len(s.open)-1]
	s.lastClose = end
	s.reject(start, end, reason)
	return end
}

// closingQuote finds the quotation mark that closes an excerpt beginning at
// from, and the end of its bracket. A blank line or the mark of another excerpt
// means that this one was never closed: it must not swallow the next citation.
func closingQuote(text string, from int) (quote, end int) {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '"':
			rest := strings.TrimLeft(text[i+1:], " \t")
			if strings.HasPrefix(rest, "]") {
				return i, len(text) - len(rest) + 1
			}
		case '|':
			if excerptMark(text[i:]) > 0 {
				return -1, -1
			}
		case '\n':
			if strings.HasPrefix(text[i+1:], "\n") {
				return -1, -1
			}
		}
	}
	return -1, -1
}
