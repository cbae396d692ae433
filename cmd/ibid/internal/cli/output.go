package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"ibid/dataset"
)

// write gives the output of a command to -o: standard output; a file, which
// appears whole or not at all; or a device or pipe, which is written to as it is,
// since a file in its place would take it away from everybody.
func (a *app) write(f func(w io.Writer) error) error {
	if a.output == "-" {
		return f(a.Stdout)
	}
	return writeOutput(a.output, f)
}

func writeOutput(path string, f func(w io.Writer) error) error {
	target, special := outputTarget(path)
	if !special {
		return dataset.WriteFile(target, f)
	}
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f(w), w.Close())
}

// outputTarget follows symbolic links, so that a file is replaced and not a link
// to it. Special is true for what is there and is neither file nor folder.
func outputTarget(path string) (target string, special bool) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return path, true
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved, false
	}
	return path, false
}

// datasetTarget is outputTarget for Parquet, which is written to files only.
func datasetTarget(path string) (string, error) {
	target, special := outputTarget(path)
	if special {
		return "", &usageError{err: &fs.PathError{Op: "write", Path: path, Err: errNoFile}, hint: fmt.Sprintf("a dataset is a file, such as %s.parquet", filepath.Base(path))}
	}
	return target, nil
}

var errNoFile = errors.New("not a regular file")
