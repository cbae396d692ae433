package runs

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"

	"ibid/dataset/disk"
	"ibid/metrics/stats"
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

// Questions are the ids of a run, each once, as hashes.
type Questions map[uint64]struct{}

// ReadQuestions reads the ids of the run in dir.
func ReadQuestions(dir string) (Questions, error) {
	f, err := OpenRows(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := make(Questions)
	return out, f.Each(func(b *Block) error {
		for _, id := range b.Texts("id") {
			out[stats.Key(id)] = struct{}{}
		}
		return nil
	})
}

// A QuestionSet says how many questions there are, and has one number for all that does
// not depend on their order: runs over the same questions have the same.
type QuestionSet struct {
	Count  int64  `json:"count"`
	Digest string `json:"digest"`
}

// Set is that of the questions.
func (q Questions) Set() QuestionSet {
	var sum QuestionSum
	for key := range q {
		sum.add(key)
	}
	return sum.Set()
}

// A QuestionSum makes a [QuestionSet] of ids that are all different.
type QuestionSum struct {
	count int64
	sum   uint64
}

// Add adds a question by its id.
func (s *QuestionSum) Add(id string) { s.add(stats.Key(id)) }

func (s *QuestionSum) add(key uint64) { s.count, s.sum = s.count+1, s.sum+key }

// Set is that of the questions so far.
func (s *QuestionSum) Set() QuestionSet { return QuestionSet{s.count, strconv.FormatUint(s.sum, 16)} }

// QuestionSet says which questions the run asked: as its manifest does, or else from its
// rows.
func (l Listed) QuestionSet() (QuestionSet, error) {
	if set := l.Manifest.Questions; set != nil {
		return *set, nil
	}
	questions, err := ReadQuestions(l.Dir)
	return questions.Set(), err
}

// Shared is how many questions are in both.
func (q Questions) Shared(other Questions) int {
	n := 0
	for key := range q {
		if _, ok := other[key]; ok {
			n++
		}
	}
	return n
}
