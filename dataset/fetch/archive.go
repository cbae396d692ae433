package fetch

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"ibid/dataset"
	"ibid/dataset/disk"
)

// An Archive keeps what servers sent, so that a later run sees the same bytes. It
// is a folder: objects/ab/abcd… are bodies, named by their SHA-256; fetched.jsonl
// has a line for each page that was asked for, of which the last one counts.
type Archive struct {
	dir string

	mu      sync.Mutex
	file    *disk.File
	records map[string]dataset.Fetched // by URL
}

// ErrInUse is the error of an archive that another process writes to.
var ErrInUse = errors.New("another ibid fetch is writing to it")

// OpenArchive opens the archive in dir, which it makes if need be.
func OpenArchive(dir string) (a *Archive, err error) {
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o777); err != nil {
		return nil, err
	}
	f, err := disk.Open(filepath.Join(dir, "fetched.jsonl"), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := disk.TryLock(f); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
	}
	a = &Archive{dir: dir, file: f, records: make(map[string]dataset.Fetched)}
	return a, a.load()
}

// load reads the records and leaves the file at its end. A last line without an end is
// one whose writer was killed: it is dropped.
func (a *Archive) load() error {
	r := bufio.NewReader(a.file)
	var good int64
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			if len(line) > 0 {
				if err := a.file.Truncate(good); err != nil {
					return err
				}
			}
			_, err := a.file.Seek(good, io.SeekStart)
			return err
		}
		if err != nil {
			return err
		}
		good += int64(len(line))
		var f dataset.Fetched
		if err := json.Unmarshal(line, &f); err != nil {
			return fmt.Errorf("%s:%d: %w", a.file.Name(), n, err)
		}
		a.records[f.URL] = f
	}
}

// Record returns what is known of a page.
func (a *Archive) Record(url string) (f dataset.Fetched, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, ok = a.records[url]
	return f, ok
}

// add keeps a record, and the body that it came with, if there is one.
func (a *Archive) add(f dataset.Fetched, body []byte) error {
	if body != nil {
		if f.SHA256 == "" {
			sum := sha256.Sum256(body)
			f.SHA256, f.Bytes = hex.EncodeToString(sum[:]), int64(len(body))
		}
		if err := a.keep(f.SHA256, body); err != nil {
			return err
		}
	}
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := a.file.Sync(); err != nil {
		return err
	}
	a.records[f.URL] = f
	return nil
}

func (a *Archive) path(digest string) string {
	return filepath.Join(a.dir, "objects", digest[:2], digest)
}

func (a *Archive) keep(digest string, body []byte) error {
	path := a.path(digest)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return dataset.WriteFile(path, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(body))
		return err
	})
}

// body returns the bytes of a record. They are checked against their name.
func (a *Archive) body(f *dataset.Fetched) ([]byte, error) {
	if len(f.SHA256) != 2*sha256.Size {
		return nil, fmt.Errorf("%s: %s has no body", a.dir, f.URL)
	}
	data, err := os.ReadFile(a.path(f.SHA256))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, fmt.Errorf("%s is damaged: remove it and fetch again with --refresh", a.path(f.SHA256))
	}
	return data, nil
}

// Close gives the archive back.
func (a *Archive) Close() error { return a.file.Close() }
