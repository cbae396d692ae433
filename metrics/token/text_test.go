package token

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// slowOffsets returns the number of units before each code point and, last,
// before the end.
func slowOffsets(runes []rune, u Unit) []int {
	offsets := []int{0}
	for i, r := range runes {
		width := 1
		switch u {
		case UTF16:
			width = len(utf16.Encode([]rune{r}))
		case Byte:
			width = len(string(r))
		}
		offsets = append(offsets, offsets[i]+width)
	}
	return offsets
}

// checkText compares every conversion of s with slowOffsets.
func checkText(t *testing.T, s string) {
	t.Helper()
	text, runes := NewText(s), []rune(s)
	if text.Len() != len(runes) {
		t.Fatalf("NewText(%.40q).Len() = %d, want %d", s, text.Len(), len(runes))
	}
	for u := CodePoint; u <= Byte; u++ {
		want := append(slowOffsets(runes, u), 1<<30)
		if got := text.Units(u); got != want[len(runes)] {
			t.Fatalf("NewText(%.40q).Units(%v) = %d, want %d", s, u, got, want[len(runes)])
		}
		for cp := range len(runes) + 1 {
			start := want[cp]
			if got := text.Offset(u, cp); got != start {
				t.Fatalf("NewText(%.40q).Offset(%v, %d) = %d, want %d", s, u, cp, got, start)
			}
			for off := start; off < min(want[cp+1], text.Units(u)+1); off++ {
				if got, first := text.CodePoint(u, off); got != cp || first != (off == start) {
					t.Fatalf("NewText(%.40q).CodePoint(%v, %d) = %d, %v, want %d, %v",
						s, u, off, got, first, cp, off == start)
				}
			}
		}
	}
}

func TestTextConversions(t *testing.T) {
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"ascii", "plain text"},
		{"two bytes", "déjà vu, naïveté"},
		{"three bytes", "引用の位置"},
		{"astral", "a😀b𠮷c"},
		{"combining and joined", "e\u0301 👩‍👩‍👧 \u200d"},
		{"block boundary ascii", strings.Repeat("a", blockLen) + "é" + strings.Repeat("b", blockLen)},
		{"exactly one block of wide", strings.Repeat("😀", blockLen)},
		{"exactly two blocks of mixed", strings.Repeat("é😀", blockLen)},
		{"byte order mark", "\ufeffa"},
		{"invalid", "a\xffb\xc3"},
		{"surrogate in bytes", "a\xed\xa0\x80b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkText(t, tt.text) })
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "abc", "dé😀", strings.Repeat("x😀é引", 90), "\xff\xfe", "a\xf0\x9f\x98"} {
		f.Add(s)
	}
	text := nasty()
	for n := range 70 {
		f.Add(text() + strings.Repeat("x", n) + "\x80" + text())
		f.Add(strings.Repeat("é", 200+n) + text())
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 1<<11 {
			checkText(t, s)
		}
	})
}

func TestTextValid(t *testing.T) {
	if !NewText("é").Valid() || !NewText("").Valid() {
		t.Error("valid text reported as invalid")
	}
	bad := NewText("a\xffé")
	if bad.Valid() {
		t.Error("invalid text reported as valid")
	}
	if got, want := bad.String(), "a\uFFFDé"; got != want {
		t.Errorf("invalid text became %q, want %q", got, want)
	}
}

func TestSlice(t *testing.T) {
	text := NewText("aé😀z")
	tests := []struct {
		start, end int
		want       string
	}{
		{0, 4, "aé😀z"},
		{1, 3, "é😀"},
		{3, 99, "z"},
		{-5, 1, "a"},
		{9, 12, ""},
		{3, 1, ""},
	}
	for _, tt := range tests {
		if got := text.Slice(tt.start, tt.end); got != tt.want {
			t.Errorf("Slice(%d, %d) = %q, want %q", tt.start, tt.end, got, tt.want)
		}
	}
}

func TestTextDoesNotAllocate(t *testing.T) {
	text := NewText(strings.Repeat("né😀 ", 1000))
	sum := 0
	n := testing.AllocsPerRun(100, func() {
		for u := CodePoint; u <= Byte; u++ {
			off := text.Offset(u, 3000)
			cp, _ := text.CodePoint(u, off)
			sum += cp + len(text.Slice(10, 700))
		}
	})
	if n != 0 {
		t.Errorf("conversions allocate %v times", n)
	}
	if sum == 0 {
		t.Error("nothing converted")
	}
}

func BenchmarkText(b *testing.B) {
	samples := map[string]string{
		"ascii": strings.Repeat("the quick brown fox ", 150),
		"mixed": strings.Repeat("the quick brown fox jumped, naïve ", 90),
		"cjk":   strings.Repeat("引用の位置が正しいか", 300),
	}
	for name, s := range samples {
		b.Run("op=new/text="+name+"/bytes="+strconv.Itoa(len(s)), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				NewText(s)
			}
		})
		b.Run("op=offset/text="+name, func(b *testing.B) {
			b.ReportAllocs()
			text := NewText(s)
			for b.Loop() {
				text.Offset(Byte, text.Len()-7)
			}
		})
	}
}
