package report

import (
	"fmt"
	"slices"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// A Tile is one of the numbers that matter most.
type Tile struct {
	Name, Label, Summary string
	Value, Interval      string
	Level                string
	Better               string // which direction is better, in words
	Counts               string // how many rows, how many undefined
	Strip                Strip
	Ends                 [2]string
	Notes                []int
}

// A MetricGroup is the metrics under one heading.
type MetricGroup struct {
	Title string
	Lines []MetricLine
}

// A MetricLine is one metric of all rows, or of one system or slice.
type MetricLine struct {
	Name, Label, Summary string
	Group                string // the system or slice, "" for all
	Link                 string // state that shows its rows
	Value, Interval      string
	Micro, MicroInterval string
	N, Undefined         string
	Coverage, Bounds     string // of judged metrics
	Corrected            string
	Better               string
	Strip                Strip
	Ends                 [2]string
	Notes                []int
	Shape, Colour        int
}

// A SliceGroup compares the values of a tag, or of another field, in the metrics
// that matter most: the first one as a plot, the others as numbers.
type SliceGroup struct {
	Key, Metric string
	More        []string // labels of the other metrics
	Lines       []SliceLine
}

// A SliceLine is one slice.
type SliceLine struct {
	MetricLine
	More []string // values of the other metrics
}

// A SystemHead is a system with its mark in plots.
type SystemHead struct {
	Name          string
	Link          string
	Shape, Colour int
	Rows          string
	Citations     string
	Claims        string
	Errors        string
	Failing       string
	FailingLink   string
}

// A CompareGroup is one metric in all systems.
type CompareGroup struct {
	Name, Label, Summary, Better string
	Ends                         [2]string
	Lines                        []MetricLine
	First                        bool // one of the metrics that matter most
}

var betterWords = map[metrics.Direction]string{
	metrics.HigherIsBetter: "higher is better", metrics.LowerIsBetter: "lower is better", metrics.Neutral: "for information",
}

// better says which direction is better, and whose verdicts a metric rests on if
// those are the baseline's.
func (b *pageBuilder) better(d metrics.Definition) string {
	words := betterWords[d.Direction]
	if b.page.Baseline && d.Corrigible() {
		words += "; by the lexical baseline" + b.page.BaselineIn
	}
	return words
}

// line fills what all lines of a metric have in common.
func (b *pageBuilder) line(d metrics.Definition, system, slice string, a axis) (MetricLine, bool) {
	s := b.summary.find(system, slice, d.Name)
	if s == nil {
		return MetricLine{}, false
	}
	name := d.Name
	if system != "" {
		name += ", " + system
	}
	if slice != "" {
		name += ", " + slice
	}
	l := MetricLine{
		Name: d.Name, Label: label(d.Name), Summary: d.Summary, Better: b.better(d),
		Value: Number(s.Estimate), Interval: interval(s.Low, s.High), N: Thousands(s.N), Undefined: Thousands(s.Undefined),
		Strip: a.strip(shown(name), s, gateRules(b.gates(system), a, b.bare(system), slice, d.Name)), Ends: a.ends(),
	}
	if m := b.summary.findMicro(system, slice, d.Name); m != nil {
		l.Micro, l.MicroInterval = Number(m.Estimate), interval(m.Low, m.High)
		b.footnotes(&l, m.Warnings)
	}
	if s.Coverage != nil && (*s.Coverage < 1 || s.Unscored > 0) {
		l.Coverage = percent(int64(*s.Coverage*1e6), 1e6)
		if s.BoundLow != nil && s.BoundHigh != nil {
			l.Bounds = interval(s.BoundLow, s.BoundHigh)
		}
	}
	if s.Corrected != nil {
		l.Corrected = Number(s.Corrected) + " " + interval(s.CorrectedLow, s.CorrectedHigh)
	}
	b.footnotes(&l, s.Warnings)
	return l, true
}

func (b *pageBuilder) footnotes(l *MetricLine, warnings []string) {
	for _, w := range warnings {
		if n := b.page.note(w); !slices.Contains(l.Notes, n) {
			l.Notes = append(l.Notes, n)
		}
	}
	slices.Sort(l.Notes)
}

// gates are the gates that look at a system: of its run.
func (b *pageBuilder) gates(system string) []runs.GateResult {
	return b.runOf(system).run.Gates
}

func (b *pageBuilder) runOf(system string) *results {
	for _, r := range b.results {
		if len(b.results) > 1 && system != "" && len(system) > len(r.prefix) && system[:len(r.prefix)] == r.prefix {
			return r
		}
	}
	return b.results[0]
}

// bare is the name of a system within its run.
func (b *pageBuilder) bare(system string) string {
	if system == "" {
		return ""
	}
	return system[len(b.runOf(system).prefix):]
}

// definitions are the metrics of the page with any value.
func (b *pageBuilder) definitions() []metrics.Definition {
	return slices.DeleteFunc(orderedDefinitions(nil), func(d metrics.Definition) bool {
		return !slices.ContainsFunc(b.results, func(r *results) bool { return r.metric(d.Name) != nil })
	})
}

// groupsShown are the systems whose numbers are shown: "" where all are pooled.
func (b *pageBuilder) groupsShown() []string {
	if b.pooled() {
		return append([]string{""}, b.systems...)
	}
	return b.systems
}

// axis is the one that all groups of a metric share.
func (b *pageBuilder) axis(d metrics.Definition) axis {
	var values []float64
	for _, system := range b.groupsShown() {
		if s := b.summary.find(system, "", d.Name); s != nil {
			for _, v := range []*float64{s.Estimate, s.Low, s.High} {
				if v != nil {
					values = append(values, *v)
				}
			}
		}
	}
	return axisOf(d, values)
}

// metricGroups fills tiles and the table of metrics over all rows.
func (b *pageBuilder) metricGroups() {
	if !b.pooled() {
		return
	}
	p := b.page
	for _, d := range b.definitions() {
		l, ok := b.line(d, "", "", b.axis(d))
		if !ok {
			continue
		}
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Title != label(d.Group) {
			p.Groups = append(p.Groups, MetricGroup{Title: label(d.Group)})
		}
		g := &p.Groups[len(p.Groups)-1]
		g.Lines = append(g.Lines, l)
	}
	for _, name := range b.lead {
		d, _ := metrics.Lookup(name)
		l, ok := b.line(d, "", "", b.axis(d))
		if !ok {
			continue
		}
		s := b.summary.find("", "", name)
		t := Tile{
			Name: name, Label: l.Label, Summary: d.Summary, Value: l.Value, Interval: l.Interval, Level: levelText(s.Level),
			Better: l.Better, Strip: l.Strip, Ends: l.Ends, Notes: l.Notes, Counts: "over " + plural(s.N, "row", "rows"),
		}
		if s.Undefined > 0 {
			t.Counts += fmt.Sprintf(", undefined in %s", Thousands(s.Undefined))
		}
		if l.Coverage != "" {
			t.Counts += ", coverage " + l.Coverage
		}
		p.Tiles = append(p.Tiles, t)
	}
}

// sliceGroups compares slices in the metric that matters most.
func (b *pageBuilder) sliceGroups() {
	if !b.pooled() || len(b.lead) == 0 {
		return
	}
	d, _ := metrics.Lookup(b.lead[0])
	all := b.summary.slices()
	for _, key := range sortedKeys(all) {
		g := SliceGroup{Key: shown(key), Metric: label(d.Name)}
		for _, name := range b.lead[1:] {
			g.More = append(g.More, label(name))
		}
		for _, slice := range all[key] {
			l, ok := b.line(d, "", slice, b.axis(d))
			if !ok {
				continue
			}
			l.Group, l.Link = line(slice[len(key)+1:], 60), sliceLink(key, slice[len(key)+1:])
			s := SliceLine{MetricLine: l}
			for _, name := range b.lead[1:] {
				text := "–"
				if row := b.summary.find("", slice, name); row != nil {
					text = Number(row.Estimate)
				}
				s.More = append(s.More, text)
			}
			g.Lines = append(g.Lines, s)
		}
		if len(g.Lines) > 0 {
			b.page.Slices = append(b.page.Slices, g)
		}
	}
}

// sliceLink is the link to the rows of a slice.
func sliceLink(key, value string) string {
	switch key {
	case "system", "provider":
		return rowsLink(key + ":" + line(value, 80))
	case "source_type":
		return rowsLink("type:" + line(value, 80))
	}
	return rowsLink("tag:" + line(key, 60) + "=" + line(value, 60))
}

// compare sets systems side by side.
func (b *pageBuilder) compare() {
	t := &b.totals
	for k, s := range b.systems {
		name := line(s, 80)
		b.page.Systems = append(b.page.Systems, SystemHead{
			Name: name, Link: "#f=" + escapeLink("system:"+name), Shape: k % 4, Colour: k % 8,
			Rows: Thousands(t.rows[k]), Citations: fmt.Sprintf("%s of %s", Thousands(t.valid[k]), Thousands(t.citations[k])),
			Claims: Thousands(t.claims[k]), Errors: Thousands(t.errors[k]),
			Failing:     fmt.Sprintf("%s (%s)", Thousands(t.failing[k]), percent(t.failing[k], t.rows[k])),
			FailingLink: "#f=" + escapeLink("system:"+name) + "&f=" + escapeLink("is:failing"),
		})
	}
	if len(b.systems) < 2 {
		return
	}
	for _, d := range orderedDefinitions(b.lead) {
		a := b.axis(d)
		g := CompareGroup{
			Name: d.Name, Label: label(d.Name), Summary: d.Summary, Better: b.better(d), Ends: a.ends(),
			First: slices.Contains(b.lead, d.Name),
		}
		for k, s := range b.systems {
			if l, ok := b.line(d, s, "", a); ok {
				l.Group, l.Shape, l.Colour = line(s, 80), k%4, k%8
				l.Strip.Shape, l.Strip.Colour = l.Shape, l.Colour
				l.Link = "#f=" + escapeLink("system:"+l.Group)
				g.Lines = append(g.Lines, l)
			}
		}
		if len(g.Lines) > 0 {
			b.page.Compare = append(b.page.Compare, g)
		}
	}
}
