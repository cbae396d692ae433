package convert

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"ibid/dataset"
	"ibid/metrics/presence"
)

// maxInlineCitations is the most citations that one answer can have: a few
// bytes of ranges stand for thousands.
const maxInlineCitations = 100_000

// A markerReader turns the markers of one answer into citations of its row.
type markerReader struct {
	row     *dataset.Row
	sources *sourceList
	report  func(marker *presence.Inline, format string, args ...any)

	unlisted int // markers with numbers, in a record that lists no sources
}

// cite reads the markers of the row's answer. The reason is why the row cannot
// be converted.
func (c *inlineReader) cite(row *dataset.Row, at position) (reason string) {
	if len(row.Citations) > 0 {
		return "citations are given, and format inline reads them from the answer: import it as jsonl"
	}
	if row.AnswerNull {
		return ""
	}
	items, bad := presence.Parse(row.Answer)
	if n := countCitations(items); n > maxInlineCitations {
		return fmt.Sprintf("answer: %d citations, more than %d", n, maxInlineCitations)
	}
	c.sources.settle(row)
	warn := func(format string, args ...any) {
		c.warn(RecordError{File: c.file, Line: at.line, Reason: "answer: " + fmt.Sprintf(format, args...)})
	}
	for i := range bad {
		warn("characters %d-%d: %s: %s", bad[i].Start, bad[i].End, bad[i].Reason, quoted(bad[i].Text))
	}
	m := markerReader{row: row, sources: &c.sources}
	m.report = func(marker *presence.Inline, format string, args ...any) {
		warn("characters %d-%d: %s", marker.Start, marker.End, fmt.Sprintf(format, args...))
	}
	m.read(items)
	if m.unlisted > 0 {
		warn("%d markers name sources by number, and the record has no references, sources or documents", m.unlisted)
	}
	return ""
}

// countCitations returns how many citations the markers stand for.
func countCitations(items []presence.Inline) int {
	n := 0
	for i := range items {
		n += len(items[i].Spans)
		for _, r := range items[i].Numbers {
			if items[i].Form != presence.Statement {
				n += r.Last - r.First
			}
			n++
		}
	}
	return n
}

func (m *markerReader) read(items []presence.Inline) {
	m.row.HasCitations = true
	claims := !m.row.HasClaims && onlyStatements(m.row.Answer, items)
	if claims {
		m.row.HasClaims = true
	}
	for i := range items {
		marker := &items[i]
		switch marker.Form {
		case presence.Located:
			m.located(marker)
		case presence.Statement:
			claim := ""
			if claims {
				claim = m.claim(marker)
			}
			m.statement(marker, claim)
		default:
			m.numbered(marker)
		}
	}
}

// citation adds a citation of a marker: a copy of to, with its answer side.
func (m *markerReader) citation(marker *presence.Inline, to dataset.Citation) {
	to.AnswerStart, to.AnswerEnd = integer(int64(marker.Start)), integer(int64(marker.End))
	to.Method = marker.Form.String()
	m.row.Citations = append(m.row.Citations, to)
}

// located reads [file:page:start-end].
func (m *markerReader) located(marker *presence.Inline) {
	to := dataset.Citation{Doc: marker.File, Page: integer(int64(marker.Page))}
	if len(marker.Spans) == 1 {
		to.CitedText = marker.Excerpt
	} else if marker.HasExcerpt {
		var more extra
		more.addText("excerpt", marker.Excerpt)
		to.SourceReference = more.object()
	}
	for _, s := range marker.Spans {
		to.Start, to.End = integer(s.Start), integer(s.End)
		m.citation(marker, to)
	}
}

// numbered reads the markers whose numbers stand for sources.
func (m *markerReader) numbered(marker *presence.Inline) {
	if marker.HasTurn {
		m.otherTurn(marker)
		return
	}
	known := len(m.sources.all)
	for _, r := range marker.Numbers {
		for n := r.First; n <= r.Last; n++ {
			if 1 <= n && n <= known {
				m.source(marker, &m.sources.all[n-1])
			} else {
				m.nowhere(marker, n)
			}
		}
		if (r.First < 1 || r.Last > known) && m.sources.known {
			m.report(marker, "%s: the record lists %d sources", quoted(marker.String()), known)
		}
	}
	if !m.sources.known {
		m.unlisted++
	}
}

