package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// A tileView is one of the numbers that matter most.
type tileView struct {
	Name, Label, Summary string
	Value, Interval      string
	Level                string
	Better               string // which direction is better, in words
	Counts               string // how many rows, how many undefined
	Strip                stripView
	Ends                 [2]string
	Notes                []int
	Change               *changeView // since an earlier run; nil if nothing is known of that
}

// A metricGroup is the metrics under one heading.
type metricGroup struct {
	Title string
	Lines []metricLine
}

// A metricLine is one metric of all rows, or of one system or slice.
type metricLine struct {
	Name, Label, Summary string
	Group                string // the system or slice, "" for all
	Link                 string // state that shows its rows
	Value, Interval      string
	Micro, MicroInterval string
	N, Undefined         string
	Coverage, Bounds     string // of judged metrics
	Corrected            string
	Better               string
	Strip                stripView
	Ends                 [2]string
	Notes                []int
	Shape, Colour        int
}

// A sliceGroup compares the values of a tag, or of another field, in the metrics
// that matter most: the first one as a plot, the others as numbers.
type sliceGroup struct {
	Key, Metric string
	More        []string // labels of the other metrics
	Lines       []sliceLine
	Left        string // how many slices are left out; "" if none is
}

type sliceLine struct {
	metricLine
	More []string // values of the other metrics
}

var betterWords = map[metrics.Direction]string{
	metrics.HigherIsBetter: "higher is better", metrics.LowerIsBetter: "lower is better", metrics.Neutral: "for information",
}

