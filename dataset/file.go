package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"ibid/dataset/disk"
)

// WriteFile makes the file at path from what write writes, so that whoever looks
// sees the file that was there before or the whole new one, even after a loss
// of power: it writes to a temporary file in the same directory, syncs it,
// renames it, and syncs the directory. If anything fails, write included, the
// temporary file is removed and path is as it was.
//
// The temporary name is hidden, begins with a dot and ends in ".ibid.tmp". What a process
// that was killed has left under such a name is removed by the next one that writes a
// file in the directory. The writer is unbuffered.
func WriteFile(path string, write func(w io.Writer) error) error {
	p, err := createPending(path)
	if err != nil {
		return err
	}
	if err := write(p.File); err != nil {
		return errors.Join(err, p.discard())
	}
	return p.commit()
}

// temporarySuffix ends the names of temporary files.
const temporarySuffix = ".ibid.tmp"

// createTemp creates a new file for name. Unlike os.CreateTemp it leaves the
// permissions to the umask, because the file is to stay. The file is locked as long as it
// is open, so that nobody takes it for one that was left.
func createTemp(dir, name string) (*disk.File, error) {
	removeAbandoned(dir)
	for {
		path := filepath.Join(dir, fmt.Sprintf(".%s.%08x%s", name, rand.Uint32(), temporarySuffix))
		f, err := disk.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Not every file system has locks; where there are none, none is taken below.
		_ = disk.TryLock(f)
		held, err1 := f.Stat()
		named, err2 := disk.Stat(path)
		switch {
		case err1 == nil && err2 == nil && os.SameFile(held, named):
			return f, nil
		case err1 == nil && (err2 == nil || errors.Is(err2, fs.ErrNotExist)):
			f.Close() // it was removed between its creation and the lock
		default:
			return nil, errors.Join(err1, err2, disk.Remove(path), f.Close())
		}
	}
}

// swept are the directories in which this process has looked for abandoned files.
var swept sync.Map

// removeAbandoned removes the temporary files in dir that no process holds, the first time
// that it is called for dir. What cannot be removed stays.
func removeAbandoned(dir string) {
	if _, done := swept.LoadOrStore(dir, true); done {
		return
	}
	entries, _ := disk.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), temporarySuffix) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := disk.Open(path, os.O_WRONLY)
		if err != nil {
			continue
		}
		if disk.TryLock(f) == nil {
			_ = disk.Remove(path)
		}
		f.Close()
	}
}

// A pendingFile is a file that appears under its name only when it is complete.
// Until then it lives next to it under a hidden name, so that the rename stays
// within one file system.
type pendingFile struct {
	*disk.File
	path string
}

// createPending creates the hidden file for path.
func createPending(path string) (*pendingFile, error) {
	f, err := createTemp(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return &pendingFile{File: f, path: path}, nil
}

// commit makes the file durable and gives it its name, replacing what had it.
// After an error nothing is left under the hidden name.
func (p *pendingFile) commit() error {
	err := p.Sync()
	if err == nil {
		err = disk.Rename(p.Name(), p.path) // before its lock ends
	}
	if err != nil {
		return errors.Join(err, p.discard())
	}
	return p.File.Close()
}

// discard removes the file.
func (p *pendingFile) discard() error { return errors.Join(disk.Remove(p.Name()), p.File.Close()) }
