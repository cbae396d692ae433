package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// integersAs is a query for answers with every integer in them of one width.
func (g *generated) integersAs(width string) string {
	names, types := g.columns("answers")
	for i, name := range names {
		names[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", name, strings.NewReplacer("INTEGER", width, "BIGINT", width).Replace(types[i]), name)
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM answers"
}

// specificationNames is a query for answers with the names that the
// specification gives to members of citations and truth.
const specificationNames = `SELECT * REPLACE (
	list_transform(citations, lambda c: {citation_id: c.citation_id, file_name: c.doc, page_number: c.page, start_char: c.start, end_char: c."end",
		unit: c.unit, cited_text: c.cited_text, claim_id: c.claim_id, answer_start: c.answer_start, answer_end: c.answer_end,
		source_type: c.source_type, confidence_score: c.confidence, title: c.title, token_contribution: c.token_contribution}) AS citations,
	list_transform(truth, lambda s: {file_name: s.doc, start_char: s.start, end_char: s."end", page_number: s.page, annotator: s.annotator}) AS truth)
	FROM answers`

// TestImportedIsWhatWasMeant wants DuckDB to read back what it handed to ibid import.
// Tags have no state between unknown and none: no tag at all is written as null.
func TestImportedIsWhatWasMeant(t *testing.T) {
	g := generate(t)
	names, _ := g.columns("answers")
	list := strings.Join(names, ", ")
	g.same("imported answers", "(SELECT "+strings.Replace(list, "tags", "nullif(tags, MAP {})", 1)+" FROM answers)", "(SELECT "+list+" FROM read_parquet("+quote(g.answers)+"))")
	g.same("imported documents", "documents", "(SELECT doc, title, text, pages, blocks FROM read_parquet("+quote(g.documents)+"))")
}

// TestWrittenByDuckDB has DuckDB write the same rows in many ways; all must score
// the same, to the last bit, as the file that ibid import wrote.
func TestWrittenByDuckDB(t *testing.T) {
	g := generate(t)
	for _, c := range []struct {
		name, query, codec, options string
		args                        []string
	}{
		{name: "zstd", codec: "ZSTD"},
		{name: "snappy", codec: "SNAPPY"},
		{name: "gzip", codec: "GZIP"},
		{name: "lz4_raw", codec: "LZ4_RAW"},
		{name: "uncompressed", codec: "UNCOMPRESSED"},
		{name: "zstd, version 2", codec: "ZSTD", options: "PARQUET_VERSION v2"},
		{name: "uncompressed, version 2", codec: "UNCOMPRESSED", options: "PARQUET_VERSION v2"},
		{name: "no dictionaries", codec: "SNAPPY", options: "DICTIONARY_SIZE_LIMIT 1"},
		{name: "no dictionaries, version 2", codec: "SNAPPY", options: "PARQUET_VERSION v2, DICTIONARY_SIZE_LIMIT 1"},
		{name: "many row groups", codec: "ZSTD", options: "ROW_GROUP_SIZE 2048"},
		{name: "many row groups, version 2", codec: "GZIP", options: "PARQUET_VERSION v2, ROW_GROUP_SIZE 2048"},
		{name: "int32", codec: "SNAPPY", query: g.integersAs("INTEGER")},
		{name: "int64", codec: "SNAPPY", query: g.integersAs("BIGINT")},
		{name: "int32, version 2", codec: "SNAPPY", query: g.integersAs("INTEGER"), options: "PARQUET_VERSION v2, DICTIONARY_SIZE_LIMIT 1"},
		{name: "more columns in another order", codec: "SNAPPY", query: "SELECT tags, 1.5 AS more, truth, {a: [1, 2]} AS nested, answers.* EXCLUDE (tags, truth) FROM answers"},
		{name: "names of the specification", codec: "SNAPPY", query: specificationNames},
		{
			name: "foreign names", codec: "SNAPPY", query: "SELECT * RENAME (query AS question, truth AS gold) FROM answers",
			args: []string{"--set", "columns={question: query, gold: truth}"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := g.in(t)
			name := strings.NewReplacer(" ", "-", ",", "").Replace(c.name)
			query, options := "answers", "FORMAT parquet, COMPRESSION "+c.codec
			if c.query != "" {
				query = c.query
			}
			if c.options != "" {
				options += ", " + c.options
			}
			v.copy(query, name+".parquet", options)
			path := quote(filepath.Join(v.dir, name+".parquet"))
			v.none("codec", "SELECT DISTINCT compression FROM parquet_metadata("+path+") WHERE compression <> "+quote(c.codec))
			if groups := v.number("SELECT count(DISTINCT row_group_id) FROM parquet_metadata(" + path + ")"); strings.Contains(c.options, "ROW_GROUP_SIZE") && groups < 2 {
				t.Errorf("%d row group", groups)
			}
			v.sameScores(v.evaluate(name+".parquet", name, c.args...))
		})
	}
}

// TestWrittenDirectory splits the rows over files of different codecs and versions.
func TestWrittenDirectory(t *testing.T) {
	g := generate(t)
	if err := os.Mkdir(filepath.Join(g.dir, "parts"), 0o755); err != nil {
		t.Fatal(err)
	}
	from := 0
	for i, part := range []struct {
		rows    int
		options string
	}{
		{1500, "COMPRESSION zstd"},
		{1, "COMPRESSION snappy, PARQUET_VERSION v2"},
		{0, "COMPRESSION snappy"},
		{1500, "COMPRESSION gzip, PARQUET_VERSION v2"},
		{100, "COMPRESSION brotli"}, // slow to write
		{5000, "COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1"},
	} {
		slice := fmt.Sprintf("SELECT * FROM answers LIMIT %d OFFSET %d", part.rows, from)
		g.copy(slice, fmt.Sprintf("parts/part-%d.parquet", i), "FORMAT parquet, "+part.options)
		from += part.rows
	}
	if err := os.WriteFile(filepath.Join(g.dir, "parts", "_SUCCESS"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{"directory": "parts", "glob": "parts/part-*.parquet"} {
		t.Run(name, func(t *testing.T) {
			v := g.in(t)
			v.sameScores(v.evaluate(source, name))
		})
	}
}

// TestWrittenDocuments has DuckDB write the documents.
func TestWrittenDocuments(t *testing.T) {
	g := generate(t)
	for _, version := range []string{"v1", "v2"} {
		g.copy("documents", "documents-"+version+".parquet", "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION "+version)
		g.sameScores(g.evaluate("imported.parquet", "documents-"+version, "--documents", "documents-"+version+".parquet"))
	}
}
