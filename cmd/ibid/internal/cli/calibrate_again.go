package cli

import (
	"fmt"
	"slices"

	"ibid/annotations"
	"ibid/dataset/runs"
)

// repeated tells a judge's noise from the spread of the items, by runs that judged
// the same data.
func repeated(dir string, m *runs.Manifest, again []string) (*annotations.Repeated, error) {
	var before []*runs.Manifest
	for _, other := range again {
		o, err := openRun(other)
		if err != nil {
			return nil, err
		}
		if err := judgedAnew(m, o); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(before, func(b *runs.Manifest) bool { return sameRun(b, o) }) {
			return nil, &usageError{err: fmt.Errorf("--again names %s twice", o.ID)}
		}
		before = append(before, o)
	}
	r, err := annotations.ReadRepeated(append([]string{dir}, again...))
	if err == nil && len(r.Verdicts) == 0 {
		err = &usageError{err: fmt.Errorf("%s: nothing was judged twice", dir)}
	}
	return r, err
}

// sameRun reports whether two manifests are of one run, wherever it lies.
func sameRun(a, b *runs.Manifest) bool {
	return a.ID == b.ID && a.Timings.Started.Equal(b.Timings.Started)
}

// judgedAnew refuses a run that is no repetition of m: other data, another judge,
// or answers that were given once and kept.
func judgedAnew(m, again *runs.Manifest) error {
	if err := sameJudge(m, again); err != nil {
		return err
	}
	for _, key := range []string{"dataset", "documents", "claims", "columns"} {
		if m.Ingredients[key] != again.Ingredients[key] {
			return &usageError{err: fmt.Errorf("%s is no repetition of %s: %s differs", again.ID, m.ID, key)}
		}
	}
	if sameRun(m, again) {
		return &usageError{err: fmt.Errorf("%s is the run itself", again.ID)}
	}
	// A run that keeps no answers may have taken up its own after an interruption.
	if again.Judge.Cached > 0 && again.Setting("judge.cache_results") != "false" {
		return &usageError{
			err:  fmt.Errorf("%s took %d of %d answers from the store: they were given once only", again.ID, again.Judge.Cached, again.Judge.Calls),
			hint: "run it with --no-cache, so that the judge is asked again",
		}
	}
	return nil
}
