package metrics

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// benchmarkRows returns 1024 rows with k spans a side, and one scorer for them.
func benchmarkRows(policy string, k int) ([]*Row, *Scorer) {
	rng := rand.New(rand.NewPCG(4, 2))
	rows := make([]*Row, 1024)
	for i := range rows {
		rows[i] = randomRow(rng, k)
		if policy != "best" {
			for j := range rows[i].Truth {
				rows[i].Truth[j].Annotator = strconv.Itoa(j % 3)
			}
		}
	}
	s := NewScorer(withPolicy(policy))
	return rows, s
}

func TestScoreDoesNotAllocate(t *testing.T) {
	for _, policy := range []string{"best", "union", "majority", "mean", "annotator:1"} {
		for _, k := range []int{3, 40} {
			t.Run(policy+"/"+strconv.Itoa(k), func(t *testing.T) {
				rows, s := benchmarkRows(policy, k)
				rows = rows[:50]
				var out Scores
				all := func() {
					for _, r := range rows {
						s.Score(r, &out)
					}
				}
				all()
				if n := testing.AllocsPerRun(10, all); n != 0 {
					t.Errorf("%v allocations over %d rows, want 0", n, len(rows))
				}
			})
		}
	}
}

func BenchmarkScore(b *testing.B) {
	for _, policy := range []string{"best", "mean"} {
		for _, k := range []int{1, 3, 12} {
			b.Run("policy="+policy+"/spans="+strconv.Itoa(k), func(b *testing.B) {
				rows, s := benchmarkRows(policy, k)
				var out Scores
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					s.Score(rows[i&1023], &out)
					i++
				}
			})
		}
	}
}
