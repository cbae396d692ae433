package harness

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"ibid"
	"ibid/dataset/disk"
)

// A lock keeps a second process out of a run directory. It is the kernel's lock
// on an open file, so it ends with its process, however that dies.
type lock struct{ file *disk.File }

// acquire takes the lock in dir, the parts of a run directory, which must exist.
func acquire(dir string) (*lock, error) {
	path := filepath.Join(dir, "lock")
	for {
		f, err := disk.Open(path, os.O_CREATE|os.O_RDWR)
		if err != nil {
			return nil, err
		}
		if err := disk.TryLock(f); err != nil {
			holder := readHolder(f)
			f.Close()
			if errors.Is(err, disk.ErrHeld) {
				return nil, &ibid.Error{File: filepath.Dir(dir), Err: fmt.Errorf("another ibid is working on this run%s", holder), Hint: "wait for it, or choose another --id"}
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// The holder before us may have finished and removed the file between our
		// open and our lock; then we hold nothing that anyone else can see.
		held, err1 := f.Stat()
		named, err2 := disk.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(held, named) {
			l := &lock{file: f}
			if err := writeHolder(f); err != nil {
				return nil, errors.Join(err, l.release())
			}
			return l, nil
		}
		f.Close()
		if err := errors.Join(err1, err2); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if err := disk.MkdirAll(dir); err != nil {
			return nil, err
		}
	}
}

// maxHolder is how many bytes of a lock are read.
const maxHolder = 4096

// writeHolder names this process in its lock.
func writeHolder(f *disk.File) error {
	host, _ := os.Hostname() // "" if nobody knows
	err := f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(io.NewOffsetWriter(f, 0), "process %d on %q since %s", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	}
	return err
}

// readHolder says whose a lock is, "" if it does not say.
func readHolder(f *disk.File) string {
	text := make([]byte, maxHolder)
	n, _ := f.ReadAt(text, 0)
	if n == 0 {
		return ""
	}
	return ": " + string(text[:n])
}

// release gives the lock back. A second call does nothing.
func (l *lock) release() error {
	if err := l.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Windows neither renames nor, on some disks, removes a folder in which a file is open.
// There the lock is given back first: where another process takes it in between, the work
// on the folder is an error.
const openFilesPinFolders = runtime.GOOS == "windows"

// rename gives the locked folder its final name, and the lock back.
func (l *lock) rename(from, to string) error {
	if openFilesPinFolders {
		if err := l.release(); err != nil {
			return err
		}
	}
	if err := disk.RenameFolder(from, to); err != nil {
		return err
	}
	return errors.Join(l.release(), disk.Remove(filepath.Join(to, "lock")))
}

// remove removes a folder that has the lock in it, and gives the lock back.
func (l *lock) remove(folder string) error {
	if openFilesPinFolders {
		if err := l.release(); err != nil {
			return err
		}
	}
	return errors.Join(disk.RemoveAll(folder), l.release())
}

// LogFile is the name of the log in a run directory.
const LogFile = "run.log"

// A runLog keeps what happened to a run, over all the processes that worked on
// it. A run without error_logging has none, and what is written goes nowhere.
type runLog struct {
	*slog.Logger
	file *disk.File
}

// openLog appends to the log in dir.
func openLog(dir string, wanted bool) (*runLog, error) {
	if !wanted {
		return &runLog{slog.New(slog.DiscardHandler), nil}, nil
	}
	f, err := disk.Open(filepath.Join(dir, LogFile), os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &runLog{slog.New(slog.NewTextHandler(f, nil)), f}, nil
}

// close ends the log with what became of the run.
func (l *runLog) close(err error) error {
	if l.file == nil {
		return nil
	}
	if err != nil {
		l.Warn("stopped", "error", err)
	} else {
		l.Info("finished")
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	return nil
}
