package token

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The rules look at most so many bytes to either side of a boundary for a word.
const maxRuleWord = 32

// wrapWidth is the length in bytes from which a line that ends without
// punctuation may have been wrapped.
const wrapWidth = 40

// sentenceEnd returns where the sentence from start on ends if it ends at the
// boundary b of the annex, which is no line end: b, or the label of an item
// before it; -1 if it goes on.
func (s *Splitter) sentenceEnd(start, b int) int {
	buf := s.buf
	t, closed, gap := findStop(buf[start:b])
	if t < 0 {
		return b
	}
	t += start
	if !gap {
		// The annex takes the opening brackets of the next sentence for closing ones.
		b = trimOpening(buf, t+1, b)
	}
	stop, size := utf8.DecodeRune(buf[t:])
	next := nextWord(buf[b:])
	switch {
	case !gap && stop < utf8.RuneSelf && !endsUnspaced(buf, t, next):
		return -1
	case closed && stop != '.' && next.lower, stop == '!' && behindName[string(next.word)]:
		return -1
	case closed && isHiragana(next.first) && isCornerBracket(buf[t+size:b]):
		return -1
	case stop != '.' || t > start && buf[t-1] == '.':
		return b
	}
	word := lastWord(buf[start:t])
	if at := inlineLabel(buf[start:t], word); at > 0 {
		return start + at
	}
	before, dot := wordBefore(buf[start : t-len(word)])
	if abbreviates(string(word), string(before), dot, next) {
		return -1
	}
	return b
}

// behindName are words that continue a sentence behind a name such as Yahoo!.
var behindName = map[string]bool{"is": true, "was": true, "are": true, "were": true, "has": true, "had": true, "will": true, "would": true, "and": true, "or": true, "of": true, "by": true, "for": true}

// findStop returns where in s, which ends at a boundary, the character is that
// ends the sentence; -1 if there is none. closed says that a quotation mark or
// bracket follows it, gap that white space does.
func findStop(s []byte) (at int, closed, gap bool) {
	for len(s) > 0 {
		r, size := utf8.DecodeLastRune(s)
		s = s[:len(s)-size]
		switch {
		case isStop(r):
			return len(s), closed, gap
		case isWordRune(r):
			return -1, false, false
		case unicode.IsSpace(r):
			gap = true
		default:
			closed = true
		}
	}
	return -1, false, false
}

// trimOpening returns the end of buf[:b] without the opening brackets and
// quotation marks at its end, of which none is before from.
func trimOpening(buf []byte, from, b int) int {
	for b > from {
		r, size := utf8.DecodeLastRune(buf[:b])
		if !unicode.In(r, unicode.Ps, unicode.Pi) {
			break
		}
		b -= size
	}
	return b
}

// endsUnspaced says whether a sentence ends at the ASCII stop buf[t] although no
// white space follows: before a script without capital letters, and where a
// small letter stands before ! or ? and a capital one behind, as in
// "Really?Yes", unless that is part of a path. An ellipsis needs the space.
func endsUnspaced(buf []byte, t int, next followingWord) bool {
	if next.caseless {
		return buf[t] != '.' || buf[max(0, t-1)] != '.'
	}
	if buf[t] == '.' || !next.upper {
		return false
	}
	before := buf[max(0, t-2*maxRuleWord):t]
	before = before[bytes.LastIndexByte(before, ' ')+1:]
	r, _ := utf8.DecodeLastRune(before)
	return unicode.IsLower(r) && !bytes.ContainsAny(before, "/=@&")
}