// otherTurn reads 【turn:n†locator】.
func (m *markerReader) otherTurn(marker *presence.Inline) {
	if x, ok := m.sources.named(marker.Locator); ok {
		m.source(marker, x)
		return
	}
	m.nowhere(marker, marker.Numbers[0].First)
	m.report(marker, "%s: no source is named so, and its number counts those of a turn", quoted(marker.String()))
}

// source adds a citation of a source, of all of it unless it names a place.
func (m *markerReader) source(marker *presence.Inline, x *inlineSource) {
	to := x.citation
	if !to.Page.Valid && !to.Start.Valid && !to.End.Valid && to.Unit == "" && to.CitedText == "" {
		to.Unit = "document"
	}
	m.locator(marker, &to)
	m.citation(marker, to)
}

// nowhere adds a citation whose number stands for no source.
func (m *markerReader) nowhere(marker *presence.Inline, number int) {
	var more extra
	more.add("number", []byte(strconv.Itoa(number)))
	to := dataset.Citation{DocNull: true, Title: marker.String(), SourceReference: more.object()}
	m.locator(marker, &to)
	m.citation(marker, to)
}

// locator keeps what stands behind a dagger.
func (m *markerReader) locator(marker *presence.Inline, to *dataset.Citation) {
	if marker.Form == presence.Dagger && marker.Locator != "" {
		var more extra
		more.addText("locator", marker.Locator)
		to.SourceReference = more.reference(to.SourceReference)
	}
}

// statement reads the <cite> of a statement: blocks of the only source.
func (m *markerReader) statement(marker *presence.Inline, claim string) {
	if len(marker.Numbers) == 0 {
		return
	}
	to := dataset.Citation{DocNull: true}
	if len(m.sources.all) == 1 {
		x := &m.sources.all[0].citation
		to.Doc, to.DocNull, to.Title, to.SourceType = x.Doc, x.DocNull, x.Title, x.SourceType
	} else if m.sources.known {
		m.report(marker, "a statement cites sentences of one source, and the record lists %d", len(m.sources.all))
	} else {
		m.unlisted++
	}
	to.Unit, to.ClaimID = "block", claim
	for _, r := range marker.Numbers {
		to.Start, to.End = integer(int64(r.First)), integer(int64(r.Last)+1)
		if len(m.sources.all) != 1 {
			to.Title = fmt.Sprintf("[%d-%d]", r.First, r.Last)
		}
		m.citation(marker, to)
	}
}

// claim makes a statement a claim of the row and returns its id, "" if it says
// nothing.
func (m *markerReader) claim(marker *presence.Inline) string {
	text := strings.TrimSpace(marker.Body)
	if text == "" {
		return ""
	}
	blank := 0 // code points before the text
	for _, r := range marker.Body {
		if !unicode.IsSpace(r) {
			break
		}
		blank++
	}
	start := int64(marker.BodyStart + blank)
	id := strconv.Itoa(len(m.row.Claims))
	m.row.Claims = append(m.row.Claims, dataset.Claim{
		ClaimID: id, Text: text,
		Start: integer(start), End: integer(start + int64(len([]rune(text)))),
	})
	return id
}

// onlyStatements reports whether the answer is statements, at least one, and
// white space.
func onlyStatements(answer string, items []presence.Inline) bool {
	next, some := 0, false // items[next] is the next statement to end
	n := 0
	for _, r := range answer {
		for next < len(items) && (n >= items[next].End || items[next].Form != presence.Statement) {
			next++
		}
		inside := next < len(items) && n >= items[next].Start
		if !inside && !unicode.IsSpace(r) {
			return false
		}
		some = some || inside
		n++
	}
	return some
}
