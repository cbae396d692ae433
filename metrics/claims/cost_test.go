package claims

import (
	"strings"
	"testing"
	"time"

	"ibid"
)

// Cutting takes no time that grows with the square of an answer, whatever it holds.
func TestCost(t *testing.T) {
	for _, piece := range []string{
		"[a](b) ", "](", "[", "([a](http://b.c)). ", "[1] A b c d. ", "- a:\n", "> ", "1. ", "- ", "| a ", "https://a.b/c ", "**a**\n",
		"A b. [x](y)\n", "[1]: http://x.y\n", "a.B ", "* a\n  ", "1. a\n", `{"a":`, "ab",
	} {
		text := strings.Repeat(piece, 100_000/len(piece))
		row := &ibid.Answer{Answer: text, HasCitations: true}
		for i := range int64(100) {
			row.Citations = append(row.Citations, ibid.Citation{Extent: ibid.Between(i*7, i*7+5)})
		}
		begun := time.Now()
		NewCutter(Options{Phrases: NewPhrases(Phrases{})}).Cut(row)
		// A hundred times what it takes: those that were quadratic took ten times as long.
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%q: %v for %d bytes", piece, took, len(text))
		}
	}
}
