package dataset

import (
	"bufio"
	"strings"
	"testing"
)

// TestSeparator: cells are separated by what gives all of the first lines the same number.
func TestSeparator(t *testing.T) {
	for text, want := range map[string]rune{
		"":                                       ',',
		"a\nb\n":                                 ',',
		"a,b\n1,2\n":                             ',',
		"a;b\n1;2\n":                             ';',
		"a\tb\tc\n1\t2\t3":                       '\t',
		"a|b\n1|2\n":                             '|',
		"a;b;c\n1,5;2;3\n2,5;3;4\n":              ';', // decimal commas
		"a;b;c\n\"x, y\";1,5;2\nx, y;2,5;3\n":    ';',
		"a,b,c\n1;2,3,4\n2;3,4,5\n":              ',',
		"a,b\n\"1\n2;3\",4\n":                    ',',
		"a;b\n1;2;3\n":                           ',', // not the same
		"a,b\nx\"y,1\n":                          ',', // no CSV
		"a;b\n" + strings.Repeat("1;2\n", 40000): ';',
		"a;b\n" + strings.Repeat("x", 70000):     ';', // of whole lines alone
	} {
		if got := separator(bufio.NewReaderSize(strings.NewReader(text), separatorBytes)); got != want {
			t.Errorf("%.40q: separated by %q, want %q", text, got, want)
		}
	}
}
