package dataset

import (
	"os"
	"path/filepath"
)

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
	err := p.Sync()
	if e := p.File.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(p.Name(), p.path)
	}
	if err != nil {
		os.Remove(p.Name())
		return err
	}
	return syncDir(filepath.Dir(p.path))
}

// discard removes the file.
func (p *pendingFile) discard() error {
	err := p.File.Close()
	if e := os.Remove(p.Name()); err == nil {
		err = e
	}
	return err
}
