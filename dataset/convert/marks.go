package convert

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/metrics/claims"
	"ibid/metrics/token"
)

// maxMarks is the most citations that the marks of one answer can give: a few
// bytes of ranges stand for thousands.
const maxMarks = 100_000

// A markReader turns the marks of one answer into citations of its row.
type markReader struct {
	row     *ibid.Answer
	sources []ibid.Citation // of what the numbers stand for, but for the answer side
	known   bool            // there is a list of sources; it may be empty
	oneText bool            // they are one text, of which nobody knows what numbers count
	listed  bool            // it wins over the list in the answer
	first   int             // number of the first of them
	report  func(format string, args ...any)

	zero, last bool // see [Report]

	cites []int // of each citation of the row that was read, the index of its source, or noSource
}

// oneText is the method of a citation by a number where the sources are one text without numbers:
// what it counts cannot be checked.
const oneText = "one_text"

// A memberText is a text of a record, and the name that it has there.
type memberText struct{ name, text string }

// elsewhere counts the texts that cite, by their names.
func (m *markReader) elsewhere(others []memberText, counts map[string]int64) {
	cited := make([]claims.Cited, len(m.sources))
	for _, other := range others {
		marks, _ := claims.ReadMarks(other.text, cited, m.first)
		if slices.ContainsFunc(marks, func(k claims.Mark) bool { return k.Source >= 0 || len(cited) == 0 }) {
			tally(counts, other.name)
		}
	}
}

// documentSources are citations of whole documents.
func documentSources(documents []ibid.Document) []ibid.Citation {
	all := make([]ibid.Citation, len(documents))
	for i := range documents {
		all[i] = citationOf(&documents[i])
	}
	return all
}

// citationOf is a citation of a document.
func citationOf(d *ibid.Document) ibid.Citation {
	return ibid.Citation{Doc: d.Doc, Title: d.Title, SourceType: d.SourceType}
}

// read adds a citation for each mark of [claims.ReadMarks], and reports how many were not
// understood. Numbers count the sources, also those whose names are numbers, unless one is such
// a name and no place, or the names are those of the places. answer_start and answer_end of a
// citation are the interval of its mark, or of the words that a tag says are cited; method is
// the form of the mark, such as "numbered". A number without a source gives a citation of no
// document with the mark as title. The reason is why the marks cannot be citations.
func (m *markReader) read() (reason string) {
	m.row.HasCitations = true
	cited := make([]claims.Cited, len(m.sources))
	counted := slices.Clone(cited) // numbers count the list, whatever its sources are called
	numbers := make(map[string]bool)
	for i := range cited {
		cited[i] = claims.Cited{Doc: m.sources[i].Doc, Title: m.sources[i].Title}
		if counted[i] = cited[i]; isNumber(cited[i].Doc) {
			numbers[cited[i].Doc], counted[i].Doc = true, ""
		}
	}
	if !m.listed && (countFrom(numbers, 0, len(cited)) || countFrom(numbers, 1, len(cited))) {
		counted, numbers = cited, nil
	}
	marks, unread := claims.ReadMarks(m.row.Answer, counted, m.first)
	if !m.listed && slices.ContainsFunc(marks, func(k claims.Mark) bool {
		return k.Number >= 0 && k.Source < 0 && !k.Listed && numbers[strconv.Itoa(k.Number)]
	}) {
		marks, unread = claims.ReadMarks(m.row.Answer, cited, m.first)
	}
	if n := len(marks); n > maxMarks {
		return fmt.Sprintf("%d citations, more than %d", n, maxMarks)
	}
	text := token.NewText(m.row.Answer)
	for i := range marks {
		mark := &marks[i]
		if mark.Listed && m.listed {
			mark.Source, mark.Doc = -1, ""
			if n := mark.Number; 1 <= n && n <= len(cited) {
				mark.Source = n - 1
			}
		}
		if !mark.Listed && len(cited) > 0 && mark.Form == claims.Numbered {
			m.zero = m.zero || mark.Number == 0 && mark.Source < 0
			m.last = m.last || mark.Number == len(cited)
		}
		several := i > 0 && marks[i-1].Start == mark.Start || i+1 < len(marks) && marks[i+1].Start == mark.Start
		m.cite(mark, text.Slice(mark.Start, mark.End), several)
	}
	m.row.UnreadMarks = integer(int64(len(unread)))
	m.reportUnread(unread)
	return ""
}

