package runs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzManifest reads any bytes as the manifest of a run: what is accepted is JSON of its
// form, and written and read again the same.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema":"` + ManifestSchema + `","status":"complete"}`))
	f.Add([]byte(`{"schema":"` + ManifestSchema + `","started":"2026-01-02T03:04:05Z","rows":1e3,"warnings":["a"]}`))
	f.Add([]byte(`{"schema":"ibid.run/v0"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, ManifestFile)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) == nil && len(members) > 0 {
			if _, err := ReadManifest(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%q has no digest of itself: %v", data, err)
			}
			if err := WriteJSON(path, members); err != nil {
				t.Fatal(err)
			}
		}
		var m *Manifest
		var err error
		checkAllocated(t, len(data), 200, 1<<20, func() { m, err = ReadManifest(dir) })
		if err != nil {
			return
		}
		var head struct{ Schema string }
		if json.Unmarshal(data, &head) != nil || head.Schema != ManifestSchema {
			t.Fatalf("accepted %q", data)
		}
		if err := m.Write(dir); err != nil {
			t.Fatalf("%v: it was read and cannot be written: %q", err, data)
		}
		again, err := ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-read +read again)\n%s", diff)
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
