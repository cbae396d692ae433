package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations/compare"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
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
// baseline; if that is "", with the one that m was compared with. The error for a
// gate that the run cannot have is a [*configs.Error].
func SavedOutcome(dir string, m *runs.Manifest, c *configs.Config, baseline string) (*Outcome, error) {
	if err := checkGates(c, true); err != nil {
		return nil, err
	}
	return outcomeOf(dir, m, c, cmp.Or(baseline, m.Baseline), true)
}

// SystemOutcome asks the gates of c of the systems of the finished run m in dir.
// Those with diff compare the system they name with base, one of the run's.
func SystemOutcome(dir string, m *runs.Manifest, c *configs.Config, base string) (*Outcome, error) {
	if err := checkGates(c, true); err != nil {
		return nil, err
	}
	b, err := openBaseline(dir, dir, base, c.Gates())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	e := evidenceOf(dir, m, c, b.summary)
	e.Baseline = b
	out := &Outcome{Dir: dir, Manifest: m, Existed: true}
	out.Gates, err = e.Ask(c.Gates())
	return out, err
}

// outcomeOf asks gates that passed their checks.
func outcomeOf(dir string, m *runs.Manifest, c *configs.Config, baseline string, existed bool) (*Outcome, error) {
	gates, err := askGates(dir, m, c, baseline)
	return &Outcome{Dir: dir, Manifest: m, Existed: existed, Gates: gates, Base: baseline}, err
}

// SavedGates asks the gates of c of a finished run. Gates with diff compare with what m
// was compared with; without that they are not asked, and if it is gone they have no verdict.
func SavedGates(dir string, m *runs.Manifest, c *configs.Config) ([]runs.GateResult, error) {
	return askGates(dir, m, c, m.Baseline)
}

// askGates opens a baseline if a gate needs it.
func askGates(dir string, m *runs.Manifest, c *configs.Config, baseline string) ([]runs.GateResult, error) {
	gates := c.Gates()
	if len(gates) == 0 {
		return nil, nil
	}
	summary, err := summaryFor(dir, gates)
	if err != nil {
		return nil, err
	}
	e := evidenceOf(dir, m, c, summary)
	needs := slices.ContainsFunc(gates, func(g configs.Gate) bool { return g.Diff })
	if !needs || baseline == "" {
		return e.Ask(gates)
	}
	b, err := openBaseline(baseline, dir, "", gates)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b = &Baseline{why: "the run that it is compared with, " + baseline + ", is gone: ibid history " + filepath.Dir(dir) + " --accept RUN names another"}
	case err != nil:
		return nil, err
	}
	defer b.Close()
	e.Baseline = b
	return e.Ask(gates)
}

// summaryFor reads the rows of the summary of the run in dir that gates can look at.
func summaryFor(dir string, gates []configs.Gate) ([]runs.SummaryRow, error) {
	wanted := make(map[string]bool) // slices
	for _, g := range gates {
		if _, slice, several := g.Group(); !several {
			wanted[slice] = true
		}
	}
	return runs.ReadSummaryOf(dir, func(k runs.SummaryKey) bool { return wanted[k.Slice] })
}

