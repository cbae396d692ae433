package token

import (
	"fmt"
	"math/bits"
	"sort"
	"strings"
	"unicode/utf8"
)

// A Unit is what a position in a text counts.
type Unit uint8

const (
	CodePoint Unit = iota // Unicode code points
	UTF16                 // UTF-16 code units: a code point above U+FFFF counts 2
	Byte                  // bytes of the UTF-8 form
)

var unitNames = [...]string{"codepoint", "utf16", "byte"}

// ParseUnit returns the unit of that name: "codepoint", "utf16" or "byte".
func ParseUnit(name string) (Unit, error) {
	for u, n := range unitNames {
		if n == name {
			return Unit(u), nil
		}
	}
	return 0, fmt.Errorf("offset unit %q: not one of codepoint, utf16, byte", name)
}

// String returns the name that [ParseUnit] takes.
func (u Unit) String() string { return unitNames[u] }

// blockLen is the number of code points between two entries of a Text's index.
// One entry of 4 bytes per 256 code points is less than 2 % of the text, and the
// rest of a way is at most 256 code points.
const blockLen = 256

// A Text is a string in which positions can be given in any [Unit]. Building
// its index takes one pass over the string (none but a test of its bytes if all
// are ASCII); a conversion then takes O(log n) steps and does not allocate.
//
// A Text is immutable and safe for concurrent use.
type Text struct {
	s       string
	valid   bool
	n       int     // code points
	wide    int     // code points above U+FFFF
	starts  []int32 // byte where code point blockLen*i starts; nil if the text is ASCII
	widesAt []int32 // code points above U+FFFF before that one; nil if there are none
}

// NewText returns the Text of s, which must be shorter than 2 GiB.
//
// In a string that is not valid UTF-8 every byte that is not part of a code
// point is replaced by U+FFFD, so that it counts as one code point (as a range
// loop has it); Valid then reports false, and bytes count in the replaced
// string.
func NewText(s string) *Text {
	if isASCII(s) {
		return &Text{s: s, valid: true, n: len(s)}
	}
	t := &Text{s: s, valid: utf8.ValidString(s)}
	if !t.valid {
		t.s = replaceInvalid(s)
	}
	t.index()
	return t
}

// index fills n, starts and the counts of wide code points.
func (t *Text) index() {
	t.starts = make([]int32, 0, len(t.s)/blockLen+1)
	at, wide := 0, 0
	var wides []int32
	for at < len(t.s) {
		t.starts = append(t.starts, int32(at))
		wides = append(wides, int32(wide))
		end := skip(t.s, at, blockLen)
		wide += countWide(t.s[at:end])
		at = end
	}
	t.wide = wide
	if wide > 0 {
		t.widesAt = wides
	}
	last := len(t.starts) - 1
	t.n = last*blockLen + Points(t.s[t.starts[last]:])
}

// String returns the text; see [NewText] for strings that are not valid UTF-8.
func (t *Text) String() string { return t.s }

// Valid reports whether the string the text was made of is valid UTF-8.
func (t *Text) Valid() bool { return t.valid }

// Len is the number of code points.
func (t *Text) Len() int { return t.n }

// Units is the length of the text in u.
func (t *Text) Units(u Unit) int {
	switch u {
	case UTF16:
		return t.n + t.wide
	case Byte:
		return len(t.s)
	}
	return t.n
}

// Offset returns the number of units u before the code point number cp, which
// must lie in [0, Len].
func (t *Text) Offset(u Unit, cp int) int {
	switch {
	case u == CodePoint || t.starts == nil:
		return cp
	case cp == t.n:
		return t.Units(u)
	case u == UTF16 && t.wide == 0:
		return cp
	}
	block := cp / blockLen
	start := int(t.starts[block])
	end := skip(t.s, start, cp%blockLen)
	if u == Byte {
		return end
	}
	return cp + int(t.widesAt[block]) + countWide(t.s[start:end])
}

// CodePoint returns the number of the code point that unit number off of u
// belongs to, and whether off is its first unit. The length of the text in u
// gives Len, true. off must lie in [0, Units(u)].
func (t *Text) CodePoint(u Unit, off int) (cp int, first bool) {
	switch {
	case u == CodePoint || t.starts == nil || u == UTF16 && t.wide == 0:
		return off, true
	case off == t.Units(u):
		return t.n, true
	case u == Byte:
		block := sort.Search(len(t.starts), func(i int) bool { return int(t.starts[i]) > off }) - 1
		first = utf8.RuneStart(t.s[off])
		cp = block*blockLen + Points(t.s[t.starts[block]:off])
		if !first {
			cp-- // counted by its own lead byte
		}
		return cp, first
	}
	block := sort.Search(len(t.starts), func(i int) bool { return i*blockLen+int(t.widesAt[i]) > off }) - 1
	cp = block * blockLen
	unit := cp + int(t.widesAt[block])
	for _, r := range t.s[t.starts[block]:] {
		width := 1
		if r > 0xFFFF {
			width = 2
		}
		if unit+width > off {
			break
		}
		unit += width
		cp++
	}
	return cp, unit == off
}

// Slice returns the code points [start, end) of the text; bounds outside the
// text are moved to its ends.
func (t *Text) Slice(start, end int) string {
	start = min(max(start, 0), t.n)
	end = min(max(end, start), t.n)
	return t.s[t.Offset(Byte, start):t.Offset(Byte, end)]
}

// replaceInvalid replaces every byte that is not part of a code point by U+FFFD.
func replaceInvalid(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// The functions of this file read a string eight bytes at a time. In valid
// UTF-8 every byte but a continuation byte (10xxxxxx) starts a code point, and
// the bytes 11110xxx start exactly the code points above U+FFFF.

const highBits = 0x8080808080808080

// load returns the eight bytes of s from i on.
func load(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// leads is the number of bytes in w that start a code point.
func leads(w uint64) int {
	continuation := w & ^(w << 1) & highBits
	return 8 - bits.OnesCount64(continuation)
}

// isASCII reports whether every byte of s is below 0x80.
func isASCII(s string) bool {
	i := 0
	for ; i+32 <= len(s); i += 32 {
		if (load(s, i)|load(s, i+8)|load(s, i+16)|load(s, i+24))&highBits != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Points is the number of code points of a valid string: of bytes that start one.
func Points(s string) int {
	n, i := 0, 0
	for ; i+8 <= len(s); i += 8 {
		n += leads(load(s, i))
	}
	for ; i < len(s); i++ {
		if utf8.RuneStart(s[i]) {
			n++
		}
	}
	return n
}

// countWide is the number of code points of s above U+FFFF.
func countWide(s string) int {
	n, i := 0, 0
	for ; i+8 <= len(s); i += 8 {
		w := load(s, i)
		n += bits.OnesCount64(w & (w << 1) & (w << 2) & (w << 3) & highBits)
	}
	for ; i < len(s); i++ {
		if s[i] >= 0xF0 {
			n++
		}
	}
	return n
}

// skip returns the byte where the code point number n after the one at byte at
// starts, or the length of s if there are not so many. at must be the first
// byte of a code point or the length of s.
func skip(s string, at, n int) int {
	for at+8 <= len(s) {
		c := leads(load(s, at))
		if c > n {
			break
		}
		n -= c
		at += 8
	}
	// at may now be inside the last code point that was counted.
	for ; at < len(s); at++ {
		if utf8.RuneStart(s[at]) {
			if n == 0 {
				return at
			}
			n--
		}
	}
	return at
}
