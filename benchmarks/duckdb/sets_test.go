package duckdb

import (
	"strings"
	"testing"
)

// charSets recomputes the character counts of the generated rows as sets of
// single characters, per annotator, and picks the annotator with the best F1.
// A citation whose quote stands elsewhere counts there. Rows with citations in pages are left out.
const charSets = `
CREATE TABLE keys AS SELECT id, system, citations IS NOT NULL AS has_citations, truth IS NOT NULL AS has_truth FROM answers
	WHERE len(list_filter(coalesce(citations, []), lambda c: c.unit IS NOT NULL)) = 0;

CREATE TABLE pred AS SELECT DISTINCT id, system, c.doc AS doc, unnest(range(c.start, c."end")) AS pos
	FROM (SELECT id, system, {'doc': g.c.doc, 'start': coalesce(o.repaired_start, g.c.start), 'end': coalesce(o.repaired_end, g.c."end")} AS c
		FROM (SELECT id, system, generate_subscripts(citations, 1) - 1 AS citation, unnest(citations) AS c FROM answers) g
		LEFT JOIN citations o USING (id, system, citation)) SEMI JOIN keys USING (id, system)
	WHERE c.start >= 0 AND c.start < c."end";

CREATE TABLE true_chars AS SELECT DISTINCT id, system, coalesce(c.annotator, '') AS annotator, c.doc AS doc, unnest(range(c.start, c."end")) AS pos
	FROM (SELECT id, system, unnest(truth) AS c FROM answers) SEMI JOIN keys USING (id, system)
	WHERE c.start >= 0 AND c.start < c."end";

CREATE TABLE annotators AS SELECT DISTINCT id, system, coalesce(unnest(truth).annotator, '') AS annotator FROM answers SEMI JOIN keys USING (id, system)
	UNION SELECT id, system, '' FROM keys WHERE has_truth AND (id, system) IN (SELECT (id, system) FROM answers WHERE len(truth) = 0);

CREATE TABLE sizes AS
	SELECT id, system, annotator, coalesce(t, 0) AS t, coalesce(p, 0) AS p, coalesce(hit, 0) AS hit,
		2 * coalesce(hit, 0) / nullif(coalesce(t, 0) + coalesce(p, 0), 0) AS f1
	FROM annotators
	LEFT JOIN (SELECT id, system, count(*) AS p FROM pred GROUP BY ALL) USING (id, system)
	LEFT JOIN (SELECT id, system, annotator, count(*) AS t FROM true_chars GROUP BY ALL) USING (id, system, annotator)
	LEFT JOIN (SELECT id, system, annotator, count(*) AS hit FROM true_chars JOIN pred USING (id, system, doc, pos) GROUP BY ALL) USING (id, system, annotator);

CREATE TABLE best AS SELECT * FROM sizes
	QUALIFY row_number() OVER (PARTITION BY id, system ORDER BY f1 DESC NULLS LAST, annotator) = 1;`

// TestCharacterSets compares interval arithmetic with sets of characters.
func TestCharacterSets(t *testing.T) {
	g := generate(t)
	g.loadRun(g.scored)
	g.exec(charSets)
	const joined = " FROM rows r JOIN best b USING (id, system) JOIN keys k USING (id, system) WHERE status = 'ok' "
	g.none("counts where truth and citations are known", `
		SELECT id, system, truth_chars, t, pred_chars, p, overlap_chars, hit, r.truth_annotator, annotator`+joined+`
		AND has_citations AND has_truth AND NOT (truth_chars = t AND pred_chars = p AND overlap_chars = hit)`)
	g.none("annotator", "SELECT id, system, truth_annotator, annotator"+joined+"AND has_citations AND coalesce(truth_annotator, '') <> annotator")
	g.none("unknown is null", `SELECT id, system FROM rows JOIN keys USING (id, system) WHERE status = 'ok' AND (
		(truth_chars IS NULL) <> NOT has_truth OR (pred_chars IS NULL) <> NOT has_citations OR (overlap_chars IS NULL) <> NOT (has_truth AND has_citations))`)
	g.none("error rows are those with half a span", `SELECT id, system, status, error FROM rows JOIN answers USING (id, system)
		WHERE (status = 'error') <> (len(list_filter(coalesce(answers.citations, []), lambda c: (c.start IS NULL) <> (c."end" IS NULL))) > 0)`)
	if n := g.number("SELECT count(*)" + joined + "AND overlap_chars > 0"); n < 1000 {
		t.Errorf("only %d rows with an overlap", n)
	}
	if n := g.number("SELECT count(*) FROM rows WHERE status = 'error'"); n == 0 {
		t.Error("no error row")
	}
	seen := map[string]bool{}
	for _, line := range g.rows("SELECT DISTINCT status FROM citations") {
		seen[line[0]] = true
	}
	for _, status := range strings.Fields("ok unchecked document_not_found page_not_found span_out_of_bounds quote_repaired quote_ambiguous span_empty span_inverted span_negative") {
		if !seen[status] {
			t.Errorf("no citation with status %s", status)
		}
	}
}
