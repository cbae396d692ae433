package duckdb

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// A duck is a DuckDB database in memory, as one test uses it.
type duck struct {
	t  *testing.T
	db *sql.DB
}

// openDuck opens a database that lives as long as the test.
func openDuck(t *testing.T) *duck {
	t.Helper()
	db, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &duck{t: t, db: db}
}

// connect opens a database that never reaches for the network.
func connect() (*sql.DB, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // settings belong to a connection
	for _, setting := range []string{"autoinstall_known_extensions", "autoload_known_extensions"} {
		if _, err := db.Exec("SET " + setting + " = false"); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// in returns the same database for a subtest.
func (d *duck) in(t *testing.T) *duck { return &duck{t: t, db: d.db} }

// quote makes an SQL string of s.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (d *duck) exec(statement string) {
	d.t.Helper()
	if _, err := d.db.Exec(statement); err != nil {
		d.t.Fatalf("%v\n%s", err, statement)
	}
}

// load reads a Parquet file, or a glob of them, into a table.
func (d *duck) load(table, path string) {
	d.t.Helper()
	d.exec(fmt.Sprintf("CREATE OR REPLACE TABLE %s AS SELECT * FROM read_parquet(%s)", table, quote(path)))
}

// loadRun reads the files of a run directory into tables rows, which is [duck.whole],
// citations and summary.
func (d *duck) loadRun(r runDir) {
	d.t.Helper()
	d.exec("CREATE OR REPLACE TABLE rows AS " + d.whole("read_parquet("+quote(r.rows)+")"))
	d.load("citations", r.citations)
	d.load("summary", r.summary)
}

// rows returns the answer to a query as text, one line of cells per row.
func (d *duck) rows(query string) [][]string {
	d.t.Helper()
	result, err := d.db.Query(query)
	if err != nil {
		d.t.Fatalf("%v\n%s", err, query)
	}
	defer result.Close()
	names, err := result.Columns()
	if err != nil {
		d.t.Fatal(err)
	}
	values, targets := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	var lines [][]string
	for result.Next() {
		if err := result.Scan(targets...); err != nil {
			d.t.Fatal(err)
		}
		line := make([]string, len(values))
		for i, v := range values {
			if line[i] = "NULL"; v != nil {
				line[i] = fmt.Sprint(v)
			}
		}
		lines = append(lines, line)
	}
	if err := result.Err(); err != nil {
		d.t.Fatalf("%v\n%s", err, query)
	}
	return lines
}

// number returns the one integer that a query answers with.
func (d *duck) number(query string) (n int64) {
	d.t.Helper()
	if err := d.db.QueryRow(query).Scan(&n); err != nil {
		d.t.Fatalf("%v\n%s", err, query)
	}
	return n
}

// none wants a query for counterexamples to find none.
func (d *duck) none(claim, counterexamples string) {
	d.t.Helper()
	found := d.rows(counterexamples)
	if len(found) == 0 {
		return
	}
	var shown strings.Builder
	for i, line := range found {
		if i == 5 {
			break
		}
		fmt.Fprintf(&shown, "\n\t%s", strings.Join(line, " | "))
	}
	d.t.Errorf("%s: %d counterexamples%s", claim, len(found), shown.String())
}

// columns returns name and type of each column of a table or view.
func (d *duck) columns(table string) (names, types []string) {
	d.t.Helper()
	for _, line := range d.rows("SELECT column_name, column_type FROM (DESCRIBE FROM " + table + ")") {
		names, types = append(names, line[0]), append(types, line[1])
	}
	return names, types
}

// same wants two tables to hold the same rows, duplicates counted.
func (d *duck) same(claim, a, b string) {
	d.t.Helper()
	d.none(claim+": only in the first", fmt.Sprintf("FROM %s EXCEPT ALL FROM %s", a, b))
	d.none(claim+": only in the second", fmt.Sprintf("FROM %s EXCEPT ALL FROM %s", b, a))
}

// sameByKey wants two Parquet files to hold the same rows, compared by a key that
// no two rows share.
func (d *duck) sameByKey(a, b, key string) {
	d.t.Helper()
	x, y := "read_parquet("+quote(a)+")", "read_parquet("+quote(b)+")"
	claim := filepath.Base(a) + " of two runs"
	d.none(claim+": rows differ", fmt.Sprintf("SELECT %s, x, y FROM %s x FULL JOIN %s y USING (%[1]s) WHERE x IS DISTINCT FROM y", key, x, y))
	d.none(claim+": key occurs twice", fmt.Sprintf("SELECT %s FROM %s GROUP BY ALL HAVING count(*) > 1", key, y))
	namesA, typesA := d.columns(x)
	namesB, typesB := d.columns(y)
	if !slices.Equal(namesA, namesB) || !slices.Equal(typesA, typesB) {
		d.t.Errorf("%s: columns differ", claim)
	}
}

// near is SQL for: both null, or both numbers and equal to within tolerance,
// which is relative for numbers above 1.
func near(a, b string, tolerance float64) string {
	return fmt.Sprintf("coalesce(abs((%[1]s) - (%[2]s)) <= %[3]g * greatest(1, abs(%[1]s)), (%[1]s) IS NULL AND (%[2]s) IS NULL)", a, b, tolerance)
}
