package compare

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"ibid/metrics/stats"
)

// A Plan says how many rows a comparison needs to find a difference, judging by the
// variance of past runs: how much their rows differed from each other, and how
// alike rows of one cluster are. New rows must come in clusters of the same sizes.
type Plan struct {
	Schema string     `json:"schema"` // ibid.plan/v1
	Level  float64    `json:"level"`
	Power  float64    `json:"power"`
	Deltas []float64  `json:"deltas"` // differences to find
	Notes  []string   `json:"notes"`
	Lines  []PlanLine `json:"lines"`
}

// A PlanLine plans one metric by one past comparison.
type PlanLine struct {
	Metric string `json:"metric"`
	Agg    string `json:"agg"`
	From   string `json:"from"`   // what the variance was taken from
	Paired bool   `json:"paired"` // differences of the same rows; else of rows of one run alone

	N         int64    `json:"n"` // pairs it was taken from; rows of either side if unpaired
	Clusters  int64    `json:"clusters"`
	Deviation *float64 `json:"deviation"` // of one difference, clusters allowed for; nil if no variation was seen
	MDE       *float64 `json:"mde"`       // found with chance Power among N pairs
	Rows      []*int64 `json:"rows"`      // needed for each of Deltas; nil where there is no deviation
}

// defaultDeltas are the differences that are planned for unless told otherwise.
var defaultDeltas = []float64{0.01, 0.02, 0.05, 0.1}

// NewPlan plans from a comparison of past runs, by its headline metrics over all
// rows.
func NewPlan(r *Result, deltas []float64) *Plan {
	p := newPlan(r.Level, r.Power, deltas)
	p.Notes = append(p.Notes, r.Notes...)
	for _, pair := range r.Pairs {
		from := r.Sides[pair.Base].Name + " -> " + r.Sides[pair.New].Name
		if pair.System != "" {
			from += ", " + pair.System
		}
		if !pair.Paired {
			p.Notes = append(p.Notes, from+": no question in common, so nothing is known of differences; plan from one of them: ibid compare --plan RUN")
		}
		for i := range pair.Differences {
			if d := &pair.Differences[i]; d.Headline && d.Diff != nil {
				p.add(PlanLine{Metric: d.Metric, Agg: d.Agg, From: from, Paired: true, N: d.N, Clusters: d.Clusters}, d.SE)
			}
		}
	}
	return p
}

// PlanAlone plans from a run of one system. How far another run would agree with it
// row by row is not known, so the plan is for runs that have nothing in common:
// pairs of the same questions need fewer rows.
func PlanAlone(run *Run, o Options, deltas []float64) (*Plan, error) {
	c, err := newComparison(run, o, "run")
	if err != nil {
		return nil, err
	}
	p := newPlan(c.level, c.power, deltas)
	p.Notes = append(p.Notes, "of one run alone only the variance of its rows is known: two runs over the same questions need fewer rows")
	all := side(run, "", nil)
	for _, q := range c.headline {
		e, err := c.estimate(all, q)
		if err != nil {
			return nil, err
		}
		if e.Defined() {
			line := PlanLine{Metric: q.Metric.Name, Agg: q.agg(), From: run.Manifest.ID, N: e.N, Clusters: e.Clusters}
			var se *float64
			if e.HasSE {
				se = new(math.Sqrt2 * e.SE)
			}
			p.add(line, se)
		}
	}
	return p, nil
}

func newPlan(level, power float64, deltas []float64) *Plan {
	if len(deltas) == 0 {
		deltas = defaultDeltas
	}
	return &Plan{Schema: "ibid.plan/v1", Level: level, Power: power, Deltas: slices.Clone(deltas), Notes: []string{}, Lines: []PlanLine{}}
}

// add completes a line with the standard error that a comparison of its rows has.
func (p *Plan) add(l PlanLine, se *float64) {
	l.Rows = make([]*int64, len(p.Deltas))
	if se != nil && *se > 0 {
		l.Deviation = new(*se * math.Sqrt(float64(l.N)))
		perCluster := float64(l.N) / float64(l.Clusters)
		design := stats.Design{Alpha: 1 - p.Level, Power: p.Power}
		if mde, ok := design.DetectableBy(*se, float64(l.Clusters-1)); ok {
			l.MDE = new(mde)
		}
		for i, delta := range p.Deltas {
			if n, ok := rowsFor(design, *l.Deviation, delta, perCluster); ok {
				l.Rows[i] = new(n)
			}
		}
	}
	p.Lines = append(p.Lines, l)
}

// rowsFor is the least number of rows whose minimum detectable effect is at most
// delta: more than a normal test would need, the more the fewer clusters there are.
func rowsFor(design stats.Design, deviation, delta, perCluster float64) (int64, bool) {
	enough := func(n int64) bool {
		se, _ := stats.PairedSE(deviation, float64(n), 1)
		mde, ok := design.DetectableBy(se, max(1, float64(n)/perCluster-1))
		return ok && mde <= math.Abs(delta)
	}
	low, ok := design.Required(deviation, delta, 1)
	if !ok || enough(low) {
		return low, ok
	}
	high := 2 * low
	for !enough(high) {
		if high > 1<<50 {
			return 0, false
		}
		low, high = high, 2*high
	}
	low++ // which is the first that may be enough
	return low + int64(sort.Search(int(high-low), func(n int) bool { return enough(low + int64(n)) })), true
}

// CheckDelta refuses a difference that no number of rows could show.
func CheckDelta(delta float64) error {
	if delta == 0 || math.IsNaN(delta) || math.IsInf(delta, 0) {
		return fmt.Errorf("a difference of %v cannot be planned for", delta)
	}
	return nil
}
