package duckdb

import (
	"path/filepath"
	"testing"
)

// TestClaimsAgainstRows recounts the judged counts of each row from its claims and
// its citations.
func TestClaimsAgainstRows(t *testing.T) {
	s := words(t)
	d := openDuck(t)
	d.loadRun(s.runDir)
	d.load("claims", filepath.Join(s.dir, "claims.parquet"))
	d.none("a claim without its row", `SELECT c.id, c.system FROM claims c ANTI JOIN rows r ON c.id = r.id AND c.system = r.system AND c."row" = r."row"`)
	d.none("outcomes of the contract", `SELECT id, claim, outcome FROM claims WHERE outcome NOT IN
		('not_factual', 'unscored', 'supported_by_cited', 'contradicted', 'supported_elsewhere', 'unsupported', 'no_text', 'undecided')`)
	d.exec(`CREATE TABLE counted AS SELECT r.id, r.system, count(c.id) AS claims,
		count(*) FILTER (c.factual) AS factual,
		count(*) FILTER (c.needs_citation) AS needing,
		count(*) FILTER (c.needs_citation AND len(c.citations) > 0) AS cited,
		count(*) FILTER (c.needs_citation AND c.support >= 0.7) AS supported,
		count(*) FILTER (c.outcome = 'contradicted') AS contradicted,
		count(*) FILTER (c.outcome IN ('contradicted', 'unsupported')) AS hallucinated
		FROM rows r LEFT JOIN claims c USING (id, system) WHERE r.status = 'ok' GROUP BY r.id, r.system`)
	d.none("counts of claims", `SELECT id, system, r.claims, n.claims, needing_claims, needing, supported_claims, supported, hallucinated_claims, hallucinated
		FROM rows r JOIN counted n USING (id, system)
		WHERE r.claims <> n.claims OR factual_claims <> factual OR needing_claims <> needing OR cited_claims <> cited
		OR supported_claims <> supported OR contradicted_claims <> contradicted OR hallucinated_claims <> hallucinated`)
	d.none("correct citations", `SELECT r.id, r.system, correct_citations, count(*) FILTER (c.support >= 0.7)
		FROM rows r JOIN citations c USING (id, system)
		GROUP BY r.id, r.system, correct_citations, relevant_citations, scored_citations
		HAVING correct_citations <> count(*) FILTER (c.support >= 0.7)
		OR relevant_citations <> count(*) FILTER (c.relevant) OR scored_citations <> count(c.support)`)
	if n := d.number("SELECT count(DISTINCT outcome) FROM claims"); n < 5 {
		t.Errorf("the sample has %d outcomes, too few to show anything", n)
	}
}
