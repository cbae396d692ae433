package presence

import "strings"

const (
	openStatement  = "<statement>"
	closeStatement = "</statement>"
	openCite       = "<cite>"
	closeCite      = "</cite>"
)

// tag reads the element at the < at i and returns where to go on.
//
// A statement that is broken somewhere gives no citation: its tag is reported,
// and so is its cite if it holds brackets. HTML's own <cite>, around a title,
// is plain text.
func (s *scanner) tag(i int) int {
	switch {
	case strings.HasPrefix(s.text[i:], openStatement):
		return s.statement(i)
	case strings.HasPrefix(s.text[i:], openCite):
		begin := i + len(openCite)
		content, end := s.citeContent(begin)
		if !strings.HasPrefix(trimSpace(content), "[") {
			return begin
		}
		s.endLine(i)
		s.reject(i, end, "cite outside a statement")
		return end
	}
	return i + 1
}

// citeContent returns the text from begin to </cite>, and the end of that tag;
// without one, up to the next tag or the end of the line.
func (s *scanner) citeContent(begin int) (content string, end int) {
	rest := s.text[begin:]
	stop := strings.IndexAny(rest, "<\n")
	if stop < 0 {
		stop = len(rest)
	}
	end = begin + stop
	if strings.HasPrefix(rest[stop:], closeCite) {
		end += len(closeCite)
	}
	return rest[:stop], end
}

// statement reads <statement>…<cite>…</cite></statement> at i. The body is left
// to the scanner, which jumps over the cite when it comes there.
func (s *scanner) statement(i int) int {
	s.endLine(i)
	begin := i + len(openStatement)
	// A statement ends before the next one begins, closed or not. Looking no
	// further also keeps the cost linear.
	rest := s.text[begin:]
	if next := strings.Index(rest, openStatement); next >= 0 {
		rest = rest[:next]
	}
	body, after, ok := strings.Cut(rest, openCite)
	if !ok || strings.Contains(body, closeStatement) {
		s.reject(i, begin, "statement without a cite")
		return begin
	}
	content, after, ok := strings.Cut(after, closeCite)
	if !ok || strings.IndexByte(content, '<') >= 0 {
		s.reject(i, begin, "cite is not closed")
		return begin
	}
	after = strings.TrimLeft(after, " \t\r\n")
	if !strings.HasPrefix(after, closeStatement) {
		s.reject(i, begin, "statement is not closed")
		return begin
	}
	cite := begin + len(body)
	end := begin + len(rest) - len(after) + len(closeStatement)

	numbers, reason := parseCite(content)
	if reason != "" {
		s.reject(i, end, reason)
		return end
	}
	s.accept(Inline{
		Form: Statement, Start: i, End: end, Numbers: numbers,
		Body: body, BodyStart: begin, BodyEnd: cite,
	})
	s.limit, s.skipTo = cite, end
	return begin
}

// parseCite reads [a-b][c-d]…, the sentences that a statement cites. Nothing
// between the tags means that it needs no citation.
func parseCite(content string) ([]Range, string) {
	var ranges []Range
	for rest := trimSpace(content); rest != ""; rest = trimSpace(rest) {
		inside, after, ok := strings.Cut(rest, "]")
		if rest[0] != '[' || !ok {
			return nil, "cite holds something other than [a-b]"
		}
		r, reason := parseRange(trimSpace(inside[1:]))
		if reason != "" {
			return nil, reason
		}
		ranges, rest = append(ranges, r), after
	}
	return ranges, ""
}
