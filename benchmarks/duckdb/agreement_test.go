package duckdb

import (
	"path/filepath"
	"slices"
	"testing"
)

// agreementColumns are all columns of agreement.parquet.
var agreementColumns = columnList(
	"VARCHAR", "statistic kind annotators slice",
	"BIGINT", "items documents",
	"DOUBLE", "estimate ci_low ci_high level",
	"VARCHAR", "method",
	"DOUBLE", "target",
	"VARCHAR", "verdict",
	"VARCHAR[]", "warnings",
	"BIGINT", "need",
)

// loadAgreement reads what a run says of its annotators, and what these said.
func loadAgreement(t *testing.T) *duck {
	t.Helper()
	s := words(t)
	d := openDuck(t)
	d.load("agreement", filepath.Join(s.dir, "agreement.parquet"))
	d.load("rows", s.rows)
	d.load("answers", s.answers)
	d.exec(`CREATE TABLE slices AS SELECT id, system, '' AS slice FROM rows
		UNION ALL SELECT id, system, e.key || '=' || e.value FROM (SELECT id, system, unnest(map_entries(tags)) AS e FROM rows)`)
	return d
}

// TestAgreementColumns pins names, order and types, what a row is, and the order of
// rows.
func TestAgreementColumns(t *testing.T) {
	d := loadAgreement(t)
	names, types := d.columns("agreement")
	var got []string
	for i := range names {
		got = append(got, names[i]+" "+types[i])
	}
	if !slices.Equal(got, agreementColumns) {
		t.Errorf("columns are\n%v, want\n%v", got, agreementColumns)
	}
	d.none("a statistic twice", "SELECT statistic, kind, annotators, slice FROM agreement GROUP BY ALL HAVING count(*) > 1")
	d.none("rows out of order", `SELECT * FROM (SELECT row_number() OVER () AS place,
			row_number() OVER (ORDER BY kind DESC, slice, annotators <> 'all', annotators, statistic) AS sorted FROM agreement)
		WHERE place <> sorted`)
	d.none("kinds of the contract", "SELECT kind FROM agreement WHERE kind NOT IN ('span', 'label')")
	d.none("who is compared", "SELECT annotators FROM agreement WHERE annotators NOT IN ('all', 'ada|ben')")
	d.none("a slice of nothing", `SELECT slice FROM agreement WHERE kind = 'span' AND slice NOT IN (SELECT slice FROM slices)
		OR kind = 'label' AND regexp_replace(slice, '^kind=[a-z_]+,?', '') NOT IN (SELECT slice FROM slices)`)
	d.none("a null where there is none", `SELECT * FROM agreement WHERE statistic IS NULL OR slice IS NULL OR items IS NULL OR documents IS NULL
		OR level IS NULL OR warnings IS NULL OR list_contains(warnings, NULL)`)
	d.none("more documents than items", "SELECT items, documents FROM agreement WHERE documents > items OR documents < 1")
	d.none("half an interval, or one without a method", `SELECT ci_low, ci_high, method FROM agreement
		WHERE (ci_low IS NULL) <> (ci_high IS NULL) OR (ci_low IS NULL) <> (method IS NULL) OR ci_low > ci_high`)
	d.none("a verdict without a target, or a target without a verdict", "SELECT statistic, target, verdict FROM agreement WHERE (verdict IS NULL) <> (target IS NULL)")
	d.none("two verdicts on one kind of data", "SELECT kind, slice FROM agreement WHERE verdict IS NOT NULL GROUP BY kind, slice HAVING count(*) > 1")
	d.none("items that would decide what is decided", "SELECT verdict, need FROM agreement WHERE need IS NOT NULL AND verdict <> 'undecided'")
	d.none("verdicts of the program", `SELECT verdict FROM agreement WHERE verdict NOT IN
		('reliable', 'unreliable', 'undecided')`)
	d.none("agreement on characters beyond its bounds", "SELECT * FROM agreement WHERE statistic LIKE 'char_j%' AND NOT estimate BETWEEN 0 AND 1")
	d.none("of two people all and both differ", `SELECT a.statistic, a.slice, a.estimate, b.estimate
		FROM agreement a JOIN agreement b USING (statistic, kind, slice)
		WHERE a.annotators = 'all' AND b.annotators = 'ada|ben' AND a.estimate IS DISTINCT FROM b.estimate`)
}

