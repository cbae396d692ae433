package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
)

// A FileDigest identifies the content of one input file.
type FileDigest struct {
	Name   string
	Size   int64
	SHA256 string // 64 hex digits
}

// Digest hashes the bytes of every file in reading order. progress, if not nil,
// is told now and then how many of all bytes are done.
func (s *Source) Digest(ctx context.Context, progress func(done, total int64)) ([]FileDigest, error) {
	return s.files.digest(ctx, progress)
}

// Digest is as for [Source].
func (s *DocumentSource) Digest(ctx context.Context, progress func(done, total int64)) ([]FileDigest, error) {
	return s.files.digest(ctx, progress)
}

func (s *fileSet) digest(ctx context.Context, progress func(done, total int64)) ([]FileDigest, error) {
	var done, total int64
	for i := range s.files {
		total += s.files[i].Size
	}
	buf := make([]byte, 1<<20)
	digests := make([]FileDigest, 0, len(s.files))
	for i := range s.files {
		d, err := digestFile(ctx, s.files[i].Name, buf, func(n int) {
			done += int64(n)
			if progress != nil {
				progress(done, total)
			}
		})
		if err != nil {
			return nil, fileError(s.files[i].Name, err)
		}
		if d.Size != s.files[i].Size {
			return nil, fileError(d.Name, errors.New("the file has changed while it was being read"))
		}
		digests = append(digests, d)
	}
	return digests, nil
}

func digestFile(ctx context.Context, name string, buf []byte, read func(n int)) (FileDigest, error) {
	f, err := os.Open(name)
	if err != nil {
		return FileDigest{}, err
	}
	defer f.Close()
	d, h := FileDigest{Name: name}, sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return FileDigest{}, err
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		d.Size += int64(n)
		read(n)
		if err == io.EOF {
			d.SHA256 = hex.EncodeToString(h.Sum(nil))
			return d, nil
		}
		if err != nil {
			return FileDigest{}, err
		}
	}
}
