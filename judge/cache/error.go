package cache

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What can be wrong with the file of a store.
var (
	// ErrNewer is a store that a newer version of the program has written.
	ErrNewer = errors.New("was written by a newer version")
	// ErrNotStore is a file that is something else.
	ErrNotStore = errors.New("is no judge cache")
	// ErrCorrupt is a store that is damaged.
	ErrCorrupt = errors.New("is damaged")
	// ErrBusy is a store that another process has kept to itself for too long.
	ErrBusy = errors.New("is kept busy by another process")
	// ErrFull is a store whose disk has no room.
	ErrFull = errors.New("has no room left on its disk")
	// ErrAccess is a store that cannot be opened, made or written where it is.
	ErrAccess = errors.New("cannot be opened for writing")
)

// A FileError is a store whose file cannot be used.
type FileError struct {
	Path string
	Err  error // wraps one of the errors above where it is known
	tip  string
}

// Error reads: judge cache /path/judge.sqlite: is damaged: malformed.
func (e *FileError) Error() string { return fmt.Sprintf("judge cache %s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// Hint is what to do about it, or "".
func (e *FileError) Hint() string { return e.tip }

// kinds says what the primary result codes of SQLite mean to the user.
var kinds = map[int]struct {
	is  error
	tip string
}{
	sqlite3.SQLITE_NOTADB:   {ErrNotStore, tipNotStore},
	sqlite3.SQLITE_CORRUPT:  {ErrCorrupt, tipCorrupt},
	sqlite3.SQLITE_BUSY:     {ErrBusy, "wait for the other process, or name another file with --cache"},
	sqlite3.SQLITE_LOCKED:   {ErrBusy, "wait for the other process, or name another file with --cache"},
	sqlite3.SQLITE_FULL:     {ErrFull, "make room, or name another file with --cache"},
	sqlite3.SQLITE_CANTOPEN: {ErrAccess, tipAccess},
	sqlite3.SQLITE_READONLY: {ErrAccess, tipAccess},
	sqlite3.SQLITE_PERM:     {ErrAccess, tipAccess},
}

const (
	tipCorrupt  = "move it away; the answers in it will be asked and paid for again"
	tipNotStore = "name another file with --cache"
	tipAccess   = "the folder has to be writable; name another file with --cache, or use --no-cache"
)

// fault says what an error of the database means, once.
func fault(path string, err error) error {
	if err == nil {
		return nil
	}
	var already *FileError
	if errors.As(err, &already) {
		return err
	}
	out := &FileError{Path: path, Err: err}
	if errors.Is(err, ErrCorrupt) {
		out.tip = tipCorrupt
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		if kind, ok := kinds[e.Code()&0xff]; ok {
			out.Err, out.tip = fmt.Errorf("%w: %w", kind.is, err), kind.tip
		}
	}
	return out
}

func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
