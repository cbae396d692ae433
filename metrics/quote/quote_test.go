package quote

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFold: texts that are equal but for typography have the same folded form, and others have
// not.
func TestFold(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"The “sky”\nis—blue.", `the "sky" is - blue`, true},
		{"eﬃcient ﬂow", "efficient flow", true},
		{"Cafe\u0301 co\u00ADop\u200b", "café coop", true},
		{"Straße, œuvre, æon, moſt", "strasse oeuvre aeon most", true},
		{"struc-\n   tural evalu -\nation", "structural evaluation", true},
		{"a well-\nknown", "a well-known", true},
		{"1,250 metres", "1250 metres", true},
		{"1,25 metres", "1.25 metres", true},
		{"1,250 metres", "1.250 metres", false},
		{"15 percent", "1.5 percent", false},
		{"fell to -5", "fell to 5", false},
		{"1931–1975", "1931-1975", true},
		{"p < 0.05", "p > 0.05", false},
		{"12 %", "12%", true},
		{"12 %", "12", false},
		{"10² cells", "102 cells", false},
		{"lower¹ than", "lower than", true},
		{"lower[12] in [3, 4] the [5–7] group[^1]", "lower in the group", true},
		{"lower [a, 4]", "lower", false},
		{"see [the rules](https://ex.org/r) first", "see the rules first", true},
		{"<p>The <b>pump</b></p>", "The pump", true},
		{"a < b > c", "a c", false},
		{"> The pump must be\n> cleaned", "The pump must be cleaned", true},
		{"while running,\n\n12\n\nbecause", "while running, because", true},
		{"while running.\n\n12\n\nBecause", "while running. Because", false},
		{"**must** _be_", "must be", true},
		{"ｖｅｒｓｉｏｎ ３.５", "version 3.5", true},
		{"don’t", "don't", true},
		{"水泵 必须\n清洗", "水泵必须清洗", true},
		{"a\xff b", "a b", true},
		{"while running,\n\f12\nbecause", "while running, because", true},
		{"lower<sup>12</sup> in<sup class='n'>3, 4</sup> the", "lower in the", true},
		{"the 5<sup>th</sup> one", "the 5th one", true},
		{"Smith &amp; Sons&#8217; clea&shy;ned&nbsp;wall", "Smith & Sons’ cleaned wall", true},
		{"p &lt; 0.05", "p < 0.05", true},
		{"AT&T; Bell & so on; then", "AT&T Bell so on then", true},
		{"½ cup", "1/2 cup", true},
		{"½ cup", "12 cup", false},
		{"3/4 cup", "34 cup", false},
		{"=====\nTitle", "Title", true},
	} {
		a, b := newFold(tt.a), newFold(tt.b)
		if (a.text == b.text) != tt.same {
			t.Errorf("%q is %q, %q is %q", tt.a, a.text, tt.b, b.text)
		}
	}
}

func TestBlank(t *testing.T) {
	for s, want := range map[string]bool{"": true, " \n": true, "...": true, " … [...]": true, ".": true, "…a": false, "%": false, "“”": true} {
		if got := Blank(s); got != want {
			t.Errorf("Blank(%q) = %t", s, got)
		}
	}
}

func TestHolds(t *testing.T) {
	for _, tt := range []struct {
		span, quote string
		want        bool
	}{
		{"The sky is blue.", "sky is", true},
		{"The sky is blue.", "sky was", false},
		{"The sky is blue.", "the sky", true},
		{"The “sky”\nis—blue.", `"sky" is-blue`, true},
		{"The sky is blue", "The sky is blue.", true},
		{"The sky is blue and wide", "sky is blue.", true},
		{"see the sky now", "(the sky)", true},
		{"The company achieved $10M in 2023.", `"The company achieved $10M..."`, true},
		{"a b c d e f", "b [...] e", true},
		{"a b c d e f", "e [...] b", false},
		{"b " + strings.Repeat("x", MaxGap) + " e", "b … e", false},
		{"wait... what", "wait... what", true},
		{"a b", " ... ", false},
		{"a, b", ".", false},
		{"ump must be clea", "ump must be clea", true}, // cut within words
		{"the pump must be cleaned", "ump must be\nclea", true},
	} {
		if got := Holds(tt.span, tt.quote); got != tt.want {
			t.Errorf("Holds(%q, %q) = %t", tt.span, tt.quote, got)
		}
	}
}

