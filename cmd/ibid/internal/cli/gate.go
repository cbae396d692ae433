package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/harness"
)

func (a *app) gateCommand() *cobra.Command {
	var gates []string
	var ci ciFlags
	cmd := &cobra.Command{
		Use:   "gate RUN [BASE]",
		Short: "gates on the saved results of a run; costs nothing",
		Long: `gate asks the gates of a run's own settings, and those of --gate, of its saved
results. It says and decides the same as the run itself: exit code 3 if a gate
failed, 4 if there is no verdict. Gates with diff and p compare with the run BASE, or
with the --baseline that RUN had.`,
		Example: `  ibid gate runs/sample
  ibid gate runs/sample --gate 'lo(char_f1) >= 0.6' --junit gates.xml
  ibid gate runs/tonight runs/last-night --gate 'p(overall_citation_accuracy) >= 0.05'
  ibid gate runs/sample --format markdown --annotations github`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.formats(tableFormats...); err != nil {
				return err
			}
			if err := ci.check(); err != nil {
				return err
			}
			return a.gate(args, gates, &ci)
		},
	}
	cmd.Flags().StringArrayVar(&gates, "gate", nil, "a condition that the run must meet, such as 'char_f1 >= 0.7' (may be repeated)")
	ci.register(cmd)
	return cmd
}

func (a *app) gate(args, gates []string, ci *ciFlags) error {
	dir, baseline := args[0], ""
	m, err := openRun(dir)
	if err != nil {
		return err
	}
	config, err := harness.SettingsOf(m, nil, gates)
	if err != nil {
		return err
	}
	if len(config.Gates()) == 0 {
		return &usageError{err: fmt.Errorf("%s has no gates", dir), hint: "give one: --gate 'char_f1 >= 0.7'; see ibid help gates"}
	}
	if len(args) > 1 {
		baseline = args[1]
		if err := a.comparable(baseline, m); err != nil {
			return err
		}
	}
	out, err := harness.SavedOutcome(dir, m, config, baseline)
	if err != nil {
		return err
	}
	view := gatesView(config, out)
	if err := a.write(func(w io.Writer) error { return view.Write(w, a.format, a.style()) }); err != nil {
		return err
	}
	return a.conclude(config, out, ci)
}

// comparable refuses a base that is no finished run, or that means something else.
func (a *app) comparable(baseline string, m *runs.Manifest) error {
	base, err := openRun(baseline)
	if err != nil {
		return err
	}
	if why := compare.Reasons(base, m); len(why) > 0 {
		return compareError(&compare.RefusedError{Base: base.ID, New: m.ID, Reasons: why})
	}
	return nil
}
