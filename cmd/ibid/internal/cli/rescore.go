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
	var settings settingFlags
	var id string
	var numbers numberFlags
	var ci ciFlags
	cmd := &cobra.Command{
		Use:   "rescore RUN",
		Short: "new thresholds, weights and policies over the verdicts of a run; asks nothing",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.rescore(cmd, &settings, id, &numbers, &ci, args[0])
		},
	}
	settings.register(cmd)
	cmd.Flags().StringVar(&id, "id", "", "name of the new run (default: that of RUN, with -rescored)")
	cmd.Flags().StringArrayVar(&settings.gates, "gate", nil, "a condition that the new run must meet (may be repeated)")
	numbers.register(cmd)
	ci.register(cmd)
	return cmd
}

func (a *app) rescore(cmd *cobra.Command, s *settingFlags, id string, numbers *numberFlags, ci *ciFlags, dir string) error {
	if err := ci.check(); err != nil {
		return err
	}
	m, err := a.openRun(dir)
	if err != nil {
		return err
	}
	for _, set := range s.set {
		key, _, _ := strings.Cut(set, "=")
		thresholds := key == "judge.file" && m.Judge.Kind != "recorded"
		if strings.HasPrefix(key, "judge.") && !thresholds || key == "judge" || key == "dataset" || key == "documents" {
			return ibid.Usagef("--set %s: rescore keeps the data and the judge of the run", key).With("use ibid run")
		}
	}
	if id == "" {
		id = m.ID + "-rescored"
	}
	config, err := harness.SettingsOf(m, append(s.set, "out="+filepath.Dir(filepath.Clean(dir))), s.gates)
	if err != nil {
		return err
	}
	return a.evaluate(cmd, &harness.Job{
		Config: config, Source: m.Source, ID: id, Limit: m.Limit, Only: m.Only, Version: a.Version, SameDataAs: m, SameDataIn: dir, Baseline: baselineOf(m),
	}, "", numbers, ci)
}

// baselineOf is what was named to compare a run with; "" if nothing was.
func baselineOf(m *runs.Manifest) string {
	if m.Given {
		return cmp.Or(m.Baseline, harness.NoBaseline)
	}
	return ""
}
