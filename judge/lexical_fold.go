package judge

import (
	"unicode"
	"unicode/utf8"
)

// stemLength is how many letters of a word are compared, so that its endings
// do not matter. It is one of the two constants of [Lexical] that may be set by
// looking at human labels.
const stemLength = 6

const (
	hashSeed  = 0xcbf29ce484222325 // FNV-1a, over runes in place of bytes
	hashPrime = 0x100000001b3
)

func hashRune(h uint64, r rune) uint64 { return (h ^ uint64(r)) * hashPrime }

// mix spreads a hash over its low bits. It is never 0.
func mix(h uint64) uint64 {
	h ^= h >> 31
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	return h | 1<<63
}

// lower folds the case of r.
func lower(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(r)
}

// foldHash is the hash of s in lower case.
func foldHash(s string) uint64 {
	h := uint64(hashSeed)
	for _, r := range s {
		h = hashRune(h, lower(r))
	}
	return mix(h)
}

// hashInverse undoes the multiplication of hashRune, modulo 2^64.
const hashInverse = 0xce965057aff6957b

// A folder hashes a word while it is read.
type folder struct {
	all, stem        uint64 // of all runes and of the first stemLength
	n                int
	last, beforeLast rune // in lower case
	digits           bool
}

func newFolder() folder { return folder{all: hashSeed, stem: hashSeed} }

// add takes the next rune, in lower case.
func (f *folder) add(r rune) {
	f.beforeLast, f.last = f.last, r
	f.all = hashRune(f.all, r)
	if f.n++; f.n <= stemLength {
		f.stem = f.all
	}
	f.digits = f.digits || r <= '9' // no other word rune is below
}

// hashes returns the hash of the word and of what is compared of it: its first
// letters; a plural s at the end of a word that is not longer is dropped. A
// word with digits in it is a name and compared whole.
func (f *folder) hashes() (full, stem uint64) {
	full = mix(f.all)
	switch {
	case f.digits:
		return full, full
	case f.n > stemLength:
		return full, mix(f.stem)
	case f.n >= 4 && f.last == 's' && f.beforeLast != 's':
		return full, mix(f.all*hashInverse ^ uint64(f.last))
	}
	return full, full
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

// hiragana reports whether r is Hiragana, which writes endings and particles.
func hiragana(r rune) bool { return 0x3041 <= r && r <= 0x309F }

// wordRune reports whether r is part of a word.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiWord[r] != 0
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// asciiWord is the lower case of the bytes that are word runes by themselves, 0
// for all others.
var asciiWord = func() (t [256]byte) {
	for c := range t[:utf8.RuneSelf] {
		if c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
			t[c] = byte(lower(rune(c)))
		}
	}
	return t
}()

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
