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

// numberColumns are the columns of a number with its interval and its drawing.
func numberColumns(first ...doc.Column) []doc.Column {
	return append(first, doc.Column{Name: "macro", Number: true}, doc.Column{Name: "interval", Number: true}, doc.Column{Name: "drawn", Page: true, Keep: 1}, doc.Column{Name: "n", Number: true, Keep: 1})
}

// numberCells are the cells of those columns: a metric of all rows, or of a system or slice.
// False if it is not defined in any row.
func numberCells(data *pageData, d *metrics.Definition, system, slice string) (cells []doc.Cell, s *runs.SummaryRow, ok bool) {
	if s = data.summary.find(system, slice, d.Name); s == nil {
		return nil, nil, false
	}
	value, drawn := doc.C(estimateText(s)), doc.Cell{}
	value.Notes = s.Warnings
	if m := data.summary.findMicro(system, slice, d.Name); m != nil {
		value.Notes = slices.Concat([]string(m.Warnings), []string(s.Warnings))
	}
	if s.Estimate != nil {
		drawn.Strip = strip(sharedAxis(data, d.Name), d.Name, s, gateRules(gatesOfSystem(data, system), nameInRun(data, system), slice, d.Name))
	}
	return []doc.Cell{value, doc.C(interval(s.Low, s.High)), drawn, doc.C(Thousands(s.N))}, s, true
}

// strip draws an estimate with its interval and the limits of gates.
func strip(a axis, name string, s *runs.SummaryRow, gates []gateRule) *doc.Strip {
	out := &doc.Strip{At: a.at(*s.Estimate), Label: name + " " + number(*s.Estimate)}
	if s.Low != nil && s.High != nil {
		out.Interval, out.Low, out.High = true, a.at(*s.Low), a.at(*s.High)
		out.Label += fmt.Sprintf(", %s interval %s to %s", levelText(s.Level), number(*s.Low), number(*s.High))
	}
	for _, g := range gates {
		out.Marks = append(out.Marks, a.at(g.number))
		out.Label += ", gate " + g.text
	}
	return out
}

// metricCell is the name of a metric with a link to its definition.
func metricCell(d *metrics.Definition) doc.Cell {
	return doc.Cell{Text: doc.Text{{Text: d.Name, Link: "#m-" + d.Name}}}
}

// gates are the gates that look at a system: of its run.
func gatesOfSystem(data *pageData, system string) []runs.GateResult {
	return runOfSystem(data, system).run.Gates
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
		return !slices.ContainsFunc(groupsShown(data), func(system string) bool { return data.summary.find(system, "", d.Name) != nil })
	})
}

// groupsShown are the systems whose numbers are shown: "" where all are pooled.
func groupsShown(data *pageData) []string {
	if !data.several() {
		return append([]string{""}, data.systems...)
	}
	return data.systems
}

// sharedAxis is the axis of a metric for all systems, made once.
func sharedAxis(data *pageData, metric string) axis {
	if a, ok := data.axes[metric]; ok {
		return a
	}
	var values []float64
	for _, system := range groupsShown(data) {
		if s := data.summary.find(system, "", metric); s != nil {
			for _, v := range []*float64{s.Estimate, s.Low, s.High} {
				if v != nil {
					values = append(values, *v)
				}
			}
		}
	}
	if data.axes == nil {
		data.axes = make(map[string]axis)
	}
	d, _ := metrics.Lookup(metric)
	data.axes[metric] = axisOf(d, values)
	return data.axes[metric]
}

