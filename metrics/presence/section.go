package presence

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultPhrases announce a section of sources, besides the custom ones. They are those of
// the metric that citation_presence comes from.
//
// Source: axion, metric "Citation Presence".
func DefaultPhrases() []string {
	return []string{
		"For more detailed information, you can refer to the following resources:",
		"For additional information, see these resources:",
		"You can find more details in the following references:",
	}
}

// What may open a section of sources. Prose uses the nouns as well: they open one only as a
// heading.
var (
	phrasePattern = foldPattern([]string{"For More Information", "Further Reading", "For more details, see"})
	nounPattern   = foldPattern([]string{"Resources", "References", "Sources", "Bibliography", "Citations", "Works Cited", "Literature Cited"})
)

// foldPattern matches any of words in any case; nil if there are none.
func foldPattern(words []string) *regexp.Regexp {
	if len(words) == 0 {
		return nil
	}
	return regexp.MustCompile("(?i)(?:" + strings.Join(words, "|") + ")")
}

// words yields the matches of p that are whole words, in the order of the text.
func words(p *regexp.Regexp, text string) func(yield func([2]int) bool) {
	return func(yield func([2]int) bool) {
		for from := 0; ; {
			at := p.FindStringIndex(text[from:])
			if at == nil {
				return
			}
			start, end := from+at[0], from+at[1]
			before, _ := utf8.DecodeLastRuneInString(text[:start])
			after, _ := utf8.DecodeRuneInString(text[end:])
			if (start == 0 || !isWordRune(before)) && (end == len(text) || !isWordRune(after)) {
				if !yield([2]int{start, end}) {
					return
				}
			}
			from = end
		}
	}
}

// sectionStart returns the byte at which the first section of sources begins:
// at a phrase of the options, at an expression that announces sources, or at a
// noun that stands as a heading. refs are the references of text.
func (d *Detector) sectionStart(text string, refs []hit) (int, bool) {
	start := len(text) + 1
	if at := d.phrases.FindStringIndex(text); at != nil {
		start = at[0]
	}
	for at := range words(phrasePattern, text) {
		start = min(start, at[0])
		break
	}
	for at := range words(nounPattern, text) {
		if at[0] >= start {
			break
		}
		if isHeading(text, at[0], at[1], refs) {
			start = at[0]
			break
		}
	}
	return start, start <= len(text)
}

// A heading has at most so many words and bytes on its line before its noun, as
// "Additional Resources" has one. The bytes also bound the cost of a long line.
const (
	maxHeadingWords = 4
	maxHeadingBytes = 200
)

// isHeading reports whether text[start:end], a noun, heads what follows it: a
// colon follows; or it ends a short line; or it begins a line or a sentence and
// a reference or a dash comes next.
func isHeading(text string, start, end int, refs []hit) bool {
	rest := strings.TrimLeftFunc(text[end:], isDecoration)
	next, _ := utf8.DecodeRuneInString(rest)
	if next == ':' || next == '：' {
		return true
	}
	line := text[max(0, start-maxHeadingBytes):start]
	whole := len(line) == start
	if i := strings.LastIndexByte(line, '\n'); i >= 0 {
		line, whole = line[i+1:], true
	}
	if rest == "" || next == '\n' || next == '\r' {
		line = strings.TrimLeft(line, " \t0123456789.)") // the number of the heading
		return whole && len(strings.Fields(line)) <= maxHeadingWords && !strings.ContainsAny(line, ".!?")
	}
	if !beginsSentence(line, whole) {
		return false
	}
	at := len(text) - len(rest)
	if _, ok := slices.BinarySearchFunc(refs, at, func(h hit, at int) int { return cmp.Compare(h.start, at) }); ok {
		return true
	}
	return next == '–' || next == '—' || strings.HasPrefix(rest, "- ")
}

// isDecoration reports what may stand around the words of a heading on its
// line: spaces and the marks of Markdown.
func isDecoration(r rune) bool {
	return r != '\n' && r != '\r' && (isSpace(r) || strings.ContainsRune("*_#", r))
}

// beginsSentence reports whether what comes after line begins a sentence, or, if
// line is whole and not the end of a longer one, its line or a list item.
func beginsSentence(line string, whole bool) bool {
	line = strings.TrimRightFunc(line, isDecoration)
	last, _ := utf8.DecodeLastRuneInString(line)
	if strings.ContainsRune(".!?。！？…:;", last) {
		return true
	}
	return whole && !strings.ContainsFunc(line, unicode.IsLetter)
}
