package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared returns the absolute path of a file or folder of the shared material
// next to the project; without it the test is skipped.
func shared(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{"..", "..", "..", "shared"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s", filepath.Join(append([]string{"..", "..", "..", "shared"}, parts...)...))
	}
	return path
}

// expectedTolerance is how far a published figure may be off: they have ten digits.
const expectedTolerance = 1e-9

// evidenceMicro are numerators and denominators of the micro figures, in columns
// of rows.parquet.
var evidenceMicro = map[string][2]string{
	"char_precision": {"overlap_chars", "pred_chars"},
	"char_recall":    {"overlap_chars", "truth_chars"},
	"char_f1":        {"2 * overlap_chars", "truth_chars + pred_chars"},
	"char_jaccard":   {"overlap_chars", "truth_chars + pred_chars - overlap_chars"},
}

// TestEvidenceInference reproduces the expected figures of characters of two human annotators
// from rows.parquet and from summary.parquet. An item has one row there, so that
// the intervals are those of Student for independent values, on the logit scale; their
// quantiles stand below, by system and thus by degrees of freedom.
func TestEvidenceInference(t *testing.T) {
	data := shared(t, "data", "evidence-inference-v2")
	expected := shared(t, "expected", "evidence-inference-v2.json")
	dir := t.TempDir()
	ibid(t, dir, "import", "evidence-inference", data, "--truth-annotator", "0", "-o", "ei.parquet", "--docs", "docs.parquet")
	d := openDuck(t)
	d.loadRun(evaluate(t, dir, "ei.parquet", "ei", "--documents", "docs.parquet", "--set", "statistics.cluster=id"))
	d.exec("CREATE TABLE expected AS SELECT json->'all_rows' AS e FROM read_json_objects(" + quote(expected) + ")")
	d.none("number of rows", "SELECT count(*), any_value(e->>'items_with_two_annotators') FROM rows, expected HAVING count(*) <> any_value(e->>'items_with_two_annotators')::BIGINT")

	macro := strings.Fields("char_precision char_recall char_f1 char_jaccard exact_match any_overlap")
	for _, metric := range macro {
		d.equals("macro "+metric, metric, "macro", "avg("+metric+")", "e->'macro'->>'"+metric+"'")
	}
	for metric, term := range evidenceMicro {
		d.equals("micro "+metric, metric, "micro", fmt.Sprintf("sum(%s) / sum(%s)", term[0], term[1]), "e->'micro'->>'"+metric+"'")
	}
	for column, name := range map[string]string{
		"overlap_chars": "chars_intersection", "truth_chars": "chars_gold", "pred_chars": "chars_pred",
	} {
		d.none("sum of "+column, fmt.Sprintf("SELECT sum(%[1]s), any_value(e->'micro'->>'%[2]s') FROM rows, expected HAVING sum(%[1]s) IS DISTINCT FROM any_value((e->'micro'->>'%[2]s')::BIGINT)", column, name))
	}
	d.none("F1 by second annotator", `
		WITH want AS (SELECT unnest(json_keys(e->'char_f1_by_second_annotator')) AS system, e->'char_f1_by_second_annotator' AS figures FROM expected),
		got AS (SELECT system, count(*) AS n, avg(char_f1) AS mean FROM rows GROUP BY system)
		SELECT system, n, mean, figures FROM want FULL JOIN got USING (system)
		WHERE n IS DISTINCT FROM (figures->system->>'n')::BIGINT OR NOT `+near("mean", "(figures->system->>'mean')::DOUBLE", expectedTolerance))
	d.exec("CREATE TABLE quantiles AS FROM (VALUES ('1', 2.004879), ('3', 1.996008), ('5', 2.055529), ('6', 1.998972), ('7', 1.994437)) q(system, t)")
	for _, metric := range []string{"char_f1", "char_precision", "token_recall"} {
		d.none("interval of "+metric, fmt.Sprintf(`
			WITH got AS (SELECT system, avg(%[1]s) AS mean, t * stddev_samp(%[1]s) / sqrt(count(%[1]s)) / (mean * (1 - mean)) AS half FROM rows JOIN quantiles USING (system) GROUP BY system, t),
			scaled AS (SELECT *, ln(mean / (1 - mean)) AS middle, ln(ci_high / (1 - ci_high)) AS high, ln(ci_low / (1 - ci_low)) AS low FROM summary RIGHT JOIN got USING (system))
			SELECT system, estimate, ci_low, ci_high, mean, half FROM scaled
			WHERE slice = '' AND metric = '%[1]s' AND agg = 'macro' AND coalesce(abs(high - middle - half) > 1e-6 OR abs(middle - low - half) > 1e-6 OR n <> clusters, true)`, metric))
	}
}

// equals compares one expected figure with an aggregate over rows and with the
// estimate over all rows in summary.
func (d *duck) equals(claim, metric, agg, aggregate, path string) {
	d.t.Helper()
	query := fmt.Sprintf(`WITH got AS (SELECT %s AS from_rows FROM rows),
		summed AS (SELECT estimate FROM summary WHERE system = '' AND slice = '' AND metric = '%s' AND agg = '%s')
		SELECT from_rows, (SELECT estimate FROM summed) AS from_summary, (%s)::DOUBLE AS want FROM got, expected`, aggregate, metric, agg, path)
	d.none(claim, "SELECT * FROM ("+query+fmt.Sprintf(") WHERE coalesce(abs(from_rows - want) > %[1]g OR abs(from_summary - want) > %[1]g, true)", expectedTolerance))
}
