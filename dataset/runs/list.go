package runs

import (
	"cmp"
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

// List reads the manifests of the finished runs in a folder, in the order in which
// they were begun. What is no run, or is unfinished, is left out.
func List(dir string) ([]Listed, error) {
	var first error
	out, err := list(dir, func(_ string, err error) {
		if first == nil {
			first = err
		}
	})
	return out, cmp.Or(err, first)
}

// ListReadable is List that goes on where a manifest cannot be read, and names the
// folders of such runs. Other programs have files of that name, too; what does not
// say that it is the manifest of a run is no run.
func ListReadable(dir string) (out []Listed, unreadable []string, err error) {
	out, err = list(dir, func(name string, err error) {
		var other *SchemaError
		if !errors.As(err, &other) || other.OfRun() {
			unreadable = append(unreadable, name)
		}
	})
	return out, unreadable, err
}

// list calls failed with the name of each folder whose manifest cannot be read.
func list(dir string, failed func(name string, err error)) ([]Listed, error) {
	entries, err := disk.ReadDir(dir)
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
			failed(e.Name(), err)
		case m.Complete() && m.Timings.Finished != nil:
			out = append(out, Listed{path, m})
		}
	}
	slices.SortStableFunc(out, func(a, b Listed) int { return a.Manifest.Timings.Started.Compare(b.Manifest.Timings.Started) })
	return out, nil
}
