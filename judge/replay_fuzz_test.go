package judge

import (
	"bytes"
	"encoding/json"
	"runtime"
	"testing"
)

// FuzzReplay reads any bytes as recorded replies, and compares with encoding/json how many
// there are and what each says. A line that is asked for is read again from the file.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"row":"a/s","reply":"full","model":"m"}` + "\n\n" + `{"key":"k","reply":{"claims":[]}}` + "\r\n"))
	f.Add([]byte(`{"row":"a/s","reply":"x"}` + "\n" + `{"row":"a/s","reply":"y"}`))
	f.Add([]byte(`{"row":"a","key":"b","reply":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p *Replay
		var err error
		checkAllocated(t, len(data), 400, 1<<20, func() { p, err = NewReplay("f", bytes.NewReader(data), int64(len(data))) })
		type line struct {
			Key, Row string
			Reply    json.RawMessage
		}
		names, ok := make(map[string]bool), true
		for text := range bytes.SplitSeq(data, []byte("\n")) {
			if len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			var l line
			if json.Unmarshal(text, &l) != nil || (l.Key == "") == (l.Row == "") || len(l.Reply) == 0 || string(l.Reply) == "null" {
				ok = false
				break
			}
			name := "key " + l.Key
			if l.Key == "" {
				name = "row " + l.Row
			}
			if ok = ok && !names[name]; !ok {
				break
			}
			names[name] = true
		}
		if (err == nil) != ok {
			t.Fatalf("%q: error %v; want accepted %t", data, err, ok)
		}
		if err == nil && p.Len() != len(names) {
			t.Errorf("%d replies, want %d of %q", p.Len(), len(names), data)
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
