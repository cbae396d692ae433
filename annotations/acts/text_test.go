package acts

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"ibid/metrics/token"
)

// hard has what offsets go wrong at: graphemes of several code points and code points of
// several units, in two directions.
var hard = strings.Join([]string{
	"A thumb \U0001F44D\U0001F3FD up. A family \U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466 eats.\r\nA cafe\u0301 and a flag \U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7.",
	"\u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u3002\U00020BB7\u91ce\u5bb6\u3067\u98df\u3079\u305f\u3002 \u0628\u0644\u063a\u062a 84 \u0645\u0644\u064a\u0648\u0646 crowns in 2024.\tTab\tseparated.",
	"\u0915\u094d\u0937\u093f and \uAC00\u11A8. End\x00of\uFEFFtext \u00AD\r\n\r\n1\uFE0F\u20E3 last",
}, "\n")

// FuzzText: the runs make up the text; words are those of package token; a place of the
// page is the code point that encoding the text before it gives; no edge is within a
// grapheme.
func FuzzText(f *testing.F) {
	f.Add(hard, uint64(1))
	f.Add(strings.Repeat("word ", 2000), uint64(2))
	f.Add("\u0301a\u200d\u200db\r\n\u0301\xff\xfe", uint64(3))
	f.Add(strings.Repeat("a\u0301", 900), uint64(4))
	f.Add("", uint64(5))
	f.Fuzz(func(t *testing.T, document string, seed uint64) {
		if len(document) > 20_000 {
			return
		}
		points := []rune(document)
		x := NewText(document)
		var whole strings.Builder
		var words []token.Bounds
		edge := map[int]bool{0: true} // grapheme borders, in code points
		at := 0
		for g := graphemes.FromString(string(points)); g.Next(); {
			at += len([]rune(g.Value()))
			edge[at] = true
		}
		for i, r := range x.Runs {
			if got := len([]rune(whole.String())); int(r.Start) != got || r.Text == "" {
				t.Fatalf("run %d begins at %d, want %d: %q", i, r.Start, got, r.Text)
			}
			units := utf16.Encode([]rune(r.Text))
			point := func(u int) int { return int(r.Start) + len([]rune(string(utf16.Decode(units[:u])))) }
			for k, u := 0, 0; k < len(r.Words); k++ {
				if u += r.Words[k]; k%2 == 1 {
					words = append(words, token.Bounds{Start: int32(point(u - r.Words[k])), End: int32(point(u))})
				}
			}
			for u := 1; u < len(units); u++ {
				if utf16.IsSurrogate(rune(units[u])) && units[u] >= 0xDC00 {
					continue
				}
				if inside := slices.Contains(r.Joins, u); inside == edge[point(u)] {
					t.Fatalf("run %d, offset %d: inside a grapheme: %v", i, u, inside)
				}
			}
			if !edge[int(r.Start)] {
				t.Fatalf("run %d begins within a grapheme", i)
			}
			whole.WriteString(r.Text)
		}
		if whole.String() != string(points) {
			t.Fatalf("the runs are not the text")
		}
		// A word that two runs divide is two.
		want := token.Words(string(points))
		for i, k := 0, 0; i < want.Len(); i++ {
			end := want.Starts[i]
			for ; k < len(words) && words[k].Start < want.Ends[i]; k++ {
				if words[k].Start != end {
					t.Fatalf("word %v begins at %d", words[k], end)
				}
				end = words[k].End
			}
			if end != want.Ends[i] {
				t.Fatalf("word [%d, %d) is not whole", want.Starts[i], want.Ends[i])
			}
		}
		if len(x.Runs) == 0 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 1))
		place := func() (Position, int, bool) {
			i := random.IntN(len(x.Runs))
			units := utf16.Encode([]rune(x.Runs[i].Text))
			u := random.IntN(len(units) + 1)
			half := u > 0 && u < len(units) && utf16.IsSurrogate(rune(units[u])) && units[u] >= 0xDC00
			return Position{i, u}, int(x.Runs[i].Start) + len(utf16.Decode(units[:u])), half
		}
		for range 20 {
			from, lo, half1 := place()
			to, hi, half2 := place()
			start, end, err := x.Span(from, to)
			if half1 || half2 || lo >= hi {
				if err == nil {
					t.Fatalf("%v to %v gave [%d, %d)", from, to, start, end)
				}
				continue
			}
			for !edge[lo] {
				lo--
			}
			for !edge[hi] {
				hi++
			}
			if err != nil || int(start) != lo || int(end) != hi || !x.Holds(start, end) {
				t.Fatalf("%v to %v gave [%d, %d), %v; want [%d, %d)", from, to, start, end, err, lo, hi)
			}
		}
	})
}

// TestSpanRefuses: places that the text does not have are errors.
func TestSpanRefuses(t *testing.T) {
	x := NewText("One \U0001F44D. Two.")
	if len(x.Runs) != 2 {
		t.Fatalf("%d runs, want 2", len(x.Runs))
	}
	for _, c := range []struct {
		from, to Position
		want     string
	}{
		{Position{0, 0}, Position{2, 0}, "no run 2"},
		{Position{-1, 0}, Position{0, 1}, "no run -1"},
		{Position{0, 0}, Position{0, 5}, "surrogate"},
		{Position{0, 0}, Position{0, 99}, "no offset 99"},
		{Position{0, -1}, Position{0, 1}, "no offset -1"},
		{Position{0, 1}, Position{0, 1}, "without text"},
	} {
		if _, _, err := x.Span(c.from, c.to); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v to %v: %v, want %q", c.from, c.to, err, c.want)
		}
	}
	for _, c := range [][2]int64{{-1, 2}, {3, 3}, {0, 99}} {
		if x.Holds(c[0], c[1]) {
			t.Errorf("the text holds %v", c)
		}
	}
}
