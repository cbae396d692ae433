package duckdb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A documented is a column of rows.parquet, a key of a map in it, or a metric derived from its
// columns, as ibid help columns has it.
type documented struct{ name, kind, sql string } // kind is a DuckDB type; sql that of a derived one

var (
	documentedColumn = regexp.MustCompile(`^  ([a-z0-9_]+) \((?:derived, )?([a-z0-9]+(?:<[a-z0-9,]+>)?)`)
	documentedSQL    = regexp.MustCompile(`^      SQL: (.+)\n$`)
	documentedKeys   = regexp.MustCompile(`^      keys: (.+)\n$`)
	documentedKey    = regexp.MustCompile(`^      SQL of KEY: (.+)\n$`)
	duckTypes        = map[string]string{
		"string": "VARCHAR", "int64": "BIGINT", "double": "DOUBLE",
		"list<string>": "VARCHAR[]", "map<string,string>": "MAP(VARCHAR, VARCHAR)",
		"map<string,int64>": "MAP(VARCHAR, BIGINT)", "map<string,double>": "MAP(VARCHAR, DOUBLE)",
	}
)

// documentedRows asks the program for the columns of rows.parquet, once for all tests.
var documentedRows = sync.OnceValues(func() (columns []documented, err error) {
	help, err := call(os.TempDir(), "help", "columns")
	if err != nil || help.exit != 0 {
		return nil, fmt.Errorf("ibid help columns: exit %d, %w\n%s", help.exit, err, help.stderr)
	}
	_, section, _ := strings.Cut(help.stdout, "\nrows.parquet: ")
	section, _, _ = strings.Cut(section, "\n\n")
	var keys []string
	var ofKeys []documented
	for line := range strings.Lines(section + "\n") {
		if match := documentedColumn.FindStringSubmatch(line); match != nil {
			if duckTypes[match[2]] == "" {
				return nil, fmt.Errorf("ibid help columns: type %s is not known", match[2])
			}
			columns = append(columns, documented{name: match[1], kind: duckTypes[match[2]]})
		} else if match := documentedSQL.FindStringSubmatch(line); match != nil {
			columns[len(columns)-1].sql = match[1]
		} else if match := documentedKeys.FindStringSubmatch(line); match != nil {
			keys = strings.Split(match[1], ", ")
		} else if match := documentedKey.FindStringSubmatch(line); match != nil {
			for _, key := range keys {
				ofKeys = append(ofKeys, documented{name: key, kind: "DOUBLE", sql: strings.ReplaceAll(match[1], "KEY", key)})
			}
		}
	}
	columns = append(columns, ofKeys...)
	if len(columns) < 50 || columns[0].name != "id" {
		return nil, fmt.Errorf("ibid help columns: %d columns of rows.parquet", len(columns))
	}
	return columns, nil
})

// documentedRows are the columns of rows.parquet, and those that follow from them.
func (d *duck) documentedRows() (stored, derived []documented) {
	d.t.Helper()
	all, err := documentedRows()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, c := range all {
		if c.sql == "" {
			stored = append(stored, c)
		} else {
			derived = append(derived, c)
		}
	}
	return stored, derived
}

// whole is a query for rows with every documented column: null those that the file does not
// have, since its run could not fill them, and derived ones by their documented SQL.
func (d *duck) whole(rows string) string {
	d.t.Helper()
	names, _ := d.columns(rows)
	stored, derived := d.documentedRows()
	var list []string
	for _, c := range stored {
		if !slices.Contains(names, c.name) {
			list = append(list, fmt.Sprintf(`NULL::%s AS "%s"`, c.kind, c.name))
			continue
		}
		list = append(list, `"`+c.name+`"`)
	}
	for _, name := range names {
		if !slices.ContainsFunc(stored, func(c documented) bool { return c.name == name }) {
			list = append(list, `"`+name+`"`)
		}
	}
	follow := ""
	for _, c := range derived {
		if slices.Contains(names, c.name) {
			d.t.Errorf("%s is derived, and a column of the file", c.name)
		}
		follow += fmt.Sprintf(`, %s AS "%s"`, c.sql, c.name)
	}
	return fmt.Sprintf("SELECT *%s FROM (SELECT %s FROM %s)", follow, strings.Join(list, ", "), rows)
}

// loadReasons makes a table reasons: of each row of a run the metrics without a value, each with
// the reason, as ibid show says it. The column undefined of the file has only those reasons that
// do not follow from the rest of the row.
func (d *duck) loadReasons(r runDir) {
	d.t.Helper()
	rows := filepath.Join(d.t.TempDir(), "rows.csv")
	ibid(d.t, os.TempDir(), "show", filepath.Dir(r.rows), "--format", "csv", "--table", "rows", "-o", rows)
	d.exec(`CREATE OR REPLACE TABLE reasons AS SELECT "row"::BIGINT AS "row",
		map_from_entries(list_transform(string_split(undefined, '; '), lambda e: {k: split_part(e, '=', 1), v: split_part(e, '=', 2)})) AS undefined
		FROM read_csv(` + quote(rows) + ", header = true, all_varchar = true)")
}

// explained is a query for rows whose column undefined has what loadReasons found.
func explained(rows string) string {
	return "SELECT w.* REPLACE (reasons.undefined AS undefined) FROM (" + rows + `) w LEFT JOIN reasons ON w."row" = reasons."row"`
}
