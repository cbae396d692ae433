package ibid

import "testing"

func TestNearest(t *testing.T) {
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
	}
	for _, tt := range tests {
		if got := Nearest(tt.s, tt.candidates); got != tt.want {
			t.Errorf("Nearest(%q, %q) = %q, want %q", tt.s, tt.candidates, got, tt.want)
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
