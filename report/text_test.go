package report

import "testing"

func TestClean(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"plain", "plain, é 茶 🍵", "plain, é 茶 🍵"},
		{"line feeds stay", "a\n\tb", "a\n b"},
		{"escape sequence", "\x1b[31mred", " [31mred"},
		{"carriage return", "safe\revil", "safe evil"},
		{"C1 control", "a\u009bb", "a b"},
		{"override of direction", "a\u202eb\u2066c", "a␣b␣c"},
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
