//go:build unix

package openrouter

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ibid/judge/judgetest"
)

// BenchmarkCached judges rows of two to seven claims whose answers are kept:
// one verdict is a whole row.
func BenchmarkCached(b *testing.B) {
	s := judgetest.NewServer(judgetest.ServerConfig{})
	defer s.Close()
	j := newTestJudge(b, s, nil)
	rows := rowsOf(600)
	if bad := failures(judgeAll(context.Background(), j, rows, 50)); len(bad) > 0 {
		b.Fatal(bad[0])
	}
	claims := 0
	for _, r := range rows {
		claims += len(r.Claims)
	}
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime(b)
	var next atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := j.Judge(context.Background(), rows[int(next.Add(1))%len(rows)]); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	used := cpuTime(b) - before
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	// What a machine that is busy with other work says best.
	b.ReportMetric(used.Seconds()*1e6/float64(b.N), "cpu-µs/row")
	b.ReportMetric(float64(b.N)*float64(claims)/float64(len(rows))/b.Elapsed().Seconds(), "claims/s")
}

// cpuTime is the time that the processors have worked for this process.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
