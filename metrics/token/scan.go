package token

import (
	"math/bits"
	"unicode/utf8"
)

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

// countLeads is the number of bytes of s that start a code point.
func countLeads(s string) int {
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
