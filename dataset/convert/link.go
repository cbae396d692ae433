package convert

import (
	"strings"
	"unicode/utf8"
)

// isLink reports whether text is a link in Markdown to url, [title](url), or one
// in parentheses: what a web search leaves in an answer where it cites.
func isLink(text, url string) bool {
	text, ok := strings.CutSuffix(text, "]("+url+")")
	if !ok {
		if text, ok = strings.CutSuffix(text, "]("+url+"))"); !ok {
			return false
		}
		if text, ok = strings.CutPrefix(text, "("); !ok {
			return false
		}
	}
	title, ok := strings.CutPrefix(text, "[")
	return ok && !strings.ContainsAny(title, "[]\n")
}

// findLink returns where text holds the only link to url, its parentheses
// included, as half-open code points.
func findLink(text, url string) (lo, hi int64, ok bool) {
	target := "](" + url + ")"
	at := strings.Index(text, target)
	if at < 0 || strings.Contains(text[at+1:], target) {
		return 0, 0, false
	}
	start, end := strings.LastIndexByte(text[:at], '['), at+len(target)
	if start < 0 || !isLink(text[start:end], url) {
		return 0, 0, false
	}
	if start > 0 && text[start-1] == '(' && strings.HasPrefix(text[end:], ")") {
		start, end = start-1, end+1
	}
	lo = int64(utf8.RuneCountInString(text[:start]))
	return lo, lo + int64(utf8.RuneCountInString(text[start:end])), true
}
