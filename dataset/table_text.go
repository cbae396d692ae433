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

// AppendString appends s to a String column. Bytes that are not UTF-8 become
// U+FFFD, because readers refuse a file with such strings.
func (t *Table) AppendString(c int, s string) {
	t.AppendText(c, validText(s))
}

// AppendText is AppendString for a string that is known to be UTF-8, such as
// those of a [Row].
func (t *Table) AppendText(c int, s string) {
	t.column(c, String).text.append(s)
}

// RepeatText is RepeatInt for a String column and a string that is known to be
// UTF-8.
func (t *Table) RepeatText(c int, s string, n int) {
	col := &t.columns[c]
	if col.kind != String {
		t.wrongKind(c, String)
	}
	if n == 0 {
		return
	}
	for i := range n {
		col.mark(t.rows + i)
	}
	col.text.append(s)
	col.text.upTo[len(col.text.upTo)-1] += int32(n - 1)
}

// AppendStrings appends a list to a ListString column; nil is the empty list.
// Strings are treated as by AppendString.
func (t *Table) AppendStrings(c int, list []string) {
	col := t.column(c, ListString)
	col.lengths = append(col.lengths, int32(len(list)))
	for _, s := range list {
		col.text.append(validText(s))
	}
}
