// Package history follows the numbers of runs over time: which runs of a folder belong
// together, what each is compared with, and since when a system has been worse.
package history

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
)

// A Folder is the finished runs of a folder, in the order in which they were begun.
type Folder struct {
	Dir        string
	Runs       []runs.Listed
	Unreadable []runs.Unreadable

	accepted []Accepted
}

// AcceptedFile is the file of a folder of runs that says which were accepted.
const AcceptedFile = "accepted.json"

// Accepted is a run that somebody accepted as the base of its series. The last of a series
// counts.
type Accepted struct {
	Run string    `json:"run"` // name of its folder
	At  time.Time `json:"at"`
}

// Open reads what a folder has.
func Open(dir string) (*Folder, error) {
	listed, unreadable, err := runs.List(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, Runs: listed, Unreadable: unreadable}
	path := filepath.Join(dir, AcceptedFile)
	text, err := disk.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, err
	}
	if json.Unmarshal(text, &f.accepted) != nil {
		err := errors.New(`no list of accepted runs, such as [{"run":"night-8","at":"2026-01-31T02:00:00Z"}]`)
		return nil, &ibid.Error{Usage: true, File: path, Err: err, Hint: "mend it, or remove it: then the first complete run of a series is its base"}
	}
	return f, nil
}

// A Series is runs of a folder that ask mostly the same questions, in the order in which they
// were begun: each joins the series of the newest run before it that asks at least half of
// what either asks. Names of files play no part.
type Series struct {
	Runs   []runs.Listed
	folder *Folder
}

// mostlySame is the likeness from which two runs are of one series.
const mostlySame = 0.5

// Series divides the runs of the folder, in the order of their first runs.
func (f *Folder) Series() []*Series {
	var all []*Series
	of := make([]*Series, len(f.Runs))
	for i, r := range f.Runs {
		if k := newest(f.Runs[:i], r.Manifest); k >= 0 {
			of[i] = of[k]
		} else {
			of[i] = &Series{folder: f}
			all = append(all, of[i])
		}
		of[i].Runs = append(of[i].Runs, r)
	}
	return all
}

// Before is the series that a run belongs to, as far as it was begun before that run. It has
// no runs if the run begins a series.
func (f *Folder) Before(m *runs.Manifest) *Series {
	earlier := &Folder{Dir: f.Dir, accepted: f.accepted}
	for _, r := range f.Runs {
		if r.Manifest.Timings.Started.Before(m.Timings.Started) {
			earlier.Runs = append(earlier.Runs, r)
		}
	}
	if k := newest(earlier.Runs, m); k >= 0 {
		return earlier.seriesOf(filepath.Base(earlier.Runs[k].Dir))
	}
	return &Series{folder: earlier}
}

// newest is the place of the last run that asks mostly the questions of m, -1 if none does.
func newest(all []runs.Listed, m *runs.Manifest) int {
	for i, r := range slices.Backward(all) {
		if m.Questions.Likeness(r.Manifest.Questions) >= mostlySame {
			return i
		}
	}
	return -1
}

// Base is the directory of what the next run of the series is compared with: the run that was
// accepted last, or the first complete one. It never moves by itself: no lucky night becomes
// the bar, no bad one lowers it, and slow slides add up against it. It is "" if there is none,
// and need not be there any more: then the newest run names it.
func (s *Series) Base() string {
	if a := s.Accepted(); a != nil {
		return filepath.Join(s.folder.Dir, a.Run)
	}
	for _, r := range slices.Backward(s.Runs) {
		if m := r.Manifest; m.Baseline != "" && !m.Given {
			return filepath.Join(s.folder.Dir, filepath.Base(m.Baseline))
		}
	}
	if i := slices.IndexFunc(s.Runs, func(r runs.Listed) bool { return whole(r.Manifest) }); i >= 0 {
		return s.Runs[i].Dir
	}
	return ""
}

// Accepted is the run of the series that was accepted last; nil if none was.
func (s *Series) Accepted() *Accepted {
	for i := range slices.Backward(s.folder.accepted) {
		if a := &s.folder.accepted[i]; named(s.Runs, a.Run) >= 0 {
			return a
		}
	}
	return nil
}

// whole reports whether a run is of all rows, of which enough have results.
func whole(m *runs.Manifest) bool {
	enough := m.Effective().MinCoverage
	return m.Limit == 0 && len(m.Only) == 0 && m.Coverage != nil && *m.Coverage >= enough && m.Judge.Coverage() >= enough
}

// Accept makes a run, named by its folder or by its path, the base of its series from now on.
func (f *Folder) Accept(run string, at time.Time) (*Series, error) {
	name := filepath.Base(filepath.Clean(run))
	if dir := filepath.Dir(filepath.Clean(run)); dir != "." && !sameFile(dir, f.Dir) {
		return nil, ibid.Usagef("%s is not in %s", run, f.Dir).With("name the folder of its runs, too: ibid history " + dir + " --accept " + name)
	}
	if named(f.Runs, name) < 0 {
		return nil, ibid.Usagef("%s has no finished run %s", f.Dir, name).With("ibid history " + f.Dir + " lists them")
	}
	f.accepted = append(f.accepted, Accepted{Run: name, At: at.UTC().Truncate(time.Second)})
	text, err := json.Marshal(f.accepted)
	if err != nil {
		return nil, err
	}
	err = dataset.WriteFile(filepath.Join(f.Dir, AcceptedFile), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	return f.seriesOf(name), err
}

// named returns the index of the run whose folder has this name, or -1.
func named(all []runs.Listed, name string) int {
	return slices.IndexFunc(all, func(r runs.Listed) bool { return filepath.Base(r.Dir) == name })
}

// seriesOf is the series of a run of the folder.
func (f *Folder) seriesOf(name string) *Series {
	all := f.Series()
	return all[slices.IndexFunc(all, func(s *Series) bool { return named(s.Runs, name) >= 0 })]
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	two, failed := os.Stat(b)
	return err == nil && failed == nil && os.SameFile(one, two)
}
