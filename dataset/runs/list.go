package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Listed is a run in a folder of runs.
type Listed struct {
	Dir      string
	Manifest *Manifest
}

// List reads the manifests of the finished runs in a folder, in the order in which
// they were begun. What is no run, or is unfinished, is left out.
func List(dir string) ([]Listed, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []Listed
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		m, err := ReadManifest(path)
		var at *fs.PathError
		switch {
		case errors.As(err, &at):
			continue // a file, or a folder without a manifest
		case err != nil:
			return nil, err
		case m.Complete() && m.Timings.Finished != nil:
			out = append(out, Listed{path, m})
		}
	}
	slices.SortStableFunc(out, func(a, b Listed) int { return a.Manifest.Timings.Started.Compare(b.Manifest.Timings.Started) })
	return out, nil
}

// Questions are the ids of a run, each once, hashed to one number that does not
// depend on their order: runs over the same questions have the same.
func Questions(dir string, hash func(id string) uint64) (uint64, error) {
	seen := make(map[string]struct{})
	var sum uint64
	err := ScanRows(dir, nil, func(key RowKey, _ Record) {
		if _, ok := seen[key.ID]; !ok {
			seen[key.ID] = struct{}{}
			sum += hash(key.ID)
		}
	})
	return sum, err
}