// wraps reports whether the line of buf that starts at line and ends before b,
// line break included, goes on in the next one.
func (s *Splitter) wraps(line, b int) bool {
	before := bytes.TrimRight(s.buf[line:b], " \t\r\n")
	if len(before) == 0 || bytes.Count(s.buf[line+len(before):b], []byte{'\n'}) > 1 {
		return false
	}
	rest := bytes.TrimLeft(s.buf[b:min(b+maxRuleWord, len(s.buf))], " \t")
	first, size := utf8.DecodeRune(rest)
	if !unicode.IsLower(first) || len(rest) > size && (rest[size] == '.' || rest[size] == ')') {
		return false
	}
	last, _ := utf8.DecodeLastRune(before)
	return last == ',' || b-line >= wrapWidth && (isWordRune(last) || last == '-' || last == ')')
}

// A followingWord is what a boundary is followed by.
type followingWord struct {
	word                   []byte // its letters and digits, as far as they were read
	first                  rune   // of the word
	upper, lower, caseless bool   // first is such a letter
	digit                  bool   // first is a number
	dot                    bool   // a full stop follows the word
}

// nextWord reads the word at the start of s, past quotation marks and brackets.
func nextWord(s []byte) (w followingWord) {
	s = s[:min(len(s), 2*maxRuleWord)]
	start := 0
	for start < len(s) {
		r, size := utf8.DecodeRune(s[start:])
		if isWordRune(r) {
			w.first = r
			break
		}
		if isStop(r) || isLineBreak(r) {
			return w
		}
		start += size
	}
	end := start
	for end < len(s) {
		r, size := utf8.DecodeRune(s[end:])
		if !isWordRune(r) && !unicode.IsMark(r) {
			w.dot = r == '.'
			break
		}
		end += size
	}
	w.upper, w.lower, w.digit = unicode.IsUpper(w.first), unicode.IsLower(w.first), unicode.IsNumber(w.first)
	w.caseless = unicode.IsLetter(w.first) && !w.upper && !w.lower
	w.word = s[start:end]
	return w
}

// lastWord returns the end of s that could be an abbreviation: letters, digits
// and marks with points and hyphens among them, but none of a script that
// writes no spaces. It is empty if it is too long to be one.
func lastWord(s []byte) []byte {
	at := len(s)
	for at > 0 {
		r, size := utf8.DecodeLastRune(s[:at])
		if !isWordRune(r) && !unicode.IsMark(r) && r != '.' && r != '-' && r != '°' || isUnspaced(r) {
			break
		}
		if at -= size; len(s)-at > maxRuleWord {
			return nil
		}
	}
	return s[at:]
}

// wordBefore returns the last word of s, past white space and without its full
// stop, and whether it has one.
func wordBefore(s []byte) (word []byte, dot bool) {
	s = bytes.TrimRight(s[max(0, len(s)-2*maxRuleWord):], " \t\u00a0")
	if dot = len(s) > 0 && s[len(s)-1] == '.'; dot {
		s = s[:len(s)-1]
	}
	return lastWord(s), dot
}

