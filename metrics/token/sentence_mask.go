package token

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRun bounds what stands between two words, in code points of the masked
// text: for each code point behind a full stop the library looks back to it and
// ahead to the next word.
const maxRun = 32

// A masked text is a copy of a text for the search of boundaries: markers are
// spaces, an opening <statement> is line ends, addresses are letters, "…" is
// "...", marks of emphasis are brackets, and what stands between two words is no
// longer than maxRun. Nearly everything keeps its length, so that two positions
// differ by what was left out before them.
type masked struct {
	buf   []byte
	gaps  []gap // ascending
	opens []gap // opening statements: at is their start in buf, size their length

	// Where origin is: the first of gaps and of opens that it has not passed, and
	// how much was left out before.
	nextGap, nextOpen, shift int
}

// A gap says that size bytes of the text were left out before buf[at].
type gap struct{ at, size int }

// reset makes the masked text of text.
func (m *masked) reset(text string, markers []Bounds) {
	m.buf, m.gaps, m.opens = m.buf[:0], m.gaps[:0], m.opens[:0]
	m.nextGap, m.nextOpen, m.shift = 0, 0, 0
	run := 0        // code points since the last word
	urlEnd := 0     // in bytes of text
	inWord := false // the last code point was a letter or number
	cp := int32(0)
	for i := 0; i < len(text); cp++ {
		for len(markers) > 0 && markers[0].End <= cp {
			markers = markers[1:]
		}
		if len(markers) > 0 && markers[0].Start <= cp {
			size := m.marker(text[i:], int(markers[0].End-cp), markers[0].Start == cp, &run)
			cp += int32(utf8.RuneCountInString(text[i:i+size])) - 1
			i += size
			inWord = false
			continue
		}
		if inWord && i >= urlEnd {
			if n := asciiWordLen(text[i:]); n > 1 {
				// The rest of a word needs no look at each of its letters.
				if len(markers) > 0 {
					n = min(n, int(markers[0].Start-cp))
				}
				m.buf = append(m.buf, text[i:i+n]...)
				cp += int32(n) - 1
				i += n
				continue
			}
		}
		if !inWord && i >= urlEnd {
			urlEnd = i + addressLen(text[i:])
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if i < urlEnd {
			m.fill('x', size)
			inWord, run = true, 0
			i += size
			continue
		}
		i += size
		word := isWordRune(r)
		if word || isStop(r) || isLineBreak(r) {
			run = 0
		} else if run++; run > maxRun {
			m.drop(size)
			inWord = false
			continue
		}
		m.add(text, i-size, r, size, inWord)
		inWord = word
	}
}

// asciiWordLen is the number of ASCII letters and digits at the start of s.
func asciiWordLen(s string) int {
	for i := range len(s) {
		if classes[s[i]]&(letter|digit) == 0 {
			return i
		}
	}
	return len(s)
}

// add appends what stands for the code point r at text[i:].
func (m *masked) add(text string, i int, r rune, size int, inWord bool) {
	switch {
	case r == '*' || r == '_' || r == '`' || r == '~':
		m.buf = append(m.buf, ')')
	case r == '…':
		m.buf = append(m.buf, "..."...)
	case r == utf8.RuneError && size == 1:
		m.buf = append(m.buf, '#') // not UTF-8
	case !inWord && 'a' <= r && r <= 'z' && i+1 < len(text) && 'A' <= text[i+1] && text[i+1] <= 'Z':
		m.buf = append(m.buf, byte(r-'a'+'A'))
	default:
		m.buf = append(m.buf, text[i:i+size]...)
	}
}

// marker masks the n code points of a marker, or what there is of them, and
// returns their length in bytes. whole says that text starts where the marker
// does.
func (m *masked) marker(text string, n int, whole bool, run *int) int {
	size := 0
	for ; n > 0 && size < len(text); n-- {
		_, w := utf8.DecodeRuneInString(text[size:])
		size += w
	}
	if whole && strings.HasPrefix(text[:size], "<statement>") {
		m.opens = append(m.opens, gap{len(m.buf), size})
		m.fill('\n', size)
		*run = 0
		return size
	}
	keep := min(size, max(maxRun-*run, 0))
	m.fill(' ', keep)
	if size > keep {
		m.drop(size - keep)
	}
	*run += size
	return size
}

func (m *masked) fill(b byte, n int) {
	for range n {
		m.buf = append(m.buf, b)
	}
}

// drop leaves size bytes out.
func (m *masked) drop(size int) {
	if n := len(m.gaps); n > 0 && m.gaps[n-1].at == len(m.buf) {
		m.gaps[n-1].size += size
		return
	}
	m.gaps = append(m.gaps, gap{len(m.buf), size})
}

// origin returns the byte of the text that buf[b] stands for; a boundary within
// an opening statement is moved before it. Calls must be in ascending order of
// b.
func (m *masked) origin(b int) int {
	for m.nextOpen < len(m.opens) && m.opens[m.nextOpen].at+m.opens[m.nextOpen].size < b {
		m.nextOpen++
	}
	if m.nextOpen < len(m.opens) {
		b = min(b, m.opens[m.nextOpen].at)
	}
	for m.nextGap < len(m.gaps) && m.gaps[m.nextGap].at <= b {
		m.shift += m.gaps[m.nextGap].size
		m.nextGap++
	}
	return b + m.shift
}

// addressLen is the length of the address of a web page at the start of s, 0 if
// there is none. Punctuation at its end is not of the address.
func addressLen(s string) int {
	if !hasAddressPrefix(s) {
		return 0
	}
	end := strings.IndexFunc(s, endsAddress)
	if end < 0 {
		end = len(s)
	}
	return len(strings.TrimRight(s[:end], ".,;:!?)]}'*_~`"))
}

func hasAddressPrefix(s string) bool {
	if len(s) < 5 || s[0]|0x20 != 'h' && s[0]|0x20 != 'w' && s[0]|0x20 != 'f' {
		return false
	}
	for _, prefix := range [...]string{"https://", "http://", "www.", "ftp://"} {
		if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

// endsAddress reports whether r is in no address: spaces, quotation marks,
// brackets that citations use, and the scripts that write no spaces.
func endsAddress(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("<>\"[]|^", r) || r >= 0x3000 || r == '“' || r == '”' || r == '»'
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return classes[byte(r)]&(letter|digit) != 0
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// isStop reports whether a sentence can end at r.
func isStop(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '.' || r == '!' || r == '?'
	}
	return r == '…' || r == '․' || r == '﹒' || r == '．' || unicode.Is(unicode.STerm, r)
}

func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// isLineEnd reports whether s ends with a line break.
func isLineEnd(s []byte) bool {
	if n := len(s); n == 0 || s[n-1] < utf8.RuneSelf {
		return n > 0 && (s[n-1] == '\n' || s[n-1] == '\r')
	}
	return bytes.HasSuffix(s, []byte("\u0085")) || bytes.HasSuffix(s, []byte("\u2028")) || bytes.HasSuffix(s, []byte("\u2029"))
}
