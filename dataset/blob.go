package dataset

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"unsafe"
)

// A blob holds texts one after the other, each found again by its offset: in
// memory up to a limit, after that in a temporary file that has no name (where
// the system allows that), so that nothing is left behind however the process
// ends.
//
// After the last put, get is safe for concurrent use.
type blob struct {
	limit int64 // bytes that stay in memory
	dir   string
	size  int64

	parts  []string // in memory
	starts []int64  // offset of each part
	file   *os.File // after the limit; parts then are nil
	named  bool     // the file still has its name: the system cannot remove one in use
}

// put appends s, of which it keeps no reference, and returns its offset.
func (b *blob) put(s string) (int64, error) {
	at := b.size
	if b.file == nil && b.size+int64(len(s)) > b.limit {
		if err := b.spill(); err != nil {
			return 0, err
		}
	}
	if b.file != nil {
		if _, err := b.file.WriteAt(unsafe.Slice(unsafe.StringData(s), len(s)), at); err != nil {
			return 0, fmt.Errorf("document texts: %w", err)
		}
	} else if s != "" {
		b.parts = append(b.parts, strings.Clone(s))
		b.starts = append(b.starts, at)
	}
	b.size += int64(len(s))
	return at, nil
}

// spill moves what is in memory to a file.
func (b *blob) spill() error {
	f, err := os.CreateTemp(b.dir, "ibid-documents-*")
	if err != nil {
		return fmt.Errorf("document texts: %w", err)
	}
	b.file = f
	b.named = os.Remove(f.Name()) != nil
	for i, s := range b.parts {
		if _, err := f.WriteAt(unsafe.Slice(unsafe.StringData(s), len(s)), b.starts[i]); err != nil {
			return fmt.Errorf("document texts: %w", err)
		}
	}
	b.parts, b.starts = nil, nil
	return nil
}

// get returns the n bytes at offset at, which must be those of one put or lie
// within them.
func (b *blob) get(at int64, n int) (string, error) {
	if n == 0 {
		return "", nil
	}
	if b.file == nil {
		i := sort.Search(len(b.starts), func(i int) bool { return b.starts[i] > at }) - 1
		from := at - b.starts[i]
		return b.parts[i][from : from+int64(n)], nil
	}
	p := make([]byte, n)
	if _, err := b.file.ReadAt(p, at); err != nil {
		return "", fmt.Errorf("document texts: %w", err)
	}
	return unsafe.String(&p[0], n), nil
}

// close gives back the file, if there is one.
func (b *blob) close() error {
	if b.file == nil {
		return nil
	}
	err := b.file.Close()
	if b.named {
		err = errors.Join(err, os.Remove(b.file.Name()))
	}
	return err
}
