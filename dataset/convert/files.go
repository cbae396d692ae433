package convert

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/disk"
)

// stdinPath is the path that stands for standard input.
const stdinPath = "-"

// files expands the run's paths into files: a directory becomes the files in it, at any depth, that
// have one of the extensions (or one followed by .gz or .zst), sorted by name, hidden ones left out.
// One that format auto reads as a whole stays.
func (r *run) files(extensions []string) ([]string, error) {
	var all []string
	for _, path := range r.paths {
		if path == stdinPath || r.format == autoName && directoryFormat(path) != "" {
			all = append(all, path)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, pathError(path, err)
		}
		if !info.IsDir() {
			all = append(all, path)
			continue
		}
		found, err := inDirectory(path, extensions)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, ibid.Usagef("%s: no file here ends in %s", path, strings.Join(extensions, ", "))
		}
		all = append(all, found...)
	}
	return all, nil
}

// eachFile calls do with every file of the run's paths (see [run.files]).
func (r *run) eachFile(ctx context.Context, extensions []string, do func(path string) error) error {
	paths, err := r.files(extensions)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.passOver(do(path), len(paths) > 1); err != nil {
			return err
		}
	}
	return nil
}

// mostFiles is how many files of a directory are read.
const mostFiles = 20_000

// inDirectory are the files of a directory with one of the extensions, at any depth: not hidden
// ones, nor those of a run.
func inDirectory(dir string, extensions []string) ([]string, error) {
	var found []string
	err := walk(dir, func(path string) error {
		if path == dir || !slices.Contains(extensions, filepath.Ext(unpackedName(path))) {
			return nil
		}
		if found = append(found, path); len(found) > mostFiles {
			return ibid.Usagef("%s: more than %d files", dir, mostFiles).With("name its parts one by one")
		}
		return nil
	})
	return found, err
}

// walk calls do with a file, or with the files of a directory at any depth: not hidden ones, nor
// those of a run.
func walk(path string, do func(path string) error) error {
	return filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return pathError(name, err)
		case name != path && (strings.HasPrefix(e.Name(), ".") || e.IsDir() && isRun(name)):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			return nil
		}
		return do(name)
	})
}

// isRun reports whether a directory is a run of ours.
func isRun(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	var m struct{ Schema string }
	return err == nil && json.Unmarshal(data, &m) == nil && strings.HasPrefix(m.Schema, "ibid.")
}

// open opens a file of the run for reading, see [run.unpacked]; rows of Parquet are JSON Lines.
func (r *run) open(path string) (io.ReadCloser, error) {
	if path == stdinPath {
		if r.spooled != nil {
			return io.NopCloser(io.NewSectionReader(r.spooled, 0, math.MaxInt64)), nil
		}
		return io.NopCloser(r.Stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	if dataset.IsParquet(f) {
		f.Close()
		return dataset.ParquetRecords(path)
	}
	in, err := r.unpacked(path, &stoppable{r.ctx, f})
	if err != nil {
		f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{in, f}, nil
}

// unpacked is the text of a file: decompressed if it is gzip or zstd, as UTF-8 if it is UTF-16, and
// as JSON Lines if it is a binary event stream.
func (r *run) unpacked(path string, file io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(file, peekedBytes)
	start, _ := in.Peek(len(zstdMagic)) // a shorter file is not compressed
	var err error
	switch {
	case bytes.HasPrefix(start, gzipMagic):
		file, err = gzip.NewReader(in)
	case bytes.HasPrefix(start, zstdMagic):
		file, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
	default:
		file = in
	}
	if err != nil {
		return nil, pathError(path, err)
	}
	in = bufio.NewReaderSize(file, peekedBytes)
	if start, err = in.Peek(peekedBytes); err != nil && err != io.EOF {
		return in, nil // who reads on meets the error
	}
	if kind, hint := dataset.NoRecords(start); kind != "" {
		return nil, &noRecordsError{r.named(path), kind, hint}
	}
	if dataset.IsBinaryEvents(start) {
		return &binaryEvents{in: in, most: r.MaxRecord}, nil
	}
	return dataset.AsUTF8(in), nil
}

// peekedBytes is how much of a file tells what it is.
const peekedBytes = 4096

// A noRecordsError is of a file that holds something else than records.
type noRecordsError struct{ path, kind, hint string }

func (e *noRecordsError) Error() string { return e.path + ": " + e.kind + ": " + e.hint }

// passOver makes a record that cannot be read of a file without records, if it is one of several.
func (r *run) passOver(err error, several bool) error {
	var none *noRecordsError
	switch {
	case !errors.As(err, &none):
		return err
	case !several:
		return ibid.Usagef("%s: %s", none.path, none.kind).With(none.hint)
	}
	r.report.Records++
	r.fail(RecordError{File: none.path, Reason: none.kind + ": " + none.hint})
	return nil
}

// A stoppable reader ends with its context: a line of a file may be of any length.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// mostWindow is that of the zstd command; a frame may ask for any.
const mostWindow = 128 << 20

// How compressed files begin, whatever they are called.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// unpackedName is the name of a file without the ending of its compression.
func unpackedName(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
}

// spool keeps standard input in a temporary file, so that it can be read more than once.
func (r *run) spool() (err error) {
	if r.spooled != nil {
		return nil
	}
	if r.spooled, err = disk.Nameless(""); err == nil {
		_, err = io.Copy(io.NewOffsetWriter(r.spooled, 0), r.Stdin)
	}
	if err != nil {
		return pathError(stdinPath, err)
	}
	return nil
}

// whole reads a file that must not be longer than a record may be. reason says
// why it cannot be used.
func (r *run) whole(path string) (data []byte, reason string, err error) {
	data, err = r.readText(path)
	if _, tooBig := err.(bigFileError); tooBig {
		return nil, fmt.Sprintf("file over %d bytes (--limits): JSON Lines (.jsonl) can be of any length", r.MaxRecord), nil
	}
	data = bytes.TrimPrefix(data, utf8Mark)
	if m := mark(data); m != "" {
		return nil, "the file begins with " + m, nil
	}
	return data, "", err
}

// A bigFileError is a file that is longer than a record may be.
type bigFileError struct {
	path string
	most int
}

func (e bigFileError) Error() string { return fmt.Sprintf("%s: over %d bytes", e.path, e.most) }

// readText reads a file.
func (r *run) readText(path string) ([]byte, error) {
	in, err := r.open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, int64(r.MaxRecord)+1))
	if err != nil {
		return nil, pathError(path, err)
	}
	if len(data) > r.MaxRecord {
		return nil, bigFileError{path, r.MaxRecord}
	}
	return data, nil
}

// pathError puts the path first, once: the errors of package os carry it too.
func pathError(path string, err error) error {
	if p, ok := err.(*os.PathError); ok {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
