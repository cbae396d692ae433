package cache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	// applicationID marks the file as ours: "ibid" in ASCII.
	applicationID = 0x69626964
	// schemaVersion counts the forms of the tables. A store of an older form is
	// brought up to this one when it is opened, a newer one is refused.
	schemaVersion = 1
)

// tables is schema 1. Times are milliseconds since 1970 in UTC. Small columns
// come before the long ones, so that adding up costs does not read answers.
// A rowid table with a unique key loads twice as fast as one without a rowid.
const tables = `
CREATE TABLE entry (
	id                INTEGER PRIMARY KEY,
	key               BLOB    NOT NULL UNIQUE,
	created           INTEGER NOT NULL,
	status            TEXT    NOT NULL,
	model_requested   TEXT    NOT NULL,
	model_resolved    TEXT    NOT NULL,
	provider          TEXT    NOT NULL,
	generation_id     TEXT    NOT NULL,
	template          TEXT    NOT NULL,
	schema            TEXT    NOT NULL,
	finish_reason     TEXT    NOT NULL,
	prompt_tokens     INTEGER NOT NULL,
	completion_tokens INTEGER NOT NULL,
	reasoning_tokens  INTEGER NOT NULL,
	cached_tokens     INTEGER NOT NULL,
	cost_nano_usd     INTEGER NOT NULL,
	latency_ms        INTEGER NOT NULL,
	attempts          INTEGER NOT NULL,
	run               TEXT    NOT NULL,
	crc32c            INTEGER NOT NULL,
	verdict           BLOB    NOT NULL,
	raw               BLOB    NOT NULL
);
CREATE INDEX entry_created ON entry (created);
CREATE TABLE attempt (
	id            INTEGER PRIMARY KEY,
	key           BLOB    NOT NULL,
	n             INTEGER NOT NULL,
	http_status   INTEGER NOT NULL,
	class         TEXT    NOT NULL,
	ms            INTEGER NOT NULL,
	cost_nano_usd INTEGER NOT NULL,
	generation_id TEXT    NOT NULL,
	error         TEXT    NOT NULL,
	at            INTEGER NOT NULL,
	run           TEXT    NOT NULL
);
CREATE INDEX attempt_at ON attempt (at);
CREATE TABLE lease (
	key   BLOB    PRIMARY KEY,
	owner TEXT    NOT NULL,
	until INTEGER NOT NULL
) WITHOUT ROWID;
`

// migrate makes the tables of an empty file. It looks before it changes
// anything, so that a file of another program stays as it is, and again while it
// holds the write lock, so that of several processes that open a new store one
// makes the tables.
func migrate(ctx context.Context, conn *sql.Conn, path string) error {
	if _, err := isEmpty(ctx, conn, path); err != nil {
		return err
	}
	if err := logAhead(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := makeTables(ctx, conn, path)
	if err != nil {
		_, undo := conn.ExecContext(ctx, "ROLLBACK")
		return errors.Join(err, undo)
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

func makeTables(ctx context.Context, conn *sql.Conn, path string) error {
	empty, err := isEmpty(ctx, conn, path)
	if err != nil || !empty {
		return err
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, schemaVersion)
	_, err = conn.ExecContext(ctx, tables+mark)
	return err
}

// isEmpty says whether a database has no tables yet. One that is not ours, or
// newer than we are, is an error.
func isEmpty(ctx context.Context, conn *sql.Conn, path string) (bool, error) {
	var app, version, objects int64
	row := conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`)
	if err := row.Scan(&app, &version, &objects); err != nil {
		return false, err
	}
	switch {
	case app == applicationID && version > schemaVersion:
		return false, &FileError{
			Path: path, tip: "use that version, or name another file with --cache",
			Err: fmt.Errorf("%w: its schema is %d, this version knows %d", ErrNewer, version, schemaVersion),
		}
	case app == applicationID && version == schemaVersion:
		return false, nil
	case app == 0 && version == 0 && objects == 0:
		return true, nil
	}
	return false, &FileError{Path: path, tip: tipNotStore, Err: fmt.Errorf("%w but another SQLite database", ErrNotStore)}
}

// logAhead turns on the write-ahead log, which a file keeps. Two processes that
// do so at once can be told "busy" without having waited, so it tries again.
func logAhead(ctx context.Context, conn *sql.Conn) error {
	deadline := time.Now().Add(busyTimeout)
	for {
		_, err := conn.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}
