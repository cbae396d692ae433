package cache_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ibid/benchmarks/alloctest"
	"ibid/judge/cache"
	"ibid/judge/cache/cachetest"
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
		if err := store.Put(f.Context(), cachetest.Entry(i)); err != nil {
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
		alloctest.Check(t, len(data), 100, 64<<20, func() {
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
				if e, err := store.Get(t.Context(), cachetest.Key(i)); err == nil && e != nil && e.Key != cachetest.Key(i) {
					t.Errorf("the answer of key %v is that of %v", cachetest.Key(i), e.Key)
				}
			}
		})
	})
}
