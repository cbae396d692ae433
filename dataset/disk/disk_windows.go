package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// open opens a file that others may delete, which files of os.OpenFile are not.
func open(path string, flag int) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	access := uint32(windows.GENERIC_READ)
	switch {
	case flag&os.O_RDWR != 0:
		access = windows.GENERIC_READ | windows.GENERIC_WRITE
	case flag&os.O_WRONLY != 0:
		access = windows.GENERIC_WRITE
	}
	mode := uint32(windows.OPEN_EXISTING)
	switch {
	case flag&os.O_EXCL != 0:
		mode = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		mode = windows.OPEN_ALWAYS
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, access, share, nil, mode, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// lockedByte is the byte that stands for the file. Windows lets nobody read or write what
// is locked, so it lies far behind any content.
const lockedByte = 1 << 30 // in the upper half of the offset

// TryLock takes the lock of a file: of a byte that no file has.
func TryLock(f *File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedByte})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}

// renamePatience is how long a rename is tried: scanners and indexers open new files for a
// moment, and Windows renames nothing over an open file.
const renamePatience = 2 * time.Second

// rename returns when the disk has the new name.
func rename(from, to string) error {
	a, err1 := windows.UTF16PtrFromString(from)
	b, err2 := windows.UTF16PtrFromString(to)
	err := errors.Join(err1, err2)
	for end := time.Now().Add(renamePatience); err == nil; time.Sleep(10 * time.Millisecond) {
		err = windows.MoveFileEx(a, b, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		if err == nil {
			return nil
		}
		busy := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if busy && time.Now().Before(end) {
			err = nil
		}
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}

// syncDir does nothing: rename has waited.
func syncDir(string) error { return nil }

// nameless makes a file that Windows deletes when it is closed.
func nameless(dir string) (*os.File, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	for {
		path := filepath.Join(dir, fmt.Sprintf(".ibid-%08x.tmp", rand.Uint32()))
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
