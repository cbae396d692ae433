package duckdb

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSummaryOfPartitions has DuckDB write the rows of the sample again, partitioned by
// system and by status, and wants of them the summary of the run, to 1e-9. The
// queries of docs/scale.md have the numbers of that summary.
func TestSummaryOfPartitions(t *testing.T) {
	run := sample(t)
	home := filepath.Dir(filepath.Dir(run.dir))
	lake := filepath.Join(t.TempDir(), "lake")
	d := openDuck(t)
	d.exec("COPY (FROM " + quote(run.rows) + " ORDER BY hash(id)) TO " + quote(lake) + " (FORMAT parquet, PARTITION_BY (system, status), COMPRESSION zstd, ROW_GROUP_SIZE 2048)")
	ibid(t, home, "summary", "ibid.yaml", filepath.Join(lake, "**", "*.parquet"), "-o", filepath.Join("runs", "of-lake"))
	of := filepath.Join(home, "runs", "of-lake", "summary.parquet")
	const key = "coalesce(system, '') AS system, slice, metric, agg"
	d.same("lines of the summary", "(SELECT "+key+", n, undefined, method, clusters, warnings FROM "+quote(run.summary)+")", "(SELECT "+key+", n, undefined, method, clusters, warnings FROM "+quote(of)+")")
	for _, number := range []string{"estimate", "ci_low", "ci_high", "se", "df", "design_effect", "bound_low", "bound_high"} { // sums of rows in another order
		d.none(number+" of rows in another order", "SELECT a.system, a.slice, a.metric, a."+number+", b."+number+" FROM "+quote(run.summary)+" a JOIN "+quote(of)+
			" b ON a.slice = b.slice AND a.metric = b.metric AND a.agg = b.agg AND a.system IS NOT DISTINCT FROM b.system WHERE NOT "+near("a."+number, "b."+number, 1e-9))
	}
	for view, path := range map[string]string{"whole": run.rows, "joined": filepath.Join(home, "runs", "of-lake", "rows.parquet")} {
		d.exec("CREATE VIEW " + view + " AS SELECT * EXCLUDE (row) FROM " + quote(path))
	}
	d.same("rows but for row", "whole", "joined")

	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	queries := regexp.MustCompile("(?s)\n```sql\n(.*?);\n```").FindAllStringSubmatch(string(text), -1)
	if len(queries) != 2 {
		t.Fatalf("%d queries in docs/scale.md", len(queries))
	}
	for i, agg := range []string{"macro", "micro"} {
		query := strings.ReplaceAll(queries[i][1], "'lake/", "'"+lake+"/")
		d.exec("CREATE TABLE " + agg + " AS UNPIVOT (" + query + ") ON COLUMNS(* EXCLUDE system) INTO NAME metric VALUE estimate")
		d.none("the "+agg+" values of docs/scale.md", "SELECT system, metric, a.estimate, s.estimate FROM "+agg+" a JOIN "+quote(run.summary)+" s USING (system, metric) WHERE s.slice = '' AND s.reason IS NULL AND s.agg = "+quote(agg)+" AND NOT "+near("a.estimate", "s.estimate", 1e-12))
		var systems, compared int64
		row := d.db.QueryRow("SELECT count(DISTINCT system), count(*) FROM " + agg + " JOIN " + quote(run.summary) + " s USING (system, metric) WHERE s.slice = '' AND s.agg = " + quote(agg))
		if err := row.Scan(&systems, &compared); err != nil && err != sql.ErrNoRows {
			t.Fatal(err)
		}
		if systems < 3 || compared < 4*systems {
			t.Errorf("%s: %d values of %d systems compared", agg, compared, systems)
		}
	}
}
