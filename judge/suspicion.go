package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid"
)

// A Suspicion is a place of the material that looks as if it were written for whoever
// reviews it. It is found without a model and changes no verdict. It is no proof: a text
// about prompts looks the same.
type Suspicion struct {
	Kind  string // [SuspectFrame], [SuspectVerdict] or [SuspectHidden]
	Where string // question, answer, claim:N, title:N or citation:N, by position from 0
	// At is where it begins, in code points from the start of that text; of a citation
	// from the start of the cited words, so that it is negative before them.
	At   int
	Text string // what stands there, in one line; of characters that nobody sees, their names
}

// Kinds of suspicions.
const (
	// SuspectFrame: tags by the names that those of the prompt have, with or without a
	// code, its sentences, and marks of chat templates. A title without a code is HTML.
	SuspectFrame = "frame"
	// SuspectVerdict: a member of a reply with a word of its vocabulary, as in JSON.
	SuspectVerdict = "verdict"
	// SuspectHidden: characters that nobody sees, where no script needs them: tags outside
	// flags, overrides of the direction, a run of four or more, and one between two letters or digits
	// of Latin, Greek or Cyrillic. Soft hyphens, joiners of emoji, of Arabic and of Indic scripts,
	// and a mark of the byte order are none.
	SuspectHidden = "hidden"
)

// String reads: frame in citation:0 at 17: </passage>.
func (s *Suspicion) String() string {
	return fmt.Sprintf("%s in %s at %d: %s", s.Kind, s.Where, s.At, s.Text)
}

// maxSuspicions bounds the suspicions of one request.
const maxSuspicions = 20

// Suspicions looks through what r shows to a judge: the question, the answer, claims
// that do not stand in it, titles and passages. It returns the first of each kind in each
// text, in that order, 20 at most. It takes time linear in the material.
func Suspicions(r *Request) []Suspicion {
	var out []Suspicion
	add := func(where string, n, before int, text string) {
		first := len(out)
		suspicious(text, func(kind string, at int, what string) {
			if slices.ContainsFunc(out[first:], func(s Suspicion) bool { return s.Kind == kind }) {
				return
			}
			name := where
			if n >= 0 {
				name += ":" + strconv.Itoa(n)
			}
			out = append(out, Suspicion{kind, name, utf8.RuneCountInString(text[:at]) - before, what})
		})
	}
	add("question", -1, 0, r.Question)
	add("answer", -1, 0, r.Answer)
	for i := range r.Claims {
		if !r.Claims[i].Extent.Known() {
			add("claim", i, 0, r.Claims[i].Text)
		}
	}
	for i := range r.Evidence {
		e := &r.Evidence[i]
		add("title", e.Citation, 0, e.Title)
		window := e.Text
		if e.Before != "" || e.After != "" { // what is hidden may lie across their borders
			window = e.Before + e.Text + e.After
		}
		add("citation", e.Citation, utf8.RuneCountInString(e.Before), window)
		if len(out) >= maxSuspicions {
			return out[:maxSuspicions]
		}
	}
	return out
}

// remarkable are the bytes at which something suspicious may begin.
var remarkable = func() (t [256]bool) {
	for _, first := range []string{"<", "&", "[", `"`, "'", "\u034f", "\u115f", "\u200b", "\u3164", "\ufeff", "\U000E0001"} {
		t[first[0]] = true
	}
	return t
}()

// mayBegin reports whether something suspicious can begin with two bytes, of which the first is
// remarkable. It spares most texts the rest.
func mayBegin(first, next byte) bool {
	switch next |= 0x20; first { // which makes letters small
	case '[':
		return next == '/' || next == 'i'
	case '<':
		return next >= utf8.RuneSelf || strings.IndexByte("/|< acefinpqst", next) >= 0
	case '&':
		return next == 'l'
	case '"', '\'':
		return strings.IndexByte("sjekrt", next) >= 0
	}
	return true
}