// TestAgreementOnPlaces counts the characters that two annotators marked, one by one,
// in the dataset, each item once however many systems answered it.
func TestAgreementOnPlaces(t *testing.T) {
	d := loadAgreement(t)
	d.exec(`CREATE TABLE marks AS SELECT id, system, t.annotator AS annotator, t.doc AS doc, t."start" AS lo, t."end" AS hi
		FROM (SELECT id, system, unnest(truth) AS t FROM answers)`)
	d.exec(`CREATE TABLE items AS SELECT id, min(system) AS system FROM (
			SELECT id, system, string_agg(concat_ws(' ', annotator, doc, lo, hi), ';' ORDER BY annotator, doc, lo, hi) AS said
			FROM marks GROUP BY id, system HAVING count(DISTINCT annotator) = 2)
		GROUP BY id, said`)
	d.exec(`CREATE TABLE characters AS SELECT id, system, doc, place, count(*) AS annotators FROM (
			SELECT DISTINCT id, system, annotator, doc, unnest(range(lo, hi)) AS place FROM marks WHERE doc IS NOT NULL)
		GROUP BY ALL`)
	d.exec(`CREATE TABLE places AS SELECT id, system, count(*) AS units,
			count(*) FILTER (EXISTS (FROM marks o WHERE o.id = m.id AND o.system = m.system AND o.doc = m.doc AND o.lo = m.lo AND o.hi = m.hi AND o.annotator <> m.annotator)) AS exact
		FROM marks m WHERE doc IS NOT NULL GROUP BY ALL`)
	d.exec(`CREATE TABLE counted AS SELECT i.id, i.system, count(c.place) AS either, count(c.place) FILTER (c.annotators = 2) AS shared,
			any_value(p.units) AS units, any_value(p.exact) AS exact
		FROM items i LEFT JOIN characters c USING (id, system) LEFT JOIN places p USING (id, system) GROUP BY i.id, i.system`)
	d.exec(`CREATE TABLE expected AS SELECT slice, count(*) AS items,
			avg(shared / either) FILTER (either > 0) AS char_jaccard
		FROM counted JOIN slices USING (id, system) GROUP BY slice`)
	compareAgreement(d, "span", "char_jaccard")
}

// TestAgreementOnLabels compares what two annotators said of each question.
func TestAgreementOnLabels(t *testing.T) {
	d := loadAgreement(t)
	d.exec(`CREATE TABLE ratings AS SELECT id, system, l.claim_id AS claim, l.citation_id AS citation, l.kind AS kind, l.annotator AS annotator, l.value AS value
		FROM (SELECT id, system, unnest(labels) AS l FROM answers) WHERE l.value IS NOT NULL`)
	d.exec(`CREATE TABLE questions AS SELECT id, system, kind, min(value) FILTER (annotator = 'ada') AS x, min(value) FILTER (annotator = 'ben') AS y
		FROM ratings GROUP BY id, system, claim, citation, kind HAVING x IS NOT NULL AND y IS NOT NULL`)
	d.exec(`CREATE TABLE sliced AS SELECT 'kind=' || kind || if(slice = '', '', ',' || slice) AS slice, x, y FROM questions JOIN slices USING (id, system)`)
	d.exec(`CREATE TABLE chance AS SELECT slice, sum(nx * ny) AS pairs FROM
			(SELECT slice, x AS value, count(*) AS nx FROM sliced GROUP BY ALL) JOIN (SELECT slice, y AS value, count(*) AS ny FROM sliced GROUP BY ALL) USING (slice, value)
		GROUP BY slice`)
	d.exec(`CREATE TABLE expected AS SELECT slice, count(*) AS items, avg(CAST(x = y AS INTEGER)) AS percent_agreement,
			(avg(CAST(x = y AS INTEGER)) - any_value(pairs) / count(*) ^ 2) / (1 - any_value(pairs) / count(*) ^ 2) AS cohen_kappa
		FROM sliced LEFT JOIN chance USING (slice) GROUP BY slice`)
	compareAgreement(d, "label", "percent_agreement", "cohen_kappa")
}

// compareAgreement wants the statistics of ada and ben in the table expected, a column
// each, to be those of the file, in every slice that the file has.
func compareAgreement(d *duck, kind string, statistics ...string) {
	d.t.Helper()
	for _, name := range statistics {
		of := "(SELECT * FROM agreement WHERE annotators = 'ada|ben' AND kind = " + quote(kind) + " AND statistic = " + quote(name) + ")"
		d.none(name, `SELECT a.slice, a.estimate, e.`+name+`, a.items, e.items FROM `+of+` a LEFT JOIN expected e USING (slice)
			WHERE NOT coalesce(abs(a.estimate - e.`+name+`) < 1e-12 AND a.items = e.items, a.estimate IS NULL AND a.items = e.items AND coalesce(isnan(e.`+name+`), true))`)
		if n := d.number("SELECT count(*) FROM " + of + " WHERE estimate > 0 AND estimate < 1"); n < 2 {
			d.t.Errorf("%s: %d values that say something, too few to show anything", name, n)
		}
	}
}