// metricsSection shows the metrics of the rows of one run: by slice, and all of them.
func metricsSection(data *pageData) *doc.Section {
	if data.several() {
		return nil
	}
	out := sliceTables(data)
	all := doc.Details{Summary: "All metrics over all rows", Open: len(data.summary.systems()) < 2}
	for _, d := range slices.DeleteFunc(definitions(data), hidden) {
		cells, s, ok := numberCells(data, &d, "", "")
		if !ok {
			continue
		}
		if n := len(all.Blocks); n == 0 || all.Blocks[n-1].(doc.Table).Caption != label(d.Group) {
			all.Blocks = append(all.Blocks, doc.Table{Caption: label(d.Group), Class: "metrics", Columns: append(numberColumns(doc.Column{Name: "metric"}),
				doc.Column{Name: "undefined", Number: true, Keep: 1}, doc.Column{Name: "micro", Number: true, Keep: 1}, doc.Column{Name: "interval", Number: true, Keep: 3},
				doc.Column{Name: "coverage", Number: true, Keep: 1}, doc.Column{Name: "bounds", Number: true, Keep: 3}, doc.Column{Name: "corrected", Number: true, Keep: 1})})
		}
		t := all.Blocks[len(all.Blocks)-1].(doc.Table)
		micro, microInterval, coverage, bounds, corrected := "", "", "", "", ""
		if m := data.summary.findMicro("", "", d.Name); m != nil {
			micro, microInterval = estimateText(m), interval(m.Low, m.High)
		}
		if s.Coverage != nil && (*s.Coverage < 1 || s.Unscored > 0) {
			coverage, bounds = percent(int64(*s.Coverage*1e6), 1e6), interval(s.BoundLow, s.BoundHigh)
		}
		if s.Corrected != nil {
			corrected = numberOrDash(s.Corrected) + " " + interval(s.CorrectedLow, s.CorrectedHigh)
		}
		t.Rows = append(t.Rows, slices.Concat([]doc.Cell{metricCell(&d)}, cells, []doc.Cell{doc.C(Thousands(s.Undefined)), doc.C(micro), doc.C(microInterval), doc.C(coverage), doc.C(bounds), doc.C(corrected)}))
		all.Blocks[len(all.Blocks)-1] = t
	}
	if len(all.Blocks) == 0 {
		return nil
	}
	return docSection("metrics", "Metrics", append(out, all))
}

// maxSlices is how many slices of a key are shown.
const maxSlices = 200

// ReadSummary reads what pages show of the run's summary: all numbers of systems, and of
// the first slices of each key over all systems the means that may lead.
func (d *RunData) ReadSummary() (err error) {
	last, shown := "", false // the slice before, which is over all systems
	count := make(map[string]int)
	d.Summary, err = runs.ReadSummaryOf(d.Dir, func(k runs.SummaryKey) bool {
		if k.Slice == "" || k.System != "" {
			return k.Slice == ""
		}
		if k.Slice != last {
			last = k.Slice
			key, _, _ := strings.Cut(last, "=")
			count[key]++
			shown = count[key] <= maxSlices
		}
		return shown && k.Agg == runs.Macro && slices.Contains(leadCandidates, k.Metric)
	})
	d.moreSlices = make(map[string]int)
	for key, n := range count {
		d.moreSlices[key] = max(0, n-maxSlices)
	}
	return err
}

