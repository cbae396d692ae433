package duckdb

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// TestFails counts the rows that fail in the file and as ibid show --failing does.
func TestFails(t *testing.T) {
	s := sample(t)
	d := openDuck(t)
	d.loadRun(s.runDir)
	var shown struct{ Failing int64 }
	if err := json.Unmarshal([]byte(ibid(t, t.TempDir(), "show", filepath.Dir(s.rows), "--failing", "--json")), &shown); err != nil {
		t.Fatal(err)
	}
	if n := d.number("SELECT count(*) FROM rows WHERE fails_because IS NOT NULL"); n != shown.Failing || n == 0 {
		t.Errorf("%d rows fail in the file, %d are shown", n, shown.Failing)
	}
	d.none("what has an error fails", "SELECT id FROM rows WHERE status = 'error' AND fails_because IS NULL")
	d.none("what scores below 0.5 fails", "SELECT id FROM rows WHERE overall_citation_accuracy < 0.5 AND fails_because IS NULL")
}
