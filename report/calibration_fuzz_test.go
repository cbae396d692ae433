package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid/benchmarks/alloctest"
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
		alloctest.Check(t, len(data), 400, 1<<20, func() { c, err = ReadCalibration(dir) })
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
