package cli

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/harness"
	"ibid/report"
)

type compareFlags struct {
	by, base                 string
	systems, metrics, slices []string
	force                    bool
	gates                    []string
	ci                       ciFlags
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
	flags.StringVar(&f.by, "by", "", "what to compare within one run: system (the default), model or provider")
	flags.StringVar(&f.base, "base", "", "compare the others with this side only; of runs, it is the first")
	flags.StringArrayVar(&f.systems, "system", nil, "compare this system, model or provider only (may be repeated)")
	flags.StringArrayVar(&f.metrics, "metric", nil, "a metric that decides, such as char_f1 or 'micro(char_f1)' (may be repeated; default: the leading one)")
	flags.StringArrayVar(&f.slices, "slice", nil, "look at the values of this tag, too, or of provider, model or source_type (may be repeated)")
	flags.BoolVar(&f.force, "force", false, "compare what should not be compared, and say so")
	flags.StringArrayVar(&f.gates, "gate", nil, "a condition that each NEW must meet, such as 'hi(diff(char_f1)) >= 0' (may be repeated)")
	f.ci.register(cmd)
	return cmd
}

// options turns the flags into those of a comparison.
func (f *compareFlags) options() (compare.Options, error) {
	o := compare.Options{Slices: f.slices, Force: f.force, Base: f.base, Systems: f.systems}
	if err := oneOf("--by", f.by, "system", "model", "provider"); f.by != "" && err != nil {
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
	return o, nil
}

func (a *app) compare(f *compareFlags, args []string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	by := f.by
	if len(args) == 1 {
		by = cmp.Or(by, "system")
	}
	switch {
	case by != "" && len(args) > 1:
		return ibid.Usagef("--by %[1]s compares the %[1]ss of one run", by).With("name one run")
	case len(f.gates) > 0 && by != "" && by != "system":
		return ibid.Usagef("gates are over systems, not %ss", by).With("--by system")
	case len(f.gates) > 0 && by != "" && f.base == "":
		return ibid.Usagef("gates need to know what the systems are compared with").With("--base NAME")
	}
	if err := f.ci.check(); err != nil {
		return err
	}
	r, err := a.comparison(by, args, o)
	if err != nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(a.output), ".parquet") {
		err = a.write(r.WriteParquet)
	} else {
		err = a.show(report.NewComparison(r))
	}
	switch {
	case err != nil:
		return err
	case len(f.gates) > 0 && by != "":
		return a.gateRuns("", r.Base, args, f)
	case len(f.gates) > 0:
		return a.gateRuns(args[0], "", args[1:], f)
	case slices.ContainsFunc(r.Metrics, func(m compare.Metric) bool { return m.Reason == compare.NotPaired || m.Deciding && m.Reason != "" }):
		return exitError{ExitNoVerdict}
	}
	return nil
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
	if by != "" {
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

// gateRuns evaluates the gates of --gate in place of those of runs, for each of them against
// another run or a system of its own. The worst verdict decides the exit code.
func (a *app) gateRuns(base, system string, dirs []string, f *compareFlags) error {
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
		out, err := harness.SavedOutcome(dir, m, config, base, system)
		if err != nil {
			return err
		}
		gravest = graver(gravest, a.conclude(config, out, &f.ci))
	}
	return gravest
}

// graver is the error whose exit code wins: any other error, then a gate that failed, then one
// without a verdict.
func graver(a, b error) error {
	var first, second exitError
	switch {
	case a == nil, errors.As(a, &first) && !errors.As(b, &second) && b != nil:
		return b
	case b == nil, !errors.As(a, &first), first.code <= second.code:
		return a
	}
	return b
}