// sliceTables compare slices: the metric that matters most, and the values of the others that
// lead.
func sliceTables(data *pageData) (out []doc.Block) {
	if len(data.lead) == 0 {
		return nil
	}
	d, _ := metrics.Lookup(data.lead[0])
	all := data.summary.slices()
	for _, key := range sortedKeys(all) {
		t := doc.Table{Caption: d.Name + " by " + key, Class: "metrics", Columns: numberColumns(doc.Column{Name: key})}
		for _, name := range data.lead[1:] {
			t.Columns = append(t.Columns, doc.Column{Name: shortName(name), Number: true, Keep: 1})
		}
		for _, slice := range all[key] {
			cells, _, ok := numberCells(data, &d, "", slice)
			if !ok {
				continue
			}
			value := slice[len(key)+1:]
			row := append([]doc.Cell{{Text: doc.Text{{Text: value, Link: sliceLink(key, value)}}}}, cells...)
			for _, name := range data.lead[1:] {
				cell := doc.C("–")
				if s := data.summary.find("", slice, name); s != nil {
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
		return rowsLink(key + ":" + line(value, 80))
	case "source_type":
		return rowsLink("type:" + line(value, 80))
	case runs.SourceStatusSlice:
		return rowsLink("state:" + line(value, 80))
	}
	return rowsLink("tag:" + line(key, 60) + "=" + line(value, 60))
}

// maxSystems is how many systems are shown for the metrics that matter less.
const maxSystems = 40

// systemsSection sets systems side by side, if there are several.
func systemsSection(data *pageData) *doc.Section {
	if len(data.systems) < 2 {
		return nil
	}
	t := &data.totals
	counts := doc.Table{Caption: "Rows, citations and claims by system", Class: "systems", Columns: []doc.Column{
		{Name: "system"}, {Name: "rows", Number: true}, {Name: "valid citations", Number: true}, {Name: "claims", Number: true, Keep: 1}, {Name: "error rows", Number: true, Keep: 1}, {Name: "failing rows", Number: true},
	}}
	for k, s := range data.systems {
		filter, claims := "system:"+line(s, 80), ""
		if data.judged() {
			claims = Thousands(t.claims[k])
		}
		failing := doc.Cell{Text: doc.Text{{Text: fmt.Sprintf("%s (%s)", Thousands(t.failing[k]), percent(t.failing[k], t.rows[k])), Link: rowsLink(filter, "is:failing")}}}
		counts.Rows = append(counts.Rows, []doc.Cell{
			systemCell(s), doc.C(Thousands(t.rows[k])), doc.C(fmt.Sprintf("%s of %s", Thousands(t.valid[k]), Thousands(t.citations[k]))), doc.C(claims), doc.C(Thousands(t.errors[k])), failing,
		})
	}
	out := []doc.Block{counts}
	more := doc.Details{Summary: "All other metrics by system"}
	if left := len(data.systems) - maxSystems; left > 0 {
		more.Blocks = append(more.Blocks, doc.Para{Kind: doc.Small, Text: doc.T(fmt.Sprintf("The first %d systems; %d more in ibid show --all.", maxSystems, left))})
	}
	for _, d := range slices.DeleteFunc(orderedDefinitions(data.lead), hidden) {
		first := slices.Contains(data.lead, d.Name)
		t := doc.Table{Caption: d.Name + ", " + betterWords[d.Direction], Class: "metrics", Columns: numberColumns(doc.Column{Name: "system"})}
		for k, s := range data.systems {
			if cells, _, ok := numberCells(data, &d, s, ""); ok && (first || k < maxSystems) {
				t.Rows = append(t.Rows, append([]doc.Cell{systemCell(s)}, cells...))
			}
		}
		switch {
		case len(t.Rows) == 0:
		case first:
			out = append(out, t)
		default:
			more.Blocks = append(more.Blocks, t)
		}
	}
	if len(more.Blocks) > 0 {
		out = append(out, more)
	}
	return docSection("systems", "Systems", out)
}

// systemCell is the name of a system with a link to its rows.
func systemCell(system string) doc.Cell {
	return doc.Cell{Text: doc.Text{{Text: system, Link: rowsLink("system:" + line(system, 80))}}}
}

// An axis is the range that strips share.
type axis struct{ lo, hi float64 }

// axisOf is the range of a metric: its bounds, and where it has none, what covers
// the values and 0.
func axisOf(d metrics.Definition, values []float64) axis {
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

// at is the place of v as a share of the axis.
func (a axis) at(v float64) float64 { return (v - a.lo) / (a.hi - a.lo) }

func levelText(level float64) string { return fmt.Sprintf("%g %%", math.Round(level*1e6)/1e4) }

// A gateRule is the limit of a gate.
type gateRule struct {
	number float64
	text   string
}

// gateRules are the limits of gates on a macro value of a group: on an estimate
// or an end of its interval. Gates with quoted names are left out.
func gateRules(gates []runs.GateResult, system, slice, metric string) []gateRule {
	var out []gateRule
	for _, result := range gates {
		g, err := configs.ParseGate(result.Gate)
		if err != nil || g.Func.NeedsBaseline() || g.Micro || strings.Contains(result.Gate, `"`) {
			continue
		}
		d, known := metrics.Lookup(g.Metric)
		ofSystem, ofSlice, _ := g.Group()
		if known && d.Name == metric && ofSystem == system && ofSlice == slice {
			out = append(out, gateRule{g.Number, g.Op + " " + number(g.Number)})
		}
	}
	return out
}
