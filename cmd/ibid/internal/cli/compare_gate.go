package cli

import (
	"errors"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

// gateRuns asks the gates of --gate of each new run against the base. Of several
// verdicts the gravest decides.
func (a *app) gateRuns(base string, news []string, f *compareFlags) error {
	var gravest error
	for _, dir := range news {
		m, config, err := gatedRun(dir, f.gates)
		if err != nil {
			return err
		}
		out, err := harness.SavedOutcome(dir, m, config, base)
		if err != nil {
			return err
		}
		gravest = graver(gravest, a.conclude(config, out, &f.ci))
	}
	return gravest
}

// gateSystems asks the gates of the systems of a run against one of them.
func (a *app) gateSystems(dir, base string, f *compareFlags) error {
	m, config, err := gatedRun(dir, f.gates)
	if err != nil {
		return err
	}
	out, err := harness.SystemOutcome(dir, m, config, base)
	if err != nil {
		return err
	}
	return a.conclude(config, out, &f.ci)
}

// gatedRun are the settings of a run with other gates than its own.
func gatedRun(dir string, gates []string) (*runs.Manifest, *configs.Config, error) {
	m, err := openRun(dir)
	if err != nil {
		return nil, nil, err
	}
	config, err := harness.SettingsOf(m, []string{"gates=[]"}, gates)
	return m, config, err
}

// graver is the error with the exit code that wins: no verdict over a failed gate,
// and whatever went wrong over both.
func graver(a, b error) error {
	var first, second exitError
	switch {
	case a == nil, errors.As(a, &first) && !errors.As(b, &second) && b != nil:
		return b
	case b == nil, errors.As(b, &second) && first.code >= second.code:
		return a
	}
	return b
}
