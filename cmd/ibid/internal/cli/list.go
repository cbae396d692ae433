package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ls [DIR]",
		Short: "the runs of a folder: date, systems, headline, gates, baseline",
		Long: `ls lists the finished runs of a folder, runs/ unless another is named, in the order in
which they were begun: rows, systems, the first number that matters of all systems
together, how many gates passed, and what the run was compared with.`,
		Example: `  ibid ls
  ibid ls nightly --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := configs.FromValues(nil).Out
			if len(args) > 0 {
				dir = args[0]
			}
			return a.list(dir)
		},
	}
}

func (a *app) list(dir string) error {
	if err := a.formats(tableFormats...); err != nil {
		return err
	}
	view, _, err := a.listRuns(dir)
	if err != nil {
		return err
	}
	if err := a.show(view); err != nil {
		return err
	}
	if len(view.Runs) == 0 {
		a.hint("ibid run DATASET makes one")
	}
	return nil
}

// listRuns lists the finished runs of a folder.
func (a *app) listRuns(dir string) (*report.RunList, []runs.Listed, error) {
	listed, unreadable, err := runs.ListReadable(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, ibid.Usagef("%s: no such folder", dir).With("runs land in runs/ unless --out says otherwise")
	}
	if err != nil {
		return nil, nil, err
	}
	for _, name := range unreadable {
		a.warn("%s: the manifest of this run cannot be read", name)
	}
	view := &report.RunList{Dir: dir}
	for _, r := range listed {
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
		view.Add(r.Dir, r.Manifest, summary, gates)
		view.Last = r.Dir
	}
	return view, listed, nil
}
