package quote

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
		{"letters stay", "É ß 引", "É ß 引"},
		{"ligatures", "eﬃcient ﬂow oﬀ, ﬁrst, ﬄ ﬅ ﬆ", "efficient flow off, first, ffl st st"},
		{"soft hyphens", "co\u00ADop \u00AD x", "coop x"},
		{"composed", "Cafe\u0301, A\u030A \u212B", "Café, Å Å"},
		{"composed over a soft hyphen", "e\u00AD\u0301", "é"},
		{"a mark on a space", " \u0301 \u0301", "\u0301 \u0301"},
		{"marks in order", "q\u0307\u0323", "q\u0323\u0307"},
		{"invalid bytes", "a\xff b", "a\uFFFD b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Normalize(tt.text); got != tt.want {
				t.Errorf("Normalize(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestBlank(t *testing.T) {
	for s, want := range map[string]bool{"": true, " \n": true, "...": true, " … [...]": true, ".": false, "[]": false, "…a": false} {
		if got := Blank(s); got != want {
			t.Errorf("Blank(%q) = %t", s, got)
		}
	}
}

func TestHolds(t *testing.T) {
	tests := []struct {
		name, span, quote string
		want              bool
	}{
		{"to the letter", "The sky is blue.", "sky is", true},
		{"not", "The sky is blue.", "sky was", false},
		{"case counts", "The sky is blue.", "the sky", false},
		{"another form", "The “sky”\nis—blue.", `"sky" is-blue`, true},
		{"a full stop more", "The sky is blue", "The sky is blue.", true},
		{"a full stop more, and text before", "Look: the sky is blue", "the sky is blue.", true},
		{"a full stop more in the middle", "The sky is blue and wide", "sky is blue.", false},
		{"another full stop", "The sky is blue;", "The sky is blue.", true},
		{"brackets", "the sky", "(the sky)", true},
		{"brackets in the middle", "see the sky now", "(the sky)", false},
		{"quotation marks around", "see the sky now", "“the sky”", true},
		{"open end", "The company achieved $10M in 2023.", `"The company achieved $10M..."`, true},
		{"open end with a sign of its own", "The company achieved $10M in 2023.", "The company achieved $10M…", true},
		{"gap", "a b c d e f", "b [...] e", true},
		{"gap of nothing", "a b c", "a...b", true},
		{"pieces in another order", "a b c d e f", "e [...] b", false},
		{"too far", "b " + strings.Repeat("x", MaxGap) + " e", "b … e", false},
		{"far enough", "b" + strings.Repeat("x", MaxGap) + "e", "b…e", true},
		{"a gap in the text", "wait... what", "wait... what", true},
		{"gap and edges", "a b c d", "(a … d)", true},
		{"nothing quoted", "a b", " ... ", false},
		{"only punctuation", "a, b", ".", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Holds(tt.span, tt.quote); got != tt.want {
				t.Errorf("Holds(%q, %q) = %t", tt.span, tt.quote, got)
			}
		})
	}
}

func TestFind(t *testing.T) {
	const prose = "  Él dijo:\n\t«No—nunca».  “𝔘no”, uno. "
	tests := []struct {
		name, text, quote string
		want              string // the texts of the places, "|" between pieces and "; " between places
	}{
		{"nowhere", "the sky", "sea", ""},
		{"once", "the sky", "sky", "sky"},
		{"three times", "the sky, the sky, the sky", "sky", "sky; sky; sky"},
		{"overlapping", "ababa", "aba", "aba; aba"},
		{"the letter wins", "“a” b, \"a\" b", "“a” b", "“a” b"},
		{"as it is", prose, "dijo:\n\t«No—nunca»", "dijo:\n\t«No—nunca»"},
		{"other forms", prose, `  dijo: "No-nunca"`, "dijo:\n\t«No—nunca»"},
		{"above U+FFFF", prose, `"𝔘no"`, "“𝔘no”"},
		{"its marks are not there", prose, `"dijo"`, "dijo"},
		{"white space", prose, " \n", ""},
		{"inside of a ligature", "the ﬁnal", "inal", "ﬁnal"},
		{"composed", "cafe\u0301s", "café", "cafe\u0301"},
		{"soft hyphen", "a co\u00ADop b", "coop", "co\u00ADop"},
		{"pieces", "a b c d e", "b … d", "b|d"},
		{"the shorter place", "b b c d d", "b … d", "b|d"},
		{"twice", "b c d, b d", "b … d", "b|d; b|d"},
		{"three pieces", "a x b y c", "a...b...c", "a|b|c"},
		{"the nearest is not the way", "A B" + strings.Repeat(".", 600) + "B" + strings.Repeat(",", 600) + "C", "A … B … C", "A|B|C"},
		{"too far", "a" + strings.Repeat(".", MaxGap+1) + "b", "a … b", ""},
		{"nothing between pieces", "ab", "a … b", "a|b"},
		{"brackets of a gap", "one two three", "one [...] three", "one|three"},
		{"marks of a gap that stand there", "one... two", "one... two", "one... two"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			places, many := NewText(tt.text).Find(tt.quote)
			if got := texts(tt.text, places); got != tt.want || many {
				t.Errorf("Find(%q) = %q, want %q", tt.quote, got, tt.want)
			}
		})
	}
	if places, many := NewText(strings.Repeat("a", MaxPlaces+1)).Find("a"); len(places) != 0 || !many {
		t.Errorf("%d places, many %t", len(places), many)
	}
	if _, many := NewText(strings.Repeat("“", MaxPlaces+1)).Find(`" x "...`); many {
		t.Error("many places of what is not there")
	}
}

