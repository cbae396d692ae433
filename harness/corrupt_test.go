package harness_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/harness"
)

// TestCorruptDataLeaveNothing damages a dataset at many places. Whenever the
// damage is noticed, before or during the scoring, it is the data's fault and
// nothing of the run stays behind.
func TestCorruptDataLeaveNothing(t *testing.T) {
	whole, err := os.ReadFile(writeRows(t, questions(200, "a", "b")))
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	noticed, late := 0, 0
	for at := 4; at < len(whole)-8; at += max(1, len(whole)/120) {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 0x10
		path := filepath.Join(t.TempDir(), "damaged.parquet")
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		config, err := configs.Load(configs.Options{Set: []string{"dataset=" + path, "judge=none", "out=" + out}})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := (&harness.Job{Config: config, ID: "run"}).Plan(t.Context())
		if err == nil {
			_, err = plan.Run(t.Context())
			if errors.Is(err, parquet.ErrCorrupt) {
				late++
			}
		}
		if errors.Is(err, parquet.ErrCorrupt) {
			noticed++
			if !errors.Is(err, ibid.ErrUsage) {
				t.Errorf("byte %d: %v is not blamed on the data", at, err)
			}
			if _, e := os.Stat(filepath.Join(out, "run")); !errors.Is(e, os.ErrNotExist) {
				t.Errorf("byte %d: something of the run is left (%v)", at, e)
			}
		}
		os.RemoveAll(filepath.Join(out, "run"))
	}
	if noticed == 0 || late == 0 {
		t.Errorf("damage noticed %d times, %d of them while running: the test shows nothing", noticed, late)
	}
}
