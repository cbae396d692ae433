package cache

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A SQLite is a store in a file that several processes use at once.
//
// Writes of all goroutines go through one, which commits what has queued up in
// one transaction, so that sixty-four waiting callers share one sync of the
// disk. Reads have connections of their own and do not wait for writes. The
// file must be on a local disk: its log needs memory shared between processes,
// which network file systems do not give.
//
// It is safe for concurrent use. All of its methods but Close fail with [ErrClosed] once it
// is closed. A method whose context ends while it waits returns the error of the context;
// what it was asked to write may be written all the same.
type SQLite struct {
	path   string
	writer *writer
	reader *sql.DB
	get    *sql.Stmt
	once   sync.Once
	err    error // of Close
}

const (
	// busyTimeout is how long a connection waits for other processes. They hold
	// the file for one commit at a time; even Prune goes in small steps.
	busyTimeout = 30 * time.Second
	readers     = 4
)

// opening keeps two goroutines from making the same file: closing a file that
// another descriptor of the process has locked would drop the lock.
var opening sync.Mutex

// Open opens the store at path, and makes it, with its folder, if it is not
// there. Only its owner can read a new store, since answers quote documents.
// The error is an [*ibid.Error].
func Open(path string) (*SQLite, error) {
	opening.Lock()
	defer opening.Unlock()
	if err := create(path); err != nil {
		return nil, storeError(path, fmt.Errorf("%s: %w", noAccess, err), hintAccess)
	}
	s, err := open(context.Background(), path)
	if err != nil {
		return nil, fault(path, err)
	}
	return s, nil
}

// create makes an empty file, which SQLite takes for an empty database.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func open(ctx context.Context, path string) (_ *SQLite, err error) {
	s := &SQLite{path: path}
	s.writer, err = newWriter(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.writer.close()
		}
	}()
	s.reader, err = sql.Open("sqlite", dsn(path, "query_only(1)"))
	if err != nil {
		return nil, err
	}
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	s.get, err = s.reader.PrepareContext(ctx, "SELECT "+entryColumns+" FROM entry WHERE key = ?")
	if err != nil {
		s.reader.Close()
		return nil, err
	}
	return s, nil
}

// dsn names the file to the driver, which runs the pragmas on every connection.
// auto_vacuum has to come before the first page is written.
func dsn(path string, pragmas ...string) string {
	query := url.Values{"_pragma": append([]string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "auto_vacuum(INCREMENTAL)", "synchronous(FULL)",
	}, pragmas...)}
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + query.Encode()
}

// Path is where the store is.
func (s *SQLite) Path() string { return s.path }

// Close waits for the writes under way and folds the log into the file, so
// that one file is all there is once the last process has closed it.
func (s *SQLite) Close() error {
	s.once.Do(func() {
		s.err = fault(s.path, errors.Join(s.get.Close(), s.reader.Close(), s.writer.close()))
	})
	return s.err
}

// Put keeps an entry; it is durable when Put returns. If there is an entry with the key, it
// stays, and *e becomes it: the first answer wins, so that a rerun sees what the run saw.
// An entry that is no complete answer is an error.
func (s *SQLite) Put(ctx context.Context, e *Entry) error {
	if err := e.check(); err != nil {
		return err
	}
	added, err := s.exec(ctx, "INSERT INTO entry ("+entryColumns+") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (key) DO NOTHING",
		e.Key[:], e.Created.UnixMilli(), e.Status, e.ModelRequested, e.ModelResolved, e.Provider, e.GenerationID,
		e.Template, e.PromptTokens, e.CompletionTokens, e.ReasoningTokens, e.CachedTokens, e.CostNanoUSD,
		e.LatencyMillis, e.Attempts, e.Run, e.checksum(), e.Verdict, blob(e.Raw), e.Sent)
	if err != nil || added > 0 {
		return err
	}
	first, err := s.Get(ctx, e.Key)
	if first != nil {
		*e = *first
	}
	return err
}

// Get returns the entry of a key, nil if there is none. The entry is the caller's own.
func (s *SQLite) Get(ctx context.Context, key Key) (*Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// A read takes microseconds; a context that can end would cost it two
	// goroutines that wait for that.
	e, err := scanEntry(s.get.QueryRowContext(context.WithoutCancel(ctx), key[:]))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, s.readFault(ctx, err)
	}
	return e, nil
}