// line fills what all lines of a metric have in common.
func newMetricLine(data *pageData, d metrics.Definition, system, slice string, a axis) (metricLine, bool) {
	s := data.summary.find(system, slice, d.Name)
	if s == nil {
		return metricLine{}, false
	}
	name := d.Name
	if system != "" {
		name += ", " + system
	}
	if slice != "" {
		name += ", " + slice
	}
	l := metricLine{
		Name: d.Name, Label: label(d.Name), Summary: d.Summary, Better: betterWords[d.Direction],
		Value: numberOrDash(s.Estimate), Interval: interval(s.Low, s.High), N: Thousands(s.N), Undefined: Thousands(s.Undefined),
		Strip: a.strip(shown(name), s, gateRules(gatesOfSystem(data, system), a, nameInRun(data, system), slice, d.Name)), Ends: a.ends(),
	}
	var warnings []string
	if m := data.summary.findMicro(system, slice, d.Name); m != nil {
		l.Micro, l.MicroInterval = numberOrDash(m.Estimate), interval(m.Low, m.High)
		warnings = append(warnings, m.Warnings...)
	}
	if s.Coverage != nil && (*s.Coverage < 1 || s.Unscored > 0) {
		l.Coverage = percent(int64(*s.Coverage*1e6), 1e6)
		if s.BoundLow != nil && s.BoundHigh != nil {
			l.Bounds = interval(s.BoundLow, s.BoundHigh)
		}
	}
	if s.Corrected != nil {
		l.Corrected = numberOrDash(s.Corrected) + " " + interval(s.CorrectedLow, s.CorrectedHigh)
	}
	l.Notes = data.notes.numbers(append(warnings, s.Warnings...))
	return l, true
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
		return !slices.ContainsFunc(data.results, func(r *results) bool { return r.metric(d.Name) != nil })
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
func sharedAxis(data *pageData, d metrics.Definition) axis {
	if a, ok := data.axes[d.Name]; ok {
		return a
	}
	var values []float64
	for _, system := range groupsShown(data) {
		if s := data.summary.find(system, "", d.Name); s != nil {
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
	data.axes[d.Name] = axisOf(d, values)
	return data.axes[d.Name]
}

// A metricsView is the metrics over all rows and by slice, and how rows are spread.
type metricsView struct {
	Spreads []distribution
	Slices  []sliceGroup
	Groups  []metricGroup
	Judged  bool
	Open    bool // the table of all metrics is; there is no other
}

// metricsSection shows the metrics of the rows of one run.
func metricsSection(data *pageData) *section {
	if data.several() {
		return nil
	}
	view := &metricsView{Judged: data.judged(), Open: len(data.summary.systems()) < 2, Slices: sliceGroups(data)}
	for _, d := range slices.DeleteFunc(definitions(data), hidden) {
		l, ok := newMetricLine(data, d, "", "", sharedAxis(data, d))
		if !ok {
			continue
		}
		if n := len(view.Groups); n == 0 || view.Groups[n-1].Title != label(d.Group) {
			view.Groups = append(view.Groups, metricGroup{Title: label(d.Group)})
		}
		g := &view.Groups[len(view.Groups)-1]
		g.Lines = append(g.Lines, l)
	}
	if len(view.Groups) == 0 {
		return nil
	}
	for _, name := range data.lead {
		d, _ := metrics.Lookup(name)
		if s, ok := spread(data, d); ok {
			view.Spreads = append(view.Spreads, s)
		}
	}
	return &section{"metrics", "Metrics", view}
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

// sliceGroups compares slices in the metric that matters most.
func sliceGroups(data *pageData) (groups []sliceGroup) {
	if len(data.lead) == 0 {
		return nil
	}
	d, _ := metrics.Lookup(data.lead[0])
	all := data.summary.slices()
	for _, key := range sortedKeys(all) {
		g := sliceGroup{Key: shown(key), Metric: label(d.Name)}
		for _, name := range data.lead[1:] {
			g.More = append(g.More, label(name))
		}
		if n := data.results[0].run.moreSlices[key]; n > 0 {
			g.Left = fmt.Sprintf("The first %d; %s more in ibid show --by %s.", maxSlices, Thousands(int64(n)), g.Key)
		}
		for _, slice := range all[key] {
			l, ok := newMetricLine(data, d, "", slice, sharedAxis(data, d))
			if !ok {
				continue
			}
			l.Group, l.Link = line(slice[len(key)+1:], 60), sliceLink(key, slice[len(key)+1:])
			s := sliceLine{metricLine: l}
			for _, name := range data.lead[1:] {
				text := "–"
				if row := data.summary.find("", slice, name); row != nil {
					text = numberOrDash(row.Estimate)
				}
				s.More = append(s.More, text)
			}
			g.Lines = append(g.Lines, s)
		}
		if len(g.Lines) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

func sliceLink(key, value string) string {
	switch key {
	case "system", "provider", "model":
		return rowsLink(key + ":" + line(value, 80))
	case "source_type":
		return rowsLink("type:" + line(value, 80))
	case runs.SourceStatusSlice:
		return "#rows" // the list of rows does not know it
	}
	return rowsLink("tag:" + line(key, 60) + "=" + line(value, 60))
}

// A distribution is the distribution of one metric over rows: bars of equal width, and
// one for rows where it is undefined.
type distribution struct {
	Name, Label string
	Desc        string
	Bins        []binView
	Undefined   binView
	Ends        [2]string
}

// A binView is the rows with values in [From, To), the last one with To.
type binView struct {
	Label  string // in words
	Count  string
	Rows   string // Count with its noun
	Link   string
	X, Y   string // place and height in a box of 220 × 80
	Height string
	Width  string
}

const (
	bins       = 10
	spreadTall = 80.0
	binWide    = 18.0
	binGap     = 1.5
)

func spread(data *pageData, d metrics.Definition) (distribution, bool) {
	values := data.spreads[d.Name]
	if values == nil || values.n == 0 {
		return distribution{}, false
	}
	undefined := int(sum(data.totals.rows) - values.n)
	a := axisOf(d, values.ends())
	var counts [bins]int
	for v, n := range values.counts {
		counts[binOf(a, v)] += int(n)
	}
	s := distribution{Name: d.Name, Label: label(d.Name), Ends: a.ends()}
	most := undefined
	for _, n := range counts {
		most = max(most, n)
	}
	for k, n := range counts {
		from, to := a.edge(k), a.edge(k+1)
		bin := newBin(n, most, k)
		bin.Label = fmt.Sprintf("%s to %s", number(from), number(to))
		bin.Link = "#f=" + escapeLink(fmt.Sprintf("%s:%g..%g", d.Name, from, to))
		s.Bins = append(s.Bins, bin)
		if n > 0 {
			s.Desc += fmt.Sprintf("%s: %s. ", bin.Label, Plural(int64(n), "row", "rows"))
		}
	}
	s.Undefined = newBin(undefined, most, bins+1)
	s.Undefined.Label, s.Undefined.Link = "undefined", "#f="+escapeLink(d.Name+":undefined")
	s.Desc += fmt.Sprintf("Undefined: %s.", Plural(int64(undefined), "row", "rows"))
	return s, true
}

// edge is the lower edge of bin k.
func (a axis) edge(k int) float64 { return rounded(a.lo + (a.hi-a.lo)*float64(k)/bins) }

// binOf is the bin that a value falls into, by the edges as links have them.
func binOf(a axis, v float64) int {
	k := min(max(int((v-a.lo)/(a.hi-a.lo)*bins), 0), bins-1)
	for k+1 < bins && v >= a.edge(k+1) {
		k++
	}
	for k > 0 && v < a.edge(k) {
		k--
	}
	return k
}

// newBin lays out bar k of n rows, where the tallest has most.
func newBin(n, most, k int) binView {
	height := spreadTall * float64(n) / float64(max(most, 1))
	if n > 0 {
		height = max(height, 2) // a single row must not vanish
	}
	return binView{
		Count: Thousands(int64(n)), Rows: Plural(int64(n), "row", "rows"), X: fixed(float64(k) * (binWide + binGap)), Width: fixed(binWide),
		Height: fixed(height), Y: fixed(spreadTall - height),
	}
}

func fixed(v float64) string { return fmt.Sprintf("%.1f", v) }
