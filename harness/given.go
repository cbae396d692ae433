package harness

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
)

// A Given is the summary of a run with its spans as they were given, or why there is
// none.
type Given struct {
	dir     string
	summary []runs.SummaryRow
	signs   []runs.Sign
	why     string
}

// scoreGiven scores the rows of the finished run m in dir with their spans as given, if
// a gate asks for that and it was not done before. It reads the inputs of the run again
// and leaves a run without a judge in a folder of dir. nil is a run whose own spans are
// those, or of which no gate asks it.
func scoreGiven(ctx context.Context, dir string, m *runs.Manifest, gates []configs.Gate) (*Given, error) {
	asked := slices.ContainsFunc(gates, func(g configs.Gate) bool { return g.Given })
	given, err := savedGiven(dir, m, gates)
	if err != nil || !asked || given == nil || given.why == "" {
		return given, err
	}
	config, err := SettingsOf(m, nil, nil)
	if err != nil {
		return nil, err
	}
	config = config.ForGiven()
	config.Place(dir, runs.GivenDir)
	same := *m
	same.Anchors = nil
	job := &Job{
		Config: config, Source: m.Source, Limit: m.Limit, Only: TagsOf(m.Only), Version: m.Versions["ibid"],
		SameDataAs: &same, ofAnchors: true,
	}
	plan, err := job.Plan(ctx)
	if err == nil {
		_, err = plan.Run(ctx)
	}
	if errors.Is(err, ibid.ErrUsage) { // the data are gone, or are others
		return &Given{why: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	return savedGiven(dir, m, gates)
}

// savedGiven is what [scoreGiven] left in dir, as far as gates look at it.
func savedGiven(dir string, m *runs.Manifest, gates []configs.Gate) (*Given, error) {
	if slices.ContainsFunc(m.Settings, func(s runs.Setting) bool { return s.Key == "quoted_spans" && s.Value == "given" }) {
		return nil, nil
	}
	out := &Given{dir: filepath.Join(dir, runs.GivenDir)}
	saved, err := runs.ReadManifestIfAny(out.dir)
	switch {
	case err != nil:
		return nil, err
	case saved == nil || saved.Status == runs.StatusRunning:
		out.why = "ibid gate " + dir + " does it"
		return out, nil
	}
	out.signs = saved.Signs
	out.summary, err = summaryFor(out.dir, gates)
	if errors.Is(err, fs.ErrNotExist) {
		out.why, err = "ibid gate "+dir+" does it", nil
	}
	return out, err
}
