package token

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzAround: what stands between seams has the tokens that the whole text has there.
func FuzzAround(f *testing.F) {
	f.Add("It cost 3.14 or \U0001F1E6\U0001F1E7 a b\u0301 c\u200d d can't stop. 4,5 x", 9, 12)
	f.Add("a\n\u0308b a. 1 .2 \u05d0\"\u05d0 c", 3, 4)
	f.Add(strings.Repeat("\u6e2f\u53e3", 400), 600, 602)
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
		for _, kind := range []Kind{KindWords, KindWhitespace} {
			whole := kind.Index(text)
			first, end := whole.Range(points(lo), points(hi))
			if from == to && lo == hi {
				end = first
			}
			var got Index
			kind.AppendTo(&got, text[lo:hi], points(lo))
			if want := whole.Starts[first:end]; !slices.Equal(got.Starts, want) || !slices.Equal(got.Ends, whole.Ends[first:end]) {
				t.Fatalf("%s of %q, bytes %d to %d: %v to %v, want %v to %v", kind, text, lo, hi, got.Starts, got.Ends, want, whole.Ends[first:end])
			}
			// A second look at the same place adds nothing.
			n := got.Len()
			if kind.AppendTo(&got, text[lo:hi], points(lo)); got.Len() != n {
				t.Fatalf("%d tokens became %d", n, got.Len())
			}
		}
	})
}
