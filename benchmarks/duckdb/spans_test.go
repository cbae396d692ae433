package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// spanCases makes a table of the cases and one of what each expects, with the
// names of rows.parquet.
const spanCases = `
CREATE TABLE cases AS
	SELECT c->>'id' AS id, (c->>'tolerance')::BIGINT AS tolerance, c
	FROM (SELECT unnest((json->'cases')::JSON[]) AS c FROM read_json_objects(%s, maximum_object_size = 100000000));

CREATE MACRO span(s) AS {doc: s->>0, page: (s->>1)::INTEGER, start: (s->>2)::BIGINT, "end": (s->>3)::BIGINT};

CREATE TABLE answers AS
	SELECT id, tolerance, 'q' AS query, 'a' AS answer,
		list_transform((c->'truth')::JSON[], lambda s: span(s)) AS truth,
		list_transform((c->'pred')::JSON[], lambda s: span(s)) AS citations
	FROM cases;`

// spanNames pairs a column with a path below expected.
var spanNames = columnPaths(`
	truth_spans valid_truth, pred_spans valid_pred,
	truth_chars truth_chars, pred_chars pred_chars, overlap_chars intersection,
	char_precision precision, char_recall recall, char_f1 f1, char_f1 dice, char_jaccard jaccard,
	mean_exact_jaccard mean_exact_jaccard, mean_tolerance_jaccard mean_tolerance_jaccard,
	perfect_matches perfect_matches, good_matches good_matches`)

func columnPaths(text string) (pairs [][2]string) {
	for pair := range strings.SplitSeq(text, ",") {
		words := strings.Fields(pair)
		pairs = append(pairs, [2]string{words[0], "$.expected." + words[1]})
	}
	return pairs
}

// TestSpanVectors scores every case, one run per tolerance, and compares each
// expected value with rows.parquet.
func TestSpanVectors(t *testing.T) {
	vectors := shared(t, "vectors", "spans_public.json")
	d := openDuck(t)
	d.exec(fmt.Sprintf(spanCases, quote(vectors)))
	dir := t.TempDir()
	tolerances := d.rows("SELECT DISTINCT tolerance FROM cases ORDER BY 1")
	for _, line := range tolerances {
		chars := line[0]
		name := "t" + chars
		d.exec("COPY (SELECT * EXCLUDE (tolerance) FROM answers WHERE tolerance = " + chars + " ORDER BY id) TO " + quote(filepath.Join(dir, name+".jsonl")) + " (FORMAT json)")
		ibid(t, dir, "import", "jsonl", name+".jsonl", "-o", name+".parquet")
		evaluate(t, dir, name+".parquet", name, "--set", "offset_base=page", "--set", "span_matching.tolerance_chars="+chars)
	}
	d.loadRun(inRunDir(filepath.Join(dir, "runs", "*")))

	d.none("every case has its row", "SELECT id FROM cases FULL JOIN rows USING (id) GROUP BY id HAVING count(c) <> 1 OR count(status) <> 1 OR any_value(status) <> 'ok'")
	for _, pair := range spanNames {
		want := fmt.Sprintf("(c->>'%s')::DOUBLE", pair[1])
		d.none(pair[0]+" = "+pair[1], fmt.Sprintf("SELECT id, %[1]s, %[2]s FROM cases JOIN rows USING (id) WHERE NOT %[3]s OR NOT json_exists(c, '%[4]s')",
			pair[0], want, near(pair[0]+"::DOUBLE", want, tolerance), pair[1]))
	}
	d.none("dropped predictions", `
		SELECT id, dropped, want FROM (SELECT id, (c->'$.expected.dropped_pred')::INTEGER[] AS want FROM cases)
		LEFT JOIN (SELECT id, list(citation ORDER BY citation) AS dropped FROM citations WHERE status IN ('span_empty', 'span_inverted', 'span_negative') GROUP BY id) USING (id)
		WHERE coalesce(dropped, []) <> want`)
	t.Logf("%d cases, %d tolerances, %d values each", d.number("SELECT count(*) FROM rows"), len(tolerances), len(spanNames))
}
