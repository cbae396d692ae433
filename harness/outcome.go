package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"ibid"
	"ibid/annotations/compare"
	"ibid/annotations/history"
	"ibid/configs"
	"ibid/dataset/runs"
)

// An Outcome is what became of a run.
type Outcome struct {
	Dir      string
	Manifest *runs.Manifest
	Existed  bool // the run was complete already; nothing was done
	Gates    []runs.GateResult
	Base     string // directory of the run that it is compared with; "" if there is none
}

// SavedOutcome asks the gates of c of the finished run m in dir: it is what
// running m again would come to. Gates with diff compare with the run in
// baseline or, if system is not "", the system that they name with that one of the run; if
// both are "", with the run that m was compared with. The error for a gate that the run
// cannot have is a [*configs.Error].
func SavedOutcome(dir string, m *runs.Manifest, c *configs.Config, baseline, system string) (*Outcome, error) {
	if err := checkGates(c, true); err != nil {
		return nil, err
	}
	if system == "" {
		baseline = cmp.Or(baseline, m.Baseline)
	}
	return outcomeOf(dir, m, c, baseline, system, true)
}

// outcomeOf asks gates that passed their checks.
func outcomeOf(dir string, m *runs.Manifest, c *configs.Config, baseline, system string, existed bool) (*Outcome, error) {
	gates, err := compare.AskGates(dir, m, c, baseline, system)
	return &Outcome{Dir: dir, Manifest: m, Existed: existed, Gates: gates, Base: baseline}, err
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

// Verdict sums the run up. With too many error rows no gate counts. Otherwise a gate that
// failed wins over one without verdict, and over a judge that could not answer enough: a
// certain failure must not hide.
func (o *Outcome) Verdict(minCoverage float64) runs.Verdict {
	out := runs.Passed
	if len(o.Lacks(minCoverage)) > 0 {
		out = runs.NoVerdict
	}
	if c := o.Manifest.Coverage; c != nil && *c < minCoverage {
		return out
	}
	for _, g := range o.Gates {
		switch g.Verdict {
		case runs.Failed:
			return runs.Failed
		case runs.NoVerdict:
			out = runs.NoVerdict
		}
	}
	return out
}

// NoBaseline is the baseline of a run that is compared with nothing.
const NoBaseline = "none"

// setBaseline says in the manifest what the run is compared with: what was named, else the base
// of its series. A folder whose runs cannot be read has none.
func (p *Plan) setBaseline(m *runs.Manifest) error {
	m.Baseline, m.Given = "", p.job.Baseline != ""
	switch {
	case m.Given && p.job.Baseline != NoBaseline:
		m.Baseline = p.job.Baseline
	case m.Given || p.rows != nil:
	default:
		folder, err := history.Open(filepath.Dir(p.Dir))
		if err != nil {
			return err
		}
		m.Baseline = folder.Before(m).Base()
	}
	return nil
}

// checkBaseline refuses a baseline that is not a finished run, or that cannot be
// compared with this run.
func (p *Plan) checkBaseline() error {
	dir := p.job.Baseline
	if dir == "" || dir == NoBaseline {
		return nil
	}
	m, err := runs.ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ibid.Usagef("--baseline: %s is no run directory", dir)
	case err != nil:
		return err
	case !m.Complete():
		return ibid.Usagef("--baseline: %s is unfinished", dir)
	case filepath.Clean(dir) == filepath.Clean(p.Dir):
		return ibid.Usagef("--baseline: %s is this run itself", dir).With("name another run, or this one with --id")
	}
	now := &runs.Manifest{ID: p.ID, Ingredients: p.Ingredients, Documents: p.job.Config.Documents, Judge: p.judgeRecord()}
	if why := compare.Reasons(m, now); len(why) > 0 {
		return ibid.Usagef("the run cannot be compared with --baseline %s", dir).With("evaluate the baseline again with the same settings", why...)
	}
	return nil
}
