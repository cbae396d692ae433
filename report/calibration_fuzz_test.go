package report

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid/dataset/runs"
)

// FuzzCalibration reads any bytes as the calibration of a run: what is accepted is saved and
// read again the same.
func FuzzCalibration(f *testing.F) {
	f.Add([]byte(`{"schema":"` + calibrationSchema + `","title":"t","of":"o","kinds":[{"kind":"support","bins":[{"n":1}]}],"warnings":["w"]}`))
	f.Add([]byte(`{"schema":"` + calibrationSchema + `","kinds":[{"auroc":{"value":1e308}},{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, runs.CalibrationFile), data, 0o666); err != nil {
			t.Fatal(err)
		}
		var c *Calibration
		var err error
		checkAllocated(t, len(data), 400, 1<<20, func() { c, err = ReadCalibration(dir) })
		if err != nil {
			return
		}
		if err := SaveCalibration(dir, c); err != nil {
			t.Fatalf("%v: it was read and cannot be saved: %q", err, data)
		}
		again, err := ReadCalibration(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" {
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
