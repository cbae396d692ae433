package duckdb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tolerance is how far two ways to sum the same doubles may differ, relative to
// values above 1.
const tolerance = 1e-12

// sliced holds rows once for all of them and once per slice of the sample.
const sliced = `CREATE TABLE sliced AS
	SELECT '' AS slice, rows.* FROM rows
	UNION ALL SELECT 'lang=' || tags['lang'], rows.* FROM rows WHERE tags['lang'] IS NOT NULL`

// perSystem aggregates sliced rows over each system and over all of them.
const perSystem = " FROM sliced GROUP BY GROUPING SETS ((slice, system), (slice))"

func TestSummaryIsSorted(t *testing.T) {
	s := sample(t)
	d := openDuck(t)
	d.none("summary sorted by its first four columns, none twice", `
		SELECT file_row_number, system, slice, metric, agg FROM read_parquet(`+quote(s.summary)+`, file_row_number = true)
		QUALIFY row_number() OVER (ORDER BY system, slice, metric, agg) - 1 <> file_row_number
		OR count(*) OVER (PARTITION BY system, slice, metric, agg) > 1`)
}

// TestSummaryIsComplete wants every metric and count for every system and slice.
func TestSummaryIsComplete(t *testing.T) {
	d := openDuck(t)
	d.loadRun(sample(t).runDir)
	d.exec(sliced)
	all := strings.Fields(contractCounts + answerCounts + contractMetrics)
	d.exec("CREATE TABLE wanted AS SELECT unnest([" + strings.Trim(sqlList(all), "()") + "]) AS metric")
	d.exec("CREATE TABLE groups AS SELECT coalesce(system, '') AS system, slice" + perSystem)
	const key = "system, slice, metric"
	d.same("macro values of summary", "(SELECT "+key+" FROM groups, wanted)", "(SELECT "+key+" FROM summary WHERE agg = 'macro')")
	d.none("micro where there is only macro",
		"SELECT "+key+" FROM summary WHERE agg = 'micro' AND metric IN "+sqlList(append(strings.Fields(contractCounts+answerCounts), onlyMacro...)))
	d.none("agg is macro or micro", "SELECT "+key+", agg FROM summary WHERE agg NOT IN ('macro', 'micro')")
}

// loadCounted makes a table counted of the rows as numbers over rows count them: where a system
// left out the citations of a row, and has some in other rows, each metric with bounds that lacks
// them has its worst value there.
func (d *duck) loadCounted(run runDir) {
	d.t.Helper()
	d.loadReasons(run)
	worst := map[string]string{"hallucination_rate": "1", "contradiction_rate": "1", "over_citation": "1"}
	without := []string{"offset_accuracy", "fabricated_citation_rate", "quote_fidelity", "misattributed_quote_rate", "quote_fabrication_rate", "consistency_variance", "citation_density", "boundary_error_start", "boundary_error_end", "drb_effective_citations"}
	var replaced []string
	for _, m := range strings.Fields(contractMetrics) {
		if !slices.Contains(without, m) {
			replaced = append(replaced, fmt.Sprintf(`coalesce(%[1]s, CASE WHEN rows.citations IS NULL AND rows.status = 'ok' AND coalesce(rows.truth_spans, 1) > 0
				AND rows.system IN (SELECT system FROM rows WHERE citations IS NOT NULL) AND (SELECT count(%[1]s) FROM rows) > 0
				AND reasons.undefined['%[1]s'] = 'no_citations' THEN %[2]s END) AS %[1]s`, m, cmp.Or(worst[m], "0")))
		}
	}
	d.exec("CREATE OR REPLACE TABLE counted AS SELECT rows.* REPLACE (" + strings.Join(replaced, ", ") + `) FROM rows LEFT JOIN reasons ON rows."row" = reasons."row"`)
	if d.number("SELECT count(citation_correctness) FROM counted") == d.number("SELECT count(citation_correctness) FROM rows") {
		d.t.Error("no row of the sample lacks citations")
	}
}

