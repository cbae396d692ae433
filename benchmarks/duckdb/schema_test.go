package duckdb

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// results are the files that a run with a judge fills.
var results = []string{"rows.parquet", "citations.parquet", "claims.parquet", "summary.parquet"}

// TestEveryFileOpens scans every value of every Parquet file of a run directory.
func TestEveryFileOpens(t *testing.T) {
	s := sample(t)
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	d := openDuck(t)
	var seen []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".parquet") {
			continue
		}
		seen = append(seen, e.Name())
		d.load("file", filepath.Join(s.dir, e.Name()))
		if lines := d.rows("FROM file"); len(lines) == 0 && slices.Contains(results, e.Name()) {
			t.Errorf("%s has no rows", e.Name())
		}
	}
	for _, name := range results {
		if !slices.Contains(seen, name) {
			t.Errorf("no %s in the run directory, only %v", name, seen)
		}
	}
}

func TestColumns(t *testing.T) {
	s := sample(t)
	d := openDuck(t)
	for _, table := range []string{"rows", "citations", "claims", "verdicts", "summary"} {
		d.load(table, filepath.Join(s.dir, table+".parquet"))
	}
	for _, c := range []struct {
		table string
		want  []string
	}{
		{"rows", rowsColumns},
		{"citations", citationsColumns},
		{"claims", claimsColumns},
		{"verdicts", verdictsColumns},
		{"summary", summaryColumns},
	} {
		t.Run(c.table, func(t *testing.T) {
			names, types := d.columns(c.table)
			for i, want := range c.want {
				if i == len(names) {
					t.Fatalf("%d columns, want at least %d: no %s", len(names), len(c.want), want)
				}
				if got := names[i] + " " + types[i]; got != want {
					t.Errorf("column %d is %s, want %s", i, got, want)
				}
			}
			if distinct := slices.Compact(slices.Sorted(slices.Values(names))); len(distinct) != len(names) {
				t.Errorf("%d columns, but %d names", len(names), len(distinct))
			}
		})
	}
}

// TestMoreColumns pins what may follow the columns of the contract: the bounds of metrics,
// what the judge says of attempts to steer it, numbers over citations of one kind of source, and what the answer cost in
// rows.parquet,
// nothing elsewhere.
func TestMoreColumns(t *testing.T) {
	s := sample(t)
	d := openDuck(t)
	for table, known := range map[string]int{"citations": len(citationsColumns), "summary": len(summaryColumns)} {
		d.load(table, filepath.Join(s.dir, table+".parquet"))
		if names, _ := d.columns(table); len(names) != known {
			t.Errorf("%s has columns that nobody knows: %v", table, names[known:])
		}
	}
	d.load("rows", s.rows)
	names, types := d.columns("rows")
	for i := len(rowsColumns); i < len(names); i++ {
		if !slices.Contains([]string{"BIGINT", "DOUBLE"}, types[i]) && names[i] != "tampering" && names[i] != "by_kind" {
			t.Errorf("column %s of rows is %s, neither a count nor a score", names[i], types[i])
		}
	}
}

// TestDocumentedColumns wants the columns of rows.parquet in the order and with the types
// that the program documents; what the run of the sample cannot fill is not there.
func TestDocumentedColumns(t *testing.T) {
	s := sample(t)
	d := openDuck(t)
	stored, _ := d.documentedRows()
	d.load("rows", s.rows)
	var got, want, absent []string
	names, types := d.columns("rows")
	for i, name := range names {
		got = append(got, name+" "+types[i])
	}
	for _, c := range stored {
		if slices.Contains(names, c.name) {
			want = append(want, c.name+" "+c.kind)
		} else {
			absent = append(absent, c.name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("columns are\n%v, want\n%v", got, want)
	}
	if !slices.Equal(absent, strings.Fields("source_types source_statuses documents")) {
		t.Errorf("the run has no columns %v", absent)
	}
}

// TestColumnsOfABareRun wants a run without judge and documents to have no column of theirs.
func TestColumnsOfABareRun(t *testing.T) {
	d := openDuck(t)
	d.exec(states)
	dir := t.TempDir()
	d.exec("COPY states TO " + quote(filepath.Join(dir, "bare.parquet")) + " (FORMAT parquet)")
	d.load("rows", evaluate(t, dir, "bare.parquet", "bare", "--set", "statistics.cluster=id").rows)
	names, _ := d.columns("rows")
	for _, name := range strings.Fields("truth_tokens supported_claims citation_correctness open bounds dialects tampering documents source_types") {
		if slices.Contains(names, name) {
			t.Errorf("the run has a column %s, which it cannot fill", name)
		}
	}
	for _, name := range strings.Fields("truth_chars claims mean_exact_jaccard span_accuracy_score overall_citation_accuracy") {
		if !slices.Contains(names, name) {
			t.Errorf("the run has no column %s", name)
		}
	}
}

// TestTypesInTheFile looks below DuckDB's types: other readers go by the
// annotations of the schema, and none of ours may need more than old ones.
func TestTypesInTheFile(t *testing.T) {
	s := sample(t)
	d := openDuck(t)
	for _, path := range []string{s.rows, s.citations, s.summary} {
		d.none(filepath.Base(path)+": text without UTF8 annotation",
			"SELECT name FROM parquet_schema("+quote(path)+") WHERE type = 'BYTE_ARRAY' AND converted_type IS DISTINCT FROM 'UTF8'")
		d.none(filepath.Base(path)+": nested column that is neither LIST nor MAP",
			"SELECT name, converted_type FROM parquet_schema("+quote(path)+`)
			WHERE num_children > 0 AND repetition_type IS DISTINCT FROM 'REPEATED'
			AND coalesce(converted_type, '') NOT IN ('LIST', 'MAP') AND name NOT IN (
				SELECT name FROM parquet_schema(`+quote(path)+`) LIMIT 1)`)
		d.none(filepath.Base(path)+": row group beyond 128k rows",
			"SELECT row_group_id, row_group_num_rows FROM parquet_metadata("+quote(path)+") WHERE row_group_num_rows > 131072")
	}
}

var helpName = regexp.MustCompile(`^  ([a-z0-9_]+)(?: \([a-z0-9_, ]+\))?(:|  )`)

// TestHelpNamesTheColumns compares what the program says about itself with what
// it writes.
func TestHelpNamesTheColumns(t *testing.T) {
	s := sample(t)
	d := openDuck(t)
	d.loadRun(s.runDir)
	names, types := d.columns("rows")
	var metrics, counts []string
	for line := range strings.Lines(ibid(t, t.TempDir(), "help", "metrics")) {
		match := helpName.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		want := "BIGINT"
		if match[2] == ":" {
			want = "DOUBLE"
			metrics = append(metrics, match[1])
		} else {
			counts = append(counts, match[1])
		}
		at := slices.Index(names, match[1])
		if at < 0 {
			t.Errorf("%s is no column of rows and not derived", match[1])
		} else if types[at] != want {
			t.Errorf("%s is %s, want %s", match[1], types[at], want)
		}
	}
	// Help has them in groups, the columns are in the order of the contract.
	slices.SortFunc(metrics, func(a, b string) int { return slices.Index(names, a) - slices.Index(names, b) })
	if want := strings.Fields(contractMetrics); !slices.Equal(metrics, want) {
		t.Errorf("metrics are\n%v, want\n%v", metrics, want)
	}
	if want := strings.Fields(contractCounts + partCounts); !slices.Equal(counts, want) {
		t.Errorf("counts are\n%v, want\n%v", counts, want)
	}
}
