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

// TestDivide: another judge, or other questions, begin a new segment, unless any questions
// will do.
func TestDivide(t *testing.T) {
	nights := nightsOf(12)
	for i := 5; i < 12; i++ {
		nights[i].Basis = map[string]string{"judge": "b"}
	}
	nights[11].Items = "other"
	segments := Divide(nights, Options{})
	if len(segments) != 3 || !slices.Equal(segments[1].Why, []string{"judge"}) || !slices.Equal(segments[2].Why, []string{"questions"}) || len(segments[1].Nights) != 6 {
		t.Fatalf("segments: %v", segments)
	}
	if segments = Divide(nights, Options{AnyItems: true}); len(segments) != 2 {
		t.Fatalf("%d segments of any questions, want 2", len(segments))
	}
}

func TestExpired(t *testing.T) {
	nights := nightsOf(6)
	for i := 3; i < 6; i++ {
		nights[i].Basis = map[string]string{"judge": "b"}
	}
	var gone []string
	for _, n := range Expired(Divide(nights, Options{}), day0.AddDate(0, 0, 10), 6*24*time.Hour) {
		gone = append(gone, n.Run)
	}
	// n2 and n5 are the last of their segments; n4 is not older than six days.
	if want := []string{"n0", "n1", "n3"}; !slices.Equal(gone, want) {
		t.Errorf("expired: %v, want %v", gone, want)
	}
}