// isUnspaced reports whether r is of a script that writes no spaces between
// words, in which a letter before a full stop is no initial; Korean is one of
// them here.
func isUnspaced(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isHiragana(r rune) bool { return unicode.Is(unicode.Hiragana, r) }

func isCornerBracket(s []byte) bool {
	return bytes.HasPrefix(s, []byte("」")) || bytes.HasPrefix(s, []byte("』"))
}

// abbreviates reports whether the full stop behind word is that of an
// abbreviation, an initial or an ordinal, so that the sentence goes on with
// next. before is the word before, dot whether that ends with a full stop.
func abbreviates(word, before string, dot bool, next followingWord) bool {
	if word == "" {
		return false
	}
	class := classify(word)
	switch class {
	case neverEnds:
		return true
	case endsSometimes:
		return !next.startsSentence()
	case beforeNumber:
		if next.digit || isRoman(string(next.word)) {
			return true
		}
	case beforeSmall:
		return false
	}
	first, size := utf8.DecodeRuneInString(word)
	switch {
	case '0' <= first && first <= '9':
		return isOrdinal(word, before, dot, next)
	case size == len(word):
		return isInitial(first, before, dot, next)
	case dot && len(word) <= 3 && isSmallLetter(before):
		return true // "p. ex."
	case isDotted(word):
		return strings.IndexFunc(word, unicode.IsUpper) < 0 || !next.startsSentence()
	}
	return false
}

// startsSentence reports whether w is a word that more often begins a sentence
// than it follows an abbreviation.
func (w *followingWord) startsSentence() bool {
	return starters[string(w.word)] && !(w.dot && len(w.word) == 1)
}

// isInitial reports whether a single letter with a full stop is an initial or
// an abbreviation ("z. B.", "p. 5"), and not the end of a sentence ("Plan B.").
func isInitial(r rune, before string, dot bool, next followingWord) bool {
	switch {
	case unicode.IsLower(r):
		return true
	case dot && isSmallLetter(before): // "z. B."
		return true
	case unicode.IsUpper(r) && next.digit:
		return r == 'S' // German for page
	case isLettered(before):
		return false
	case r == 'I' && !(next.dot && len(next.word) == 1):
		return dot || isName(before)
	}
	return !next.startsSentence()
}

// isSmallLetter reports whether s is one small letter of the ASCII.
func isSmallLetter(s string) bool { return len(s) == 1 && 'a' <= s[0] && s[0] <= 'z' }

// isName reports whether s looks like a name: a capital letter and small ones.
func isName(s string) bool {
	first, size := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first) && len(s) > size && strings.IndexFunc(s[size:], unicode.IsUpper) < 0
}

// isOrdinal reports whether a number with a full stop is an ordinal, as German
// and its neighbours write it: "3. Oktober", "der 2. Weltkrieg", "3. 10. 1990".
func isOrdinal(word, before string, dot bool, next followingWord) bool {
	if len(word) > 2 || strings.Trim(word, "0123456789") != "" {
		return false
	}
	if next.digit {
		return next.dot && len(next.word) <= 2 || len(next.word) == 4 && dot && strings.Trim(before, "0123456789") == "" && before != ""
	}
	return ordinalBefore[string(next.word)] || ordinalAfter[before] && next.upper
}

// isDotted reports whether word, which is no single letter, is letters with
// points between them: "U.S", "z.B".
func isDotted(word string) bool {
	letter := true // the next one must be a letter
	for _, r := range word {
		if letter && !unicode.IsLetter(r) || !letter && r != '.' {
			return false
		}
		letter = !letter
	}
	return !letter
}

// isRoman reports whether s is a Roman number that is no English word.
func isRoman(s string) bool {
	return s != "" && s != "I" && strings.Trim(s, "IVXLC") == ""
}

// An abbreviation says when the full stop of a known abbreviation ends no
// sentence.
type abbreviation uint8

const (
	unknown       abbreviation = iota
	neverEnds                  // "Dr.": in no case
	endsSometimes              // "Inc.": unless a word follows that begins sentences
	beforeNumber               // "No.": before a number
	beforeSmall                // "etc.": before small letters, as the annex has it
)

func classify(word string) abbreviation {
	if c, ok := abbreviations[word]; ok {
		return c
	}
	if r, _ := utf8.DecodeRuneInString(word); unicode.IsUpper(r) {
		var buf [2 * maxRuleWord]byte
		return abbreviations[string(appendLower(buf[:0], word))]
	}
	return unknown
}

func isLettered(word string) bool {
	var buf [2 * maxRuleWord]byte
	return lettered[string(appendLower(buf[:0], word))]
}

