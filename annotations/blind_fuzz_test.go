package annotations

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzBlind reads any bytes as the key of a sample, and others as the template that people
// filled in. A key is written and read again the same; what was filled in is of items of
// the key, has both ends of each mark, and says of an item what its last line says.
func FuzzBlind(f *testing.F) {
	key := `{"schema":"` + KeySchema + `","template":"t.jsonl","strata":{"":2},"items":[{"blind":"item-0001","id":"a","system":"s","row":7},{"blind":"item-0002","id":"b","system":"s","row":9}]}`
	f.Add([]byte(key), []byte(`{"id":"item-0001","query":"q","answer":"a","truth":[{"doc":"d","start":0,"end":3}],"labels":[]}`+"\n"))
	f.Add([]byte(key), []byte(`{"id":"item-0002","truth":[],"labels":[{"kind":"support","value":0.5}]}`+"\n\n"+`{"id":"item-0002","truth":null,"labels":[]}`))
	f.Add([]byte(key), []byte(`{"id":"item-0003"}`))
	f.Fuzz(func(t *testing.T, key, filled []byte) {
		dir := t.TempDir()
		path, template := filepath.Join(dir, "key.json"), filepath.Join(dir, "t.jsonl")
		for name, data := range map[string][]byte{path: key, template: filled} {
			if err := os.WriteFile(name, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var k *Key
		var err error
		checkAllocated(t, len(key), 200, 1<<20, func() { k, err = ReadKey(path) })
		if err != nil {
			return
		}
		if err := k.Write(path); err != nil {
			t.Fatal(err)
		}
		again, err := ReadKey(path)
		if diff := cmp.Diff(k, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("key, %v (-read +read again)\n%s", err, diff)
		}
		var said *Filled
		checkAllocated(t, len(filled), 400, 1<<20, func() { said, err = ReadFilled(t.Context(), []string{template}, k) })
		if err != nil {
			return
		}
		want := make(map[string]bool)
		d := json.NewDecoder(bytesOf(t, template))
		for d.More() {
			var it BlindItem
			if err := d.Decode(&it); err != nil {
				t.Fatalf("accepted %q: %v", filled, err)
			}
			if !slices.ContainsFunc(k.Items, func(x KeyItem) bool { return x.Blind == it.ID }) {
				t.Errorf("%q is no item of the key", it.ID)
			} else if it.Answered() {
				want[it.ID] = true
			}
		}
		got := make(map[string]bool)
		for _, rows := range []map[int64][]BlindItem{said.Said, said.Decided} {
			for row, items := range rows {
				for _, it := range items {
					if got[it.ID] {
						t.Errorf("%q is there twice", it.ID)
					}
					got[it.ID] = true
					if i := slices.IndexFunc(k.Items, func(x KeyItem) bool { return x.Blind == it.ID }); k.Items[i].Row != row {
						t.Errorf("%q is said of row %d", it.ID, row)
					}
					for _, m := range it.Truth {
						if m.Start == nil || m.End == nil {
							t.Errorf("a mark without both ends: %+v", m)
						}
					}
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answered (-want +got)\n%s", diff)
		}
	})
}

func bytesOf(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
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
