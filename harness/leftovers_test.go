package harness_test

import (
	"os"
	"path/filepath"
	"testing"

	"ibid"
)

// TestPartsLeftBehind: a process that is killed while it removes the parts of a
// finished run leaves any of their files; the next one ends in the same bytes and
// leaves none.
func TestPartsLeftBehind(t *testing.T) {
	for name, rows := range map[string][]*ibid.Answer{
		"complete": questions(40, "a"),
		"partial":  broken(questions(40, "a")),
	} {
		t.Run(name, func(t *testing.T) {
			path, out := writeRows(t, rows), "out="+t.TempDir()
			dir := evaluate(t, path, out)
			want := results(t, dir)
			parts := filepath.Join(dir, "parts")
			if err := os.Mkdir(parts, 0o777); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadFile(filepath.Join(dir, "rows.parquet"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(parts, "00000000.rows"), left, 0o666); err != nil {
				t.Fatal(err)
			}
			evaluate(t, path, out)
			for file, data := range results(t, dir) {
				if data != want[file] {
					t.Errorf("%s differs", file)
				}
			}
			if _, err := os.Stat(parts); !os.IsNotExist(err) {
				t.Errorf("parts are left: %v", err)
			}
		})
	}
}