// appendLower appends word in small letters to dst.
func appendLower(dst []byte, word string) []byte {
	for _, r := range word {
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}

// The words in small letters are found with a capital letter as well.
var abbreviations = func() map[string]abbreviation {
	m := map[string]abbreviation{}
	for class, lists := range map[abbreviation][]string{
		neverEnds: {
			"mr mrs ms messrs dr prof Rev Hon Gen Sen Rep Gov Col Capt Sgt Lt Cmdr Maj Pres Supt Fr Br Mt Ft vs viz cf ca approx e.g i.e eg ie resp ph.d.s",
			"z.b d.h u.a s.o s.u o.ä u.ä i.d.r z.t u.u m.e d.i bzw vgl ggf inkl exkl zzgl evtl sog insb bspw hrsg hr hrn frl dipl ing geb gest lt mind",
			"m mm mme mlle mgr me p.ex c.-à-d c-à-d av env p.ej sra srta dra ud uds sig dott avv dhr mevr mw bijv d.w.z np tzn EE EE.UU т.е т.к им см ул д-р डॉ श्री",
		},
		endsSometimes: {
			"inc ltd co corp bros jr sr esq st ave blvd rd dept univ assn intl al a.m p.m ph.d m.d b.a m.a b.sc m.sc u.s.a",
			"mio mrd tsd chr str jh jhs std gmbh ag sp c.v s.a n.chr v.chr j.-c r.u др г гг",
		},
		beforeNumber: {
			"no nr nos nrn fig figs eq eqs sec ch chap vol vols pp pg par art arts ex op col ed eds abb abs tab kap ziff bd aufl lit rn §§ pág pag рис стр гл табл ст",
			"jan feb mar apr jun jul aug sep sept oct nov dec okt dez janv févr avr juil déc min max",
		},
		beforeSmall: {"etc usw ecc enz i.e.s"},
	} {
		for _, list := range lists {
			for word := range strings.FieldsSeq(list) {
				m[word] = class
			}
		}
	}
	return m
}()

func wordSet(lists ...string) map[string]bool {
	m := map[string]bool{}
	for _, list := range lists {
		for word := range strings.FieldsSeq(list) {
			m[word] = true
		}
	}
	return m
}

var (
	// starters often begin a sentence and seldom follow a name.
	starters = wordSet(
		"The This That These Those It Its He She They We You I A An In On At By For From With Without When While Where Why How What Who Which",
		"However Moreover Furthermore Additionally Also But And So If As There Their Here After Before Since Although Though Because Despite Therefore",
		"Thus Hence Then Other Others Another Some Many Most Several All Both Each Such One Two Our His Her My Your Not Nor Yes Once Under During Until",
		"Der Die Das Dem Den Des Es Er Sie Wir Ich Ihr Ein Eine Einen Einem Einer Im Am Auf Auch Aber Und Oder Wenn Bei Mit Nach Seit Zu Zum Zur Dies Diese Dieser Dieses Dort Damit Dabei Daher Dann Doch Nur Als Wie Was Wer Für",
		"Le La Les Il Elle Ils Elles On Ce Cette Ces Cet Un Une Des Du Dans Mais Et Pour Par Selon Nous Vous Je En Au Aux Ainsi Avec Sans",
		"Он Она Они Оно Это Этот Эта В Во На Но И А По Мы Я Вы С Из Для При После",
		"El Los Las Lo Este Esta Estos Estas Se Es Un Una Por Para Pero Y Con Su Sus No Si Cuando Il Gli Lo Una Questo Questa Het De Een Dit Deze O Os As Um Uma",
	)
	// lettered things have a letter for a name: "Plan B."
	lettered = wordSet("plan type class group grade section appendix option part phase hepatitis vitamin model war figure table schedule exhibit category step team level case vitamine typ gruppe klasse anhang teil")

	// ordinalBefore and ordinalAfter stand behind and before German ordinals.
	ordinalBefore = wordSet(
		"Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember",
		"januar februar marts april maj juni juli august september oktober november december",
		"Jahrhundert Jahrhunderts Jh Weltkrieg Weltkriegs Weltkrieges Auflage Kapitel Platz Klasse Bundesliga Stock Etage Lebensjahr Geburtstag Semester Quartal Woche Tag",
	)
	ordinalAfter = wordSet("der die das den dem des am im vom zum zur beim ins bis ab seit Der Die Das Den Dem Des Am Im Vom Zum Zur Beim Bis Ab Seit ersten")
)