// readFault says what an error of a read means, nil if there is none.
func (s *SQLite) readFault(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case s.writer.isClosed():
		return ErrClosed
	}
	return fault(s.path, err)
}

// Record adds a call to the audit; it is durable when Record returns.
func (s *SQLite) Record(ctx context.Context, a Attempt) error {
	_, err := s.write(ctx, func(conn *sql.DB) (int64, error) { return record(conn, &a) })
	return err
}

// Acquire takes the right to ask for a key, for ttl, and says whether owner has it now. It
// renews a lease of owner and takes over one that has run out. A ttl that is not positive is
// an error.
func (s *SQLite) Acquire(ctx context.Context, key Key, owner string, ttl time.Duration) (bool, error) {
	if ttl <= 0 {
		return false, fmt.Errorf("judge cache: a lease of %v", ttl)
	}
	taken, err := s.write(ctx, func(conn *sql.DB) (int64, error) {
		now := time.Now()
		return run(conn, `INSERT INTO lease (key, owner, until) VALUES (?1, ?2, ?3) ON CONFLICT (key)
			DO UPDATE SET owner = ?2, until = ?3 WHERE owner = ?2 OR until <= ?4`, key[:], owner, now.Add(ttl).UnixMilli(), now.UnixMilli())
	})
	return taken > 0, err
}

// Release gives the right back. It does nothing if owner does not have it.
func (s *SQLite) Release(ctx context.Context, key Key, owner string) error {
	_, err := s.exec(ctx, "DELETE FROM lease WHERE key = ? AND owner = ?", key[:], owner)
	return err
}

// A Learnt is what the calls to a model have shown of it, such as how many tokens it reads. It
// makes no answer wrong: later runs begin with it.
type Learnt struct {
	Endpoint, Model, Name string
	Value                 float64
	At                    time.Time
}

// Learn keeps l in place of what had its endpoint, model and name.
func (s *SQLite) Learn(ctx context.Context, l Learnt) error {
	_, err := s.exec(ctx, "INSERT OR REPLACE INTO learnt (endpoint, model, name, value, at) VALUES (?,?,?,?,?)", l.Endpoint, l.Model, l.Name, l.Value, l.At.UnixMilli())
	return err
}

// Learnt returns what is known of the models of an endpoint since a time.
func (s *SQLite) Learnt(ctx context.Context, endpoint string, since time.Time) (all []Learnt, err error) {
	err = each(ctx, s.reader, func(row scanner) error {
		l := Learnt{Endpoint: endpoint}
		var at int64
		err := row.Scan(&l.Model, &l.Name, &l.Value, &at)
		l.At = time.UnixMilli(at).UTC()
		all = append(all, l)
		return err
	}, "SELECT model, name, value, at FROM learnt WHERE endpoint = ? AND at >= ? ORDER BY model, name", endpoint, since.UnixMilli())
	return all, s.readFault(ctx, err)
}

// write makes a change and returns what it counts.
func (s *SQLite) write(ctx context.Context, do func(*sql.DB) (int64, error)) (int64, error) {
	n, err := s.writer.submit(ctx, do)
	if err == nil || errors.Is(err, ErrClosed) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return n, err
	}
	return 0, fault(s.path, err)
}

// exec changes rows by some statements, all or none, and returns how many the last one changed.
func (s *SQLite) exec(ctx context.Context, query string, args ...any) (int64, error) {
	return s.write(ctx, func(conn *sql.DB) (int64, error) { return run(conn, query, args...) })
}

