package presence

import (
	"strings"
	"unicode/utf8"
)

// nextURL finds http://… or https://…, in any case.
func nextURL(text string, from int) (hit, bool) {
	for i := from; ; {
		colon := strings.Index(text[i:], "://")
		if colon < 0 {
			return hit{}, false
		}
		colon += i
		i = colon + len("://")
		scheme := schemeLength(text[from:colon])
		if scheme == 0 {
			continue
		}
		if end := i + linkLength(text[i:]); end > i {
			return hit{URL, colon - scheme, end}, true
		}
	}
}

// schemeLength is the length of the http or https that s ends with, 0 if it
// ends otherwise. The long s (U+017F) folds to s.
func schemeLength(s string) int {
	for _, scheme := range [...]string{"https", "httpſ", "http"} {
		if hasFoldSuffix(s, scheme) {
			return len(scheme)
		}
	}
	return 0
}

// nextWWW finds www.…, in any case and wherever it begins.
func nextWWW(text string, from int) (hit, bool) {
	for i := from; ; {
		dot := strings.IndexByte(text[i:], '.')
		if dot < 0 {
			return hit{}, false
		}
		dot += i
		i = dot + 1
		if !hasFoldSuffix(text[from:dot], "www") {
			continue
		}
		if end := i + linkLength(text[i:]); end > i {
			return hit{URL, dot - len("www"), end}, true
		}
	}
}

// linkLength is the length of the rest of a URL that s begins with: up to white
// space, a quotation mark, or a character that no URL holds, less the
// punctuation at its end. A closing parenthesis stays if the URL opened it.
func linkLength(s string) int {
	end := strings.IndexFunc(s, endsLink)
	if end < 0 {
		end = len(s)
	}
	unopened := strings.Count(s[:end], ")") - strings.Count(s[:end], "(")
	for end > 0 {
		switch c := s[end-1]; {
		case strings.IndexByte(".,;:!?", c) >= 0:
		case c == ')' && unopened > 0:
			unopened--
		default:
			return end
		}
		end--
	}
	return 0
}

func endsLink(r rune) bool {
	return isSpace(r) || r < utf8.RuneSelf && strings.ContainsRune("<>\"'[]{}|\\^`", r)
}

// nextDOI finds doi:10.1000/182: a prefix after "doi:", of which a bare number
// or any other word makes none. It ends at white space or a closing bracket.
func nextDOI(text string, from int) (hit, bool) {
	for i := from; ; {
		colon := strings.IndexByte(text[i:], ':')
		if colon < 0 {
			return hit{}, false
		}
		colon += i
		i = colon + 1
		if !hasFoldSuffix(text[from:colon], "doi") {
			continue
		}
		start := colon - len("doi")
		if r, _ := utf8.DecodeLastRuneInString(text[:start]); start > 0 && isWordRune(r) {
			continue
		}
		name := strings.TrimLeftFunc(text[i:], isSpace)
		if n := doiLength(name); n > 0 {
			return hit{DOI, start, len(text) - len(name) + n}, true
		}
	}
}

// doiLength is the length of the DOI that s begins with, such as 10.1000/182.
func doiLength(s string) int {
	if !strings.HasPrefix(s, "10.") {
		return 0
	}
	slash := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if slash <= len("10.") || s[slash] != '/' {
		return 0
	}
	end := strings.IndexFunc(s, func(r rune) bool { return isSpace(r) || r == ')' || r == ']' })
	if end < 0 {
		end = len(s)
	}
	end = len(strings.TrimRight(s[:end], ".,;:!?'\"}"))
	if end <= slash+1 {
		return 0
	}
	return end
}

// hasFoldSuffix reports whether s ends with suffix, in any case.
func hasFoldSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}
