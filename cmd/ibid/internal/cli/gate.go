package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ibid/harness"
)

func (a *app) gateCommand() *cobra.Command {
	var gates []string
	var junit junitFlag
	cmd := &cobra.Command{
		Use:   "gate RUN",
		Short: "gates on the saved results of a run; costs nothing",
		Long: `gate asks the gates of a run's own settings, and those of --gate, of its saved
results. It says and decides the same as the run itself: exit code 3 if a gate
failed, 4 if there is no verdict.`,
		Example: `  ibid gate runs/sample
  ibid gate runs/sample --gate 'lo(char_f1) >= 0.6' --junit gates.xml
  ibid gate runs/sample --format markdown`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.formats(tableFormats...); err != nil {
				return err
			}
			if err := junit.check(); err != nil {
				return err
			}
			return a.gate(args[0], gates, &junit)
		},
	}
	cmd.Flags().StringArrayVar(&gates, "gate", nil, "a condition that the run must meet, such as 'char_f1 >= 0.7' (may be repeated)")
	junit.register(cmd)
	return cmd
}

func (a *app) gate(dir string, gates []string, junit *junitFlag) error {
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
	out, err := harness.SavedOutcome(dir, m, config)
	if err != nil {
		return err
	}
	view := gatesView(config, out)
	if err := a.write(func(w io.Writer) error { return view.Write(w, a.format, a.style()) }); err != nil {
		return err
	}
	return a.conclude(config, out, junit)
}
