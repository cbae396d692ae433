package judge

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// What the lexical judge knows of words, by language where it matters.
//
//go:embed lexicon.txt
var lexiconText string

// A word is what the lexicon says of one word. The zero word is unknown.
type word struct {
	stop    uint16 // bit per language in which it carries no content
	negates bool
	abbr    bool  // a full stop after it ends no sentence
	ordinal bool  // a suffix of ordinal numbers
	joint   bool  // may stand between the parts of a date
	month   uint8 // 1 to 12
	times   uint8 // power of ten that it multiplies a number by
	number  uint8 // value of a numeral, 0 if it is none
	unit    unit
}

// A unit of measurement; the zero unit is none. Units are compared and not
// converted.
type unit uint8

// maxLanguages is the number of bits of word.stop.
const maxLanguages = 16

type lexicon struct {
	table table // hash of the folded word -> index of words
	words []word

	languages int
	units     map[string]unit
}

// loadLexicon reads the embedded file once.
var loadLexicon = sync.OnceValue(func() *lexicon { return parseLexicon(lexiconText) })

// parseLexicon reads the text of lexicon.txt. The text is part of the program;
// what is wrong in it panics.
func parseLexicon(text string) *lexicon {
	x := &lexicon{units: make(map[string]unit)}
	languages := make(map[string]int)
	x.table.reset(4096)
	for line := range strings.Lines(text) {
		head, list, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		class, value, _ := strings.Cut(head, " ")
		for _, w := range strings.Fields(list) {
			x.set(w, class, value, languages)
		}
	}
	x.languages = len(languages)
	return x
}

func (x *lexicon) set(text, class, value string, languages map[string]int) {
	h := foldHash(text)
	i := x.table.get(h)
	if i < 0 {
		i = int32(len(x.words))
		x.words = append(x.words, word{})
		x.table.put(h, i)
	}
	w := &x.words[i]
	switch class {
	case "stop":
		if _, ok := languages[value]; !ok {
			languages[value] = len(languages)
		}
		w.stop |= 1 << languages[value]
	case "not":
		w.negates = true
	case "abbr":
		w.abbr = true
	case "ordinal":
		w.ordinal = true
	case "joint":
		w.joint = true
	case "unit":
		if _, ok := x.units[value]; !ok {
			x.units[value] = unit(len(x.units) + 1)
		}
		w.unit = x.units[value]
	default:
		n, err := strconv.ParseUint(value, 10, 8)
		if err != nil {
			panic("lexicon: " + err.Error())
		}
		switch class {
		case "month":
			w.month = uint8(n)
		case "times":
			w.times = uint8(n)
		case "number":
			w.number = uint8(n)
		default:
			panic("lexicon: unknown class " + class)
		}
	}
}

// look returns what is known of the word with that hash.
func (x *lexicon) look(h uint64) word {
	if i := x.table.get(h); i >= 0 {
		return x.words[i]
	}
	return word{}
}

// A table maps hashes to small numbers, by open addressing. A stored hash is
// never 0 (see mix).
type table struct {
	hashes []uint64
	values []int32
	n      int
}

// reset empties the table and makes room for n entries.
func (t *table) reset(n int) {
	size := 64
	for size < 4*n {
		size *= 2
	}
	t.n = 0
	if len(t.hashes) >= size {
		clear(t.hashes)
		return
	}
	t.hashes, t.values = make([]uint64, size), make([]int32, size)
}

// get returns the number of hash h, -1 if there is none.
func (t *table) get(h uint64) int32 {
	mask := uint64(len(t.hashes) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch t.hashes[i] {
		case h:
			return t.values[i]
		case 0:
			return -1
		}
	}
}

// put stores a hash that is not there yet.
func (t *table) put(h uint64, v int32) {
	if 2*t.n >= len(t.hashes) {
		old := *t
		t.hashes, t.values, t.n = make([]uint64, 2*len(old.hashes)), make([]int32, 2*len(old.hashes)), 0
		for i, h := range old.hashes {
			if h != 0 {
				t.put(h, old.values[i])
			}
		}
	}
	mask := uint64(len(t.hashes) - 1)
	i := h & mask
	for t.hashes[i] != 0 {
		i = (i + 1) & mask
	}
	t.hashes[i], t.values[i] = h, v
	t.n++
}
