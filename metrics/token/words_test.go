package token

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
)

// spell returns the tokens of x as strings.
func spell(x *Index, text string) []string {
	t := NewText(text)
	tokens := []string{}
	for i := range x.Len() {
		tokens = append(tokens, t.Slice(int(x.Starts[i]), int(x.Ends[i])))
	}
	return tokens
}

func TestWords(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"none", " ,.;—😀 \r\n", nil},
		{"sentence", "The quick (“brown”) fox can’t jump 32.3 feet, right?", strings.Split("The quick brown fox can’t jump 32.3 feet right", " ")}, // example of UAX #29, table 2
		{"between letters", "a.b a:b a'b a,b a;b", []string{"a.b", "a:b", "a'b", "a", "b", "a", "b"}},
		{"between digits", "1.2 1:2 1'2 1,2 1;2", []string{"1.2", "1", "2", "1'2", "1,2", "1;2"}},
		{"mixed sides", "a.1 1.a a,1", []string{"a", "1", "1", "a", "a", "1"}},
		{"two marks", "a..b 1,,2 e.g.", []string{"a", "b", "1", "2", "e.g"}},
		{"underscore", "a_1 _ __x 3_", []string{"a_1", "__x", "3_"}},
		{"lookahead is not ASCII", "a.é 1.٣ a'ß", []string{"a.é", "1.٣", "a'ß"}},
		{"lookahead behind a mark", "a.\u0301b", []string{"a.\u0301b"}},
		{"combining mark after ASCII", "e\u0301a b\u0301", []string{"e\u0301a", "b\u0301"}},
		{"combining mark after a space", "a \u0301b", []string{"a", "b"}},
		{"joiner", "a\u200db", []string{"a\u200db"}},
		{"han one by one", "引用, 3章", []string{"引", "用", "3", "章"}},
		{"katakana runs", "カタカナ語", []string{"カタカナ", "語"}},
		{"korean", "한국어 단어", []string{"한국어", "단어"}},
		{"numbers of all kinds", "½ Ⅻ ٣٤", []string{"½", "Ⅻ", "٣٤"}},
		{"hebrew double quote", "צה\"ל", []string{"צה\"ל"}},
		{"astral letter", "𝒜𝒷 x", []string{"𝒜𝒷", "x"}},
		{"invalid bytes", "a\xffb \xc3", []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := spell(Words(tt.text), tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("Words(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// slowWords cuts text with an independent implementation of UAX #29.
func slowWords(text string) []string {
	found := []string{}
	state := -1
	for rest := text; rest != ""; {
		var segment string
		segment, rest, state = uniseg.FirstWordInString(rest, state)
		if strings.ContainsFunc(segment, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			found = append(found, segment)
		}
	}
	return found
}

// stable reports whether the two implementations know all code points of text
// alike: the reference is of Unicode 15, and emoji, which are no words, and
// scripts whose rules changed since are left out.
func stable(text string) bool {
	for _, r := range text {
		if r > 0x5FF && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			return false
		}
	}
	return true
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{
		"The quick (“brown”) fox can’t jump 32.3 feet, right?", "a.b 1,2 _x e.g. a:b;c", "a'\u0301b ", "é1.2",
		"引用カタ", "\r\n \u0301a", "א\"ב", "x\xff.y",
	} {
		f.Add(s)
	}
	text := nasty()
	for range 500 {
		f.Add(text())
	}
	f.Fuzz(func(t *testing.T, text string) {
		x := Words(text)
		for i := range x.Len() {
			if x.Starts[i] >= x.Ends[i] || i > 0 && x.Starts[i] < x.Ends[i-1] {
				t.Fatalf("Words(%q): token %d is [%d,%d) after %v", text, i, x.Starts[i], x.Ends[i], x.Ends[:i])
			}
		}
		valid := NewText(text).String()
		if !stable(valid) {
			return
		}
		if got, want := spell(Words(valid), valid), slowWords(valid); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", valid, got, want)
		}
	})
}

// FuzzRange compares Range with a look at every token.
func FuzzRange(f *testing.F) {
	f.Add("ab, cd é 7", int32(2), int32(7))
	text := nasty()
	for i := range int32(300) {
		f.Add(text(), i%11, i%17)
	}
	f.Fuzz(func(t *testing.T, text string, start, end int32) {
		x := Words(text)
		lo, hi := x.Range(start, end)
		if lo > hi || lo < 0 || hi > x.Len() {
			t.Fatalf("Range(%d, %d) = %d, %d of %d tokens", start, end, lo, hi, x.Len())
		}
		for i := range x.Len() {
			touched := max(start, x.Starts[i]) < min(end, x.Ends[i])
			if touched != (lo <= i && i < hi) {
				t.Errorf("%q: Range(%d, %d) = %d, %d; token %d is [%d,%d)", text, start, end, lo, hi, i, x.Starts[i], x.Ends[i])
			}
		}
	})
}

func TestUnit(t *testing.T) {
	for u := CodePoint; u <= Byte; u++ {
		if got, err := ParseUnit(u.String()); got != u || err != nil {
			t.Errorf("ParseUnit(%q) = %v, %v", u, got, err)
		}
	}
	if _, err := ParseUnit("char"); err == nil {
		t.Error(`ParseUnit("char") succeeds`)
	}
}

func BenchmarkIndex(b *testing.B) {
	samples := []struct{ name, text string }{
		{"english", strings.Repeat("The quick (\"brown\") fox can't jump 32.3 feet, right? ", 60)},
		{"accents", strings.Repeat("Le rapide renard « brun » n’a pas sauté 32,3 mètres, hélas. ", 50)},
		{"japanese", strings.Repeat("引用の位置が正しいかどうかを確認する。", 50)},
	}
	for _, s := range samples {
		b.Run("text="+s.name+"/bytes="+strconv.Itoa(len(s.text)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(s.text)))
			for b.Loop() {
				Words(s.text)
			}
		})
	}
}

func BenchmarkRange(b *testing.B) {
	x := Words(strings.Repeat("the quick brown fox ", 2000))
	b.ReportAllocs()
	for b.Loop() {
		x.Range(17000, 17100)
	}
}
