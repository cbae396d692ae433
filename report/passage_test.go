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
		marks []mark
		want  []passage
	}{
		{"no marks", "abc", nil, nil},
		{"predicted and true overlap", "é茶🍵def", []mark{cited(1, 4), right(2, 5)}, []passage{{Start: 0, End: 6, Runs: []markedRun{
			{"é", false, false}, {"茶", true, false}, {"🍵d", true, true}, {"e", false, true}, {"f", false, false},
		}}}},
		{"twice the same", "abc", []mark{cited(0, 3), cited(0, 3)}, []passage{{Start: 0, End: 3, Runs: []markedRun{{"abc", true, false}}}}},
		{"cut to the text", "abc", []mark{right(-5, 2), cited(2, 90)}, []passage{{Start: 0, End: 3, Runs: []markedRun{{"ab", false, true}, {"c", true, false}}}}},
		{"outside the text", "abc", []mark{right(3, 9), right(-4, 0)}, nil},
		{"empty and inverted", "abc", []mark{right(1, 1), cited(2, 1)}, nil},
		{"far apart", "A" + far + "B", []mark{right(0, 1), cited(501, 502)}, []passage{
			{Start: 0, End: 121, After: true, Runs: []markedRun{{"A", false, true}, {far[:120], false, false}}},
			{Start: 381, End: 502, Before: true, Runs: []markedRun{{far[:120], false, false}, {"B", true, false}}},
		}},
		{"neighbourhoods that touch are one", "A" + far[:240] + "B", []mark{cited(241, 242), right(0, 1)}, []passage{
			{Start: 0, End: 242, Runs: []markedRun{{"A", false, true}, {far[:240], false, false}, {"B", true, false}}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, passages(tt.text, tt.marks)); diff != "" {
				t.Errorf("passages(%.20q, %v): -want +got\n%s", tt.text, tt.marks, diff)
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
		marks := []mark{cited(3*int64(a), 3*int64(b)), right(3*int64(c), 3*int64(d))}
		shown := make(map[int64]bool)
		for _, p := range passages(text, marks) {
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

func cited(start, end int64) mark { return mark{start: start, end: end, kind: markPredicted} }

func right(start, end int64) mark { return mark{start: start, end: end, kind: markTrue} }

func inMark(m mark, at int64) bool { return m.start <= at && at < m.end }

func nearMark(marks []mark, at, length int64) bool {
	for _, m := range marks {
		if m.start < m.end && m.start < length && m.end > 0 && m.start-surround <= at && at < m.end+surround {
			return true
		}
	}
	return false
}
