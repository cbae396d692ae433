package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/objects"
	"ibid/dataset/parquet"
)

// expand returns the files that a pattern names, sorted: one file, the *.parquet files of a
// folder, or the matches of a glob. It leaves out names that begin with a dot or an underscore:
// writers use them for markers and unfinished files.
func expand(pattern string) ([]string, error) {
	if objects.Is(pattern) {
		names, err := objects.Find(context.Background(), pattern)
		return names, parquet.FileError(pattern, err)
	}
	names, err := matching(pattern, parquetFiles)
	switch {
	case len(names) == 0 && objects.Slip(pattern):
		return nil, &ibid.Error{File: pattern, Err: errors.New("no such file"), Hint: objects.AddressHint}
	case err != nil || len(names) > 0:
		return names, err
	case isFolder(pattern):
		return nil, &ibid.Error{
			File: pattern, Err: errors.New("no .parquet file in this directory"),
			Hint: fmt.Sprintf("for files with another ending give a glob, such as %s", filepath.Join(pattern, "*")),
		}
	}
	return nil, &ibid.Error{File: pattern, Err: errors.New("no file matches")}
}

// Glob lists the files that patterns name, each once, in the order of their names. ** stands
// for any folders, also none. Of a folder it lists the files called name in it and below,
// or, without any, all *.parquet. Names that begin with a dot or an underscore are hidden.
func Glob(patterns []string, name string) ([]string, error) {
	var all []string
	for _, pattern := range patterns {
		found, err := matching(pattern, "**", name)
		if err == nil && len(found) == 0 && isFolder(pattern) {
			found, err = matching(pattern, "**", parquetFiles)
		}
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, &ibid.Error{File: pattern, Err: errors.New("no file matches")}
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// parquetFiles are the files of a folder that are read.
const parquetFiles = "*.parquet"

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// matching returns the sorted paths of the files that match pattern. Of a folder it returns those whose
// path below the folder matches the pattern inFolder, see [matchWords].
func matching(pattern string, inFolder ...string) (found []string, err error) {
	root, words := pattern, inFolder
	switch _, err := os.Stat(pattern); {
	case isFolder(pattern):
	case err == nil:
		return []string{pattern}, nil
	case !strings.ContainsAny(pattern, "*?["):
		return nil, parquet.FileError(pattern, err)
	default:
		words = strings.Split(filepath.ToSlash(filepath.Clean(pattern)), "/")
		fixed := 0
		for fixed < len(words)-1 && !strings.ContainsAny(words[fixed], "*?[") {
			fixed++
		}
		if root = filepath.FromSlash(strings.Join(words[:fixed], "/")); root == "" && fixed > 0 {
			root = string(filepath.Separator)
		}
		words = words[fixed:]
	}
	start := cmp.Or(root, ".") + "/" // of a link the folder
	err = filepath.WalkDir(start, func(at string, d fs.DirEntry, err error) error {
		if at == start && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return parquet.FileError(at, err)
		}
		below, err := filepath.Rel(start, at)
		if err != nil || at == start {
			return err
		}
		parts := strings.Split(filepath.ToSlash(below), "/")
		deepest := len(parts) >= len(words) && !slices.Contains(words, "**")
		if d.IsDir() && (deepest || hidden(d.Name())) {
			return fs.SkipDir
		}
		if d.IsDir() || hidden(d.Name()) {
			return nil
		}
		ok, err := matchWords(words, parts)
		if err != nil {
			return &ibid.Error{File: pattern, Err: err}
		}
		if info, err := os.Stat(at); ok && err == nil && info.Mode().IsRegular() {
			found = append(found, filepath.Join(root, below))
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// matchWords matches the words of a path with those of a pattern.
func matchWords(pattern, words []string) (bool, error) {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for skip := range len(words) + 1 {
				if ok, err := matchWords(pattern[1:], words[skip:]); ok || err != nil {
					return ok, err
				}
			}
			return false, nil
		}
		if len(words) == 0 {
			return false, nil
		}
		if ok, err := path.Match(pattern[0], words[0]); !ok || err != nil {
			return false, err
		}
		pattern, words = pattern[1:], words[1:]
	}
	return len(words) == 0, nil
}
