package convert

import (
	"html"
	"strings"
)

// shownText is the text of HTML whose offsets Label Studio counts: that of its text
// nodes, and a line end for each <br>. It is no parser of any HTML there may be; the
// quotes of marks say where it is mistaken.
func shownText(source string) string {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	var b strings.Builder
	for source != "" {
		text, rest, found := strings.Cut(source, "<")
		b.WriteString(html.UnescapeString(text))
		if !found {
			break
		}
		source = rest
		switch {
		case strings.HasPrefix(source, "!--"):
			_, source, _ = strings.Cut(source, "-->")
			continue
		case !isTagStart(source):
			b.WriteByte('<')
			continue
		}
		end := strings.IndexAny(source, " \t\n/>")
		if end < 0 {
			end = len(source)
		}
		name := strings.ToLower(source[:end])
		source = afterTag(source)
		switch name {
		case "br":
			b.WriteByte('\n')
		case "script", "style":
			source = fromEnd(source, name)
		}
	}
	return b.String()
}

// fromEnd is the rest of the source from the tag that closes name.
func fromEnd(source, name string) string {
	for {
		at := strings.Index(source, "</")
		if at < 0 {
			return ""
		}
		source = source[at:]
		if rest := source[2:]; len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			return source
		}
		source = source[2:]
	}
}

func isTagStart(s string) bool {
	return s != "" && (s[0] == '/' || s[0] == '!' || 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z')
}

// afterTag is what follows a tag; a > in quotation marks does not end it.
func afterTag(s string) string {
	var quoted byte
	for i := range len(s) {
		switch c := s[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'':
			quoted = c
		case c == '>':
			return s[i+1:]
		}
	}
	return ""
}
