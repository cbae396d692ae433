package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A generated is a dataset that DuckDB made, as tables answers, documents and
// texts of the database, and the same rows as ibid itself wrote and scored them.
type generated struct {
	*duck
	dir       string
	answers   string // written by ibid import
	documents string // written by ibid import
	scored    runDir
}

// runArgs are the settings of every run over the generated dataset.
var runArgs = []string{"--set", "slices=[lang]", "--workers", "2"}

var (
	generateOnce sync.Once
	generation   *generated
)

// generate makes the dataset, once for all tests.
func generate(t *testing.T) *generated {
	t.Helper()
	generateOnce.Do(func() { generation = newGenerated(t) })
	if generation == nil {
		t.Fatal("the dataset could not be made, see the first test that needed it")
	}
	return generation.in(t)
}

func newGenerated(t *testing.T) *generated {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("testdata", "answers.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	g := &generated{duck: &duck{t: t, db: db}, dir: filepath.Join(scratch, "generated")}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	g.exec(string(script))
	g.copy("answers", "answers.jsonl", "FORMAT json")
	g.copy("documents", "documents.jsonl", "FORMAT json")
	ibid(t, g.dir, "import", "jsonl", "answers.jsonl", "documents.jsonl", "-o", "imported.parquet", "--docs", "documents.parquet")
	g.answers, g.documents = filepath.Join(g.dir, "imported.parquet"), filepath.Join(g.dir, "documents.parquet")
	g.scored = g.evaluate("imported.parquet", "imported")
	return g
}

// in returns the same dataset for another test.
func (g *generated) in(t *testing.T) *generated {
	other := *g
	other.duck = g.duck.in(t)
	return &other
}

// copy writes a table or (query) to a file of the dataset's folder.
func (g *generated) copy(from, file, options string) {
	g.t.Helper()
	if strings.Contains(from, " ") {
		from = "(" + from + ")"
	}
	g.exec(fmt.Sprintf("COPY %s TO %s (%s)", from, quote(filepath.Join(g.dir, file)), options))
}

func (g *generated) evaluate(source, name string, args ...string) runDir {
	g.t.Helper()
	args = append(append([]string{"--documents", "documents.parquet"}, runArgs...), args...)
	return evaluate(g.t, g.dir, source, name, args...)
}

// sameScores wants a run to have the results of the rows that ibid itself wrote.
func (g *generated) sameScores(r runDir) {
	g.t.Helper()
	g.sameByKey(g.scored.rows, r.rows, `"row"`)
	g.sameByKey(g.scored.citations, r.citations, `"row", citation`)
	g.sameByKey(g.scored.summary, r.summary, "system, slice, metric, agg")
}
