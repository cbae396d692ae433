//go:build duckdb_arrow

package duckdb

import (
	"bytes"
	"context"
	"database/sql/driver"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/duckdb/duckdb-go/v2"
)

// TestScoreThroughDuckDB: DuckDB sends answers as Arrow in each of the layouts that it has,
// and what ibid score makes of them goes back into DuckDB, where it is the rows of the run.
func TestScoreThroughDuckDB(t *testing.T) {
	run := sample(t)
	home := filepath.Dir(run.answers)
	for name, settings := range map[string][]string{
		"plain":      nil,
		"large":      {"arrow_large_buffer_size = true"},
		"views":      {"produce_arrow_string_view = true"},
		"list views": {"arrow_output_list_view = true", "produce_arrow_string_view = true"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDuck(t)
			for _, s := range settings {
				d.exec("SET " + s)
			}
			in := d.giveArrow(fmt.Sprintf("SELECT *, row_number() OVER () - 1 AS row FROM %s", quote(run.answers)))
			for _, table := range []string{"rows", "citations", "verdicts"} {
				cmd := exec.Command(program, "score", "ibid.yaml", "--table", table)
				var out, stderr bytes.Buffer
				cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = home, bytes.NewReader(in), &out, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v\n%s", err, stderr.String())
				}
				stream := filepath.Join(t.TempDir(), table+".arrow")
				if err := os.WriteFile(stream, out.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
				if err := d.takeArrow(stream, table); err != nil {
					t.Fatal(err)
				}
				if d.number("SELECT count(*) FROM "+table) == 0 {
					t.Error("no " + table)
				}
				scored, want := "(FROM "+table+")", "(FROM read_parquet("+quote(filepath.Join(run.dir, table+".parquet"))+"))"
				if table == "rows" { // a stream has the columns of every run
					scored, want = "("+d.whole(scored)+")", "("+d.whole(want)+")"
				}
				d.same(table, scored, want)
			}
		})
	}
}

// giveArrow is the answer to a query as an Arrow IPC stream.
func (d *duck) giveArrow(query string) []byte {
	d.t.Helper()
	conn, err := d.db.Conn(context.Background())
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	var out bytes.Buffer
	err = conn.Raw(func(c any) error {
		a, err := duckdb.NewArrowFromConn(c.(driver.Conn))
		if err != nil {
			return err
		}
		rows, err := a.QueryContext(context.Background(), query)
		if err != nil {
			return err
		}
		defer rows.Release()
		w := ipc.NewWriter(&out, ipc.WithSchema(rows.Schema()))
		for rows.Next() {
			if err := w.Write(rows.Record()); err != nil {
				return err
			}
		}
		return w.Close()
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out.Bytes()
}
