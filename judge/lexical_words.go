package judge

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

// A lexicalWord is what the lexical judge compares: a word, a number, or two
// neighbouring letters of a script without spaces.
type lexicalWord struct {
	wordEntry
	begins     bool  // a sentence
	start, end int32 // bytes
	cp, cpEnd  int32 // code points
}

// A wordEntry is what the lexicon says of a word.
type wordEntry struct {
	key     uint64 // equal for words that count as the same
	number  bool
	stop    bool // carries no content
	negates bool
	abbr    bool // a point after it ends no sentence
}

//go:embed lexicon.txt
var lexiconText string

// loadLexicon reads the embedded lexicon: entries by the key of the whole word.
var loadLexicon = sync.OnceValue(func() *wordMap[wordEntry] {
	lexicon := new(wordMap[wordEntry])
	for line := range strings.Lines(lexiconText) {
		class, list, _ := strings.Cut(line, ":")
		words := strings.Fields(list)
		for _, word := range words {
			whole, key := wordKeys(word)
			entry, known := lexicon.get(whole)
			if !known {
				entry.key = key
			}
			switch class {
			case "stop":
				entry.stop = true
			case "not":
				entry.negates = true
			case "abbr":
				entry.abbr = true
			case "same":
				_, entry.key = wordKeys(words[0])
				entry.number = isDigit(words[0][0])
			}
			lexicon.put(whole, entry)
		}
	}
	return lexicon
})

// A wordMap finds values by the key of a word. Most words of a text are in none,
// which the bits say without a look at the map: with a plain map the judge takes half
// as long again.
type wordMap[V any] struct {
	values map[uint64]V
	bits   [1 << 10]uint64
}

func (m *wordMap[V]) get(key uint64) (v V, ok bool) {
	if m.bits[key>>6%1024]>>(key%64)&1 != 0 {
		v, ok = m.values[key]
	}
	return v, ok
}

func (m *wordMap[V]) put(key uint64, v V) {
	if m.values == nil {
		m.values = make(map[uint64]V)
	}
	m.bits[key>>6%1024] |= 1 << (key % 64)
	m.values[key] = v
}

func (m *wordMap[V]) clear() {
	clear(m.values)
	clear(m.bits[:])
}

// stemLength is how many letters of a word are compared, so that its endings do
// not matter.
const stemLength = 6

// wordKeys returns the key of a whole word in lower case (FNV-1a over code
// points), and of what is compared of it: the digits of a number without leading
// zeros, the first letters of any other word without a plural s. Of two parts that
// an apostrophe divides the longer one counts: homme of l'homme, Hervey of Hervey's.
func wordKeys(word string) (whole, key uint64) {
	const seed, prime = 0xcbf29ce484222325, 0x100000001b3
	number := isDigit(word[0])
	whole, key = seed, seed
	n := 0
	for i, r := range word {
		switch {
		case number && (r < '0' || r > '9' || r == '0' && whole == seed):
			continue
		case r == '\'' || r == '’':
			if len(word)-i-utf8.RuneLen(r) <= i {
				return whole, key
			}
			whole, key, n = seed, seed, 0
			continue
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r >= utf8.RuneSelf:
			r = unicode.ToLower(r)
		}
		if n >= 3 && n < stemLength && r == 's' && i == len(word)-1 && word[i-1]|0x20 != 's' {
			return (whole ^ 's') * prime, key
		}
		whole = (whole ^ uint64(r)) * prime
		if n++; number || n <= stemLength {
			key = whole
		}
	}
	return whole, key
}

// A wordReader cuts texts into words and keeps its memory from one to the next.
type wordReader struct {
	index token.Index
	words []lexicalWord
}

// read returns the words of text, valid until the next call. Citation markers
// such as [3] are left out.
func (w *wordReader) read(text string) []lexicalWord {
	w.words = w.words[:0]
	w.index.SetWords(text)
	at, cp, gap := 0, int32(0), 0 // gap is where what stands before the next word begins
	forward := func(to int32) {
		for ; cp < to; cp++ {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
	}
	for i, start := range w.index.Starts {
		forward(start)
		from, n := at, len(w.words)
		forward(w.index.Ends[i])
		first, _ := utf8.DecodeRuneInString(text[from:])
		switch {
		case isDigit(text[from]) && (from > 0 && text[from-1] == '[' || at < len(text) && text[at] == ']'):
			continue
		case spaceless(first):
			w.addPairs(text, from, at, start)
		default:
			w.add(text, from, at, start, cp)
		}
		if n < len(w.words) {
			w.words[n].begins = n == 0 || sentenceBetween(text[gap:from], &w.words[n-1], &w.words[n], first)
			gap = at
		}
	}
	return w.words
}

// add adds the word text[from:to].
func (w *wordReader) add(text string, from, to int, cp, cpEnd int32) {
	word := text[from:to]
	whole, key := wordKeys(word)
	entry, known := loadLexicon().get(whole)
	if !known {
		entry = wordEntry{key: key, number: isDigit(word[0])}
	}
	entry.abbr = entry.abbr || cpEnd-cp == 1 && !entry.number // an initial
	entry.negates = entry.negates || strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t")
	w.words = append(w.words, lexicalWord{entry, false, int32(from), int32(to), cp, cpEnd})
}

// addPairs adds every two letters that touch of text[from:to] and the letter
// after it, and a letter that touches none.
func (w *wordReader) addPairs(text string, from, to int, cp int32) {
	for ; from < to; cp++ {
		_, size := utf8.DecodeRuneInString(text[from:])
		end := from + size
		if next, size := utf8.DecodeRuneInString(text[end:]); spaceless(next) {
			w.add(text, from, end+size, cp, cp+2)
		} else if n := len(w.words); n == 0 || int(w.words[n-1].end) < end {
			w.add(text, from, end, cp, cp+1)
		}
		from = end
	}
}

// sentenceBetween reports whether a sentence ends in the gap between two words, of
// which the second begins with next.
func sentenceBetween(gap string, before, after *lexicalWord, next rune) bool {
	switch {
	case gap == " ":
		return false
	case strings.ContainsAny(gap, "\n!?。！？؟۔।"):
		return true
	case !strings.Contains(gap, ".") || !strings.Contains(gap, " "), before.abbr, unicode.IsLower(next):
		return false
	}
	return !before.number || !before.begins && !after.number // neither "1. First" nor "11. Juli"
}

// spaceless reports whether r belongs to a script whose words are not divided
// by white space, or whose words take endings no letter count can cut off: Han,
// kana, Hangul, Thai, Lao, Myanmar and Khmer. They are compared by pairs of
// letters.
func spaceless(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, 0x1000 <= r && r <= 0x109F, 0x1780 <= r && r <= 0x17FF:
		return true
	case r < 0x3005:
		return false
	}
	return r <= 0x3007 || 0x3041 <= r && r <= 0x30FF && r != 0x30FB || 0x31F0 <= r && r <= 0x31FF ||
		0x3400 <= r && r <= 0x4DBF || 0x4E00 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7A3 ||
		0xF900 <= r && r <= 0xFAFF || 0xFF66 <= r && r <= 0xFF9F || 0x20000 <= r && r <= 0x3FFFF
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