// TestMacro compares every macro value with the mean of the rows' values.
func TestMacro(t *testing.T) {
	d := openDuck(t)
	d.loadRun(sample(t).runDir)
	d.loadCounted(sample(t).runDir)
	d.exec(sliced)
	d.exec("ALTER TABLE sliced RENAME TO plain")
	d.exec(strings.ReplaceAll(sliced, "rows", "counted"))
	names := strings.Fields(contractCounts + answerCounts + contractMetrics)
	parts, pooled := make([]string, len(names)), make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("SELECT coalesce(system, '') AS system, slice, '%[1]s' AS metric, avg(%[1]s) AS mean, count(%[1]s) AS n, count(*) AS total%[2]s", name, perSystem)
		pooled[i] = fmt.Sprintf("SELECT coalesce(system, '') AS system, slice, '%[1]s' AS metric, count(%[1]s) AS n%[2]s", name, strings.ReplaceAll(perSystem, "sliced", "plain"))
	}
	d.exec("CREATE TABLE pooled AS " + strings.Join(pooled, " UNION ALL "))
	d.exec("CREATE TABLE macro AS " + strings.Join(parts, " UNION ALL "))
	joined := " FROM summary s JOIN macro m USING (system, slice, metric) "
	d.none("macro estimate = avg(column)", "SELECT system, slice, metric, estimate, mean"+joined+
		"WHERE agg = 'macro' AND reason IS NULL AND NOT "+near("estimate", "mean", tolerance))
	d.none("no estimate outside the bounds alone", "SELECT system, slice, metric, reason, mean, bound_low, bound_high"+joined+
		"WHERE agg = 'macro' AND (reason = 'selective') <> (coalesce(bound_low > mean + 1e-9 OR bound_high < mean - 1e-9, false))")
	const both = "metric IN ('exact_match', 'any_overlap', 'abstention_correct', 'wrong_abstention', 'citation_presence')" // micro is macro
	d.none("n = rows that count", "SELECT system, slice, metric, agg, s.n, m.n"+joined+"WHERE (agg = 'macro' OR "+both+") AND s.n <> m.n")
	d.none("n = rows that are pooled", "SELECT system, slice, metric, agg, s.n, p.n FROM summary s JOIN pooled p USING (system, slice, metric) WHERE agg = 'micro' AND NOT "+both+" AND s.n <> p.n")
	d.none("n + undefined = rows", "SELECT system, slice, metric, agg, s.n, undefined, total"+joined+"WHERE s.n + undefined <> total")
	d.none("macro has no numerator or denominator", "SELECT system, slice, metric FROM summary WHERE agg = 'macro' AND (num IS NOT NULL OR den IS NOT NULL)")
	if n := d.number("SELECT count(DISTINCT metric)" + joined + "WHERE estimate IS NOT NULL AND s.n > 1"); n < 30 {
		t.Errorf("only %d metrics have values to compare", n)
	}
}

// microTerms are numerators and denominators that can be said in the counts that
// the contract names; mean_* are pooled over truth spans, boundary errors over
// matched pairs, 0/1 metrics over rows.
var microTerms = []struct{ metric, num, den string }{
	{"char_precision", "overlap_chars", "pred_chars"},
	{"char_recall", "overlap_chars", "truth_chars"},
	{"char_f1", "2 * overlap_chars", "truth_chars + pred_chars"},
	{"char_jaccard", "overlap_chars", "truth_chars + pred_chars - overlap_chars"},
	{"exact_match", "exact_match", "1"},
	{"any_overlap", "any_overlap", "1"},
	{"token_precision", "overlap_tokens", "pred_tokens"},
	{"token_recall", "overlap_tokens", "truth_tokens"},
	{"token_f1", "2 * overlap_tokens", "truth_tokens + pred_tokens"},
	{"token_jaccard", "overlap_tokens", "truth_tokens + pred_tokens - overlap_tokens"},
	{"mean_exact_jaccard", "mean_exact_jaccard * truth_spans", "truth_spans"},
	{"mean_tolerance_jaccard", "mean_tolerance_jaccard * truth_spans", "truth_spans"},
	{"mean_snapped_jaccard", "mean_snapped_jaccard * truth_spans", "truth_spans"},
	{"boundary_error_start", "boundary_error_start * matched_spans", "matched_spans"},
	{"boundary_error_end", "boundary_error_end * matched_spans", "matched_spans"},
}

func TestMicro(t *testing.T) {
	d := openDuck(t)
	d.loadRun(sample(t).runDir)
	d.exec(sliced)
	for _, m := range microTerms {
		t.Run(m.metric, func(t *testing.T) {
			d := d.in(t)
			d.exec(fmt.Sprintf(`CREATE OR REPLACE TABLE micro AS SELECT coalesce(system, '') AS system, slice,
				sum(%[1]s) FILTER (%[3]s IS NOT NULL) AS num, sum(%[2]s) FILTER (%[3]s IS NOT NULL) AS den%[4]s`, m.num, m.den, m.metric, perSystem))
			joined := fmt.Sprintf(" FROM summary s JOIN micro m USING (system, slice) WHERE metric = '%s' AND agg = 'micro' ", m.metric)
			if d.number("SELECT count(estimate)"+joined) == 0 {
				t.Error("no micro value to compare")
			}
			d.none("estimate = sum / sum", "SELECT system, slice, s.num, s.den, estimate, m.num, m.den"+joined+
				"AND NOT "+near("estimate", "m.num / nullif(m.den, 0)", tolerance))
			d.none("estimate = num / den", "SELECT system, slice, s.num, s.den, estimate"+joined+
				"AND NOT "+near("estimate", "s.num / nullif(s.den, 0)", tolerance))
		})
	}
}

