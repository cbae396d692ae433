package presence

import (
	"strconv"
	"strings"
)

// notACitation is the reason why a piece of text is not even malformed.
const notACitation = "not a citation"

// maxFileName bounds the name of a file in a citation, in bytes: the longest
// path that operating systems take.
const maxFileName = 4096

// parseLocated reads file:page:start-end[,start-end…]. The page and the spans
// are taken from the right, so the name of the file may hold colons.
func parseLocated(content string) (Inline, string) {
	file, page, spans, ok := splitLocated(content)
	if !ok {
		return Inline{}, notACitation
	}
	c := Inline{Form: Located, File: file}
	number, err := strconv.ParseInt(page, 10, 32)
	switch {
	case file == "":
		return Inline{}, "no file is named"
	case len(file) > maxFileName:
		return Inline{}, "name of the file is too long"
	case page == "":
		return Inline{}, "no page is named"
	case digits(page) != len(page):
		return Inline{}, "page is not a number"
	case err != nil:
		return Inline{}, "page is too large"
	}
	c.Page = int32(number)
	for part := range strings.SplitSeq(spans, ",") {
		o, reason := parseOffsets(trimSpace(part))
		if reason != "" {
			return Inline{}, reason
		}
		c.Spans = append(c.Spans, o)
	}
	return c, ""
}

// splitLocated cuts content at its last two colons.
func splitLocated(content string) (file, page, spans string, ok bool) {
	last := strings.LastIndexByte(content, ':')
	if last < 0 {
		return "", "", "", false
	}
	first := strings.LastIndexByte(content[:last], ':')
	if first < 0 {
		return "", "", "", false
	}
	return trimSpace(content[:first]), trimSpace(content[first+1 : last]), trimSpace(content[last+1:]), true
}

// parseOffsets reads start-end. A number may carry a minus sign, since a
// negative span is a status of a citation and no matter of its form.
func parseOffsets(s string) (Offsets, string) {
	if s == "" {
		return Offsets{}, "no span is given"
	}
	start, rest := signedNumber(s)
	if start == "" {
		return Offsets{}, "span has no start"
	}
	rest = trimSpace(rest)
	width := dashWidth(rest)
	if width == 0 {
		return Offsets{}, "span is not start-end"
	}
	end, rest := signedNumber(trimSpace(rest[width:]))
	if end == "" {
		return Offsets{}, "span has no end"
	}
	if rest != "" {
		return Offsets{}, "span is not start-end"
	}
	var o Offsets
	var startErr, endErr error
	o.Start, startErr = strconv.ParseInt(start, 10, 64)
	o.End, endErr = strconv.ParseInt(end, 10, 64)
	if startErr != nil || endErr != nil {
		return Offsets{}, "offset is too large"
	}
	return o, ""
}

// signedNumber cuts an integer off the beginning of s; number is "" if there
// is none.
func signedNumber(s string) (number, rest string) {
	sign := 0
	if strings.HasPrefix(s, "-") {
		sign = 1
	}
	n := digits(s[sign:])
	if n == 0 {
		return "", s
	}
	return s[:sign+n], s[sign+n:]
}

// endsInOffsets reports whether the text behind the last colon could be a list
// of spans. It stops at the first character that cannot, so that asking every
// bracket of a nest stays cheap.
func endsInOffsets(content string) bool {
	end := strings.LastIndexFunc(content, func(r rune) bool { return !isOffsetRune(r) })
	return end >= 0 && content[end] == ':' && strings.ContainsAny(content[end:], "0123456789")
}

// locatedAttempt says what is wrong with a bracket that is meant to be
// [file:page:start-end], and notACitation for any other.
func locatedAttempt(content string) string {
	if before, _, ok := strings.Cut(content, "|"); ok {
		if _, reason := parseLocated(before); reason == "" {
			return "only an excerpt can follow the span"
		}
	}
	file, page, spans, ok := splitLocated(content)
	if !ok {
		name, rest, ok := strings.Cut(content, ":")
		if ok && hasExtension(trimSpace(name)) && onlyOffsets(rest) {
			return "page or span is missing"
		}
		return notACitation
	}
	named := hasExtension(file) || file != "" && !strings.ContainsAny(file, " \t") && digits(file) != len(file)
	pageGiven := page != "" && digits(page) == len(page)
	spanGiven := strings.Contains(spans, "-") && onlyOffsets(spans)
	// Either half of the place must be there: [a: b: c] is prose.
	if !named || !pageGiven && !spanGiven {
		return notACitation
	}
	if _, reason := parseLocated(content); reason != "" {
		return reason
	}
	return notACitation // there are characters between its numbers that nobody sees
}

// unclosedAttempt returns how many bytes of the text behind an unclosed [ look
// like a citation that was broken off: file:page:… or, at the end of the line,
// numbers.
func unclosedAttempt(tail string, atEnd bool) int {
	if atEnd && digits(tail) > 0 && onlyNumbers(tail) {
		return len(tail)
	}
	end := 0
	for {
		colon := strings.IndexByte(tail[end:], ':')
		if colon < 0 {
			return 0
		}
		end += colon + 1
		page := digits(tail[end:])
		if page == 0 || !strings.HasPrefix(tail[end+page:], ":") {
			continue
		}
		if !hasExtension(trimSpace(tail[:end-1])) {
			return 0
		}
		end += page + 1
		end += offsetsPrefix(tail[end:])
		return len(strings.TrimRight(tail[:end], " \t"))
	}
}

// hasExtension reports whether name ends like the name of a file: a dot, a
// letter and at most four more letters or digits.
func hasExtension(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot < 2 || len(name)-dot > 6 || !isASCIILetter(name[dot+1]) {
		return false
	}
	for i := dot + 1; i < len(name); i++ {
		if !isASCIILetter(name[i]) && !isDigit(name[i]) {
			return false
		}
	}
	return true
}

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