// evidenceOf is what gates of c are asked of, of the run m in dir.
func evidenceOf(dir string, m *runs.Manifest, c *configs.Config, summary []runs.SummaryRow) *Evidence {
	return &Evidence{Dir: dir, Summary: summary, MinCoverage: c.MinCoverage, Signs: m.Signs, Accept: c.Accept}
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

// checkGates refuses gates over metrics that do not exist, that the summary of this
// run will not have, or that need a baseline where there can be none.
func checkGates(c *configs.Config, baseline bool) error {
	if err := checkAccepted(c); err != nil {
		return err
	}
	for _, g := range c.Gates() {
		if g.Func == configs.AgreedOn {
			if names := append([]string{agreedTruth}, ibid.LabelKinds()...); !slices.Contains(names, g.Metric) {
				return g.Refuse("annotators agree on no such thing", "one of "+strings.Join(names, ", "))
			}
			continue
		}
		d, ok := metrics.Lookup(g.Metric)
		switch {
		case !ok:
			return g.Refuse("no metric of that name", NearestMetric(g.Metric))
		case d.Kind == metrics.Quantity && !slices.ContainsFunc(runs.SummaryCounts(), func(c metrics.Definition) bool { return c.Name == d.Name }):
			return g.Refuse("no summary has "+d.Name, "it is a column of rows.parquet")
		case g.Micro && len(d.Num) == 0 && d.Kind != metrics.Binary:
			return g.Refuse(d.Name+" has no micro value", "leave micro() out")
		case g.Func == configs.Total && d.Kind != metrics.Quantity:
			return g.Refuse(d.Name+" is no count", "sum() is the total of a count, such as sum(missing_citations) <= 3")
		case (g.Func == configs.Low || g.Func == configs.High) && d.Kind == metrics.Quantity && !g.Diff:
			return g.Refuse(d.Name+" is a count: it has no interval", "leave "+string(g.Func)+"() out: the mean a row; or sum("+d.Name+"), the total")
		case g.Diff && !baseline:
			return NoBase(g)
		}
		if low, high := gateRange(g, &d); g.Number < low || g.Number > high {
			return g.Refuse(fmt.Sprintf("%v is beyond the values that it can have, [%v, %v]", g.Number, low, high), "shares are fractions: 0.05 is 5 %")
		}
		_, slice, several := g.Group()
		why := ""
		if key, _, sliced := strings.Cut(slice, "="); sliced && !slices.Contains(c.Slices, key) {
			why = key + " is not among the slices of the run"
		} else if several {
			why = severalGroups
		}
		if why != "" {
			return g.Refuse(why, "a gate can name one system and one of the slices that the run makes: [system=a][lang=de]")
		}
	}
	return nil
}

// NoBase is the error for a gate that compares with another run where there is none.
func NoBase(g configs.Gate) error {
	return g.Refuse("diff() compares with another run", "name it: ibid run … --baseline RUN, or ibid gate RUN BASE")
}

// severalGroups is why a gate cannot be asked.
const severalGroups = "more than one system or slice"

// gateRange is where the values are that a gate can look at: a limit beyond would decide
// nothing.
func gateRange(g configs.Gate, d *metrics.Definition) (low, high float64) {
	if g.Diff {
		return d.Min - d.Max, d.Max - d.Min
	}
	return d.Min, d.Max
}

// MetricNames are the names that gates take: those of metrics and counts, aliases
// included.
func MetricNames() []string {
	var names []string
	for _, d := range append(metrics.Definitions(), metrics.CountDefinitions()...) {
		names = append(append(names, d.Name), d.Aliases...)
	}
	return names
}

// NearestMetric is the hint for a name that no metric has.
func NearestMetric(name string) string {
	if near := ibid.Nearest(name, MetricNames()); near != "" {
		return "did you mean " + near + "?"
	}
	return "ibid help metrics lists them all"
}

// Evidence is what gates are asked of.
type Evidence struct {
	Summary     []runs.SummaryRow // those of the systems and slices that gates name
	MinCoverage float64
	Dir         string    // of the run, for what annotators agree on; "" if there is none
	Baseline    *Baseline // of gates with diff; nil if there is none
	Signs       []runs.Sign
	Accept      []string // names of signs that take no verdict, see accept
}

// signed says which sign takes the verdict from a gate over a metric of a system, "" if
// none does.
func (e *Evidence) signed(signs []runs.Sign, system, metric string) string {
	for i := range signs {
		s := &signs[i]
		if s.Name != signMinDefined.Name && s.Counts(system, metric) && !slices.Contains(e.Accept, s.Name) {
			return fmt.Sprintf("%s; accept: [%s] gives a verdict all the same", s.Sentence(), s.Name)
		}
	}
	return ""
}

// tooFewDefined is the sign min_defined, of the rows that a gate is about.
func (e *Evidence) tooFewDefined(row *runs.SummaryRow) string {
	if slices.Contains(e.Accept, signMinDefined.Name) {
		return ""
	}
	return tooFewDefined(row)
}

// Ask looks up each gate. Gates must have passed the checks of a [Job.Plan]. The
// error is one of reading the runs.
func (e *Evidence) Ask(gates []configs.Gate) ([]runs.GateResult, error) {
	results := make([]runs.GateResult, len(gates))
	for i, g := range gates {
		var err error
		if g.Func == configs.AgreedOn {
			results[i], err = e.askAgreement(g)
		} else if g.Diff {
			results[i], err = e.askDifference(g)
		} else {
			results[i], err = e.askSummary(g)
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// agreedTruth is what gates call agreement on marked places.
const agreedTruth = "truth"

// askAgreement asks a gate about the agreement of annotators: the statistic that decides
// about what they agree on.
func (e *Evidence) askAgreement(g configs.Gate) (runs.GateResult, error) {
	out := runs.GateResult{Gate: g.String(), Verdict: runs.NoVerdict, Reason: "no two annotators said anything of one item about " + g.Metric}
	if e.Dir == "" {
		return out, nil
	}
	rows, err := runs.Agreement.ReadIfAny(e.Dir)
	if err != nil {
		return out, err
	}
	for i := range rows {
		r := &rows[i]
		if r.Verdict == "" || r.Kind == runs.SpanAgreement != (g.Metric == agreedTruth) || r.Kind == runs.LabelAgreement && r.Slice != "kind="+g.Metric {
			continue
		}
		if r.Estimate == nil {
			out.Reason = r.Statistic + ": " + strings.Join(r.Warnings, "; ")
			return out, nil
		}
		out.Value, out.Reason, out.Verdict = r.Estimate, "", verdictOf(g, *r.Estimate)
		return out, nil
	}
	return out, nil
}

// askSummary asks a gate about one run.
func (e *Evidence) askSummary(g configs.Gate) (runs.GateResult, error) {
	out := runs.GateResult{Gate: g.String(), Verdict: runs.NoVerdict}
	row, why := gateRow(g, e.Summary)
	if row == nil {
		out.Reason = why
		return out, nil
	}
	sign := e.signed(e.Signs, row.System, row.Metric)
	few, coverage := e.tooFewDefined(row), coverageReason(row, e.MinCoverage)
	switch g.Func {
	case configs.Low:
		out.Value = row.Low
	case configs.High:
		out.Value = row.High
	case configs.Total:
		if row.Estimate != nil {
			out.Value = new(math.Round(*row.Estimate * float64(row.N)))
		}
	default:
		out.Value = row.Estimate
	}
	low, high, err := e.rangeOf(g, row)
	if err != nil {
		return out, err
	}
	switch {
	case sign != "":
		out.Reason = sign
	case row.Reason == runs.Undecided && few == "" && low != nil && high != nil && settled(g, *low, *high):
		out.Verdict, out.Reason = verdictOf(g, *low), runs.WithheldText(row.Reason, row.BoundLow, row.BoundHigh)
	case row.Reason != "":
		out.Reason = runs.WithheldText(row.Reason, row.BoundLow, row.BoundHigh)
	case out.Value == nil && row.Estimate != nil:
		out.Reason = noInterval(row.N)
	case out.Value == nil:
		out.Reason = "no value: there are no rows"
		if rows := row.N + row.Undefined; rows > 0 {
			out.Reason = fmt.Sprintf("no value: undefined in %d of %d rows%s", row.Undefined, rows, mostReason(row))
		}
	case coverage != "":
		out.Reason = coverage
	case few != "":
		out.Reason = few
	case g.Micro && notPooled(row, e.Summary):
		out.Reason = runs.NotPooledText
	default:
		out.Verdict = verdictOf(g, *out.Value)
		if row.Undefined > 0 {
			out.Detail = fmt.Sprintf("over %d of %d rows: %d undefined%s", row.N, row.N+row.Undefined, row.Undefined, mostReason(row))
		}
		if row.Given > 0 && out.Value != row.Estimate {
			out.Detail = strings.TrimPrefix(out.Detail+"; "+strings.Join(row.Warnings, "; "), "; ")
		}
	}
	return out, nil
}

// rangeOf is where what a gate looks at may lie, if the row's value is a range: the value, or an
// end of its interval, which is below the value, or above it, wherever that is.
func (e *Evidence) rangeOf(g configs.Gate, row *runs.SummaryRow) (low, high *float64, err error) {
	low, high = row.BoundLow, row.BoundHigh
	if row.Reason != runs.Undecided || low == nil || g.Func != configs.Low && g.Func != configs.High {
		return low, high, nil
	}
	run, err := compare.Open(e.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer run.Close()
	d, _ := metrics.Lookup(row.Metric)
	from, to, err := run.Ends(row.System, row.Slice, compare.Quantity{Metric: d, Micro: g.Micro}, row.Level)
	if g.Func == configs.Low {
		return from, high, err
	}
	return low, to, err
}

// settled reports whether a gate ends in the same way wherever the value is.
func settled(g configs.Gate, low, high float64) bool {
	inside := low < g.Number && g.Number < high
	return g.Met(low) == g.Met(high) && !(g.Op == "==" && inside)
}

// noInterval is why an end of an interval over n rows or pairs is not known.
func noInterval(n int64) string {
	if n == 1 {
		return "1 question: no interval"
	}
	return fmt.Sprintf("an estimate over %d rows, without an interval", n)
}

// notPooled reports whether a pooled value is over fewer rows than the mean of the metric, since
// something is left out in the others.
func notPooled(row *runs.SummaryRow, summary []runs.SummaryRow) bool {
	return slices.ContainsFunc(summary, func(r runs.SummaryRow) bool {
		return r.System == row.System && r.Slice == row.Slice && r.Metric == row.Metric && r.Agg == runs.Macro && r.N > row.N
	})
}

func verdictOf(g configs.Gate, value float64) runs.Verdict {
	if g.Met(value) {
		return runs.Passed
	}
	return runs.Failed
}

// coverageReason says that a row of a summary rests on too little, "" if it does not.
func coverageReason(row *runs.SummaryRow, minCoverage float64) string {
	if row.Coverage == nil || *row.Coverage >= minCoverage {
		return ""
	}
	return fmt.Sprintf("coverage %.3f is below min_coverage %v", *row.Coverage, minCoverage)
}

// gateRow finds the row of the summary that a gate looks at.
func gateRow(g configs.Gate, summary []runs.SummaryRow) (*runs.SummaryRow, string) {
	d, _ := metrics.Lookup(g.Metric)
	agg := runs.Macro
	if g.Micro {
		agg = runs.Micro
	}
	system, slice, several := g.Group()
	if several {
		return nil, severalGroups
	}
	for i := range summary {
		r := &summary[i]
		if r.System == system && r.Slice == slice && r.Metric == d.Name && r.Agg == agg {
			return r, ""
		}
	}
	return nil, "the run has no rows of " + cmp.Or(strings.TrimSpace(system+" "+slice), g.Metric)
}
