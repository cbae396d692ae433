package harness

import (
	"testing"

	"ibid"
)

// Ends of a span reach out to the borders of sentences within the tolerance, and never
// come in.
func TestSentenceEdges(t *testing.T) {
	text := []rune("Ünlü first sentence here. The second one is longer than that. And the third ends it.")
	second, third := int64(26), int64(62) // where they start
	e := sentenceEdges{tolerance: 10, excerpt: func(_ string, _ int32, start, end int64) (string, bool) {
		return string(text[start:end]), true
	}}
	for _, tt := range []struct {
		name                string
		start, end          int64
		wantStart, wantLast int64
	}{
		{"a sentence", second, third - 1, second, third - 1},
		{"too late", second + 10, third - 1, second, third - 1},
		{"too late by more than the tolerance", second + 11, third - 1, second + 11, third - 1},
		{"too early", second - 5, third - 6, second - 5, third - 1},
		{"both ends in", second + 4, third - 4, second, third - 1},
		{"one character", second + 15, second + 16, second + 15, second + 16},
		{"the first and last sentence", 3, int64(len(text)) - 2, 0, int64(len(text))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start, end := e.widen(&ibid.Place{Doc: "d"}, tt.start, tt.end, int64(len(text)), e.tolerance)
			if start != tt.wantStart || end != tt.wantLast {
				t.Errorf("[%d, %d) becomes [%d, %d), want [%d, %d)", tt.start, tt.end, start, end, tt.wantStart, tt.wantLast)
			}
		})
	}
	e.tolerance = 0
	if start, end := e.widen(&ibid.Place{Doc: "d"}, second+4, third-4, int64(len(text)), e.tolerance); start != second+4 || end != third-4 {
		t.Errorf("without a tolerance an end moves to %d, %d", start, end)
	}
}
