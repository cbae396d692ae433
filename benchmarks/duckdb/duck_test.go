package duckdb

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// A duck is a DuckDB database in memory that belongs to one test.
type duck struct {
	t  *testing.T
	db *sql.DB
}

func openDuck(t *testing.T) *duck {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // settings and views belong to a connection
	d := &duck{t: t, db: db}
	d.exec("SET autoinstall_known_extensions = false")
	d.exec("SET autoload_known_extensions = false")
	return d
}

// quote makes an SQL string of s.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (d *duck) exec(statement string) {
	d.t.Helper()
	if _, err := d.db.Exec(statement); err != nil {
		d.t.Fatalf("%v\n%s", err, statement)
	}
}

// view names a Parquet file, or a glob of them.
func (d *duck) view(name, path string) {
	d.t.Helper()
	d.exec(fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT * FROM read_parquet(%s)", name, quote(path)))
}

// views names the files of a run directory rows, citations and summary.
func (d *duck) views(r runDir) {
	d.t.Helper()
	d.view("rows", r.rows)
	d.view("citations", r.citations)
	d.view("summary", r.summary)
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
	for _, line := range d.rows("SELECT column_name, column_type FROM (DESCRIBE " + table + ")") {
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

// near is SQL for: both null, or both numbers and equal to within tolerance,
// which is relative for numbers above 1.
func near(a, b string, tolerance float64) string {
	return fmt.Sprintf("coalesce(abs((%[1]s) - (%[2]s)) <= %[3]g * greatest(1, abs(%[1]s)), (%[1]s) IS NULL AND (%[2]s) IS NULL)", a, b, tolerance)
}
