package claims

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The lists, a phrase or a word on each line.
var (
	//go:embed phrases/no_claim.txt
	noClaimPhrases string
	//go:embed phrases/attribution.txt
	attributionPhrases string
	//go:embed phrases/reference_headings.txt
	referenceHeadings string
	//go:embed phrases/captions.txt
	captionWords string // begin a caption, with a number behind them
)

// NoClaimPhrases returns the phrases with which a sentence begins that claims
// nothing: narrated work, offers, greetings, acknowledgements, general advice. One
// that ends with a full stop is such a sentence only if it is all of it.
func NoClaimPhrases() []string { return strings.Split(strings.TrimSpace(noClaimPhrases), "\n") }

// AttributionPhrases returns the phrases that say where something is from. What
// stands behind the last cited segment of a sentence and begins with one belongs
// to the claim before.
func AttributionPhrases() []string { return strings.Split(strings.TrimSpace(attributionPhrases), "\n") }

// ReferenceHeadings returns the words that head an answer's own list of
// references.
func ReferenceHeadings() []string { return strings.Split(strings.TrimSpace(referenceHeadings), "\n") }

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
		if rest == "" || !isWordRune(next) || isUnspaced(last) {
			return true
		}
	}
	return false
}

// wordSet is the folded words of a list.
func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
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

// isUnspaced reports the scripts that write no spaces between words.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
