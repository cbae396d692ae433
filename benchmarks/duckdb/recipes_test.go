package duckdb

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecipes runs the queries of docs/results.md over the sample's run. Each has rows.
func TestRecipes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "demo", "-q"}, {"run", "demo/ibid.yaml", "--id", "first", "-q"}} {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("ibid %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	recipes := regexp.MustCompile("(?s)\n```sql\n(.*?);\n```").FindAllStringSubmatch(string(text), -1)
	if len(recipes) < 4 {
		t.Fatalf("%d recipes", len(recipes))
	}
	d := openDuck(t)
	for _, m := range recipes {
		query := strings.ReplaceAll(m[1], "'runs/first/", "'"+filepath.Join(dir, "runs", "first")+"/")
		if rows := d.rows(query); len(rows) < 2 {
			t.Errorf("%d rows:\n%s", len(rows), m[1])
		}
	}
}
