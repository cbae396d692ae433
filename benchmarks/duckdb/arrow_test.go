//go:build duckdb_arrow

package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/duckdb/duckdb-go/v2"
)

// TestArrowIsWhatParquetHolds has DuckDB take over the Arrow streams of a run,
// read by another version of Arrow than wrote them, and wants in them the columns,
// types and rows that it finds in the Parquet files.
func TestArrowIsWhatParquetHolds(t *testing.T) {
	run := sample(t)
	for _, table := range []string{"rows", "citations", "claims", "summary"} {
		t.Run(table, func(t *testing.T) {
			stream := filepath.Join(t.TempDir(), table+".arrow")
			ibid(t, filepath.Dir(filepath.Dir(run.dir)), "show", filepath.Join("runs", "sample"), "--format", "arrow", "--table", table, "-o", stream)
			d := openDuck(t)
			if err := d.takeArrow(stream, "taken"); err != nil {
				t.Fatal(err)
			}
			parquet := "read_parquet(" + quote(filepath.Join(run.dir, table+".parquet")) + ")"
			if d.number("SELECT count(*) FROM taken") == 0 {
				t.Error("no rows")
			}
			names, types := d.columns("taken")
			wantNames, wantTypes := d.columns(parquet)
			if !slices.Equal(names, wantNames) || !slices.Equal(types, wantTypes) {
				t.Errorf("columns %v %v, want %v %v", names, types, wantNames, wantTypes)
			}
			d.same(table, "taken", parquet)
		})
	}
}

// takeArrow copies an Arrow IPC stream into a table.
func (d *duck) takeArrow(path, table string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := ipc.NewReader(f)
	if err != nil {
		return err
	}
	defer r.Release()
	conn, err := d.db.Conn(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	release, err := registerArrow(conn, r)
	if err != nil {
		return err
	}
	defer release()
	_, err = conn.ExecContext(context.Background(), "CREATE TABLE "+table+" AS FROM stream")
	return err
}

// registerArrow makes a stream the view "stream", which can be read once.
func registerArrow(conn *sql.Conn, r *ipc.Reader) (release func(), err error) {
	err = conn.Raw(func(c any) error {
		a, err := duckdb.NewArrowFromConn(c.(driver.Conn))
		if err != nil {
			return err
		}
		release, err = a.RegisterView(r, "stream")
		return err
	})
	return release, err
}
