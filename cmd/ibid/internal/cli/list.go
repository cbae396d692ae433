package cli

import (
	"errors"
	"os"
	"path/filepath"

	"ibid"
	"ibid/annotations/history"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

// noFolder is the error for a folder of runs that is not there; others stay as they are.
func noFolder(dir string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return ibid.Usagef("%s: no such folder", dir).With("runs land in runs/ unless --out says otherwise")
	}
	return err
}

// listRuns lists the finished runs of a folder, series by series. It warns of manifests that
// it cannot read, and leaves their runs out.
func (a *app) listRuns(dir string) (*report.RunList, []runs.Listed, error) {
	folder, err := history.Open(dir)
	if err != nil {
		return nil, nil, noFolder(dir, err)
	}
	for _, name := range folder.Unreadable {
		a.warn("%s: the manifest of this run cannot be read", name)
	}
	seriesOf := make(map[string]string)
	for _, s := range folder.Series() {
		for _, r := range s.Runs {
			seriesOf[r.Dir] = filepath.Base(s.Runs[0].Dir)
		}
	}
	view := &report.RunList{Dir: dir}
	for _, r := range folder.Runs {
		summary, err := runs.ReadSummaryOf(r.Dir, runs.WholeSystems)
		if err != nil {
			a.warn("%s: %v", r.Dir, err)
			continue
		}
		config, err := harness.SettingsOf(r.Manifest, nil, nil)
		if err != nil {
			return nil, nil, err
		}
		gates, err := harness.SavedGates(r.Dir, r.Manifest, config)
		if err != nil {
			return nil, nil, err
		}
		view.Add(r.Dir, seriesOf[r.Dir], r.Manifest, summary, gates)
	}
	return view, folder.Runs, nil
}
