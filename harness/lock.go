package harness

import (
	"errors"
	"fmt"
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
