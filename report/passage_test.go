package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPassages(t *testing.T) {
	far := strings.Repeat("x", 500)
	tests := []struct {
		name  string
		text  string
		marks []Mark
		want  []Passage
	}{
		{"no marks", "abc", nil, nil},
		{"predicted and true overlap", "é茶🍵def", []Mark{{1, 4, false}, {2, 5, true}}, []Passage{{Start: 0, End: 6, Runs: []Run{
			{"é", false, false}, {"茶", true, false}, {"🍵d", true, true}, {"e", false, true}, {"f", false, false},
		}}}},
		{"twice the same", "abc", []Mark{{0, 3, false}, {0, 3, false}}, []Passage{{Start: 0, End: 3, Runs: []Run{{"abc", true, false}}}}},
		{"cut to the text", "abc", []Mark{{-5, 2, true}, {2, 90, false}}, []Passage{{Start: 0, End: 3, Runs: []Run{{"ab", false, true}, {"c", true, false}}}}},
		{"outside the text", "abc", []Mark{{3, 9, true}, {-4, 0, true}}, nil},
		{"empty and inverted", "abc", []Mark{{1, 1, true}, {2, 1, false}}, nil},
		{"far apart", "A" + far + "B", []Mark{{0, 1, true}, {501, 502, false}}, []Passage{
			{Start: 0, End: 121, After: true, Runs: []Run{{"A", false, true}, {far[:120], false, false}}},
			{Start: 381, End: 502, Before: true, Runs: []Run{{far[:120], false, false}, {"B", true, false}}},
		}},
		{"neighbourhoods that touch are one", "A" + far[:240] + "B", []Mark{{241, 242, false}, {0, 1, true}}, []Passage{
			{Start: 0, End: 242, Runs: []Run{{"A", false, true}, {far[:240], false, false}, {"B", true, false}}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Passages(tt.text, tt.marks)); diff != "" {
				t.Errorf("Passages(%.20q, %v): -want +got\n%s", tt.text, tt.marks, diff)
			}
		})
	}
}

// FuzzPassages looks every code point up: in a passage it must be the text's own
// and be marked as the marks say; outside all passages it must be far from marks.
func FuzzPassages(f *testing.F) {
	f.Add("é茶🍵def", int8(1), int8(4), int8(2), int8(5))
	f.Add(strings.Repeat("ab c", 100), int8(0), int8(1), int8(127), int8(127))
	f.Fuzz(func(t *testing.T, text string, a, b, c, d int8) {
		if !utf8.ValidString(text) {
			t.Skip("texts are UTF-8")
		}
		points := []rune(text)
		marks := []Mark{{3 * int64(a), 3 * int64(b), false}, {3 * int64(c), 3 * int64(d), true}}
		shown := make(map[int64]bool)
		for _, p := range Passages(text, marks) {
			at := p.Start
			for _, r := range p.Runs {
				for _, point := range r.Text {
					if points[at] != point || r.Predicted != inMark(marks[0], at) || r.True != inMark(marks[1], at) || shown[at] {
						t.Fatalf("code point %d is %q in %+v, the marks are %v", at, point, r, marks)
					}
					shown[at] = true
					at++
				}
			}
			if at != p.End || p.Before != (p.Start > 0) || p.After != (p.End < int64(len(points))) {
				t.Fatalf("passage %+v ends at %d of %d", p, at, len(points))
			}
		}
		for at := range int64(len(points)) {
			if want := nearMark(marks, at, int64(len(points))); shown[at] != want {
				t.Fatalf("code point %d is shown: %t, want %t; marks %v", at, shown[at], want, marks)
			}
		}
	})
}

func inMark(m Mark, at int64) bool { return m.Start <= at && at < m.End }

func nearMark(marks []Mark, at, length int64) bool {
	for _, m := range marks {
		if m.Start < m.End && m.Start < length && m.End > 0 && m.Start-surround <= at && at < m.End+surround {
			return true
		}
	}
	return false
}
