package judge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Suspicion is a place of the material that looks as if it were written to steer whoever
// reviews it. It is found without a model and changes no verdict. It is no proof: a text
// about prompts looks the same.
type Suspicion struct {
	// Kind is ignore (to forget instructions), order (of a verdict on claims), member (of a
	// reply), roles (marks of chat templates), frame (tags and sentences of the prompt), address
	// (of reviewers and models) or hidden (characters that nobody sees).
	Kind  string
	Where string // question, answer, claim:N, title:N or citation:N, by position from 0
	Text  string // what stands there, in one line and small letters; of hidden characters their numbers
}

// String reads: frame in citation:0: </passage>.
func (s *Suspicion) String() string { return s.Kind + " in " + s.Where + ": " + s.Text }

// maxSuspicions bounds the suspicions of one request.
const maxSuspicions = 20

// Suspicions looks through what r shows to a judge: the question, the answer, claims
// that do not stand in it, titles and passages. It returns the first of each kind in each
// text, in that order, 20 at most.
func Suspicions(r *Request) []Suspicion {
	s := steeringOf()
	var out []Suspicion
	add := func(where string, n int, text string) {
		if n >= 0 {
			where += ":" + strconv.Itoa(n)
		}
		s.find(text, func(kind, what string) {
			out = append(out, Suspicion{kind, where, clip(strings.Join(strings.Fields(what), " "))})
		})
	}
	add("question", -1, r.Question)
	add("answer", -1, r.Answer)
	for i := range r.Claims {
		if !r.Claims[i].Extent.Known() {
			add("claim", i, r.Claims[i].Text)
		}
	}
	for i := range r.Evidence {
		e := &r.Evidence[i]
		where := "citation"
		if e.Citation == NoCitation {
			where = "source"
		}
		add("title", e.Citation, e.Title)
		add(where, e.Citation, e.Before+e.Text+e.After) // what is hidden may lie across their borders
		if len(out) >= maxSuspicions {
			return out[:maxSuspicions]
		}
	}
	return out
}

// steeringFile has the patterns. They are matched with a folded text, those of hidden characters
// with the text as it is. Matching takes a microsecond a byte, so a kind is looked for only in
// a text that has, for some alternative of what the kind needs, a word of each of its lists.
//
//go:embed steering.json
var steeringFile []byte

// A steering is what steeringFile says.
type steering struct {
	undo          *strings.Replacer // of escapes
	flags, hidden *regexp.Regexp
	kinds         []steeringKind
	words, parts  map[string]uint64 // which lists have it, as bits: words of small ASCII letters, and other texts
	lengths       [256]uint64       // of words, as bits, by their first letter
}

type steeringKind struct {
	name    string
	pattern *regexp.Regexp
	unless  *regexp.Regexp // what looks so and is no suspicion: the match with what is beside it, a zero byte at its end
	needs   []uint64       // alternatives, each of lists as bits
}

var steeringOf = sync.OnceValue(func() *steering {
	var file struct {
		Undo          []string
		Flags, Hidden string
		Patterns      map[string]string
		Also, Unless  map[string]string // more of the patterns, and exceptions
		Needs         map[string][][][]string
	}
	if err := json.Unmarshal(steeringFile, &file); err != nil {
		panic(err) // of the program itself
	}
	s := &steering{
		undo: strings.NewReplacer(file.Undo...), flags: regexp.MustCompile(file.Flags), hidden: regexp.MustCompile(file.Hidden),
		words: make(map[string]uint64), parts: make(map[string]uint64),
	}
	list := uint64(1)
	for _, name := range slices.Sorted(maps.Keys(file.Patterns)) {
		kind := steeringKind{name: name, pattern: regexp.MustCompile("(?m)" + file.Patterns[name] + file.Also[name])}
		kind.unless = regexp.MustCompile("(?m)" + file.Unless[name])
		for _, alternative := range file.Needs[name] {
			needs := uint64(0)
			for _, words := range alternative {
				for _, word := range words {
					if wordAt(word) < len(word) {
						s.parts[word] |= list
						continue
					}
					s.words[word] |= list
					s.lengths[word[0]] |= 1 << len(word)
				}
				needs |= list
				list <<= 1
			}
			kind.needs = append(kind.needs, needs)
		}
		s.kinds = append(s.kinds, kind)
	}
	return s
})

