package harness

import (
	"fmt"

	"ibid/configs"
	"ibid/dataset/runs"
)

// An Outcome is what became of a run.
type Outcome struct {
	Dir      string
	Manifest *runs.Manifest
	Existed  bool // the run was complete already; nothing was done
	Gates    []runs.GateResult
}

// SavedOutcome asks the gates of c of the finished run m in dir: it is what
// running m again would come to. The error for a gate that the run cannot have is
// a [*configs.Error].
func SavedOutcome(dir string, m *runs.Manifest, c *configs.Config) (*Outcome, error) {
	if err := checkGates(c); err != nil {
		return nil, err
	}
	return outcomeOf(dir, m, c, true)
}

// outcomeOf asks gates that passed their checks.
func outcomeOf(dir string, m *runs.Manifest, c *configs.Config, existed bool) (*Outcome, error) {
	out := &Outcome{Dir: dir, Manifest: m, Existed: existed}
	if gates := c.Gates(); len(gates) > 0 {
		summary, err := runs.ReadSummary(dir)
		if err != nil {
			return nil, err
		}
		out.Gates = EvaluateGates(gates, summary, c.MinCoverage)
	}
	return out, nil
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
