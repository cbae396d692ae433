package fetch

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"ibid/dataset"
)

// FuzzArchive opens archives with any records, and compares with encoding/json: the last
// record of a page counts, and a line without an end is dropped from the file.
func FuzzArchive(f *testing.F) {
	f.Add([]byte(`{"url":"http://a/","state":"ok"}` + "\n" + `{"url":"http://a/","state":"dead"}` + "\n" + `{"url":"half`))
	f.Add([]byte("{}\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "fetched.jsonl")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		var a *Archive
		var err error
		checkAllocated(t, len(data), 200, 1<<20, func() { a, err = OpenArchive(dir) })
		whole, ok := data[:bytes.LastIndexByte(data, '\n')+1], true
		want := make(map[string]dataset.Fetched)
		for line := range bytes.Lines(whole) {
			var r dataset.Fetched
			if json.Unmarshal(line, &r) != nil {
				ok = false
				break
			}
			want[r.URL] = r
		}
		if (err == nil) != ok {
			t.Fatalf("%q: error %v; want accepted %t", data, err, ok)
		}
		if err != nil {
			return
		}
		defer a.Close()
		for url, r := range want {
			if got, ok := a.Record(url); !ok || got != r {
				t.Errorf("%q is %+v, want %+v", url, got, r)
			}
		}
		if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, whole) {
			t.Errorf("the file has %q, want %q", left, whole)
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
