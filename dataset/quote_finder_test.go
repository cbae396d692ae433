package dataset

import "testing"

func TestQuoteFinder(t *testing.T) {
	const text = "  Él dijo:\n\t«No—nunca».  “𝔘no”, uno. "
	tests := []struct {
		name, quote string
		want        string // the text of the span, "" if there is none
	}{
		{"as it is", "dijo:\n\t«No—nunca»", "dijo:\n\t«No—nunca»"},
		{"other forms", `  dijo: "No-nunca"`, "dijo:\n\t«No—nunca»"},
		{"first of the text", "Él", "Él"},
		{"last of the text", ", uno.  ", ", uno."},
		{"above U+FFFF", `"𝔘no"`, "“𝔘no”"},
		{"twice", "no", ""},
		{"twice, overlapping", ".  ", ""},
		{"nowhere", "Uno", ""},
		{"white space", " \n", ""},
		{"empty", "", ""},
	}
	f := NewQuoteFinder(text)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start, end, ok := f.Once(tt.quote)
			if ok != (tt.want != "") {
				t.Fatalf("Once(%q) = %d, %d, %t", tt.quote, start, end, ok)
			}
			got := string([]rune(text)[start:end])
			if got != tt.want {
				t.Errorf("Once(%q) is %q, want %q", tt.quote, got, tt.want)
			}
			if ok && !SameQuote(got, tt.quote) {
				t.Errorf("SameQuote(%q, %q) = false for what Once found", got, tt.quote)
			}
		})
	}
}
