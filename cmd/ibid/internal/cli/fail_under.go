package cli

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
)

// failUnder are the bounds of --fail-under: a statistic and the least that it may be.
type failUnder []string

func (f *failUnder) register(cmd *cobra.Command, example string) {
	cmd.Flags().StringArrayVar((*[]string)(f), "fail-under", nil, "exit 3 if a statistic is less, such as "+example+"; 4 if it is undefined (may be repeated)")
}

// A boundable is one statistic that a bound can be about.
type boundable struct {
	names    []string // that it goes by
	of       string   // what it is a statistic of
	estimate *float64
}

// check ends the command with an exit code if a statistic is below its bound. A bound
// is about all statistics of its name.
func (f failUnder) check(a *app, all []boundable) error {
	code := 0
	for _, text := range f {
		name, value, ok := strings.Cut(text, "=")
		least, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil || math.IsNaN(least) {
			return ibid.Usagef("--fail-under %q is no bound", text).With("write NAME=NUMBER, such as alpha=0.8")
		}
		found := false
		for _, m := range all {
			if !slices.Contains(m.names, name) {
				continue
			}
			found = true
			what := name
			if m.of != "" {
				what += " of " + m.of
			}
			switch {
			case m.estimate == nil:
				a.warn("%s is undefined: no verdict", what)
				code = ExitNoVerdict
			case *m.estimate < least:
				a.warn("%s is %.3f, under %g", what, *m.estimate, least)
				if code == 0 {
					code = ExitGate
				}
			}
		}
		if !found {
			var names []string
			for _, m := range all {
				names = append(names, m.names...)
			}
			slices.Sort(names)
			return ibid.Usagef("--fail-under: there is no %s here", name).With("there are " + strings.Join(slices.Compact(names), ", "))
		}
	}
	if code != 0 {
		return exitError{code}
	}
	return nil
}

// boundsOfAgreement are the statistics of all annotators on whole kinds of data; what
// decides about one is its alpha, too.
func boundsOfAgreement(rows []runs.AgreementRow) []boundable {
	var all []boundable
	for _, r := range rows {
		kind, ok := strings.CutPrefix(r.Slice, "kind=")
		if r.Annotators != runs.AllAnnotators || strings.Contains(r.Slice, ",") || r.Slice != "" && !ok {
			continue
		}
		m := boundable{names: []string{r.Statistic}, of: kind, estimate: r.Estimate}
		if r.Kind == runs.SpanAgreement {
			m.of = "marked places"
		}
		if r.Verdict != "" {
			m.names = append(m.names, "alpha")
		}
		if r.Verdict == annotations.NoVerdict {
			m.estimate = nil
		}
		all = append(all, m)
	}
	return all
}

// boundsOfJudge are the statistics of a judge on each kind of question.
func boundsOfJudge(kinds []*annotations.Calibration) []boundable {
	var all []boundable
	for _, k := range kinds {
		for _, r := range k.Statistics {
			all = append(all, boundable{[]string{r.Statistic}, k.Kind, r.Estimate})
		}
	}
	return all
}
