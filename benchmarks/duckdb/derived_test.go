package duckdb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestViewOfCore: the view that ibid show --format sql prints of a run with results: core has
// the columns and the values that a run with all results writes.
func TestViewOfCore(t *testing.T) {
	dir := t.TempDir()
	ibid := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("ibid %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	ibid("init", "demo", "-q")
	ibid("run", "demo/ibid.yaml", "--id", "all", "-q")
	ibid("run", "demo/ibid.yaml", "--id", "core", "--set", "results=core", "-q")
	sizes := make(map[string]int64)
	for _, id := range []string{"all", "core"} {
		info, err := os.Stat(filepath.Join(dir, "runs", id, "rows.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		sizes[id] = info.Size()
	}
	if sizes["core"] >= sizes["all"] {
		t.Errorf("sizes: %v", sizes)
	}
	d := openDuck(t)
	d.exec(ibid("show", "runs/core", "--format", "sql"))
	d.load("whole", filepath.Join(dir, "runs", "all", "rows.parquet"))
	names, types := d.columns("rows")
	wantNames, wantTypes := d.columns("whole")
	if strings.Join(names, " ") != strings.Join(wantNames, " ") || strings.Join(types, " ") != strings.Join(wantTypes, " ") {
		t.Fatalf("columns %v\n%v", names, types)
	}
	for _, query := range []string{"FROM rows EXCEPT ALL FROM whole", "FROM whole EXCEPT ALL FROM rows"} {
		if lines := d.rows(query); len(lines) > 0 {
			t.Errorf("%s: %d rows", query, len(lines))
		}
	}
	if lines := d.rows("SELECT 1 FROM rows WHERE char_f1 > 0 AND char_f1 < 1"); len(lines) == 0 {
		t.Error("no values")
	}
}
