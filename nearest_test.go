package ibid

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	long := strings.Repeat("n", maxWord)
	tests := []struct {
		s, want    string
		candidates []string
	}{
		{"datset", "dataset", []string{"documents", "dataset"}},
		{"knid", "kind", []string{"mode", "kind"}},
		{"ot", "out", []string{"id", "out"}},
		{"zebra", "", []string{"dataset", "seed"}},
		{"a", "", []string{"b"}},
		{"", "", []string{"id"}},
		{"cat", "bat", []string{"bat", "rat"}},
		{"DATSET", "Dataset", []string{"documents", "Dataset"}},
		{"kxxd", "kind", []string{"kind"}}, // four letters: two edits
		{"kxxx", "", []string{"kind"}},
		{"ixx", "", []string{"ida"}},                      // three letters: one
		{"xxxments", "", []string{"documents"}},           // a third of eight is two
		{"xxxuments", "documents", []string{"documents"}}, // of nine three
		{long, long + "x", []string{long + "x"}},
		{long + "x", "", []string{long}},
	}
	for _, tt := range tests {
		if got := Nearest(tt.s, tt.candidates); got != tt.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", tt.s, tt.candidates, got, tt.want)
		}
	}
}

func TestSlip(t *testing.T) {
	long := strings.Repeat("n", maxWord)
	tests := []struct {
		s, want    string
		candidates []string
	}{
		{"quots", "quote", []string{"quote"}},
		{"QUOTS", "Quote", []string{"Quote"}},
		{"quote", "quote", []string{"quote"}},
		{"quo", "", []string{"quote"}},       // two edits
		{"king", "", []string{"kind"}},       // four letters
		{"kinds", "", []string{"kind"}},      // the candidate has four
		{"kind", "kinds", []string{"kinds"}}, // it has five
		{"quotr", "quote", []string{"quote", "quota"}},
		{long, long, []string{long}},
		{long + "n", "", []string{long}},
	}
	for _, tt := range tests {
		if got := Slip(tt.s, tt.candidates); got != tt.want {
			t.Errorf("Slip(%q, %q) = %q, want %q", tt.s, tt.candidates, got, tt.want)
		}
	}
}

// TestEditDistance holds words of few letters, where swaps and repeats are common, beside
// the definition.
func TestEditDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, rng.IntN(7))
		for i := range b {
			b[i] = byte('a' + rng.IntN(3))
		}
		return string(b)
	}
	for range 500 {
		a, b := word(), word()
		if got, want := editDistance(a, b), slowDistance(a, b); got != want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
}

// slowDistance is the definition of editDistance, without memory.
func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	la, lb := len(a)-1, len(b)-1
	cost := 1
	if a[la] == b[lb] {
		cost = 0
	}
	d := min(slowDistance(a[:la], b)+1, slowDistance(a, b[:lb])+1, slowDistance(a[:la], b[:lb])+cost)
	if la > 0 && lb > 0 && a[la] == b[lb-1] && a[la-1] == b[lb] {
		d = min(d, slowDistance(a[:la-1], b[:lb-1])+1)
	}
	return d
}

func FuzzEditDistance(f *testing.F) {
	f.Add("knid", "kind")
	f.Add("abc", "ca")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = a[:min(len(a), 6)], b[:min(len(b), 6)]
		if got, want := editDistance(a, b), slowDistance(a, b); got != want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}
