package claims

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"ibid"
)

// nastyPieces are what marks begin with, and ordinary texts, to be repeated.
var nastyPieces = []string{
	"[", "]", "(", "[[1]", "[a](", "[](", "<cite>", "<cite doc=\"x\">", "<co: 1>", "<sup>", "<", "【", "（", "`", "``x`", "$", "$$", "\\[", "\\(", "^1", "^", "¹", ":", "https://",
	"doi:10.1/", "| excerpt: \"", "[a.pdf:1:0-5 | excerpt: \"", "[a:1:", "a[1]", "[1", "1]", "citeturn", "(Smith", "(Smith, 2020", "Smith (2020) ", "[^1]: x\n", "[1] x\n", "Sources:\n",
	"Sources: [1] x [2] y ", "- [x](https://a.org)\n", "```\n", "!", "[x](https://a.org/b) ", "([x](https://a.org/b)), ", "[1], ", "[1] ", "<a href=\"https://a.org\">x</a>", "(((x))) ",
	"* ", "\n\n", "  ", "é", "Document 1. ", "See Document 1. ", "(1, p. 2; ", "(Document 1, p. 2, ", "[1, Section 2] ", "as per [1], ", "— [1]\n", "a.pdf. ", "[1, p. 2; 2, p. 3] ", ")",
	"* ", "\n\n", "  ", "é", "[Source: ", "1-3,", "10.1234/x ", "/", "[a][b] ", "[b]: https://x.y\n", "[1 to ",
}

// TestCostIsLinear checks that eight times the text takes far less than 64 times the
// time, whatever is repeated in it.
func TestCostIsLinear(t *testing.T) {
	sources := []Cited{{Doc: "a.pdf", Title: "Annual Report"}, {Doc: "https://a.org/b", Title: "B"}}
	for _, piece := range nastyPieces {
		isLinear(t, piece, 1<<17, func(text string) { ReadMarks(text, sources, 1) })
	}
}

// Cutting takes no time that grows with the square of an answer, whatever it holds.
func TestCutIsLinear(t *testing.T) {
	for _, piece := range []string{
		"[a](b) ", "](", "[", "([a](http://b.c)). ", "[1] A b c d. ", "- a:\n", "> ", "1. ", "- ", "| a ", "https://a.b/c ", "**a**\n",
		"A b. [x](y)\n", "[1]: http://x.y\n", "a.B ", "* a\n  ", "1. a\n", `{"a":`, "ab", "<p>a</p>", "<li>", "<br>", "<h1>a", "| <br>\n",
	} {
		isLinear(t, piece, 1<<15, func(text string) {
			row := &ibid.Answer{Answer: text, HasCitations: true}
			for i := range int64(100) {
				row.Citations = append(row.Citations, ibid.Citation{Extent: ibid.Between(i*7, i*7+5)})
			}
			NewCutter(Options{Phrases: NewPhrases(Phrases{})}).Cut(row)
		})
	}
}

// isLinear compares the CPU time for a text of the size with that for an eighth of it.
func isLinear(t *testing.T, piece string, size int, read func(text string)) {
	t.Helper()
	cost := func(size int) time.Duration {
		text := strings.Repeat(piece, size/len(piece))
		best := time.Hour
		for range 3 {
			since := spentCPU()
			read(text)
			best = min(best, spentCPU()-since)
		}
		return best
	}
	ratio := 0.0
	for range 3 { // other work on the machine
		large := cost(size)
		if ratio = float64(large) / float64(cost(size/8)); ratio < 40 || large < 5*time.Millisecond {
			return
		}
	}
	t.Errorf("%q: eight times the text takes %.0f times the time", piece, ratio)
}

// spentCPU is the CPU time of the process, which waits for no other.
func spentCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