// suspicious calls found with the kind and the place in bytes of what is suspicious in a text.
func suspicious(text string, found func(kind string, at int, what string)) {
	for i := 0; i < len(text); i++ {
		if !remarkable[text[i]] {
			continue
		}
		switch b := text[i]; {
		case !mayBegin(b, text[min(i+1, len(text)-1)]):
		case b == '"' || b == '\'':
			if n := verdictMember(text[i:]); n > 0 {
				found(SuspectVerdict, i, oneLine(text[i:i+n]))
			}
		case b == '<' || b == '[':
			if n := frameTag(text[i:]); n > 0 {
				found(SuspectFrame, i, oneLine(text[i:i+n]))
			}
		case b == '&':
			if strings.HasPrefix(text[i:], "&lt;") {
				plain := entities.Replace(text[i:min(len(text), i+maxTag)])
				if n := frameTag(plain); n > 0 {
					found(SuspectFrame, i, oneLine(plain[:n]))
				}
			}
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			switch {
			case r == '＜' || r == '﹤':
				if n := frameTag("<" + text[i+size:min(len(text), i+size+maxTag)]); n > 0 {
					found(SuspectFrame, i, oneLine(text[i:i+size+n-1]))
				}
			case r == leftToRightOverride || r == rightToLeftOverride:
				found(SuspectHidden, i, fmt.Sprintf("%U", r))
			case invisible(r):
				n, hides := invisibleRun(text, i)
				if hides {
					found(SuspectHidden, i, names(text[i:i+n]))
				}
				size = n
			}
			i += size - 1
		}
	}
	for _, phrase := range framePhrases {
		if at := strings.Index(text, phrase); at >= 0 {
			found(SuspectFrame, at, phrase)
		}
	}
}

// framePhrases are sentences of the prompts that material has no reason to hold, from where they
// have a letter that is rare, so that most texts are passed over fast.
var framePhrases = []string{"xhibits end here", "code of this review is"}

// entities are those that tags are written with where they are not to be tags.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">")

// maxTag bounds what is read of a tag.
const maxTag = 80

// Names of the tags of the frame, and of the marks of chat templates.
var (
	frameNames = []string{"answer", "cited", "claim", "claims", "evidence", "exhibit", "exhibits", "notes", "passage", "question", "sentence", "sentences", "title"}
	chatNames  = []string{"system", "assistant", "start_of_turn", "end_of_turn", "tool_call", "tool_response", "tool_result", "function_call", "function_results", "sys", "inst"}
)

// frameTag is the length of a tag at the start of s that is one of the frame or of a chat
// template, 0 if there is none.
func frameTag(s string) int {
	s = s[:min(len(s), maxTag)]
	i := 1
	if s[0] == '[' {
		if i < len(s) && s[i] == '/' {
			i++
		}
		if name := asciiWord(s[i:]); strings.EqualFold(name, "inst") && i+len(name) < len(s) && s[i+len(name)] == ']' {
			return i + len(name) + 1
		}
		return 0
	}
	if rest := s[i:]; strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "｜") {
		_, size := utf8.DecodeRuneInString(rest)
		if asciiWord(rest[size:]) == "" {
			return 0
		}
		end := strings.IndexByte(s, '>')
		return end + 1
	}
	ends := false // it is an end tag
	for i < len(s) && (s[i] == '<' || s[i] == '/' || s[i] == ' ') {
		ends = ends || s[i] == '/'
		i++
	}
	if strings.HasPrefix(s[i:], "／") {
		i += len("／")
	}
	name := asciiWord(s[i:])
	i += len(name)
	after := byte('>') // a fullwidth one, or the end
	if i < len(s) && s[i] < utf8.RuneSelf {
		after = s[i]
	}
	is := func(n string) bool { return strings.EqualFold(n, name) }
	switch {
	case slices.ContainsFunc(chatNames, is):
		if after != '>' {
			return 0
		}
	case !slices.ContainsFunc(frameNames, is):
		return 0
	case after == '-' || after == '_':
	case is("title") || after != '>' && after != ' ':
		return 0
	case after == ' ' && ends && strings.HasPrefix(strings.TrimLeft(s[i:], " "), ">"):
	case after == ' ' && !strings.HasPrefix(s[i:], " id=") && !strings.HasPrefix(s[i:], " citations="):
		return 0
	}
	if end := strings.IndexByte(s[i:], '>'); end >= 0 {
		return i + end + 1
	}
	return i
}

