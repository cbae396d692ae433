package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
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
		RunE:  func(cmd *cobra.Command, args []string) error { return a.compare(cmd.Context(), f, args) },
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

func (a *app) compare(ctx context.Context, f *compareFlags, args []string) error {
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
	if err := a.writeComparison(r); err != nil {
		return err
	}
	if len(f.gates) == 0 {
		return nil
	}
	if f.by == "system" {
		return a.gateSystems(ctx, args[0], r.Sides[0].System, f)
	}
	return a.gateRuns(ctx, args[0], args[1:], f)
}

func (a *app) writeComparison(r *compare.Result) error {
	if strings.EqualFold(filepath.Ext(a.output), ".parquet") {
		return a.write(r.WriteParquet)
	}
	return a.show(report.NewComparison(r))
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

// gateRuns evaluates the gates of --gate for each new run against the base. The
// worst verdict decides the exit code.
func (a *app) gateRuns(ctx context.Context, base string, news []string, f *compareFlags) error {
	var gravest error
	for _, dir := range news {
		m, config, err := a.gatedRun(dir, f.gates)
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

// gateSystems evaluates the gates for the systems of a run against one of them.
func (a *app) gateSystems(ctx context.Context, dir, base string, f *compareFlags) error {
	m, config, err := a.gatedRun(dir, f.gates)
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
func (a *app) gatedRun(dir string, gates []string) (*runs.Manifest, *configs.Config, error) {
	m, err := a.openRun(dir)
	if err != nil {
		return nil, nil, err
	}
	config, err := harness.SettingsOf(m, []string{"gates=[]"}, gates)
	return m, config, err
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
