package harness

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// ErrLocked means that another process is working on the same run directory.
var ErrLocked = errors.New("another ibid is working on this run")

// A lock keeps a second process out of a run directory. It is the kernel's lock
// on an open file, so it ends with its process, however that dies.
type lock struct{ file *os.File }

// acquire takes the lock in dir, the parts of a run directory, which must exist.
func acquire(dir string) (*lock, error) {
	path := filepath.Join(dir, "lock")
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, fmt.Errorf("%s: %w", filepath.Dir(dir), ErrLocked)
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// The holder before us may have finished and removed the file between our
		// open and our lock; then we hold nothing that anyone else can see.
		held, err1 := f.Stat()
		named, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(held, named) {
			return &lock{file: f}, nil
		}
		f.Close()
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
}

// release gives the lock back.
func (l *lock) release() error { return l.file.Close() }

// LogFile is the name of the log in a run directory.
const LogFile = "run.log"

// A runLog keeps what happened to a run, over all the processes that worked on
// it. A run without error_logging has none; all methods then do nothing.
type runLog struct {
	file   *os.File
	logger *slog.Logger
}

// openLog appends to the log in dir.
func openLog(dir string, wanted bool) (*runLog, error) {
	if !wanted {
		return &runLog{}, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, LogFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	return &runLog{f, slog.New(slog.NewTextHandler(f, nil))}, nil
}

func (l *runLog) info(message string, args ...any) {
	if l.logger != nil {
		l.logger.Info(message, args...)
	}
}

func (l *runLog) warn(message string, args ...any) {
	if l.logger != nil {
		l.logger.Warn(message, args...)
	}
}

// close ends the log with what became of the run.
func (l *runLog) close(err error) error {
	if l.file == nil {
		return nil
	}
	if err != nil {
		l.warn("stopped", "error", err)
	} else {
		l.info("finished")
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	return nil
}
