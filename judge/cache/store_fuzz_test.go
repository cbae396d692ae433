package cache_test

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"ibid/judge/cache"
)

// FuzzDamagedStore changes bytes of a store: it is refused, or reads without a panic and
// twice the same, and an answer that it gives for a key has that key.
func FuzzDamagedStore(f *testing.F) {
	const answers = 20
	path := filepath.Join(f.TempDir(), "s.sqlite")
	store, err := cache.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	for i := range answers {
		if err := store.Put(f.Context(), testEntry(i)); err != nil {
			f.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(16), []byte{0xff})
	f.Add(uint32(100), []byte{0x0d, 0, 0})
	f.Add(uint32(len(whole)/2), []byte("half"))
	f.Fuzz(func(t *testing.T, at uint32, with []byte) {
		data := append([]byte{}, whole...)
		copy(data[int(at)%len(data):], with)
		path := filepath.Join(t.TempDir(), "s.sqlite")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		checkAllocated(t, len(data), 100, 64<<20, func() {
			store, err := cache.Open(path)
			if err != nil {
				return
			}
			defer store.Close()
			read := func() (all []*cache.Entry, failed bool) {
				for e, err := range store.Entries(t.Context()) {
					if err != nil {
						return all, true
					}
					all = append(all, e)
				}
				return all, false
			}
			first, failed := read()
			again, failedAgain := read()
			if failed != failedAgain || !reflect.DeepEqual(first, again) {
				t.Errorf("%d answers, then %d", len(first), len(again))
			}
			for i := range answers {
				if e, err := store.Get(t.Context(), testKey(i)); err == nil && e != nil && e.Key != testKey(i) {
					t.Errorf("the answer of key %v is that of %v", testKey(i), e.Key)
				}
			}
		})
	})
}

// checkAllocated runs f, which reads input bytes, and fails t if f allocates more than perByte
// bytes for each of them and budget bytes beside. Memory that is free again counts, too.
func checkAllocated(t testing.TB, input int, perByte, budget int64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took, most := int64(after.TotalAlloc-before.TotalAlloc), perByte*int64(input)+budget; took > most {
		t.Errorf("%d bytes allocated for %d of input, more than %d for each and %d", took, input, perByte, budget)
	}
}
