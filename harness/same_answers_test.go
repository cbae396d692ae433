package harness

import (
	"testing"

	"ibid/metrics/stats"
)

// TestSameAnswersAreBounded: where there are too many answers, some questions are left
// out, whole, and which these are does not depend on the order of rows.
func TestSameAnswersAreBounded(t *testing.T) {
	const questions, most = 5000, 1000
	fill := func(backwards bool) map[[2]int]sameCount {
		a := newSameAnswers(most)
		for i := range questions {
			if backwards {
				i = questions - 1 - i
			}
			q := stats.Key(string(rune(i)))
			for system := range 2 {
				a.add(q, system, int64(i%2*system)) // half of the answers are the same
			}
		}
		if a.kept > most || a.kept < most/3 {
			t.Errorf("%d answers are kept, of at most %d", a.kept, most)
		}
		return a.pairs()
	}
	one, other := fill(false), fill(true)
	pair := one[[2]int{0, 1}]
	if len(one) != 1 || pair != other[[2]int{0, 1}] {
		t.Errorf("the order counts: %v and %v", one, other)
	}
	if share := float64(pair.same) / float64(pair.shared); share < 0.4 || share > 0.6 {
		t.Errorf("%d of %d are the same", pair.same, pair.shared)
	}
}
