package cli

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/harness"
	"ibid/report"
)

type compareFlags struct {
	by, system      string
	metrics, slices []string
	all, force      bool
	gates           []string
	ci              ciFlags
}

func (a *app) compareCommand() *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare BASE NEW... | compare --by system|model|provider RUN",
		Short: "runs against a base run, or the systems of one run against each other",
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return a.compare(f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.by, "by", "run", "what to compare: run, or within one run system, model or provider")
	flags.StringVar(&f.system, "system", "", "compare this system only, BASE or BASE=NEW if it is named otherwise; with --by system, the base")
	flags.StringArrayVar(&f.metrics, "metric", nil, "a metric that decides, such as char_f1 or 'micro(char_f1)' (may be repeated)")
	flags.StringArrayVar(&f.slices, "slice", nil, "look at the values of this tag, too, or of provider, model or source_type (may be repeated)")
	flags.BoolVar(&f.all, "all", false, "compare all other metrics, too")
	flags.BoolVar(&f.force, "force", false, "compare what should not be compared, and say so")
	flags.StringArrayVar(&f.gates, "gate", nil, "a condition that each NEW must meet, such as 'p(char_f1) >= 0.05' (may be repeated)")
	f.ci.register(cmd)
	return cmd
}

// options turns the flags into those of a comparison.
func (f *compareFlags) options() (compare.Options, error) {
	o := compare.Options{
		All: f.all, Slices: f.slices, Force: f.force,
	}
	if err := oneOf("--by", f.by, "run", "system", "model", "provider"); err != nil {
		return o, err
	}
	for _, text := range f.metrics {
		q, err := compare.ParseQuantity(text)
		var unknown *compare.UnknownMetricError
		switch {
		case errors.As(err, &unknown):
			return o, ibid.Usagef("--metric: %w", err).With(harness.NearestMetric(unknown.Name))
		case err != nil:
			return o, ibid.Usagef("--metric: %w", err)
		}
		o.Metrics = append(o.Metrics, q)
	}
	o.Base, o.New, _ = strings.Cut(f.system, "=")
	return o, nil
}

func (a *app) compare(f *compareFlags, args []string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	switch {
	case f.by != "run" && len(args) > 1:
		return ibid.Usagef("--by %[1]s compares the %[1]ss of one run", f.by).With("name one run")
	case f.by != "run" && f.by != "system" && len(f.gates) > 0:
		return ibid.Usagef("gates are over systems, not %ss", f.by).With("--by system")
	case f.by == "run" && len(args) < 2:
		return ibid.Usagef("compare needs two runs").With("ibid compare BASE NEW, or --by system for the systems of one run")
	}
	if err := f.ci.check(); err != nil {
		return err
	}
	r, err := a.comparison(f.by, args, o)
	if err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(a.output), ".parquet") {
		err = a.write(r.WriteParquet)
	} else {
		err = a.show(report.NewComparison(r))
	}
	if err != nil || len(f.gates) == 0 {
		return err
	}
	if f.by == "system" {
		return a.gateRuns(r.Sides[0].System, args, f)
	}
	return a.gateRuns(args[0], args[1:], f)
}

// comparison opens the runs and compares them.
func (a *app) comparison(by string, dirs []string, o compare.Options) (*compare.Result, error) {
	var all []*compare.Run
	for _, dir := range dirs {
		if _, err := a.openRun(dir); err != nil {
			return nil, err
		}
		r, err := compare.Open(dir)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		all = append(all, r)
	}
	var r *compare.Result
	var err error
	if by != "run" {
		r, err = compare.By(all[0], by, o)
	} else {
		r, err = compare.Runs(all[0], all[1:], o)
	}
	return r, compareError(err)
}

// compareError turns a refusal to compare into a usage error.
func compareError(err error) error {
	if refused, ok := errors.AsType[*compare.RefusedError](err); ok {
		return ibid.Usagef("%s and %s cannot be compared", refused.Base, refused.New).With("--force compares them all the same, and says so", refused.Reasons...)
	}
	return err
}

// gateRuns evaluates the gates of --gate in place of those of runs, for each of them against the
// base: another run or, with --by system, a system of the run. The worst verdict decides the exit
// code.
func (a *app) gateRuns(base string, dirs []string, f *compareFlags) error {
	ask := harness.SavedOutcome
	if f.by == "system" {
		ask = harness.SystemOutcome
	}
	var gravest error
	for _, dir := range dirs {
		m, err := a.openRun(dir)
		if err != nil {
			return err
		}
		config, err := harness.SettingsOf(m, []string{"gates=[]"}, f.gates)
		if err != nil {
			return err
		}
		out, err := ask(dir, m, config, base)
		if err != nil {
			return err
		}
		gravest = graver(gravest, a.conclude(config, out, &f.ci))
	}
	return gravest
}

// graver is the error whose exit code wins. No verdict wins over a failed gate, and
// any other error wins over both.
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
