package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// expand lists the files that pattern stands for: the file of that name, the
// *.parquet files of that directory, or what the glob matches, in the order of
// their names. Names that begin with a dot or an underscore are hidden, as
// writers use them for markers and unfinished files.
func expand(pattern string) ([]string, error) {
	info, err := os.Stat(pattern)
	switch {
	case err == nil && info.IsDir():
		return expandDir(pattern)
	case err == nil:
		return []string{pattern}, nil
	case !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(pattern, "*?["):
		return nil, fileError(pattern, err)
	}
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, &Error{File: pattern, Row: -1, Err: err}
	}
	matches = slices.DeleteFunc(matches, func(name string) bool {
		info, err := os.Stat(name)
		return hidden(filepath.Base(name)) || err == nil && info.IsDir()
	})
	if len(matches) == 0 {
		return nil, &Error{File: pattern, Row: -1, Err: errors.New("no file matches")}
	}
	slices.Sort(matches)
	return matches, nil
}

func expandDir(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fileError(dir, err)
	}
	var names []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if hidden(e.Name()) || !strings.HasSuffix(e.Name(), ".parquet") {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			continue
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, &Error{
			File: dir, Row: -1, Err: errors.New("no .parquet file in this directory"),
			Hint: fmt.Sprintf("for files with another ending give a glob, such as %s", filepath.Join(dir, "*")),
		}
	}
	return names, nil // ReadDir sorts
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }
