package token

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed languages.txt
var languagesText string

// languages are the commonest words of seven languages, each with the languages as bits.
var languages = sync.OnceValue(func() map[string]uint8 {
	words, last, bit := make(map[string]uint8), "", uint8(0)
	for line := range strings.Lines(languagesText) {
		name, of, _ := strings.Cut(line, ":")
		if name != last {
			last, bit = name, max(1, bit<<1)
		}
		for w := range strings.FieldsSeq(of) {
			words[w] |= bit
		}
	}
	return words
})

// CommonIn returns the languages, as bits, whose commonest words have word, which is in small
// letters. Bit 0 is English; the others follow languages.txt.
func CommonIn(word string) uint8 { return languages()[word] }

// Unspaced reports the scripts that write no spaces between words.
func Unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
