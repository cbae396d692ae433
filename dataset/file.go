package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteFile makes the file at path from what write writes, so that whoever looks
// sees the file that was there before or the whole new one, even after a loss
// of power: it writes to a temporary file in the same directory, syncs it,
// renames it, and syncs the directory. If anything fails, write included, the
// temporary file is removed and path is as it was.
//
// The temporary name is hidden, begins with a dot and ends in ".tmp". The writer
// is unbuffered.
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

// createTemp creates a new file for name. Unlike os.CreateTemp it leaves the
// permissions to the umask, because the file is to stay.
func createTemp(dir, name string) (*os.File, error) {
	for {
		path := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", name, rand.Uint32()))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// A pendingFile is a file that appears under its name only when it is complete.
// Until then it lives next to it under a hidden name, so that the rename stays
// within one file system.
type pendingFile struct {
	*os.File
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
	err := errors.Join(p.Sync(), p.File.Close())
	if err == nil {
		err = os.Rename(p.Name(), p.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(p.Name()))
	}
	return syncDir(filepath.Dir(p.path))
}

// discard removes the file.
func (p *pendingFile) discard() error { return errors.Join(p.File.Close(), os.Remove(p.Name())) }
