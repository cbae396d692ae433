package metrics

import (
	"math/rand/v2"
	"testing"
)

func TestJudgedScoreDoesNotAllocate(t *testing.T) {
	rows, s := judgedBenchmark()
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
}

func judgedBenchmark() ([]*Row, *Scorer) {
	rng := rand.New(rand.NewPCG(7, 7))
	rows := make([]*Row, 1024)
	for i := range rows {
		rows[i] = randomRow(rng, 3)
		rows[i].Answer.Answer = "Wages rose in 2019 [1]. They fell in 2020 [2], and rose again [3]."
		judge(rng, rows[i], 4, 0.1)
	}
	o := judgedOptions()
	o.Necessity = true
	s := NewScorer(o)
	return rows, s
}

func BenchmarkScoreJudged(b *testing.B) {
	rows, s := judgedBenchmark()
	var out Scores
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.Score(rows[i&1023], &out)
		i++
	}
}
