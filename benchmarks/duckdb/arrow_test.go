//go:build duckdb_arrow

package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/duckdb/duckdb-go/v2"
)

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
