package cli

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/dataset/runs"
	"ibid/harness"
)

func (a *app) rescoreCommand() *cobra.Command {
	f := &jobFlags{}
	cmd := &cobra.Command{
		Use:   "rescore RUN",
		Short: "new thresholds, weights and policies over the verdicts of a run; asks nothing",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.rescore(cmd, f, args[0]) },
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.id, "id", "", "name of the new run (default: that of RUN, with -rescored)")
	cmd.Flags().StringArrayVar(&f.settings.gates, "gate", nil, "a condition that the new run must meet (may be repeated)")
	return cmd
}

func (a *app) rescore(cmd *cobra.Command, f *jobFlags, dir string) error {
	if err := f.ci.check(); err != nil {
		return err
	}
	m, err := a.openRun(dir)
	if err != nil {
		return err
	}
	for _, set := range f.settings.set {
		key, _, _ := strings.Cut(set, "=")
		thresholds := key == "judge.file" && m.Judge.Kind != "recorded"
		if strings.HasPrefix(key, "judge.") && !thresholds || key == "judge" || key == "dataset" || key == "documents" {
			return ibid.Usagef("--set %s: rescore keeps the data and the judge of the run", key).With("use ibid run")
		}
	}
	config, err := harness.SettingsOf(m, append(f.settings.set, "out="+filepath.Dir(filepath.Clean(dir))), f.settings.gates)
	if err != nil {
		return err
	}
	return a.evaluate(cmd, &harness.Job{
		Config: config, Source: m.Source, ID: cmp.Or(f.id, m.ID+"-rescored"), Limit: m.Limit, Only: m.Only, Version: a.Version, SameDataAs: m, SameDataIn: dir, Baseline: baselineOf(m),
	}, f)
}

// baselineOf is what was named to compare a run with; "" if nothing was.
func baselineOf(m *runs.Manifest) string {
	if m.Given {
		return cmp.Or(m.Baseline, harness.NoBaseline)
	}
	return ""
}