// TestIntervals wants every interval around its estimate and no field of it alone.
func TestIntervals(t *testing.T) {
	d := openDuck(t)
	d.loadRun(sample(t).runDir)
	const key = "SELECT system, slice, metric, agg, estimate, ci_low, ci_high, method FROM summary WHERE "
	d.none("estimate without rows, or rows without estimate", key+"(n > 0 AND reason IS NULL) <> (estimate IS NOT NULL)")
	d.none("interval around its estimate", key+"ci_low > estimate + 1e-12 OR ci_high < estimate - 1e-12")
	d.none("half an interval", key+"(ci_low IS NULL) <> (ci_high IS NULL) OR (ci_low IS NOT NULL AND (estimate IS NULL OR method IS NULL OR level IS NULL))")
	d.none("no interval and no warning why", key+"n > 0 AND ci_low IS NULL AND len(warnings) = 0")
	d.none("level as set", key+"level <> 0.95")
	d.none("more clusters than rows", key+"clusters > n")
	d.none("empty or null warning", key+"warnings IS NULL OR len(list_filter(warnings, lambda w: coalesce(w, '') = '')) > 0")
	if d.number("SELECT count(*) FROM summary WHERE len(warnings) > 0 AND warnings[1] LIKE '%independent units%'") == 0 {
		t.Error("no warning of the sample is readable")
	}
}

// TestNulls wants a metric to be null exactly where a reason says why, and groups of metrics to
// be null where span_null and judge_null say why.
func TestNulls(t *testing.T) {
	d := openDuck(t)
	run := sample(t).runDir
	d.loadRun(run)
	d.loadReasons(run)
	d.none("groups without a value", `SELECT id, system, span_null, char_f1, span_f1, judge_null, supported_completeness, citation_correctness FROM rows
		WHERE span_null IS NOT NULL AND coalesce(char_f1, span_f1, doc_f1) IS NOT NULL
		OR judge_null IS NOT NULL AND coalesce(supported_completeness, citation_correctness, mean_support_score) IS NOT NULL`)
	d.none("reasons of the file are shown", "SELECT id FROM rows JOIN reasons USING (\"row\") WHERE NOT list_has_all(map_entries(reasons.undefined), list_filter(map_entries(rows.undefined), lambda e: e.key NOT LIKE '%[%'))")
	d.exec("CREATE OR REPLACE TABLE rows AS " + explained("FROM rows"))
	metrics := strings.Fields(contractMetrics)
	checks := make([]string, len(metrics))
	for i, m := range metrics {
		checks[i] = fmt.Sprintf("SELECT id, system, '%[1]s', %[1]s, undefined['%[1]s'] FROM rows WHERE (%[1]s IS NULL) <> (undefined['%[1]s'] IS NOT NULL) OR isnan(%[1]s)", m)
	}
	d.none("null and a reason go together", strings.Join(checks, " UNION ALL "))
	d.none("reasons of the contract", "SELECT id, system, e.key, e.value FROM (SELECT id, system, unnest(map_entries(undefined)) AS e FROM rows) WHERE e.key NOT LIKE '%[%' AND e.value NOT IN "+sqlList(reasons))
	d.none("keys are metrics", "SELECT id, system, k FROM (SELECT id, system, unnest(map_keys(undefined)) AS k FROM rows) WHERE split_part(k, '[', 1) NOT IN "+sqlList(metrics))
	d.none("error rows have no numbers", "SELECT id, system FROM rows WHERE status = 'error' AND coalesce(citations, claims, supported_claims) IS NOT NULL")
	for _, reason := range []string{"no_judge", "no_citations", "no_truth", "nothing_to_cite"} {
		if d.number("SELECT count(*) FROM rows WHERE list_contains(map_values(undefined), '"+reason+"')") == 0 {
			t.Errorf("no row of the sample has the reason %s", reason)
		}
	}
}

// TestRowsAgainstInput wants the rows of the input, in their order, with their tags.
func TestRowsAgainstInput(t *testing.T) {
	s := sample(t)
	d := openDuck(t)
	d.loadRun(s.runDir)
	d.exec("CREATE VIEW answers AS SELECT * FROM read_parquet(" + quote(s.answers) + ", file_row_number = true)")
	d.same("keys, positions and tags", "(SELECT id, system, \"row\", tags, provider, model FROM rows)",
		"(SELECT id, coalesce(system, 'default'), file_row_number, tags, provider, model FROM answers)")
	d.none("row counts from 0 without a gap", `SELECT file_row_number, "row" FROM read_parquet(`+quote(s.rows)+`, file_row_number = true) WHERE file_row_number <> "row"`)
	d.none("status", "SELECT id, status, error FROM rows WHERE status NOT IN ('ok', 'error') OR (status = 'error') <> (error IS NOT NULL)")
	if d.number("SELECT count(DISTINCT tags['topic']) FROM rows") < 2 {
		t.Error("tags of the sample cannot be read by key")
	}
}

