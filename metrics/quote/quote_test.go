package quote

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
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
			if got := Marks.Normalize(tt.text); got != tt.want {
				t.Errorf("Normalize(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestFind(t *testing.T) {
	tests := []struct {
		text, quote string
		times, at   int
	}{
		{"the sky", "sea", 0, 0},
		{"the sky", "sky", 1, 4},
		{"the sky, the sky, the sky", "sky", 2, 4},
		{"ababa", "aba", 2, 0}, // overlapping
		{"aaa", "aaa", 1, 0},
		{"引引用", "引用", 1, 1},
	}
	for _, tt := range tests {
		for _, f := range []Form{Spaces, Marks} {
			if times, at, _ := f.Find(tt.text, f.Normalize(tt.text), tt.quote); times != tt.times || at != tt.at {
				t.Errorf("%d.Find(%q, %q) = %d, %d, want %d, %d", f, tt.text, tt.quote, times, at, tt.times, tt.at)
			}
		}
	}
	if times, _, _ := Spaces.Find("“a”", "“a”", `"a"`); times != 0 {
		t.Error("Spaces takes one quotation mark for another")
	}
	if !Marks.Holds("say “a” now", `"a"`) || Spaces.Holds("say “a” now", `"a"`) || !Spaces.Holds("x", " ") {
		t.Error("Holds does not follow the form")
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
		if got, want := Marks.Normalize(text), slowNormalize(text); got != want {
			t.Fatalf("Normalize(%q) = %q, want %q", text, got, want)
		}
		runes := []rune(text)
		n := uint(len(runes)) + 1
		from, to = min(from%n, to%n), max(from%n, to%n)
		quote := Marks.Normalize(string(runes[from:to]))
		if quote == "" {
			return
		}
		times, start, end := Marks.Find(text, Marks.Normalize(text), quote)
		if times == 0 {
			t.Fatalf("%q is not found in %q", quote, text)
		}
		if got := Marks.Normalize(string(runes[start:end])); got != quote {
			t.Errorf("%q is said to be [%d,%d) of %q, which is %q", quote, start, end, text, got)
		}
		if times == 1 && (start < int(from) || end > int(to)) {
			t.Errorf("%q is said to be [%d,%d) of %q, but was cut from [%d,%d)", quote, start, end, text, from, to)
		}
	})
}

// FuzzFindSpaces compares with a search in the texts whose words are divided by
// single spaces.
func FuzzFindSpaces(f *testing.F) {
	f.Add("We know A\n well.", "know  A well")
	f.Add("a a b", "a b")
	f.Add("é　x", "é x")
	f.Add("a\xff b", "a\uFFFD")
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	f.Fuzz(func(t *testing.T, text, quote string) {
		if got, want := Spaces.Normalize(text), squeeze(text); got != want {
			t.Fatalf("Normalize(%q) = %q, want %q", text, got, want)
		}
		times, start, end := Spaces.Find(text, Spaces.Normalize(text), quote)
		q := squeeze(quote)
		if found := q != "" && utf8.ValidString(q) && strings.Contains(squeeze(text), q); found != (times > 0) {
			t.Fatalf("%q in %q: %d times", quote, text, times)
		}
		if times == 0 {
			return
		}
		if got := string([]rune(text)[start:end]); squeeze(got) != q {
			t.Errorf("%q found at [%d,%d) of %q, which is %q", quote, start, end, text, got)
		}
	})
}

func BenchmarkNormalize(b *testing.B) {
	text := strings.Repeat("He said “it’s fine” — twice, and then he said no. ", 60)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Marks.Normalize(text)
	}
}

func TestFinder(t *testing.T) {
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
	f := NewFinder(text)
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
			if ok && !Marks.Same(got, tt.quote) {
				t.Errorf("Same(%q, %q) = false for what Once found", got, tt.quote)
			}
		})
	}
}
