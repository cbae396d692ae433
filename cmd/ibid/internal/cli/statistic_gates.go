package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations"
	"ibid/configs"
	"ibid/dataset/runs"
)

// statisticGates are the conditions of --gate on statistics of agreement or of a judge.
type statisticGates []string

func (f *statisticGates) register(cmd *cobra.Command, example string) {
	cmd.Flags().StringArrayVar((*[]string)(f), "gate", nil, "a condition on a statistic, such as "+example+": exit 3 if it fails, 4 if the statistic is undefined or absent (may be repeated)")
}

// A statisticValue is one statistic that a gate can be about.
type statisticValue struct {
	names               []string // that it goes by
	of                  string   // what it is a statistic of
	estimate, low, high *float64
}

// check ends the command with an exit code if a gate fails, or has no verdict. A gate is about
// all statistics of its name.
func (f statisticGates) check(a *app, all []statisticValue) error {
	failed, open := false, false
	for _, text := range f {
		g, err := configs.ParseGate(text)
		if err != nil {
			return err
		}
		if g.Micro || g.Diff || len(g.Slices) > 0 || !slices.Contains([]configs.Func{configs.Estimate, configs.Low, configs.High}, g.Func) {
			return ibid.Usagef("--gate: %s is no condition on a statistic", g).With("write NAME, lo(NAME) or hi(NAME), such as lo(alpha) >= 0.67")
		}
		found := false
		for _, m := range all {
			if !slices.Contains(m.names, g.Metric) {
				continue
			}
			found = true
			what := g.Metric
			if m.of != "" {
				what += " of " + m.of
			}
			switch v := map[configs.Func]*float64{configs.Estimate: m.estimate, configs.Low: m.low, configs.High: m.high}[g.Func]; {
			case v == nil:
				a.warn("%s: %s is undefined: no verdict", g, what)
				open = true
			case !g.Met(*v):
				a.warn("%s: %s is %.3f", g, what, *v)
				failed = true
			}
		}
		if !found {
			var names []string
			for _, m := range all {
				names = append(names, m.names...)
			}
			slices.Sort(names)
			a.warn("%s: there is no %s here, but %s: no verdict", g, g.Metric, strings.Join(slices.Compact(names), ", "))
			open = true
		}
	}
	switch {
	case failed:
		return exitError{ExitGate}
	case open:
		return exitError{ExitNoVerdict}
	}
	return nil
}

// valuesOfAgreement are the statistics of all annotators on whole kinds of data; what decides
// about labels is alpha, too.
func valuesOfAgreement(rows []runs.AgreementRow) []statisticValue {
	var all []statisticValue
	for _, r := range rows {
		kind, ok := strings.CutPrefix(r.Slice, "kind=")
		if r.Annotators != runs.AllAnnotators || strings.Contains(r.Slice, ",") || r.Slice != "" && !ok {
			continue
		}
		m := statisticValue{[]string{r.Statistic}, kind, r.Estimate, r.Low, r.High}
		if r.Kind == runs.SpanAgreement {
			m.of = "marked places"
		}
		if strings.HasPrefix(r.Statistic, "alpha_") {
			m.names = append(m.names, "alpha")
		}
		all = append(all, m)
	}
	return all
}

// valuesOfJudge are the statistics of a judge on each kind of question.
func valuesOfJudge(kinds []*annotations.Calibration) []statisticValue {
	var all []statisticValue
	for _, k := range kinds {
		for _, r := range k.Statistics {
			all = append(all, statisticValue{[]string{r.Statistic}, k.Kind, r.Estimate, r.Low, r.High})
		}
	}
	return all
}
