package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// strip draws an estimate with its interval and its target, nil if it has none; nil if there is
// no estimate.
func strip(a axis, name string, r *runs.SummaryRow, target *float64) *doc.Strip {
	if r.Estimate == nil {
		return nil
	}
	out := &doc.Strip{At: a.at(*r.Estimate), Label: name + " " + number(*r.Estimate)}
	if r.Low != nil && r.High != nil {
		out.Interval, out.Low, out.High = true, a.at(*r.Low), a.at(*r.High)
		out.Label += fmt.Sprintf(", %s interval %s to %s", levelText(r.Level), number(*r.Low), number(*r.High))
	}
	if target != nil {
		out.Marks = []float64{a.at(*target)}
		out.Label += ", target " + number(*target)
	}
	return out
}

// maxSystems is how many systems have all of their metrics on a page.
const maxSystems = 40

// metricsSection has slices, and folded, every metric of all answers and of each system.
func metricsSection(data *pageData) *doc.Section {
	var out []doc.Block
	for _, r := range data.results {
		if !data.several() {
			out = append(out, r.summary.sliceTables(false)...)
		}
		out = append(out, folded("Every metric"+data.named(" of %s", r), r.summary.everyMetric(r.prefix, maxSystems))...)
	}
	return docSection("metrics", "Metrics", out)
}

// ReadSummary reads what pages show of the run's summary: all numbers of the systems that have
// every metric on the page, of the others and of the first slices of each key over all systems
// the means that may lead.
func (d *RunData) ReadSummary() (err error) {
	last, shown := "", false // the slice before, which is over all systems
	count := make(map[string]int)
	system, systems := "", 0 // the one before, and how many there were
	d.Summary, err = runs.ReadSummaryOf(d.Dir, func(k runs.SummaryKey) bool {
		if k.System != system {
			system = strings.Clone(k.System)
			systems++
		}
		leads := k.Agg == runs.Macro && slices.Contains(leadCandidates, k.Metric)
		if k.Slice == "" || k.System != "" {
			return k.Slice == "" && (leads || systems <= maxSystems)
		}
		if k.Slice != last {
			last = k.Slice
			key, _, _ := strings.Cut(last, "=")
			count[key]++
			shown = count[key] <= maxSlices
		}
		return shown && leads
	})
	return err
}

// An axis is the range that strips share.
type axis struct{ lo, hi float64 }

// axisOf is the range of a metric: its bounds, and where it has none, what covers
// the values and 0.
func axisOf(d *metrics.Definition, values []float64) axis {
	a := axis{d.Min, d.Max}
	lo, hi := 0.0, 0.0
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	if math.IsInf(a.lo, 0) {
		a.lo = -nice(-lo)
	}
	if math.IsInf(a.hi, 0) {
		a.hi = nice(hi)
	}
	if a.hi <= a.lo {
		a.hi = a.lo + 1
	}
	return a
}

// nice is the least of 1, 2, 5, 10 … that is at least v.
func nice(v float64) float64 {
	if v <= 0 {
		return 0
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5, 10} {
		if v <= f*base {
			return f * base
		}
	}
	return 10 * base
}

// rangeOf are an estimate and the ends of its interval, as far as they are known.
func rangeOf(r *runs.SummaryRow) (out []float64) {
	if r != nil {
		for _, v := range []*float64{r.Estimate, r.Low, r.High} {
			if v != nil {
				out = append(out, *v)
			}
		}
	}
	return out
}

// at is the place of v as a share of the axis.
func (a axis) at(v float64) float64 { return (v - a.lo) / (a.hi - a.lo) }

func levelText(level float64) string { return fmt.Sprintf("%g %%", math.Round(level*1e6)/1e4) }
