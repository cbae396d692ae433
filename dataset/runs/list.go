package runs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"ibid/dataset/disk"
)

// A Listed is a run in a folder of runs.
type Listed struct {
	Dir      string
	Manifest *Manifest
}

// An Unreadable is a folder with the manifest of a run that cannot be read.
type Unreadable struct {
	Name string // of the folder
	Err  error
}

// List reads the manifests of the finished runs in a folder, in the order in which they were
// begun. What is no run, or is unfinished, is left out. Other programs have files of that name,
// too; what does not say that it is the manifest of a run is no run.
func List(dir string) (out []Listed, unreadable []Unreadable, err error) {
	entries, err := disk.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		m, err := ReadManifest(path)
		var at *fs.PathError
		var other *SchemaError
		switch {
		case errors.As(err, &at): // a file, or a folder without a manifest
		case errors.As(err, &other) && !other.OfRun():
		case err != nil:
			unreadable = append(unreadable, Unreadable{e.Name(), err})
		case m.Complete() && m.Timings.Finished != nil:
			out = append(out, Listed{path, m})
		}
	}
	slices.SortStableFunc(out, func(a, b Listed) int { return a.Manifest.Timings.Started.Compare(b.Manifest.Timings.Started) })
	return out, unreadable, nil
}