// countFrom reports whether names are the numbers of n places from the first, in whatever order.
func countFrom(names map[string]bool, first, n int) bool {
	for i := range n {
		if !names[strconv.Itoa(first+i)] {
			return false
		}
	}
	return true
}

// namedUnread is how many marks of a form that are not understood stand in one line.
const namedUnread = 3

// reportUnread says which marks of an answer are not understood, a line for each form.
func (m *markReader) reportUnread(unread []claims.Unread) {
	byForm := make(map[string][]string)
	for _, u := range unread {
		byForm[u.Form] = append(byForm[u.Form], strconv.Quote(clipped(u.Text)))
	}
	for _, form := range slices.Sorted(maps.Keys(byForm)) {
		texts := byForm[form]
		named := strings.Join(texts[:min(len(texts), namedUnread)], ", ")
		if len(texts) > namedUnread {
			named += ", …"
		}
		m.report("%d marks of the answer not understood: %s: %s", len(texts), form, named)
	}
}

// cite adds the citation of a mark: of the place that it or its source names, else of
// the whole source. An excerpt of several spans does not say which of them it quotes.
func (m *markReader) cite(mark *claims.Mark, written string, several bool) {
	to := ibid.Citation{Doc: mark.Doc, DocNull: mark.Doc == ""}
	if mark.Source >= 0 {
		to = m.sources[mark.Source]
	} else if mark.Doc == "" {
		to.Title = written
		if mark.Number >= 0 {
			var more extra
			more.add("number", []byte(strconv.Itoa(mark.Number)))
			to.SourceReference = more.object()
		}
		if m.known && !mark.OfTurn && !m.oneText {
			m.report("characters %d-%d of the answer: %s: the record lists %d sources", mark.Start, mark.End, quoted(written), len(m.sources))
		}
	}
	if mark.Page > 0 {
		to.Page = integer(int64(mark.Page))
	}
	if mark.HasSpan {
		if mark.Page == 0 {
			m.report("characters %d-%d of the answer: %s: pages count from 1", mark.Start, mark.End, quoted(written))
		}
		to.Page, to.Start, to.End, to.Unit = integer(int64(mark.Page)), integer(mark.From), integer(mark.To), ""
	}
	if mark.Quote != "" && several && mark.HasSpan {
		var more extra
		more.addText("excerpt", mark.Quote)
		to.SourceReference = more.reference(to.SourceReference)
	} else if mark.Quote != "" {
		to.CitedText = mark.Quote
	}
	if (mark.Source >= 0 || !to.DocNull) && !to.Page.Known() && !to.Start.Known() && !to.End.Known() && to.Unit == "" && to.CitedText == "" {
		to.Unit = "document"
	}
	if !mark.Whole {
		to.AnswerStart, to.AnswerEnd, to.AnswerRole = integer(int64(mark.Start)), integer(int64(mark.End)), ibid.Marker
	}
	if mark.WordsEnd > mark.WordsStart {
		to.AnswerStart, to.AnswerEnd, to.AnswerRole = integer(int64(mark.WordsStart)), integer(int64(mark.WordsEnd)), ibid.Segment
	}
	to.Method = mark.Form.String()
	if m.oneText && mark.Source < 0 && mark.Number >= 0 && !mark.Listed {
		to.Method = oneText
	}
	m.row.Citations, m.cites = append(m.row.Citations, to), append(m.cites, mark.Source)
}
