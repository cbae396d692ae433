package report

import (
	"testing"
)

func TestClean(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "plain, é 茶 🍵", "plain, é 茶 🍵"},
		{"line feed and tab stay", "a\n\tb", "a\n\tb"},
		{"escape sequence", "\x1b[31mred", "␛[31mred"},
		{"carriage return", "safe\revil", "safe␍evil"},
		{"backspace", "a\bb", "a␈b"},
		{"delete", "a\x7fb", "a␡b"},
		{"C1 control", "a\u009bb", "a\ufffdb"},
		{"override of direction", "a\u202eb\u2066c", "a\ufffdb\ufffdc"},
		{"no UTF-8", "a\xffb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.text); got != tt.want {
				t.Errorf("Clean(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestCleanLine(t *testing.T) {
	if got, want := CleanLine("a\n\tb\x1b"), "a␊␉b␛"; got != want {
		t.Errorf("CleanLine = %q, want %q", got, want)
	}
}