// run writes on the writing connection. What has begun is ended: a context that ends in
// between would lose the transaction of others.
func run(conn *sql.DB, query string, args ...any) (changed int64, err error) {
	res, err := conn.ExecContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// schema makes the tables of an empty file.
//
//go:embed schema.sql
var schema string

const (
	// applicationID marks the file as ours: "ibid" in ASCII.
	applicationID = 0x69626964
	// schemaForm counts the forms of the tables. A store of one of the two forms before is brought
	// up to this one when it is opened, another one is refused: no question has an answer in older
	// ones.
	schemaForm = 5
)

// upgrades make the next form of each.
var upgrades = map[int64]string{
	3: "ALTER TABLE entry DROP COLUMN crc32c; ALTER TABLE entry ADD COLUMN sum INTEGER; ALTER TABLE entry DROP COLUMN schema; ALTER TABLE entry DROP COLUMN finish_reason; ALTER TABLE batch DROP COLUMN digest; ALTER TABLE batch DROP COLUMN cost_nano_usd;",
	4: "CREATE TABLE learnt (endpoint TEXT NOT NULL, model TEXT NOT NULL, name TEXT NOT NULL, value REAL NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (endpoint, model, name)) WITHOUT ROWID;",
}

// migrate makes the tables of an empty file. It looks before it changes
// anything, so that a file of another program stays as it is, and again while it
// holds the write lock, so that of several processes that open a new store one
// makes the tables.
func migrate(ctx context.Context, conn *sql.DB, path string) error {
	if _, err := formOf(ctx, conn, path); err != nil {
		return err
	}
	if err := logAhead(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	form, err := formOf(ctx, conn, path)
	if err == nil && form != schemaForm {
		change := schema
		if form > 0 {
			change = ""
		}
		for ; form > 0 && form < schemaForm; form++ {
			change += upgrades[form]
		}
		_, err = conn.ExecContext(ctx, change+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, schemaForm))
	}
	if err != nil {
		_, undo := conn.ExecContext(ctx, "ROLLBACK")
		return errors.Join(err, undo)
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

// formOf is the form of the tables of a database, 0 if it has none yet. One that is
// not ours, or of a form that we do not know, is an error.
func formOf(ctx context.Context, conn *sql.DB, path string) (int64, error) {
	var app, form, objects int64
	row := conn.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)`)
	if err := row.Scan(&app, &form, &objects); err != nil {
		return 0, err
	}
	switch {
	case app == applicationID && form > schemaForm:
		return 0, storeError(path, fmt.Errorf("was written by a newer version: its schema is %d, this version knows %d", form, schemaForm), "use that version, or name another file with --cache")
	case app == applicationID && (form == schemaForm || upgrades[form] != ""):
		return form, nil
	case app == applicationID && form > 0:
		return 0, storeError(path, errors.New("was written by an older version, which asked in another way"), "move it away: this version finds no answer in it")
	case app == 0 && form == 0 && objects == 0:
		return 0, nil
	}
	return 0, storeError(path, errors.New(notStore+" but another SQLite database"), hintNotStore)
}

// logAhead turns on the write-ahead log, which a file keeps. Two processes that
// do so at once can be told "busy" without having waited, so it tries again.
func logAhead(ctx context.Context, conn *sql.DB) error {
	deadline := time.Now().Add(busyTimeout)
	for {
		_, err := conn.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// entryColumns are the columns of an entry in the order of [scanEntry] and of the
// statement that puts one.
const entryColumns = `key, created, status, model_requested, model_resolved, provider, generation_id, template,
	prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, cost_nano_usd, latency_ms, attempts, run, sum, verdict, raw, sent`

// attemptColumns are those of an attempt.
const attemptColumns = `key, n, http_status, class, ms, cost_nano_usd, generation_id, error, at, run`

// blob keeps an empty value from being stored as null.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func record(conn *sql.DB, a *Attempt) (int64, error) {
	return run(conn, "INSERT INTO attempt ("+attemptColumns+") VALUES (?,?,?,?,?,?,?,?,?,?)",
		a.Key[:], a.N, a.HTTPStatus, a.Class, a.Millis, a.CostNanoUSD, a.GenerationID, a.Error, a.At.UnixMilli(), a.Run)
}

// A scanner is a row of an answer.
type scanner interface{ Scan(...any) error }

func scanEntry(row scanner) (*Entry, error) {
	e := new(Entry)
	var key []byte
	var created int64
	var sum sql.Null[int64]
	err := row.Scan(&key, &created, &e.Status, &e.ModelRequested, &e.ModelResolved, &e.Provider, &e.GenerationID, &e.Template,
		&e.PromptTokens, &e.CompletionTokens, &e.ReasoningTokens, &e.CachedTokens, &e.CostNanoUSD, &e.LatencyMillis,
		&e.Attempts, &e.Run, &sum, &e.Verdict, &e.Raw, &e.Sent)
	if err != nil {
		return nil, err
	}
	copy(e.Key[:], key)
	e.Created = time.UnixMilli(created).UTC()
	if sum.Valid && sum.V != e.checksum() {
		return nil, fmt.Errorf("%w: entry %s", errChanged, e.Key)
	}
	return e, nil
}

// DefaultPath is where the command keeps its store: ibid/judge.sqlite in the
// user's cache directory.
func DefaultPath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for the judge cache: %w", err)
	}
	return filepath.Join(dir, "ibid", "judge.sqlite"), nil
}