// find calls found with the first place of each kind in a text.
func (s *steering) find(text string, found func(kind, what string)) {
	folded, hides := s.fold(text)
	has := s.listsIn(folded)
	for i := range s.kinds {
		kind := &s.kinds[i]
		if !slices.ContainsFunc(kind.needs, func(needs uint64) bool { return has&needs == needs }) {
			continue
		}
		for _, at := range kind.pattern.FindAllStringIndex(folded, 50) {
			_, before := utf8.DecodeLastRuneInString(folded[:at[0]])
			beside := folded[at[0]-before:at[1]] + "\x00" + folded[at[1]:min(len(folded), at[1]+25)]
			if !kind.unless.MatchString(beside) {
				found(kind.name, folded[at[0]:at[1]])
				break
			}
		}
	}
	if !hides {
		return
	}
	if what := s.hidden.FindString(strings.ToLower(s.flags.ReplaceAllString(text, ""))); what != "" {
		found("hidden", names(what))
	}
}

// fold makes the writings of one text alike: invisible characters go, and hides says whether
// there were any; letters are small and not wide, escapes are what they stand for, and white
// space in a line is one blank.
func (s *steering) fold(text string) (folded string, hides bool) {
	out := make([]byte, 0, len(text))
	escapes, wide := false, false
	for i := 0; i < len(text); {
		b := text[i]
		if b < utf8.RuneSelf {
			i++
			if b = foldedASCII[b]; b == ' ' && len(out) > 0 && out[len(out)-1] == ' ' {
				continue
			}
			escapes = escapes || b == '\\' || b == '&' || b == '%'
			out = append(out, b)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if unicode.Is(invisible, r) {
			hides = true
			continue
		}
		wide = true
		out = utf8.AppendRune(out, unicode.ToLower(r))
	}
	folded = string(out)
	if wide {
		folded = norm.NFKC.String(folded)
	}
	if escapes {
		folded = s.undo.Replace(folded)
	}
	return folded, hides
}

// foldedASCII are small letters, and blanks for all white space and control characters but ends
// of lines.
var foldedASCII = func() (t [utf8.RuneSelf]byte) {
	for b := range t {
		t[b] = byte(unicode.ToLower(rune(b)))
		if b != '\n' && unicode.IsControl(rune(b)) {
			t[b] = ' '
		}
	}
	return t
}()

// listsIn are the lists that have a word of a folded text.
func (s *steering) listsIn(text string) (lists uint64) {
	for i := 0; i < len(text); {
		n := wordAt(text[i:])
		if s.lengths[text[i]]>>n&1 != 0 {
			lists |= s.words[text[i:i+n]]
		}
		i += max(n, 1)
	}
	for part, of := range s.parts {
		if lists|of != lists && strings.Contains(text, part) {
			lists |= of
		}
	}
	return lists
}

// wordAt is the length of the word of small ASCII letters and _ that begins a text, 0 if none does.
func wordAt(text string) int {
	n := 0
	for n < len(text) && (text[n] >= 'a' && text[n] <= 'z' || text[n] == '_') {
		n++
	}
	return n
}

// invisible are the characters that nobody sees, and that text can do without.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00ad, 0x00ad, 1},
		{0x034f, 0x034f, 1},
		{0x061c, 0x061c, 1},
		{0x115f, 0x1160, 1},
		{0x17b4, 0x17b5, 1},
		{0x180b, 0x180e, 1},
		{0x200b, 0x200f, 1},
		{0x202a, 0x202e, 1},
		{0x2060, 0x206f, 1},
		{0x3164, 0x3164, 1},
		{0xfe00, 0xfe0f, 1},
		{0xfeff, 0xfeff, 1},
		{0xffa0, 0xffa0, 1},
	},
	R32:         []unicode.Range32{{0xe0000, 0xe01ef, 1}},
	LatinOffset: 1,
}

// names are the first invisible characters of s by their numbers, and how many more there are.
func names(s string) string {
	const shown = 3
	var out []string
	for _, r := range s {
		if unicode.Is(invisible, r) {
			out = append(out, fmt.Sprintf("%U", r))
		}
	}
	if more := len(out) - shown; more > 0 {
		out = append(out[:shown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, " ")
}
