//go:build unix

package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"ibid/benchmarks/program"
)

//go:embed spec.py
var specification []byte

// duck is the program that runs SQL in DuckDB, built once.
func (b *bench) duck() string {
	path := filepath.Join(b.dir, "duckdb-query")
	if _, err := os.Stat(path); err != nil {
		build := exec.Command("go", "build", "-o", path, "./query")
		build.Dir = "duckdb"
		build.Env = append(os.Environ(), "CGO_ENABLED=1")
		build.Stderr = os.Stderr
		if build.Run() != nil {
			return "duckdb"
		}
	}
	return path
}

// script writes a script to the folder.
func (b *bench) script(name string, text []byte) string {
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, text, 0o666); err != nil {
		exit(err)
	}
	return path
}

// scan is what DuckDB reads of the columns that a run reads.
const scan = "SELECT count(id), count(system), sum(strlen(query)), sum(strlen(answer)), sum(len(citations)), sum(len(truth)) FROM '%s'"

// sqlJaccard is the mean character Jaccard of the rows: ends of spans are steps of two
// depths, summed along each document and page of a row.
const sqlJaccard = `
WITH step AS (
  SELECT r, e.doc, e.page AS page, unnest([e.start, e."end"]) AS pos, unnest([1, -1]) AS cited, 0 AS marked
  FROM (SELECT file_row_number AS r, unnest(citations) AS e FROM read_parquet('%[1]s', file_row_number = true))
  UNION ALL
  SELECT r, e.doc, e.page, unnest([e.start, e."end"]), 0, unnest([1, -1])
  FROM (SELECT file_row_number AS r, unnest(truth) AS e FROM read_parquet('%[1]s', file_row_number = true))
), place AS (
  SELECT r, doc, page, pos, sum(cited) AS cited, sum(marked) AS marked FROM step GROUP BY r, doc, page, pos
), depth AS (
  SELECT r, sum(cited) OVER w AS cited, sum(marked) OVER w AS marked, lead(pos) OVER w - pos AS length
  FROM place WINDOW w AS (PARTITION BY r, doc, page ORDER BY pos)
), share AS (
  SELECT r, sum(length) FILTER (cited > 0 AND marked > 0) AS shared, sum(length) FILTER (cited > 0 OR marked > 0) AS whole FROM depth GROUP BY r
)
SELECT printf('%%.9f', avg(coalesce(shared, 0) / whole)) FROM share`

// sql is a statement as a side.
func (b *bench) sql(name, statement, path string) side {
	return side{name: name, run: []string{b.duck(), fmt.Sprintf(statement, path)}, start: []string{b.duck(), "SELECT 1"}}
}

// part is one of the commands of this program as a side.
func (b *bench) part(name string, args ...string) side {
	return side{name: name, run: append([]string{b.self}, args...), start: []string{b.self, "nothing", "x"}}
}

// scored is a whole run.
func (b *bench) scored(path string) side {
	return side{
		name:  "whole run",
		run:   []string{b.ibid, "run", path, "--judge", "none", "--out", b.dir, "--id", "timed", "-q", "-o", os.DevNull, "--set", "keep=nothing"},
		start: []string{b.ibid, "--version"}, leave: filepath.Join(b.dir, "timed"),
	}
}

func (b *bench) comparisons() error {
	one, err := b.answers(b.rows, 0)
	if err != nil {
		return err
	}
	const intervals = 1_000_000
	left, err := b.bed("left.bed", intervals, 1)
	if err != nil {
		return err
	}
	right, err := b.bed("right.bed", intervals, 2)
	if err != nil {
		return err
	}
	spec := b.script("spec.py", specification)
	const rowsOfPython, faster = 2_000, 10_000

	compared := b.part("kernel", "kernel", strconv.Itoa(rowsOfPython*faster), "3")
	compared.start = []string{b.self, "draws", strconv.Itoa(rowsOfPython * faster), "3"} // nor is what is compared made by the kernel
	bestSQL := b.sql("DuckDB, SQL", sqlJaccard, one)
	return b.compare([]comparison{
		{what: "a run, beside a scan of its columns", ours: b.scored(one), theirs: b.sql("DuckDB, scan", scan, one), same: b.sameRows(one), reach: 2, rows: b.rows},
		{what: "every metric, beside SQL for one", ours: b.scored(one), theirs: bestSQL, same: b.sameJaccard(one), reach: 1.0 / 3, rows: b.rows},
		{what: "character Jaccard of rows, beside SQL", ours: b.part("decoding, union", "jaccard", one), theirs: bestSQL, same: b.sameJaccard(one), reach: 1.0 / 15, rows: b.rows},
		{
			what: "spans compared as the specification does", ours: compared,
			theirs: side{name: "Python, sets of characters", run: []string{b.python, spec, strconv.Itoa(rowsOfPython), "3"}, start: []string{b.python, spec, "0", "3"}, parts: faster},
			same:   b.sameSpecification(spec), reach: 1.0 / 10_000, rows: rowsOfPython * faster,
		},
		{
			what: "a million intervals with a million, as text", ours: b.part("reading, kernel", "intervals", left, right),
			theirs: side{name: "bedtools jaccard", run: []string{"bedtools", "jaccard", "-a", left, "-b", right}, start: []string{"bedtools", "--version"}},
			same:   b.sameBedtools(left, right), reach: 1.0 / 6,
		},
	})
}

// answer is what a command prints, in words.
func answer(s side) ([]string, error) {
	_, out, err := program.Run(s.run...)
	return strings.Fields(strings.Trim(strings.TrimSpace(string(out)), "[]")), err
}

// equal compares what two commands print.
func equal(a, b side) error {
	x, err := answer(a)
	if err != nil {
		return err
	}
	y, err := answer(b)
	if err != nil {
		return err
	}
	if strings.Join(x, " ") != strings.Join(y, " ") {
		return fmt.Errorf("%s says %v, %s %v", a.name, x, b.name, y)
	}
	return nil
}

// sameRows: a run has as many rows as DuckDB sees.
func (b *bench) sameRows(path string) func() error {
	return func() error {
		return equal(b.part("decoding", "decode", path), b.sql("DuckDB", "SELECT count(*) FROM '%s'", path))
	}
}

func (b *bench) sameJaccard(path string) func() error {
	return func() error {
		return equal(b.part("union", "jaccard", path), b.sql("DuckDB", sqlJaccard, path))
	}
}

// sameSpecification compares rows with one span a side, where the best pair over all is
// that of each.
func (b *bench) sameSpecification(spec string) func() error {
	return func() error {
		return equal(b.part("kernel", "kernel", "2000", "1"), side{name: "Python", run: []string{b.python, spec, "2000", "1"}})
	}
}

func (b *bench) sameBedtools(left, right string) func() error {
	return func() error {
		found, err := answer(side{run: []string{"bedtools", "jaccard", "-a", left, "-b", right}})
		if err != nil {
			return err
		}
		ours, err := answer(b.part("kernel", "intervals", left, right))
		if err != nil {
			return err
		}
		// intersection union jaccard n_intersections, then their values
		if len(found) != 8 || found[4] != ours[0] || found[5] != ours[1] {
			return fmt.Errorf("bedtools says %v, the kernel %v", found, ours)
		}
		return nil
	}
}
