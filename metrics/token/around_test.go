package token

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// nasty makes short texts, the same each time, of parts that meet in many ways.
func nasty() func() string {
	parts := strings.Split("a|b|1|Z9|.|,|'|:|_| |  |\n|\r\n|\t|\u00a0|\u0085|\u200d|\u0301|é|引|カ|ー|가|א|\"|\U0001F1E6|\U0001F600|\U00010400|\u2019|3.1|e.g|$|\x7f|\u0080|\uffff", "|")
	rng := rand.New(rand.NewPCG(1, 2))
	return func() string {
		var b strings.Builder
		for range rng.IntN(1 + rng.IntN(40)) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		return b.String()
	}
}

// TestAroundFar: what has no seam within 512 bytes has none.
func TestAroundFar(t *testing.T) {
	for _, tt := range []struct {
		text     string
		from, to int
		lo, hi   int
		ok       bool
	}{
		{strings.Repeat("x", reach), reach, reach, 0, reach, true},
		{strings.Repeat("x", reach+1), reach + 1, reach + 1, 0, 0, false},
		{strings.Repeat("x", reach+1), 1, 1, 0, reach + 1, true},
		{strings.Repeat("x", reach+1), 0, 0, 0, 0, false},
		{"a b" + strings.Repeat("x", reach-1) + "y", reach + 2, reach + 2, 2, reach + 3, true},
		{"a b" + strings.Repeat("x", reach), reach + 3, reach + 3, 0, 0, false},
		{"ab cd", 2, 3, 0, 3, true},
		{"ab cd", 3, 4, 3, 5, true},
		{"ab\ncd ef", 4, 4, 3, 6, true},
		{"ab\tcd", 3, 3, 0, 5, true},
		{"", 0, 0, 0, 0, true},
	} {
		if lo, hi, ok := Around(tt.text, tt.from, tt.to); ok != tt.ok || lo != tt.lo || hi != tt.hi {
			t.Errorf("Around(%.20q of %d, %d, %d) = %d, %d, %v, want %d, %d, %v", tt.text, len(tt.text), tt.from, tt.to, lo, hi, ok, tt.lo, tt.hi, tt.ok)
		}
	}
}

// FuzzAround: what stands between seams has the tokens that the whole text has there.
func FuzzAround(f *testing.F) {
	f.Add("It cost 3.14 or \U0001F1E6\U0001F1E7 a b\u0301 c\u200d d can't stop. 4,5 x", 9, 12)
	f.Add("a\n\u0308b a. 1 .2 \u05d0\"\u05d0 c", 3, 4)
	f.Add(strings.Repeat("\u6e2f\u53e3", 400), 600, 602)
	text, rng := nasty(), rand.New(rand.NewPCG(3, 4))
	for range 500 {
		s := text()
		from := rng.IntN(len(s) + 1)
		f.Add(s, from, from+rng.IntN(len(s)-from+1))
	}
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		if from < 0 || to < from || to > len(text) || !utf8.ValidString(text) {
			return
		}
		for from < len(text) && !utf8.RuneStart(text[from]) {
			from++
		}
		for to < len(text) && !utf8.RuneStart(text[to]) {
			to++
		}
		to = max(from, to)
		lo, hi, ok := Around(text, from, to)
		if !ok {
			return
		}
		points := func(at int) int32 { return int32(utf8.RuneCountInString(text[:at])) }
		whole := Words(text)
		first, end := whole.Range(points(lo), points(hi))
		if from == to && lo == hi {
			end = first
		}
		var got Index
		AppendTo(&got, text[lo:hi], points(lo))
		if want := whole.Starts[first:end]; !slices.Equal(got.Starts, want) || !slices.Equal(got.Ends, whole.Ends[first:end]) {
			t.Fatalf("%q, bytes %d to %d: %v to %v, want %v to %v", text, lo, hi, got.Starts, got.Ends, want, whole.Ends[first:end])
		}
		// A second look at the same place adds nothing.
		n := got.Len()
		if AppendTo(&got, text[lo:hi], points(lo)); got.Len() != n {
			t.Fatalf("%d tokens became %d", n, got.Len())
		}
	})
}
