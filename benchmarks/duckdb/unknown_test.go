package duckdb

import (
	"path/filepath"
	"testing"
)

// states are the rows of a dataset in which lists are null, empty or neither.
// The literals go through DuckDB alone, so no code of ibid decides what they are.
const states = `CREATE TABLE states AS
	WITH one AS (SELECT [{doc: 'd', start: 10::BIGINT, "end": 20::BIGINT}] AS citation, [{annotator: 'ada', doc: 'd', start: 10::BIGINT, "end": 20::BIGINT}] AS span,
		[{annotator: 'ada', doc: NULL::VARCHAR, start: NULL::BIGINT, "end": NULL::BIGINT}] AS nothing)
	SELECT c || '/' || t AS id, 'q' AS query, 'a' AS answer,
		CASE c WHEN 'empty' THEN [] WHEN 'one' THEN citation END AS citations,
		CASE t WHEN 'empty' THEN [] WHEN 'nothing' THEN nothing WHEN 'one' THEN span END AS truth
	FROM one, unnest(['null', 'empty', 'one']) a(c), unnest(['null', 'empty', 'nothing', 'one']) b(t)
	ORDER BY id`

// TestUnknownIsNotEmpty keeps null, empty and "looked and marked nothing" apart.
func TestUnknownIsNotEmpty(t *testing.T) {
	d := openDuck(t)
	d.exec(states)
	dir := t.TempDir()
	for _, version := range []string{"v1", "v2"} {
		d.exec("COPY states TO " + quote(filepath.Join(dir, version+".parquet")) + " (FORMAT parquet, PARQUET_VERSION " + version + ")")
		run := evaluate(t, dir, version+".parquet", version)
		d.loadRun(run)
		d.loadReasons(run)
		for _, line := range d.rows(`SELECT id, concat_ws(' ', coalesce(citations::VARCHAR, '-'), coalesce(pred_chars::VARCHAR, '-'),
			coalesce(truth_spans::VARCHAR, '-'), coalesce(truth_chars::VARCHAR, '-'), coalesce(overlap_chars::VARCHAR, '-'), coalesce(truth_annotator, '-'),
			coalesce(char_precision::VARCHAR, undefined['char_precision']), coalesce(char_recall::VARCHAR, undefined['char_recall']),
			coalesce(char_f1::VARCHAR, undefined['char_f1'])) FROM (` + explained("FROM rows") + ")") {
			if want := wantStates[line[0]]; line[1] != want {
				t.Errorf("%s, citations/truth %s: got\n\t%s, want\n\t%s", version, line[0], line[1], want)
			}
		}
		if n := d.number("SELECT count(*) FROM rows"); n != int64(len(wantStates)) {
			t.Errorf("%s: %d rows, want %d", version, n, len(wantStates))
		}
	}
}

// wantStates are citations, pred_chars, truth_spans, truth_chars, overlap_chars,
// annotator, and precision, recall and F1 over characters or why there is none.
var wantStates = map[string]string{
	"null/null":     "- - - - - - no_truth no_truth no_truth",
	"null/empty":    "- - 0 0 - - no_citations no_citations no_citations",
	"null/nothing":  "- - 0 0 - ada no_citations no_citations no_citations",
	"null/one":      "- - 1 10 - ada no_citations no_citations no_citations",
	"empty/null":    "0 0 - - - - no_truth no_truth no_truth",
	"empty/empty":   "0 0 0 0 0 - no_citations no_truth nothing_to_cite",
	"empty/nothing": "0 0 0 0 0 ada no_citations no_truth nothing_to_cite",
	"empty/one":     "0 0 1 10 0 ada no_citations 0.0 0.0",
	"one/null":      "1 10 - - - - no_truth no_truth no_truth",
	"one/empty":     "1 10 0 0 0 - 0.0 no_truth 0.0",
	"one/nothing":   "1 10 0 0 0 ada 0.0 no_truth 0.0",
	"one/one":       "1 10 1 10 10 ada 1.0 1.0 1.0",
}

// TestAbsentListsAreUnknown leaves columns out that other rows have.
func TestAbsentListsAreUnknown(t *testing.T) {
	d := openDuck(t)
	d.exec(states)
	dir := t.TempDir()
	d.exec("COPY (SELECT id, query, answer FROM states) TO " + quote(filepath.Join(dir, "absent.parquet")) + " (FORMAT parquet)")
	run := evaluate(t, dir, "absent.parquet", "absent")
	d.loadRun(run)
	d.loadReasons(run)
	d.none("counts of lists that are not there", "SELECT id FROM ("+explained("FROM rows")+") WHERE coalesce(citations, truth_spans, truth_chars, pred_chars, claims) IS NOT NULL OR undefined['char_f1'] IS DISTINCT FROM 'no_truth'")
	d.none("system is default", "SELECT id, system FROM rows WHERE system <> 'default'")
}
