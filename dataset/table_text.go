package dataset

import (
	"strings"
	"unicode/utf8"
)

// stringRuns is a sequence of strings in which equal neighbours are kept once,
// as an entry and the number of values up to its end. The strings are not
// copied.
type stringRuns struct {
	entries []string
	upTo    []int32 // values before the end of each entry's run
}

func (r *stringRuns) reset() {
	clear(r.entries)
	r.entries, r.upTo = r.entries[:0], r.upTo[:0]
}

// total is the number of values.
func (r *stringRuns) total() int {
	if n := len(r.upTo); n > 0 {
		return int(r.upTo[n-1])
	}
	return 0
}

// append appends s. Neighbours mostly share their memory when they are equal, so
// that comparing them looks at no byte.
func (r *stringRuns) append(s string) {
	n := len(r.entries)
	if n > 0 && r.entries[n-1] == s {
		r.upTo[n-1]++
		return
	}
	r.begin(s)
}

// begin appends s as an entry of its own.
func (r *stringRuns) begin(s string) {
	total := int32(r.total()) + 1
	r.entries = append(r.entries, s)
	r.upTo = append(r.upTo, total)
}

// validText returns s with bytes that are not UTF-8 replaced.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
