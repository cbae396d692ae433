package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
)

// An Outcome is what became of a run.
type Outcome struct {
	Dir      string
	Manifest *runs.Manifest
	Existed  bool // the run was complete already; nothing was done
	Gates    []runs.GateResult

	// Drift of the judge from the baseline that gates compared with; nil if none did,
	// or neither run has anchors.
	Drift *compare.Drift
}

// SavedOutcome asks the gates of c of the finished run m in dir: it is what
// running m again would come to. Gates with diff and p compare with the run in
// baseline; if that is "", with the one that m was compared with. The error for a
// gate that the run cannot have is a [*configs.Error].
func SavedOutcome(dir string, m *runs.Manifest, c *configs.Config, baseline string) (*Outcome, error) {
	if baseline == "" {
		baseline = m.Baseline
	}
	if err := checkGates(c, baseline != ""); err != nil {
		return nil, err
	}
	return outcomeOf(dir, m, c, baseline, true)
}

// SystemOutcome asks the gates of c of the systems of the finished run m in dir.
// Those with diff and p compare the system they name with base, one of the run's.
func SystemOutcome(dir string, m *runs.Manifest, c *configs.Config, base string) (*Outcome, error) {
	if err := checkGates(c, true); err != nil {
		return nil, err
	}
	b, err := SystemBaseline(dir, base)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	e := &Evidence{Summary: b.summary, MinCoverage: c.MinCoverage, Baseline: b}
	out := &Outcome{Dir: dir, Manifest: m, Existed: true}
	out.Gates, err = e.Ask(c.Gates())
	return out, err
}

// outcomeOf asks gates that passed their checks.
func outcomeOf(dir string, m *runs.Manifest, c *configs.Config, baseline string, existed bool) (*Outcome, error) {
	out := &Outcome{Dir: dir, Manifest: m, Existed: existed}
	gates := c.Gates()
	if len(gates) == 0 {
		return out, nil
	}
	summary, err := runs.ReadSummary(dir)
	if err != nil {
		return nil, err
	}
	out.Gates, out.Drift, err = askGates(gates, dir, baseline, summary, c.MinCoverage)
	return out, err
}

// SavedGates asks the gates of c of a finished run whose summary is at hand. Gates
// with diff and p compare with what m was compared with; without that, or if it is
// gone, they have no verdict.
func SavedGates(dir string, m *runs.Manifest, c *configs.Config, summary []runs.SummaryRow) ([]runs.GateResult, error) {
	results, _, err := askGates(c.Gates(), dir, m.Baseline, summary, c.MinCoverage)
	return results, err
}

// askGates opens a baseline if a gate needs it. It also says whether the judge moved
// since.
func askGates(gates []configs.Gate, dir, baseline string, summary []runs.SummaryRow, minCoverage float64) ([]runs.GateResult, *compare.Drift, error) {
	e := &Evidence{Summary: summary, MinCoverage: minCoverage}
	needs := slices.ContainsFunc(gates, func(g configs.Gate) bool { return g.Func.NeedsBaseline() })
	if !needs || baseline == "" {
		results, err := e.Ask(gates)
		return results, nil, err
	}
	b, err := OpenBaseline(baseline, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b = &Baseline{why: "the baseline " + baseline + " is not there"}
	case err != nil:
		return nil, nil, err
	}
	defer b.Close()
	e.Baseline = b
	results, err := e.Ask(gates)
	return results, b.drift, err
}

// Lacks says why the run says too little to be judged by: too many claims that
// the judge could not answer, or too many error rows. Claims that nobody labelled
// are no reason.
func (o *Outcome) Lacks(minCoverage float64) []string {
	m := o.Manifest
	var why []string
	if c := m.Judge.Coverage(); c < minCoverage {
		why = append(why, fmt.Sprintf("the judge could not answer %d of %d claims: coverage %.3f is below min_coverage %v",
			m.Judge.Unanswered, m.Judge.Asked, c, minCoverage))
	}
	if m.Coverage != nil && *m.Coverage < minCoverage {
		why = append(why, fmt.Sprintf("%d of %d rows are error rows: coverage %.3f is below min_coverage %v",
			m.Errors, m.Rows, *m.Coverage, minCoverage))
	}
	return why
}

// Verdict sums the run up. Having no verdict, because the run lacks too much or a
// gate has none, wins over a gate that failed.
func (o *Outcome) Verdict(minCoverage float64) runs.Verdict {
	out := runs.Passed
	if len(o.Lacks(minCoverage)) > 0 {
		out = runs.NoVerdict
	}
	for _, g := range o.Gates {
		switch {
		case g.Verdict == runs.NoVerdict:
			out = runs.NoVerdict
		case g.Verdict == runs.Failed && out == runs.Passed:
			out = runs.Failed
		}
	}
	return out
}
