package cache

import (
	"context"
	"database/sql"
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
// The error is a [*FileError].
func Open(path string) (*SQLite, error) {
	opening.Lock()
	defer opening.Unlock()
	if err := create(path); err != nil {
		return nil, &FileError{Path: path, Err: fmt.Errorf("%w: %w", ErrAccess, err), tip: tipAccess}
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

// Put keeps an entry unless one stands.
func (s *SQLite) Put(ctx context.Context, e *Entry) error {
	if err := e.check(); err != nil {
		return err
	}
	return s.write(ctx, func(p *prepared) error { return p.put(e) })
}

// Record adds a call to the audit.
func (s *SQLite) Record(ctx context.Context, a Attempt) error {
	return s.write(ctx, func(p *prepared) error { return p.record(&a) })
}

// Acquire takes the right to ask for a key.
func (s *SQLite) Acquire(ctx context.Context, key Key, owner string, ttl time.Duration) (bool, error) {
	if err := checkTTL(ttl); err != nil {
		return false, err
	}
	taken, err := s.count(ctx, func(p *prepared) (int64, error) { return p.acquire(key, owner, time.Now(), ttl) })
	return taken > 0, err
}

// Release gives the right back.
func (s *SQLite) Release(ctx context.Context, key Key, owner string) error {
	return s.write(ctx, func(p *prepared) error { return p.release(key, owner) })
}

func (s *SQLite) write(ctx context.Context, do func(*prepared) error) error {
	err := s.writer.submit(ctx, do)
	if err == nil || errors.Is(err, ErrClosed) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	return fault(s.path, err)
}
