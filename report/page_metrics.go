package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

var betterWords = map[metrics.Direction]string{
	metrics.HigherIsBetter: "higher is better", metrics.LowerIsBetter: "lower is better", metrics.Neutral: "for information",
}

// strip draws an estimate with its interval and limits; nil if there is none.
func strip(a axis, name string, r *runs.SummaryRow, limits ...limit) *doc.Strip {
	if r.Estimate == nil {
		return nil
	}
	out := &doc.Strip{At: a.at(*r.Estimate), Label: name + " " + number(*r.Estimate)}
	if r.Low != nil && r.High != nil {
		out.Interval, out.Low, out.High = true, a.at(*r.Low), a.at(*r.High)
		out.Label += fmt.Sprintf(", %s interval %s to %s", levelText(r.Level), number(*r.Low), number(*r.High))
	}
	for _, l := range limits {
		out.Marks = append(out.Marks, a.at(l.number))
		out.Label += ", " + l.text
	}
	return out
}

func runOfSystem(data *pageData, system string) *results {
	for _, r := range data.results {
		if len(data.results) > 1 && system != "" && len(system) > len(r.prefix) && system[:len(r.prefix)] == r.prefix {
			return r
		}
	}
	return data.results[0]
}

// bare is the name of a system within its run.
func nameInRun(data *pageData, system string) string {
	if system == "" {
		return ""
	}
	return system[len(runOfSystem(data, system).prefix):]
}

func definitions(data *pageData) []metrics.Definition {
	return slices.DeleteFunc(orderedDefinitions(nil), func(d metrics.Definition) bool {
		return !slices.ContainsFunc(groupsShown(data), func(system string) bool { return data.number(system, "", d.Name) != nil })
	})
}

// groupsShown are the systems whose numbers are shown: "" where all are pooled.
func groupsShown(data *pageData) []string {
	if !data.several() {
		return append([]string{""}, data.systems...)
	}
	return data.systems
}

// maxSystems is how many systems have all of their metrics on a page.
const maxSystems = 40

// metricsSection has slices, and folded, every metric of all answers and of each system.
func metricsSection(data *pageData) *doc.Section {
	var out []doc.Block
	if !data.several() {
		out = append(out, sliceTables(data)...)
	}
	n := 0
	for _, r := range data.results {
		for i := range r.summary.Blocks {
			b := &r.summary.Blocks[i]
			if b.Slice != "" || len(b.Lines) == 0 || data.several() && b.System == "" {
				continue
			}
			if n++; n <= maxSystems {
				name := r.prefix + b.name()
				out = append(out, doc.Details{Summary: "Every metric of " + name, Blocks: b.tables(" of " + name)})
			}
		}
	}
	if n > maxSystems {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(fmt.Sprintf("%d more in ibid show --all.", n-maxSystems))})
	}
	if len(out) == 0 {
		return nil
	}
	return docSection("metrics", "Metrics", out)
}

// maxSlices is how many slices of a key are shown.
const maxSlices = 200

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
	d.moreSlices = make(map[string]int)
	for key, n := range count {
		d.moreSlices[key] = max(0, n-maxSlices)
	}
	return err
}

// sliceTables compare slices by the metrics that lead, the first with its interval.
func sliceTables(data *pageData) (out []doc.Block) {
	if len(data.lead) == 0 {
		return nil
	}
	all := data.results[0].summary.slicesOf()
	for _, key := range sortedKeys(all) {
		t := doc.Table{Caption: shortName(data.lead[0]) + " by " + key, Class: "metrics", Columns: []doc.Column{{Name: key}}}
		for k, name := range data.lead {
			t.Columns = append(t.Columns, doc.Column{Name: shortName(name), Number: true, Keep: min(k, 1)})
			if k == 0 {
				t.Columns = append(t.Columns, doc.Column{Name: "interval", Number: true}, doc.Column{Name: "n", Number: true, Keep: 1})
			}
		}
		for _, slice := range all[key] {
			first := data.number("", slice, data.lead[0])
			if first == nil {
				continue
			}
			value := slice[len(key)+1:]
			row := []doc.Cell{
				{Text: doc.Text{{Text: value, Link: sliceLink(key, value)}}}, {Text: doc.T(estimateText(first)), Notes: data.results[0].summary.block("", slice).line(data.lead[0]).Notes}, doc.C(interval(first.Low, first.High)), doc.C(Thousands(first.N)),
			}
			for _, name := range data.lead[1:] {
				cell := doc.C("–")
				if s := data.number("", slice, name); s != nil {
					cell = doc.C(estimateText(s))
				}
				row = append(row, cell)
			}
			t.Rows = append(t.Rows, row)
		}
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
		if n := data.results[0].run.moreSlices[key]; n > 0 {
			out = append(out, doc.Para{Text: doc.T(fmt.Sprintf("The first %d; %s more in ibid show --by %s.", maxSlices, Thousands(int64(n)), key))})
		}
	}
	return out
}

func sliceLink(key, value string) string {
	switch key {
	case "system", "provider", "model":
		return rowsLink(key + ":" + clip(value, 80))
	case "source_type":
		return rowsLink("type:" + clip(value, 80))
	case runs.SourceStatusSlice:
		return rowsLink("state:" + clip(value, 80))
	}
	return rowsLink("tag:" + clip(key, 60) + "=" + clip(value, 60))
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

// A limit is a number that others are held against.
type limit struct {
	number float64
	text   string
}

// gateRules are the limits of gates on a macro value of a group: on an estimate
// or an end of its interval. Gates with quoted names are left out.
func gateRules(gates []runs.GateResult, system, slice, metric string) []limit {
	var out []limit
	for _, result := range gates {
		g, err := configs.ParseGate(result.Gate)
		if err != nil || g.Diff || g.Func == configs.Total || g.Micro || strings.Contains(result.Gate, `"`) {
			continue
		}
		d, known := metrics.Lookup(g.Metric)
		ofSystem, ofSlice, _ := g.Group()
		if known && d.Name == metric && ofSystem == system && ofSlice == slice {
			out = append(out, limit{g.Number, "gate " + g.Op + " " + number(g.Number)})
		}
	}
	return out
}