// texts writes places as their texts.
func texts(text string, places []Place) string {
	runes := []rune(text)
	var out []string
	for _, p := range places {
		var parts []string
		for _, s := range p {
			parts = append(parts, string(runes[s.Start:s.End]))
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return strings.Join(out, "; ")
}

// TestUnquoted: marks are taken off where both ends have the same one, and something is left.
func TestUnquoted(t *testing.T) {
	for normal, want := range map[string]string{
		`"a"`: "a", `'a'`: "a", `" a "`: "a", `"a`: `"a`, `"ab`: `"ab`, `ab"`: `ab"`, `'ab"`: `'ab"`, `""`: `""`, `" "`: `" "`, `"`: `"`, `aba`: "aba", ``: ``,
	} {
		if got := unquoted(normal); got != want {
			t.Errorf("unquoted(%q) = %q, want %q", normal, got, want)
		}
	}
}

// TestOnce: what is found twice, or nowhere, has no one place.
func TestOnce(t *testing.T) {
	text := NewText("the sky, the sea")
	if p, ok := text.Once("sky"); !ok || p.Start() != 4 || p.End() != 7 {
		t.Errorf("Once(sky) = %v, %v", p, ok)
	}
	for _, quote := range []string{"the", "land"} {
		if p, ok := text.Once(quote); ok || p != nil {
			t.Errorf("Once(%s) = %v, %v", quote, p, ok)
		}
	}
}

func TestNearest(t *testing.T) {
	at := func(starts ...int64) (places []Place) {
		for _, s := range starts {
			places = append(places, Place{{s, s + 3}})
		}
		return places
	}
	tests := []struct {
		places []Place
		start  int64
		want   int64 // -1: none
	}{
		{nil, 5, -1},
		{at(90), 5, 90},
		{at(0, 100), 33, 0},
		{at(0, 100), 34, -1}, // 34 is more than half of 66
		{at(0, 99), 33, -1},  // exactly half is not less
		{at(0, 100), 100, 100},
		{at(40, 60), 50, -1},
		{at(10, 20, 1000), 12, 10},
		{at(0, 10), math.MaxInt64, -1},
	}
	for _, tt := range tests {
		got := int64(-1)
		if p, ok := Nearest(tt.places, tt.start); ok {
			got = p.Start()
		}
		if got != tt.want {
			t.Errorf("Nearest(%v, %d) = %d, want %d", tt.places, tt.start, got, tt.want)
		}
	}
}

var (
	singleMarks = regexp.MustCompile("[‘’‚‛′‹›ʼ＇]")
	doubleMarks = regexp.MustCompile("[“”„‟″«»＂]")
	dashes      = regexp.MustCompile("[‐‑‒–—―−﹘﹣－]")
)

// nasty makes texts of at most n parts of an alphabet, the same each time.
func nasty(n int, alphabet ...string) func() string {
	rng := rand.New(rand.NewPCG(1, 2))
	return func() string {
		var b strings.Builder
		for range rng.IntN(n + 1) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
}

// slowNormalize is Normalize by replacing.
func slowNormalize(s string) string {
	s = string([]rune(s)) // every invalid byte becomes U+FFFD
	s = singleMarks.ReplaceAllString(s, "'")
	s = doubleMarks.ReplaceAllString(s, `"`)
	s = dashes.ReplaceAllString(s, "-")
	s = strings.NewReplacer("\u00AD", "", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st").Replace(s)
	return norm.NFC.String(strings.Join(strings.Fields(s), " "))
}

// slowFind looks at every stretch of text for every piece, and at every choice of
// those.
func slowFind(text string, way []string) []string {
	runes := []rune(text)
	at := make([][]Stretch, len(way))
	for k, piece := range way {
		for i := range runes {
			for j := i + 1; j <= len(runes); j++ {
				if slowNormalize(string(runes[i:j])) == piece {
					at[k] = append(at[k], Stretch{int64(i), int64(j)})
					break
				}
			}
		}
	}
	var all []Place
	var walk func(p Place)
	walk = func(p Place) {
		if len(p) == len(way) {
			all = append(all, slices.Clone(p))
			return
		}
		for _, s := range at[len(p)] {
			if len(p) == 0 || s.Start >= p.End() && s.Start <= p.End()+MaxGap {
				walk(append(slices.Clone(p), s))
			}
		}
	}
	walk(nil)
	hulls := map[Stretch]bool{}
	for _, p := range all {
		hulls[Stretch{p.Start(), p.End()}] = true
	}
	var out []string
	for h := range hulls {
		inner := false
		for o := range hulls {
			inner = inner || o != h && o.Start >= h.Start && o.End <= h.End
		}
		if !inner {
			out = append(out, fmt.Sprintf("%09d %09d", h.Start, h.End))
		}
	}
	slices.Sort(out)
	return out
}

// FuzzNormalize compares with replacing.
func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"He said  “it’s fine” — twice.\n", "\u3000引用 x", "e\u00AD\u0301 ﬁ", " \u0301", "a\xff\u0301", "각\u11a8"} {
		f.Add(s)
	}
	text := nasty(9, "a", "z", " ", "\t", "\n", "\v", "\r", "\x0e", "\x7f", "\x1f", "\u0080", "\x80", "\u0085", "\u00a0", "e", "\u0301", "\u0328", "é", "ﬁ", "ﬆ", "\u00ad", "“", "—", "'", "각", "\u11a8", "\xff", "\u1100", "\u1161", "K")
	for range 600 {
		f.Add(text())
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := Normalize(text), slowNormalize(text); got != want {
			t.Fatalf("Normalize(%q) = %q, want %q", text, got, want)
		}
		last, joined := 0, ""
		atoms(text, func(start, end int, normal string) bool {
			if start < last || end <= start || end > utf8.RuneCountInString(text) {
				t.Fatalf("part [%d, %d) of %q after %d", start, end, text, last)
			}
			last, joined = end, joined+normal
			return true
		})
		if joined != Normalize(text) {
			t.Fatalf("the parts of %q are %q", text, joined)
		}
	})
}

// FuzzFind takes letters of a small alphabet, so that pieces meet often, and compares
// with trying everything. The text has no code points whose parts a piece may split.
func FuzzFind(f *testing.F) {
	f.Add("ab ba  ab", "a…b")
	f.Add("aab“b”  a", "a…b…a")
	f.Add("abababab", "ab")
	alphabet := []string{"a", "b", " ", "  ", "“", `"`, "é", "—", "c"}
	seed, quote := nasty(14, "\x00", "\x01", "\x02", "\x03", "\x04", "\x05", "\x06", "\x07", "\x08"), nasty(5, "a", "b", "ab", " ", "…", `"`, "é", "-", "...")
	for range 400 {
		f.Add(seed(), quote())
	}
	f.Fuzz(func(t *testing.T, seed, quote string) {
		var b strings.Builder
		for i := range min(len(seed), 14) {
			b.WriteString(alphabet[int(seed[i])%len(alphabet)])
		}
		text := b.String()
		for _, way := range ways(quote) {
			places, _ := NewText(text).find(way)
			var got []string
			for _, p := range places {
				for k, s := range p {
					if n := Normalize(string([]rune(text)[s.Start:s.End])); n != way[k] {
						t.Errorf("piece %q of %q is said to be at %v of %q, which is %q", way[k], quote, s, text, n)
					}
				}
				got = append(got, fmt.Sprintf("%09d %09d", p.Start(), p.End()))
			}
			if want := slowFind(text, way); !slices.Equal(got, want) {
				t.Errorf("%q in %q: %v, want %v", way, text, got, want)
			}
			if len(places) > 0 && !Holds(text, quote) {
				t.Errorf("%q does not hold %q, but it is found there", text, quote)
			}
		}
	})
}

// FuzzVerbatim compares with a search in the texts whose words are divided by
// single spaces.
func FuzzVerbatim(f *testing.F) {
	f.Add("We know A\n well.", "know  A well")
	f.Add("a a b", "a b")
	f.Add("é　x", "é x")
	f.Add("a\xff b", "a\uFFFD")
	f.Add("“a”", `"a"`)
	verbatim, wanted := nasty(9, "a", "b", " ", "  ", "\n", "é", "\xff", "\u3000"), nasty(3, "a", "b", " ", "\n", "é", "\xff")
	for range 400 {
		f.Add(verbatim(), wanted())
	}
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	f.Fuzz(func(t *testing.T, text, quote string) {
		start, end, ok := Verbatim(text, quote)
		q := squeeze(quote)
		if found := q != "" && utf8.ValidString(q) && strings.Contains(squeeze(text), q); found != ok {
			t.Fatalf("%q in %q: %t", quote, text, ok)
		}
		if !ok {
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
		Normalize(text)
	}
}

func TestCut(t *testing.T) {
	for s, want := range map[string]bool{
		"It opened in 1931 ...": true, "… in 1931.": true, "[...] in 1931.": true, "in 1931 [...]": true, "“It opened […]”": true, "\"... in 1931\"\n": true, "It opened....": true,
		"It opened in 1931.": false, "It ... opened.": false, "": false, "...": false, " [...] ": false, "etc..": false, "5.": false,
	} {
		if Cut(s) != want {
			t.Errorf("Cut(%q) = %v", s, !want)
		}
	}
}
