package quote

import (
	"strings"
	"testing"
)

// BenchmarkCheck: a quotation against a text of 1 MB, to the letter, folded at first, altered
// and made of pieces; and against one word a million times.
func BenchmarkCheck(b *testing.B) {
	words := madeText(125_000, 9)
	text := strings.Join(words, " ")
	own := func(from, n int) []string { return append([]string{}, words[from:from+n]...) }
	altered := own(100_000, 20)
	altered[9] = "other"
	for _, c := range []struct {
		name, quotation, text string
		folded                bool
	}{
		{"verbatim", strings.Join(own(100_000, 20), " "), text, false},
		{"first", strings.Join(own(100_000, 20), "  "), text, false},
		{"altered", strings.Join(altered, " "), text, true},
		{"stitched", strings.Join(append(own(50_000, 8), own(110_000, 9)...), " "), text, true},
		{"nowhere", strings.Join(madeText(20, 10), " "), text, true},
		{"one word", strings.Repeat("a ", 300) + "b", strings.Repeat("a ", 500_000), true},
		{"two words", strings.Repeat("a b ", 150) + "c", strings.Repeat("b a ", 250_000), true},
	} {
		b.Run(c.name, func(b *testing.B) {
			kept := NewText(c.text)
			kept.folded()
			for b.Loop() {
				t := kept
				if !c.folded {
					t = NewText(c.text)
				}
				Check(c.quotation, &Search{Cited: []Source{{Doc: "a", Text: t}}})
			}
		})
	}
}
