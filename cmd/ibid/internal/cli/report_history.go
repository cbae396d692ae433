package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/report"
)

// addHistory looks for the nights before a run in a folder, or if that is "" in the
// folder that the run lies in. What else lies there must not stand in the way of
// the page.
func (a *app) addHistory(o *report.PageOptions, d *report.RunData, folder string) error {
	asked := folder != ""
	if !asked {
		dir, err := filepath.Abs(d.Dir)
		if err != nil {
			return err
		}
		folder = filepath.Dir(dir)
	}
	past, err := annotations.PastOf(folder, runs.Listed{Dir: d.Dir, Manifest: d.Manifest}, annotations.HistoryOptions{Baseline: annotations.BaselineNights})
	switch {
	case asked && errors.Is(err, os.ErrNotExist):
		return &usageError{err: fmt.Errorf("--history: %s: no such folder", folder)}
	case asked && err != nil:
		return err
	case err != nil:
		a.warn("the page has no history: %v", err)
		return nil
	case asked && len(past.Nights) < report.LeastNights:
		a.warn("%s holds %s before this one, which is too few: the page has no history", folder, plural(int64(len(past.Nights)-1), "run that belongs", "runs that belong"))
	}
	if err := markNights(past.Nights); err != nil {
		a.warn("the page does not know whether the judge moved: %v", err)
	}
	o.Past = past
	return nil
}
