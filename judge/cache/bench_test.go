package cache_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"ibid/judge/cache"
)

// answer is an entry with a verdict of 500 bytes and a response of 3,000, about
// what a row of six claims takes.
func answer(n int) *cache.Entry {
	e := testEntry(n)
	e.Verdict = bytes.Repeat([]byte("v"), 500)
	e.Raw = fmt.Appendf(bytes.Repeat([]byte("r"), 2990), "%010d", n)
	return e
}

func BenchmarkPut(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run("writers="+strconv.Itoa(writers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "judge.sqlite"))
			spread(b, writers, func(n int) error { return s.Put(b.Context(), answer(n)) })
		})
	}
}

func BenchmarkGet(b *testing.B) {
	const entries = 20_000
	s := open(b, filepath.Join(b.TempDir(), "judge.sqlite"))
	var all sync.WaitGroup
	for g := range 64 {
		all.Go(func() {
			for n := g; n < entries; n += 64 {
				put(b, s, answer(n))
			}
		})
	}
	all.Wait()
	for _, goroutines := range []int{1, 8} {
		b.Run("goroutines="+strconv.Itoa(goroutines), func(b *testing.B) {
			spread(b, goroutines, func(n int) error {
				e, err := s.Get(b.Context(), testKey(n%entries))
				if err == nil && e == nil {
					err = fmt.Errorf("entry %d is gone", n%entries)
				}
				return err
			})
		})
	}
}

// spread does b.N operations on some goroutines.
func spread(b *testing.B, goroutines int, do func(n int) error) {
	b.ReportAllocs()
	b.ResetTimer()
	var next atomic.Int64
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				if err := do(int(n)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}
