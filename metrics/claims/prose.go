package claims

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// proseWords stand before the number of a source in running text: document 1.
var proseWords = wordSet(listText("prose_words"))

// readProse reads an answer without any mark. Its sources may be named in its sentences
// instead: "According to Document 1, …", "Sources 1 and 2 say …", "as tower.txt says". These
// words stay in the text. A number that no source has is none, and a sentence that abstains
// cites nothing. Numbers as (1), {1} and [S1] that could be those of sources are unread. In an
// answer with marks only what points to a source and says nothing else is read.
func (b *binder) readProse(from, to int) {
	if len(b.names.sources) == 0 && b.first != unnumbered {
		return
	}
	marked := slices.Clone(b.marks)
	defer func() {
		slices.SortStableFunc(b.marks, func(x, y written) int { return x.at.start - y.at.start })
	}()
	next := 0
	add := func(w written) {
		for ; next < len(marked) && marked[next].at.end <= w.at.start; next++ {
		}
		if b.abstainsAt(extent{from, to}, w.at) || next < len(marked) && marked[next].at.start < w.at.end {
			return
		}
		if _, ok := b.pointer(w.at); len(marked) > 0 && !ok {
			return
		}
		w.worded, w.keep = true, w.at
		for k := range w.refs {
			b.ref(&w, &w.refs[k])
		}
		b.marks = append(b.marks, w)
	}
	for i := from; i < to; i++ {
		if at, source := b.fileName(extent{from, to}, i); source >= 0 {
			add(written{form: Named, at: at, refs: []Mark{{Source: source, Number: -1}}})
			i = at.end - 1
			continue
		}
		number, n := 0, 0
		if isDigitByte(b.text[i]) {
			number, n = leadingNumber(b.text[i:to])
		}
		if n == 0 {
			continue
		}
		end := i + n
		if !b.has(number) || endsInWord(b.text[end:to]) {
			i = end - 1
			continue
		}
		switch word := proseWord(b.text[from:i]); {
		case word > 0:
			w := written{form: Numbered, refs: byNumber([]int{number})}
			for next, size := b.another(b.text[end:to]); size > 0; next, size = b.another(b.text[end:to]) {
				w.refs = append(w.refs, byNumber([]int{next})...)
				end += size
			}
			w.at = extent{i - word, end}
			add(w)
		default:
			if mark := bracketed(b.text[from:i], b.text[end:to]); mark != "" && len(marked) == 0 {
				b.miss("bracket", mark[:len(mark)-1]+b.text[i:end]+mark[len(mark)-1:])
			}
		}
		i = end - 1
	}
}

// abstainsAt reports whether the sentence around at abstains, by the built-in lists: it names
// sources in which it found nothing.
func (b *binder) abstainsAt(in, at extent) bool {
	sentence := extent{max(in.start, at.start-maxAbstain), min(in.end, at.end+maxAbstain)}
	for i := at.start; i > sentence.start; i-- {
		if c := b.text[i-1]; c == '\n' || isSpaceByte(c) && i > 1 && strings.IndexByte(".!?", b.text[i-2]) >= 0 {
			sentence.start = i
		}
	}
	for i := at.end; i < sentence.end; i++ {
		if c := b.text[i]; c == '\n' || strings.IndexByte(".!?", c) >= 0 && (i+1 == in.end || isSpaceByte(b.text[i+1])) {
			sentence.end = i
		}
	}
	return builtInAbstention().abstains(b.text[sentence.start:sentence.end], builtInOffers())
}

var (
	builtInAbstention = abstentionOf(lines(listText("abstention")))
	builtInOffers     = sync.OnceValue(func() *phraseList { return newPhraseList(lines(listText("claim_nothing"))) })
)

// fileName returns the file name around the full stop at i, and the source that is called so,
// -1 if there is none.
func (b *binder) fileName(in extent, i int) (at extent, source int) {
	if b.text[i] != '.' {
		return at, -1
	}
	isName := func(r rune) bool { return isWordRune(r) || strings.ContainsRune("-_/", r) }
	at.start = in.start + strings.LastIndexFunc(b.text[in.start:i], func(r rune) bool { return !isName(r) }) + 1
	at.end = in.end
	if n := strings.IndexFunc(b.text[i+1:in.end], func(r rune) bool { return !isName(r) }); n >= 0 {
		at.end = i + 1 + n
	}
	if !IsFileName(b.text[at.start:at.end]) {
		return at, -1
	}
	source = b.names.find(b.text[at.start:at.end])
	if _, listed := referenceWord(b.text[lineStart(b.text, i):i]); listed {
		return at, -1
	}
	return at, source
}

// another reads one more number of a source behind the last: ", 2" or " and 2".
func (b *binder) another(s string) (number, size int) {
	rest := strings.TrimLeft(s, ",、 ")
	if word, after, _ := strings.Cut(rest, " "); joints[folded(word)] {
		rest = after
	}
	number, n := leadingNumber(rest)
	if n == 0 || len(rest) == len(s) || !b.has(number) || endsInWord(rest[n:]) {
		return 0, 0
	}
	return number, len(s) - len(rest) + n
}

// proseWord is the length of a word before a number with the blank between them, 0 if it
// is none that names sources. Words of scripts without blanks may end a longer run.
func proseWord(before string) int {
	text := strings.TrimSuffix(before, " ")
	start := len(text)
	for k := 0; k < 16 && start > 0; k++ {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !unicode.IsLetter(r) {
			break
		}
		start -= size
		if r >= 0x2E80 && proseWords[folded(text[start:])] {
			return len(before) - start
		}
	}
	if len(text) == len(before) || !proseWords[folded(text[start:])] {
		return 0
	}
	return len(before) - start
}

// endsInWord reports whether what follows a number belongs to it: 1st, 1.5, 1 %, 1/2.
func endsInWord(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	if size == 0 {
		return false
	}
	next, _ := utf8.DecodeRuneInString(after[size:])
	return r < 0x2E80 && unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("%/°-–", r) ||
		strings.ContainsRune(".,:", r) && unicode.IsDigit(next)
}

// bracketed returns the brackets around a number that could be a mark, with a letter before
// the number if there is one: "()", "{}" or "[S]"; "" if they are none. A number in
// parentheses must end a part of a sentence, or it counts what follows.
func bracketed(before, after string) string {
	letter := ""
	if k := len(before) - 1; k > 0 && before[k-1] == '[' && 'A' <= before[k] && before[k] <= 'Z' {
		before, letter = before[:k], before[k:]
	}
	if before == "" || after == "" {
		return ""
	}
	open, closing := before[len(before)-1], after[0]
	pair := string(open) + letter + string(closing)
	words := strings.TrimRight(before[:len(before)-1], " ")
	last, _ := utf8.DecodeLastRuneInString(words)
	next, _ := utf8.DecodeRuneInString(after[1:])
	ends := next == utf8.RuneError || strings.ContainsRune(".,;:!?\n", next)
	switch {
	case !isWordRune(last) && !isStop(last):
		return ""
	case letter != "" && open == '[' && closing == ']', letter == "" && open == '{' && closing == '}':
		return pair
	case letter == "" && open == '(' && closing == ')' && ends && slices.Index(countedWords, lastWord(words)) < 0:
		return pair
	}
	return ""
}

// countedWords stand before numbers in parentheses that are no sources.
var countedWords = []string{"equation", "eq", "section", "step", "item", "figure", "fig", "table", "option", "clause", "article", "part", "one", "two", "three", "four", "five"}

func lastWord(s string) string {
	return strings.ToLower(s[strings.LastIndexFunc(s, func(r rune) bool { return !isWordRune(r) })+1:])
}
