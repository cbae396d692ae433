package cli

import (
	"errors"

	"ibid/annotations/compare"
	"ibid/report"
)

// addComparison compares what a page shows side by side: several runs with the
// first, or the systems of one run. Where that cannot be, the page says why.
func addComparison(o *report.PageOptions, dirs []string) error {
	var all []*compare.Run
	for _, dir := range dirs {
		r, err := compare.Open(dir)
		if err != nil {
			return err
		}
		defer r.Close()
		all = append(all, r)
	}
	var result *compare.Result
	var err error
	switch {
	case len(all) > 1:
		result, err = compare.Runs(all[0], all[1:], compare.Options{})
	case len(all[0].Systems()) > 1:
		result, err = compare.BySystem(all[0], compare.Options{})
	default:
		return nil
	}
	var refused *compare.RefusedError
	var wrong *compare.UsageError
	var moved *compare.DriftError
	if errors.As(err, &moved) {
		o.NotCompared, o.Drifts = err.Error(), moved.Drifts
		return nil
	}
	if errors.As(err, &refused) || errors.As(err, &wrong) {
		o.NotCompared = err.Error()
		return nil
	}
	o.Comparison = result
	return err
}
