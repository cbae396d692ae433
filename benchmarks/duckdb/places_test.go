package duckdb

import "testing"

// given pairs each citation of the input with what became of it.
const given = `CREATE TABLE given AS
	WITH g AS (SELECT id, system, generate_subscripts(citations, 1) - 1 AS citation, unnest(citations) AS c FROM answers)
	SELECT g.c AS c, o.*, pages, texts.text, trim(c.cited_text) AS wanted FROM g JOIN citations o USING (id, system, citation)
	LEFT JOIN documents ON documents.doc = g.c.doc LEFT JOIN texts ON texts.doc = g.c.doc`

// letters is what counts of a text where a quote is looked for, as far as the data need it.
func letters(text string) string {
	return `regexp_replace(lower(` + text + `), '[^\pL\pN\pM]', '', 'g')`
}

// TestPlaces converts pages and looks up quotes by SQL.
func TestPlaces(t *testing.T) {
	g := generate(t)
	g.loadRun(g.scored)
	g.exec(given)
	defer g.exec("DROP TABLE given")
	const shown = `SELECT id, system, citation, c.start, c."end", c.unit, start, "end", unit, status, repaired_start, repaired_end, wanted FROM given WHERE `
	g.none("pages become characters where their ends are known", shown+`c.unit = 'page' AND pages IS NOT NULL AND c."end" - 1 <= len(pages) AND NOT (
		unit = 'codepoint' AND start = length(array_to_string(pages[1:c.start - 1], '')) AND "end" = length(array_to_string(pages[1:c."end" - 1], '')))`)
	g.none("pages beyond the last", shown+`c.unit = 'page' AND pages IS NOT NULL AND (c."end" - 1 > len(pages)) <> (status = 'page_not_found')`)
	g.none("code points stay as given", shown+`c.unit IS NULL AND (start IS DISTINCT FROM c.start OR "end" IS DISTINCT FROM c."end" OR unit <> 'codepoint')`)
	g.none("unusable spans", shown+`c.unit IS NULL AND coalesce(c.start, c."end") IS NOT NULL AND coalesce(status <> CASE
		WHEN c.start < 0 THEN 'span_negative' WHEN c.start = c."end" THEN 'span_empty' WHEN c.start > c."end" THEN 'span_inverted' END, false)`)
	g.none("documents that do not exist", shown+`c.start >= 0 AND c.start < c."end" AND (c.doc = 'unheard of') <> (status = 'document_not_found')`)

	const quoted = `c.unit IS NULL AND wanted <> '' AND text IS NOT NULL AND `
	const once = `(instr(text, wanted) > 0 AND instr(substring(text, instr(text, wanted) + 1), wanted) = 0)`
	g.none("a quote that is there", shown+quoted+`status = 'ok' AND instr(`+letters(`substring(text, start + 1, "end" - start)`)+`, `+letters("wanted")+`) = 0`)
	g.none("a quote found elsewhere", shown+quoted+`status = 'quote_repaired' AND trim(substring(text, repaired_start + 1, repaired_end - repaired_start)) <> wanted`)
	g.none("a quote found more than once", shown+quoted+`status = 'quote_ambiguous' AND `+once)
	g.none("a quote found nowhere", shown+quoted+`status = 'quote_mismatch' AND instr(text, wanted) > 0`)
	g.none("repaired ends without repair", shown+`(status = 'quote_repaired') <> (repaired_start IS NOT NULL AND repaired_end IS NOT NULL)`)
}