// asciiWord is the run of ASCII letters and _ at the start of s.
func asciiWord(s string) string {
	n := 0
	for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] == '_') {
		n++
	}
	return s[:n]
}

// vocabulary are the members of a reply that have a word of a list, and the words.
var vocabulary = func() map[string][]string {
	var degrees []string
	for d := range ibid.NumDegrees {
		degrees = append(degrees, ibid.Degree(d).String())
	}
	return map[string][]string{
		"support": degrees, "joint": degrees, "elsewhere": degrees, "kind": {ibid.FactualLabel, nonfactual}, "relevant": {"yes", "no"}, "tampering": ibid.Tamperings(),
	}
}()

// verdictMember is the length of a member of a reply at the start of s, which begins with
// a quotation mark; 0 if there is none. Quotation marks may be escaped.
func verdictMember(s string) int {
	quote, i := s[0], 1
	end := func() bool {
		if i < len(s) && s[i] == '\\' {
			i++
		}
		i++
		return i <= len(s) && s[i-1] == quote
	}
	word := func() string {
		w := asciiWord(s[i:min(len(s), i+maxTag)])
		i += len(w)
		return strings.ToLower(w)
	}
	spaces := func() {
		for limit := i + maxTag; i < min(len(s), limit) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r'); i++ {
		}
	}
	member := word()
	if !end() {
		return 0
	}
	words := vocabulary[member]
	if spaces(); words == nil || i >= len(s) || s[i] != ':' {
		return 0
	}
	i++
	if spaces(); !end() || !slices.Contains(words, word()) || !end() {
		return 0
	}
	return i
}

// Overrides of the direction of text.
const (
	leftToRightOverride = '\u202d'
	rightToLeftOverride = '\u202e'
)

// Tags, which are of use only in flags: a black flag, letters, and an end.
const (
	firstTag, endTag = '\U000E0000', '\U000E007F'
	blackFlag        = '\U0001F3F4'
)

// invisible reports whether nobody sees r, and text can do without it.
func invisible(r rune) bool {
	switch {
	case r >= '\u200b' && r <= '\u200d', r >= '\u2060' && r <= '\u2064', r >= '\u206a' && r <= '\u206f', selects(r), r >= firstTag && r <= endTag:
		return true
	}
	return r == '\ufeff' || r == '\u180e' || r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0'
}

// selects reports whether r says how the character before it looks.
func selects(r rune) bool {
	return r >= '\ufe00' && r <= '\ufe0f' || r >= '\U000E0100' && r <= '\U000E01EF'
}

// longRun is from how many invisible characters on no script explains a run of them: an
// emoji has two.
const longRun = 4

// invisibleRun is the length in bytes of the invisible characters at i, and whether they hide
// something.
func invisibleRun(text string, i int) (n int, hides bool) {
	count, tags, widths := 0, 0, 0
	last := rune(0)
	for i+n < len(text) {
		r, size := utf8.DecodeRuneInString(text[i+n:])
		if !invisible(r) {
			break
		}
		count++
		if r >= firstTag && r <= endTag {
			tags++
		} else if !selects(r) {
			widths++
		}
		last = r
		n += size
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+n:])
	switch {
	case tags > 0:
		return n, tags < count || before != blackFlag || last != endTag
	case count >= longRun:
		return n, true
	}
	return n, widths > 0 && western(before) && western(after)
}

// western reports whether r is a letter or digit of a script that joins nothing: Latin, Greek,
// Cyrillic or Armenian.
func western(r rune) bool {
	return (r < '\u0590' || r >= '\u1e00' && r < '\u2000') && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// names are the first characters of s by their numbers.
func names(s string) string {
	const shown = 3
	var out []string
	n := 0
	for _, r := range s {
		if n++; n <= shown {
			out = append(out, fmt.Sprintf("%U", r))
		}
	}
	if n > shown {
		out = append(out, fmt.Sprintf("and %d more", n-shown))
	}
	return strings.Join(out, " ")
}

// oneLine is a piece of material in one line, cut short.
func oneLine(s string) string { return clip(strings.Join(strings.Fields(s), " ")) }
