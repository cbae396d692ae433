package metrics

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCodePoints counts as the library does, wherever the first byte that is not ASCII stands.
func TestCodePoints(t *testing.T) {
	for n := range 20 {
		for _, middle := range []string{"", "é", "🙂", "\xff"} {
			for at := range n + 1 {
				s := strings.Repeat("a", at) + middle + strings.Repeat("b", n-at)
				if got, want := codePoints(s), int64(utf8.RuneCountInString(s)); got != want {
					t.Errorf("codePoints(%q) = %d, want %d", s, got, want)
				}
			}
		}
	}
}
