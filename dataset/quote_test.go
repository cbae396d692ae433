package dataset

import (
	"regexp"
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"blank", " \t\u00a0\n", ""},
		{"as it is", "Ab, c.", "Ab, c."},
		{"white space", "\n a \r\n b\u00a0\u3000c ", "a b c"},
		{"double quotes", "“a” „b‟ «c» ″ ＂", `"a" "b" "c" " "`},
		{"single quotes", "‘a’ ‚b‛ ‹c› ′ ʼ", `'a' 'b' 'c' ' '`},
		{"dashes", "a‐b‑c‒d–e—f―g−h－i", "a-b-c-d-e-f-g-h-i"},
		{"runs of dashes stay", "a -- b", "a -- b"},
		{"letters stay", "É ﬁ ß 引", "É ﬁ ß 引"},
		{"invalid bytes", "a\xff b", "a\uFFFD b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := normalize(tt.text); got != tt.want {
				t.Errorf("normalize(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestOccurrences(t *testing.T) {
	tests := []struct {
		text, quote string
		n, at       int
	}{
		{"the sky", "sea", 0, 0},
		{"the sky", "sky", 1, 4},
		{"the sky, the sky, the sky", "sky", 2, 4},
		{"ababa", "aba", 2, 0}, // overlapping
		{"aaa", "aaa", 1, 0},
		{"引引用", "引用", 1, 3},
	}
	for _, tt := range tests {
		if n, at := occurrences(tt.text, tt.quote); n != tt.n || at != tt.at {
			t.Errorf("occurrences(%q, %q) = %d, %d, want %d, %d", tt.text, tt.quote, n, at, tt.n, tt.at)
		}
	}
}

// slowNormalize is normalize by replacing.
func slowNormalize(s string) string {
	s = string([]rune(s)) // every invalid byte becomes U+FFFD
	s = regexp.MustCompile("[‘’‚‛′‹›ʼ＇]").ReplaceAllString(s, "'")
	s = regexp.MustCompile("[“”„‟″«»＂]").ReplaceAllString(s, `"`)
	s = regexp.MustCompile("[‐‑‒–—―−﹘﹣－]").ReplaceAllString(s, "-")
	return strings.Join(strings.Fields(s), " ")
}

// FuzzQuote takes a part of a text as the quote and expects the place that is
// found for it to hold the quote.
func FuzzQuote(f *testing.F) {
	f.Add("He said  “it’s fine” — twice.\n", uint(5), uint(20))
	f.Add(" a  b a b", uint(0), uint(5))
	f.Add("\u3000引用 x", uint(1), uint(3))
	f.Fuzz(func(t *testing.T, text string, from, to uint) {
		if got, want := normalize(text), slowNormalize(text); got != want {
			t.Fatalf("normalize(%q) = %q, want %q", text, got, want)
		}
		runes := []rune(text)
		n := uint(len(runes)) + 1
		from, to = min(from%n, to%n), max(from%n, to%n)
		quote := normalize(string(runes[from:to]))
		if quote == "" {
			return
		}
		found, at := occurrences(normalize(text), quote)
		if found == 0 {
			t.Fatalf("%q is not found in %q", quote, text)
		}
		start, end := original(text, at, at+len(quote))
		if got := normalize(string(runes[start:end])); got != quote {
			t.Errorf("%q is said to be [%d,%d) of %q, which is %q", quote, start, end, text, got)
		}
		if found == 1 && (start < int64(from) || end > int64(to)) {
			t.Errorf("%q is said to be [%d,%d) of %q, but was cut from [%d,%d)", quote, start, end, text, from, to)
		}
	})
}

func BenchmarkNormalize(b *testing.B) {
	text := strings.Repeat("He said “it’s fine” — twice, and then he said no. ", 60)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		normalize(text)
	}
}
