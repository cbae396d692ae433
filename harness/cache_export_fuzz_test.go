package harness_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ibid/harness"
	"ibid/judge/cache"
	"ibid/judge/cache/cachetest"
)

// FuzzExport keeps an answer of any texts and numbers, exports it, and reads the file with
// parquet-go: it has what was kept, with U+FFFD for bytes that are not UTF-8.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`{"claims":[]}`), []byte("raw \xff\x00"), "run-1", "provider\n", int64(1), int64(-1))
	f.Add([]byte("0"), []byte{}, "\xc3", strings.Repeat("x", 1<<17), int64(1)<<62, int64(1_234_567_891))
	path := filepath.Join(f.TempDir(), "answers.parquet")
	f.Fuzz(func(t *testing.T, verdict, raw []byte, run, provider string, tokens, nano int64) {
		store, err := cache.Open(filepath.Join(t.TempDir(), "s.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		e := cachetest.Entry(1)
		e.Verdict, e.Raw, e.Run, e.Provider, e.PromptTokens, e.CostNanoUSD = verdict, raw, run, provider, tokens, nano
		if len(verdict) == 0 {
			if store.Put(t.Context(), e) == nil {
				t.Error("half an answer is kept")
			}
			return
		}
		if err := store.Put(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		size := len(verdict) + len(raw) + len(run) + len(provider)
		checkAllocated(t, size, 40, 8<<20, func() {
			if n, err := harness.ExportEntries(t.Context(), path, store); n != 1 || err != nil {
				t.Fatalf("ExportEntries = %d, %v", n, err)
			}
		})
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		type row struct {
			Key      string  `parquet:"key"`
			Run      string  `parquet:"run"`
			Provider string  `parquet:"provider"`
			Verdict  string  `parquet:"verdict"`
			Raw      string  `parquet:"raw"`
			Tokens   int64   `parquet:"prompt_tokens"`
			USD      float64 `parquet:"cost_usd"`
		}
		r := parquet.NewGenericReader[row](file)
		defer r.Close()
		got := make([]row, 2)
		if n, err := r.Read(got); n != 1 || err != io.EOF {
			t.Fatalf("%d rows, %v", n, err)
		}
		text := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") } // readers refuse other bytes
		want := row{e.Key.String(), text(run), text(provider), text(string(verdict)), text(string(raw)), tokens, float64(nano) / 1e9}
		if got[0] != want {
			t.Errorf("exported %+v, kept %+v", got[0], want)
		}
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