// TestCitationsAgainstRows joins both files.
func TestCitationsAgainstRows(t *testing.T) {
	s := words(t)
	d := openDuck(t)
	d.loadRun(s.runDir)
	d.none("a citation without its row", `SELECT c.id, c.system, c."row" FROM citations c ANTI JOIN rows r ON c.id = r.id AND c.system = r.system AND c."row" = r."row"`)
	d.none("counts of citations", `
		SELECT r.id, r.system, r.citations, count(c.id), r.valid_citations, r.pred_spans
		FROM rows r LEFT JOIN citations c USING (id, system)
		GROUP BY r.id, r.system, r.citations, r.valid_citations, r.pred_spans
		HAVING coalesce(r.citations, 0) <> count(c.id)
		OR coalesce(r.valid_citations, 0) <> count(*) FILTER (c.status IN `+sqlList(valid)+`)
		OR coalesce(r.pred_spans, 0) <> count(*) FILTER (c.status NOT IN ('span_empty', 'span_inverted', 'span_negative', 'quote_not_found'))`)
	d.none("citations counted from 0 in input order", "SELECT id, system, citation FROM citations QUALIFY row_number() OVER (PARTITION BY id, system ORDER BY citation) - 1 <> citation")
	d.none("citations sorted by row and position", "SELECT file_row_number FROM read_parquet("+quote(s.citations)+`, file_row_number = true)
		QUALIFY row_number() OVER (ORDER BY "row", citation) - 1 <> file_row_number`)
	d.none("status", "SELECT id, citation, status FROM citations WHERE status NOT IN "+sqlList(statuses))
	d.none("Jaccards in [0, 1]", "SELECT id, citation FROM citations WHERE exact_jaccard NOT BETWEEN 0 AND 1 OR tolerance_jaccard NOT BETWEEN 0 AND 1 OR snapped_jaccard NOT BETWEEN exact_jaccard AND 1")
	d.none("support in [0, 1], necessity not asked", "SELECT id, citation FROM citations WHERE support NOT BETWEEN 0 AND 1 OR necessary IS NOT NULL")
	d.none("an invalid citation supports nothing", `SELECT id, citation, status, support, relevant FROM citations
		WHERE status NOT IN `+sqlList(valid)+` AND (support IS DISTINCT FROM 0 OR relevant IS DISTINCT FROM false)`)
	found := d.rows("SELECT DISTINCT status FROM citations ORDER BY status")
	for _, status := range []string{"ok", "document_not_found", "span_out_of_bounds"} {
		if !slices.ContainsFunc(found, func(line []string) bool { return line[0] == status }) {
			t.Errorf("no citation of the sample has status %s, only %v", status, found)
		}
	}
}

// TestMetricsFromCounts compares the SQL that the program documents with terms of this test.
func TestMetricsFromCounts(t *testing.T) {
	d := openDuck(t)
	d.loadRun(sample(t).runDir)
	for _, m := range microTerms[:10] {
		if m.den == "1" {
			continue
		}
		d.none(m.metric+" = "+m.num+" / "+m.den, fmt.Sprintf("SELECT id, system, %[1]s, %[2]s, %[3]s FROM rows WHERE truth_chars IS NOT NULL AND pred_chars IS NOT NULL AND NOT %[4]s",
			m.metric, m.num, m.den, near(m.metric, "("+m.num+") / nullif("+m.den+", 0)", tolerance)))
	}
	d.none("exact_match", "SELECT id, system FROM rows WHERE exact_match <> (truth_chars + pred_chars = 2 * overlap_chars)::DOUBLE")
	d.none("any_overlap", "SELECT id, system FROM rows WHERE any_overlap <> (overlap_chars > 0)::DOUBLE")
	d.none("span_accuracy_score is defined with, and 0 with, mean_snapped_jaccard", `SELECT id, system FROM rows
		WHERE (span_accuracy_score IS NULL) <> (mean_snapped_jaccard IS NULL) OR (span_accuracy_score = 0) <> (mean_snapped_jaccard = 0)`)
	d.none("span_accuracy_score is a harmonic mean, where every citation touches truth and is cited once", `SELECT id, system FROM rows JOIN (
			SELECT id, system, avg(snapped_jaccard) AS precise FROM citations GROUP BY ALL
			HAVING min(exact_jaccard) > 0 AND count(DISTINCT (doc, start, "end")) = count(*)
		) USING (id, system) WHERE truth_annotator IS NULL AND NOT `+near("span_accuracy_score", "(2 * mean_snapped_jaccard * precise / (mean_snapped_jaccard + precise))", tolerance))
}
