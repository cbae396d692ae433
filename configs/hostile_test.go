package configs

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// TestHostileFiles: files as large as they may be, of shapes that cost a parser
// or a reporter most, end soon and in a bounded number of errors. Without those
// bounds, the bad gates alone took more than a minute in a file of half the size.
func TestHostileFiles(t *testing.T) {
	var keys, columns strings.Builder
	columns.WriteString("columns:\n")
	for i := 0; keys.Len() < maxText-20; i++ {
		keys.WriteString("a" + strconv.Itoa(i) + ": 1\n")
	}
	for i := 0; columns.Len() < maxText-40; i++ {
		columns.WriteString("  a" + strconv.Itoa(i) + ": b\n")
	}
	tests := []struct{ name, text string }{
		{"unknown keys", keys.String()},
		{"columns", columns.String()},
		{"bad gates on one line", "gates: [" + strings.Repeat("a,", maxText/2-10) + "]"},
		{"long key", strings.Repeat("k", maxText-10) + ": 1"},
		{"brackets", strings.Repeat("[", maxText)},
		{"braces", strings.Repeat("{", maxText)},
		{"dashes", strings.Repeat("- ", maxText/2)},
		{"colons", strings.Repeat(": ", maxText/2)},
		{"quotes", strings.Repeat("\"", maxText)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(Options{File: write(t, tt.text)})
			errs, ok := errors.AsType[Errors](err)
			if !ok || len(errs) > maxErrors {
				t.Errorf("got %d errors of type %T, want 1 to %d", len(errs), err, maxErrors)
			}
			if n := len(err.Error()); n > 40000+maxText {
				t.Errorf("the errors print %d bytes", n)
			}
		})
	}
}
