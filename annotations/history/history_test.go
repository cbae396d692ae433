package history

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var day0 = time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC)

// nightsOf are n nights, one a day, over the same questions.
func nightsOf(n int) []Night {
	var out []Night
	for i := range n {
		out = append(out, Night{Run: fmt.Sprintf("n%d", i), At: day0.AddDate(0, 0, i), Basis: map[string]string{"judge": "a"}, Items: "q"})
	}
	return out
}

// TestDivide: another judge, or other questions, begin a new segment.
func TestDivide(t *testing.T) {
	nights := nightsOf(12)
	for i := 5; i < 12; i++ {
		nights[i].Basis = map[string]string{"judge": "b"}
	}
	nights[11].Items = "other"
	segments := Divide(nights)
	if len(segments) != 3 || !slices.Equal(segments[1].Why, []string{"judge"}) || !slices.Equal(segments[2].Why, []string{"questions"}) || len(segments[1].Nights) != 6 {
		t.Fatalf("segments: %v", segments)
	}
}
