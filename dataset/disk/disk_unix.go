//go:build unix

package disk

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func open(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o666) }

// TryLock takes the lock of a file that is open for writing, without waiting. It ends when
// the file is closed, however its process dies. A lock that another has is [ErrHeld]; any
// other error means that the file system has no locks. Reading and writing go on as before.
func TryLock(f *File) error {
	err := unix.Flock(int(f.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}

func rename(from, to string) error { return os.Rename(from, to) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func nameless(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".ibid-*.tmp")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("temporary file: %w", err), f.Close())
	}
	return f, nil
}
