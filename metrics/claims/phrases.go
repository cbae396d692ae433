package claims

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

//go:embed phrases/*.txt
var phraseFiles embed.FS

// phraseLists are the names of the lists, which have a phrase or a word on each line.
var phraseLists = [...]string{
	"claim_nothing", "attribution", "reference_headings",
	"captions", // words that begin one, with a number behind them
	"abstention",
	"mark_words",  // before the number or name of a source
	"prose_words", // the same, in running text
	"mark_verbs",  // behind a mark that is the subject of its sentence
	"link_words",  // labels of links that say nothing
	"name_particles", "not_authors", "file_endings",
	"title_words",  // before the title of a work
	"plain_labels", // heads of columns and names of members that add nothing to a sentence
}

// listText is the text of a list.
func listText(name string) string {
	text, err := phraseFiles.ReadFile("phrases/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Phrases are whole lists: an empty one holds no phrase.
type Phrases struct {
	// NoClaim are the phrases with which a sentence begins that claims nothing:
	// narrated work, offers, greetings, acknowledgements, general advice. One that
	// ends with a full stop is such a sentence only if it is all of it.
	NoClaim []string

	// Abstention are patterns (RE2) of sentences that abstain: the answerer cannot, does
	// not know or did not find, or the given material does not say. See [CheckPatterns].
	Abstention []string
}

// None as the first phrase of a setting leaves out the built-in phrases.
const None = "none"

// NewPhrases returns the built-in lists, each with the phrases of own behind it, or
// with those alone if the first of them is [None].
func NewPhrases(own Phrases) Phrases {
	return Phrases{
		NoClaim: phrases(listText("claim_nothing"), own.NoClaim), Abstention: phrases(listText("abstention"), own.Abstention),
	}
}

func phrases(builtIn string, own []string) []string {
	if len(own) > 0 && own[0] == None {
		return own[1:]
	}
	return slices.Concat(lines(builtIn), own)
}

// PhrasesDigest is the SHA-256 of all built-in lists, in hexadecimal.
func PhrasesDigest() string {
	h := sha256.New()
	for _, name := range phraseLists {
		list := listText(name)
		fmt.Fprintf(h, "%d\n%s", len(list), list)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func lines(list string) []string { return strings.Split(strings.TrimSpace(list), "\n") }

// AttributionPhrases returns the phrases that say where something is from. What stands
// behind the last cited segment of a sentence and begins with one belongs to the claim
// before.
func AttributionPhrases() []string { return lines(listText("attribution")) }

// ReferenceHeadings returns the words that head an answer's own list of
// references.
func ReferenceHeadings() []string { return lines(listText("reference_headings")) }

var (
	markWords      = wordSet(listText("mark_words"))
	linkWords      = wordSet(listText("link_words"))
	referenceWords = wordSet(listText("reference_headings"))
)

// A phraseList finds phrases at the beginning of sentences.
type phraseList struct {
	begin []string
	whole map[string]bool
}

// newPhraseList returns the list of phrases.
func newPhraseList(phrases []string) *phraseList {
	l := &phraseList{whole: map[string]bool{}}
	for _, p := range phrases {
		p = folded(p)
		if whole := strings.TrimRightFunc(p, isPunctuation); whole != p {
			l.whole[whole] = true
		} else if p != "" {
			l.begin = append(l.begin, p)
		}
	}
	return l
}

// begins reports whether a sentence begins with one of the phrases, or is one.
func (l *phraseList) begins(sentence string) bool {
	sentence = strings.TrimLeftFunc(sentence, func(r rune) bool { return !isWordRune(r) })
	head := folded(sentence[:runeCut(sentence, 200)])
	if len(sentence) < 200 && l.whole[strings.TrimRightFunc(head, isPunctuation)] {
		return true
	}
	for _, p := range l.begin {
		rest, ok := strings.CutPrefix(head, p)
		if !ok {
			continue
		}
		next, _ := utf8.DecodeRuneInString(rest)
		last, _ := utf8.DecodeLastRuneInString(p)
		if rest == "" || !isWordRune(next) || token.Unspaced(last) {
			return true
		}
	}
	return false
}

// wordSet is the folded words of a list.
func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range lines(list) {
		set[folded(w)] = true
	}
	return set
}

// folded is s in small letters, with straight apostrophes and single spaces.
func folded(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "’", "'")
	return strings.Join(strings.Fields(s), " ")
}

// runeCut is the length of s, or of as much of it as n bytes hold.
func runeCut(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func isPunctuation(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
}
