package convert

import (
	"fmt"
	"strconv"
	"strings"

	"ibid/metrics/token"
)

// A bratLine is one annotation, without the text of a text-bound one.
type bratLine struct {
	id    string
	data  string // what follows the id and a tab
	label string // the type of a text-bound annotation, else ""
}

// parseBratLine reads a line: an id, a tab, and what its first letter says. A
// text-bound annotation has a type, pairs of offsets, a tab and the text that stands
// there, from which each pair gets its part.
func parseBratLine(line string) (parsed bratLine, spans []quote, wrong *jsonError) {
	id, rest, ok := strings.Cut(line, "\t")
	switch {
	case !ok:
		return parsed, nil, &jsonError{0, "want an id, a tab and an annotation, got " + quoted(line)}
	case id == "*":
	case id == "" || !strings.Contains("TREAMN#", id[:1]):
		return parsed, nil, &jsonError{0, "unknown kind of annotation " + quoted(id)}
	case strings.TrimLeft(id[1:], "0123456789") == id[1:]:
		return parsed, nil, &jsonError{1, "want a number after the letter, got " + quoted(id)}
	}
	parsed = bratLine{id: id, data: rest}
	if id[0] != 'T' {
		return parsed, nil, nil
	}
	data, text, _ := strings.Cut(rest, "\t")
	parsed.data = data
	at := len(id) + 1
	label, offsets, ok := strings.Cut(data, " ")
	if !ok || label == "" {
		return parsed, nil, &jsonError{at, "want a type and offsets, got " + quoted(data)}
	}
	parsed.label = label
	at += len(label) + 1
	for pair := range strings.SplitSeq(offsets, ";") {
		start, end, err := parsePair(pair)
		if err != nil {
			return parsed, nil, &jsonError{at, err.Error()}
		}
		spans = append(spans, quote{start: start, end: end})
		at += len(pair) + 1
	}
	for i, part := range cutText(text, spans) {
		spans[i].text = part
	}
	return parsed, spans, nil
}

func parsePair(pair string) (start, end int64, err error) {
	from, to, _ := strings.Cut(pair, " ")
	if start, err = strconv.ParseInt(from, 10, 64); err == nil {
		end, err = strconv.ParseInt(to, 10, 64)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("want two offsets with a space between, got %s", quoted(pair))
	}
	return start, end, nil
}

// cutText divides the text of an annotation between its pieces: a space stands
// between them, or nothing in files of brat before 1.3. The lengths of the pieces
// count some unit in which they fit. If they fit in none, every piece has the whole
// text, which refutes it.
func cutText(text string, spans []quote) []string {
	parts := make([]string, len(spans))
	for i := range parts {
		parts[i] = text
	}
	if len(spans) < 2 {
		return parts
	}
	whole := token.NewText(text)
	for _, unit := range []token.Unit{token.CodePoint, token.UTF16, token.Byte} {
		for _, gap := range []int64{1, 0} {
			if cutBy(whole, unit, gap, spans, parts) {
				return parts
			}
		}
	}
	return parts
}

// cutBy cuts a text into parts as long as the spans, with gaps between, if that
// comes out even.
func cutBy(whole *token.Text, unit token.Unit, gap int64, spans []quote, parts []string) bool {
	at, size := int64(0), int64(whole.Units(unit))
	cuts := make([][2]int, len(spans))
	for i, s := range spans {
		if degenerateAnyhow(s.start, s.end) || s.end-s.start > size-at {
			return false
		}
		lo, first := whole.CodePoint(unit, int(at))
		hi, last := whole.CodePoint(unit, int(at+s.end-s.start))
		if !first || !last {
			return false
		}
		cuts[i] = [2]int{lo, hi}
		at += s.end - s.start
		if i < len(spans)-1 {
			if at += gap; at > size {
				return false
			}
		}
	}
	if at != size {
		return false
	}
	for i, c := range cuts {
		parts[i] = whole.Slice(c[0], c[1])
	}
	return true
}
