package cli

import (
	"errors"
	"os"

	"ibid"
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

// listRuns lists the finished runs of a folder. It warns of manifests that it cannot
// read, and leaves their runs out.
func (a *app) listRuns(dir string) (*report.RunList, []runs.Listed, error) {
	listed, unreadable, err := runs.ListReadable(dir)
	if err != nil {
		return nil, nil, noFolder(dir, err)
	}
	for _, name := range unreadable {
		a.warn("%s: the manifest of this run cannot be read", name)
	}
	view, err := a.runList(dir, listed)
	return view, listed, err
}

// runList is the list of the runs of a folder.
func (a *app) runList(dir string, listed []runs.Listed) (*report.RunList, error) {
	view := &report.RunList{Dir: dir}
	for _, r := range listed {
		summary, err := runs.ReadSummaryOf(r.Dir, runs.WholeSystems)
		if err != nil {
			a.warn("%s: %v", r.Dir, err)
			continue
		}
		config, err := harness.SettingsOf(r.Manifest, nil, nil)
		if err != nil {
			return nil, err
		}
		gates, err := harness.SavedGates(r.Dir, r.Manifest, config)
		if err != nil {
			return nil, err
		}
		view.Add(r.Dir, r.Manifest, summary, gates)
	}
	return view, nil
}
