package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/harness"
)

func (a *app) mergeCommand() *cobra.Command {
	var numbers numberFlags
	var ci ciFlags
	cmd := &cobra.Command{
		Use:   "merge DIR... -o OUT/ID",
		Short: "makes one run of the shards of ibid run --shard",
		Long: `merge makes a run of shards: OUT/ID has the same bytes as the run of one process but
for its manifest. A DIR is a shard, or a folder of shards; shares of different numbers
mix. The data must still be where the shards read them; nobody is asked anything.

Every part of the run is wanted exactly once, from shards of the same data and settings,
as they were written. Otherwise merge says what is missing, as an array of Slurm takes
it, writes nothing and ends with exit code 4.`,
		Example: `  ibid run ibid.yaml --shard 3/16 --out shards
  ibid merge shards -o runs/tonight`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.merge(cmd, args, &numbers, &ci) },
	}
	numbers.register(cmd)
	ci.register(cmd)
	return cmd
}

func (a *app) merge(cmd *cobra.Command, dirs []string, numbers *numberFlags, ci *ciFlags) error {
	if err := ci.check(); err != nil {
		return err
	}
	if a.output == "-" {
		return ibid.Usagef("merge needs the directory of the run").With("add -o runs/NAME")
	}
	out := filepath.Clean(a.output)
	a.output = "-"
	shards, err := harness.OpenShards(cmd.Context(), dirs)
	if err != nil {
		return err
	}
	m := shards.Manifest
	config, err := harness.SettingsOf(m, []string{"out=" + filepath.Dir(out), "id=" + filepath.Base(out)}, nil)
	if err != nil {
		return err
	}
	return a.evaluate(cmd, &harness.Job{
		Config: config, Source: m.Source, Limit: m.Limit, Only: harness.TagsOf(m.Only), Version: a.Version, Baseline: m.Baseline, Merge: shards,
	}, "", numbers, ci)
}

func (a *app) sayShard(out *harness.Outcome) error {
	if a.quiet {
		return nil
	}
	if out.Existed {
		a.say("%s is done already; nothing was done", out.Dir)
	} else {
		a.say("%s is done", out.Dir)
	}
	a.hint("when all are: ibid merge " + quote(filepath.Dir(out.Dir)) + " -o runs/NAME")
	return nil
}
