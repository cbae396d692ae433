package convert

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// stdinPath is the path that stands for standard input.
const stdinPath = "-"

// files expands paths into files: a directory becomes the files in it, not
// below it, that have one of the extensions (or one followed by .gz), sorted by
// name, hidden ones skipped.
func files(paths, extensions []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		if path == stdinPath {
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
			return nil, &UsageError{Msg: fmt.Sprintf("%s: no file here ends in %s", path, strings.Join(extensions, ", "))}
		}
		all = append(all, found...)
	}
	return all, nil
}

// eachFile calls do with every file of the run's paths (see [files]).
func (r *run) eachFile(ctx context.Context, extensions []string, do func(path string) error) error {
	paths, err := files(r.paths, extensions)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(path); err != nil {
			return err
		}
	}
	return nil
}

func inDirectory(dir string, extensions []string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, pathError(dir, err)
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		if slices.Contains(extensions, filepath.Ext(strings.TrimSuffix(name, ".gz"))) {
			found = append(found, filepath.Join(dir, name))
		}
	}
	return found, nil
}

// open opens a file of the run for reading, decompressed if its name ends in
// .gz.
func (r *run) open(path string) (io.ReadCloser, error) {
	if path == stdinPath {
		switch {
		case r.held != nil:
			return io.NopCloser(bytes.NewReader(r.held)), nil
		case r.spooled == "":
			return io.NopCloser(r.Stdin), nil
		}
		path = r.spooled
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return f, nil
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		f.Close()
		return nil, pathError(path, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// heldInput is how much of standard input is kept in memory.
const heldInput = 1 << 20

// spool keeps standard input so that it can be read more than once whatever its
// length: what is long goes to a temporary file, which Convert removes.
func (r *run) spool() error {
	if r.spooled != "" || r.held != nil {
		return nil
	}
	start, err := io.ReadAll(io.LimitReader(r.Stdin, heldInput))
	if err != nil {
		return pathError(stdinPath, err)
	}
	if len(start) < heldInput {
		r.held = start
		return nil
	}
	f, err := os.CreateTemp("", "ibid-import-")
	if err != nil {
		return err
	}
	r.spooled = f.Name()
	if _, err := io.Copy(f, io.MultiReader(bytes.NewReader(start), r.Stdin)); err != nil {
		f.Close()
		return pathError(stdinPath, err)
	}
	return f.Close()
}

// whole reads a file that must not be longer than a record may be. reason says
// why it cannot be used.
func (r *run) whole(path string) (data []byte, reason string, err error) {
	in, err := r.open(path)
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	data, err = io.ReadAll(io.LimitReader(in, int64(r.MaxRecord)+1))
	if err != nil {
		return nil, "", pathError(path, err)
	}
	if len(data) > r.MaxRecord {
		return nil, "file too long: JSON Lines (.jsonl) can be of any length", nil
	}
	if m := mark(data); m != "" {
		return nil, "the file begins with " + m, nil
	}
	return data, "", nil
}

// readText reads a file of text, which must not be longer than a record may be.
func (r *run) readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(r.MaxRecord)+1))
	if err != nil {
		return nil, pathError(path, err)
	}
	if len(data) > r.MaxRecord {
		return nil, fmt.Errorf("%s: over %d bytes", path, r.MaxRecord)
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