func TestFind(t *testing.T) {
	const prose = "  Él dijo:\n\t«No—nunca».  “𝔘no”, uno. "
	for _, tt := range []struct {
		text, quote string
		want        string // the texts of the places, "|" between pieces and "; " between places
	}{
		{"the sky", "sea", ""},
		{"the sky, the sky, the sky", "sky", "sky; sky; sky"},
		{"ababa", "aba", "aba; aba"},
		{"“a” b, \"a\" b", "“a” b", "“a” b"},
		{prose, "dijo:\n\t«No—nunca»", "dijo:\n\t«No—nunca»"},
		{prose, `  dijo: "No-nunca"`, "dijo:\n\t«No—nunca"},
		{prose, `"𝔘no"`, "𝔘no; uno"},
		{"the ﬁnal", "inal", "ﬁnal"},
		{"cafe\u0301s", "café", "cafe\u0301s"},
		{"a co\u00ADop b", "coop", "co\u00ADop"},
		{"a b c d e", "b … d", "b|d"},
		{"b b c d d", "b … d", "b|d"},
		{"b c d, b d", "b … d", "b d"},
		{"A B" + strings.Repeat(".", 600) + "B" + strings.Repeat(",", 600) + "C", "A … B … C", "A|B|C"},
		{"a" + strings.Repeat(" x", MaxGap/2+1) + " b", "a … b", ""},
		{"one two three", "one [...] three", "one|three"},
		{"On contracts, we take the risk", "On contracts, [the bank] take the risk", "On contracts|take the risk"},
		{"On contracts, " + strings.Repeat("we ", 30) + "take", "On contracts, [the bank] take", ""},
		{"the drug worked", "[t]he drug worked (emphasis added)", "the drug worked"},
	} {
		places, many := NewText(tt.text).Find(tt.quote)
		if got := texts(tt.text, places); got != tt.want || many {
			t.Errorf("Find(%q) in %q = %q, want %q", tt.quote, tt.text, got, tt.want)
		}
	}
	if places, many := NewText(strings.Repeat("a", MaxPlaces+1)).Find("a"); len(places) != 0 || !many {
		t.Errorf("%d places, many %t", len(places), many)
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

// FuzzFold: a folded form stays what it is when it is folded again, and its words follow each
// other in the text.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"He said  “it’s fine” — twice.\n", "\u3000引用 x", "e\u00AD\u0301 ﬁ", "a\xff\u0301", "각\u11a8", "x -\n y [1](a) <b>", "1,234.5² -\n-3"} {
		f.Add(s)
	}
	text := nasty(12, "a", "B", "é", "e\u0301", " ", "\n", "-", "‐", "1", "23", "456", ",", ".", "²", "%", "<", "b>", "[1]", "](x)", "> ", "’", "水", "ﬁ", "\u00ad", "\xff", "각", "\u11a8", "ß", "$", "=")
	for range 600 {
		f.Add(text())
	}
	f.Fuzz(func(t *testing.T, text string) {
		fold := newFold(text)
		last := int32(0)
		var words []string
		for i, w := range fold.words {
			if w.end < last || w.end <= w.start || int(w.end) > utf8.RuneCountInString(text) {
				t.Fatalf("word [%d, %d) of %q behind %d", w.start, w.end, text, last)
			}
			last = w.end
			words = append(words, fold.of(i, i+1))
		}
		if strings.Join(words, "") != fold.text {
			t.Fatalf("%q are not the words of %q", words, fold.text)
		}
		if strings.ContainsAny(fold.text, "-.^<>") { // signs of numbers and lines may fall elsewhere
			return
		}
		if again := newFold(strings.Join(words, " ")); again.text != fold.text {
			t.Fatalf("%q is %q, folded again %q", text, fold.text, again.text)
		}
	})
}

// slowPlaces are the first and last words of all stretches of words that have the folded form
// of a piece, by trying all.
func slowPlaces(own *fold, piece string) (out []Stretch) {
	for i := range own.words {
		for k := i + 1; k <= len(own.words); k++ {
			if own.of(i, k) == piece {
				out = append(out, Stretch{int64(own.words[i].start), int64(own.words[k-1].end)})
			}
		}
	}
	return out
}

// FuzzFind takes words of a small alphabet, so that pieces meet often, and compares with trying
// every stretch of words and every choice of those.
func FuzzFind(f *testing.F) {
	f.Add("ab ba  ab", "a…b")
	f.Add("aab“b”  a", "a…b…a")
	seed, quote := nasty(14, "a", "b", " ", "  ", "“", `"`, "é", "—", "c"), nasty(5, "a", "b", "ab", " ", "…", `"`, "é", "-", "...")
	for range 400 {
		f.Add(seed(), quote())
	}
	f.Fuzz(func(t *testing.T, text, quote string) {
		if len(text) > 40 || len(quote) > 20 {
			return
		}
		own := NewText(text)
		for _, way := range ways(quote) {
			var all []Place
			var walk func(p Place)
			walk = func(p Place) {
				if len(p) == len(way) {
					all = append(all, slices.Clone(p))
					return
				}
				for _, s := range slowPlaces(own.folded(), way[len(p)].fold.text) {
					if len(p) == 0 || s.Start >= p.End() && s.Start <= p.End()+way[len(p)-1].gap {
						walk(append(slices.Clone(p), s))
					}
				}
			}
			walk(nil)
			var want []Stretch // that contain none other
			for _, p := range all {
				hull := Stretch{p.Start(), p.End()}
				inner := func(o Place) bool {
					return o.Start() >= hull.Start && o.End() <= hull.End && (Stretch{o.Start(), o.End()}) != hull
				}
				if !slices.ContainsFunc(all, inner) && !slices.Contains(want, hull) {
					want = append(want, hull)
				}
			}
			slices.SortFunc(want, func(a, b Stretch) int { return int(a.Start - b.Start) })
			places, _ := own.follow(way, true)
			var got []Stretch
			for _, p := range places {
				got = append(got, Stretch{p.Start(), p.End()})
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q in %q: %v, want %v", quote, text, got, want)
			}
		}
	})
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
