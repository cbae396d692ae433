package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"ibid/annotations/history"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A History is the view model of runs over time.
type History struct {
	Title  string
	Runs   *RunList
	Nights []history.RunNight
	Series []history.Series // over the nights
}

func (h *History) writeCSV(w io.Writer) error {
	var lines []history.Line
	for i := range h.Series {
		lines = append(lines, h.Series[i].Lines()...)
	}
	return history.Lines.WriteCSV(w, lines)
}

// section are the runs, then each metric over them.
func (h *History) section() doc.Section {
	out := h.Runs.blocks()
	for _, s := range h.Series {
		name := s.Metric
		if s.System != "" {
			name += ", system " + s.System
		}
		out = append(out, trendBlocks(name, []trend{newTrend(s, h.Nights, shortName(s.Metric), len(h.Nights))})...)
	}
	return doc.Section{Title: h.Title, Blocks: out}
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02") }

type historyJSON struct {
	Schema string                      `json:"schema"`
	Title  string                      `json:"title"`
	Runs   runs.ListOf[listedRun]      `json:"runs"`
	Series runs.ListOf[history.Series] `json:"series"`
}

func (h *History) asJSON() any { return historyJSON{"ibid.history/v2", h.Title, h.Runs.Runs, h.Series} }

// LeastNights is how many nights a page must have to show a history, the run itself
// among them.
const LeastNights = 3

const (
	shownNights  = 60 // the last ones
	shownSystems = 8
)

// A trend is one number over the last nights up to the run of a page.
type trend struct {
	name   string // of what is followed: a metric, or a system
	metric metrics.Definition
	nights []trendNight
}

// A trendNight is a night of a trend.
type trendNight struct {
	*history.Night
	why []string         // what is not as in the night before
	row *runs.SummaryRow // nil if it has no value
}

// historySection shows how the metrics went over the nights up to the run; nil if the run
// has too few nights before it.
func historySection(data *pageData) *doc.Section {
	past := data.options.Past
	if past == nil || data.several() || len(past.Nights) < LeastNights {
		return nil
	}
	var byMetric, bySystem []trend
	add := func(list *[]trend, metric, system, name string) {
		series, _ := history.SeriesOf(past.Nights, metric, system)
		if t := newTrend(series, past.Nights, name, shownNights); t.known() > 1 {
			*list = append(*list, t)
		}
	}
	for _, name := range data.lead {
		add(&byMetric, name, "", shortName(name))
	}
	if len(byMetric) == 0 {
		return nil
	}
	first := byMetric[0].metric.Name
	if len(data.systems) > 1 {
		for _, system := range data.systems[:min(len(data.systems), shownSystems)] {
			add(&bySystem, first, system, line(system, 80))
		}
	}
	out := []doc.Block{doc.Para{Text: doc.T(historyScope(past))}}
	for _, note := range historyNotes(data) {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(note)})
	}
	if len(bySystem) > 0 {
		out = append(out, trendBlocks(label(first)+" by system", bySystem)...) // no number is over all systems together
	} else {
		out = append(out, trendBlocks("All answers", byMetric)...)
	}
	return docSection("history", "History", out)
}

// newTrend follows a metric of a system over the last nights.
func newTrend(series history.Series, nights []history.RunNight, name string, last int) trend {
	d, _ := metrics.Lookup(series.Metric)
	t := trend{name: name, metric: d}
	for k := range series.Segments {
		g := &series.Segments[k]
		for i := range g.Nights {
			n := trendNight{Night: &g.Nights[i], row: nights[len(t.nights)].Macro(series.Metric, series.System)}
			if i == 0 {
				n.why = g.Why
			}
			t.nights = append(t.nights, n)
		}
	}
	t.nights = t.nights[max(0, len(t.nights)-last):]
	return t
}

// known is how many nights have a value.
func (t *trend) known() (n int) {
	for i := range t.nights {
		if t.nights[i].row != nil {
			n++
		}
	}
	return n
}

// trendBlocks are trends as lines of a chart and as columns of a table, its newest night
// first. The chart has the metrics that share the range of the first.
func trendBlocks(caption string, trends []trend) []doc.Block {
	nights := trends[0].nights
	layout := layoutOf(nights)
	var drawn []trend
	var values []float64
	for _, t := range trends {
		if t.metric.Min == trends[0].metric.Min && t.metric.Max == trends[0].metric.Max {
			drawn = append(drawn, t)
			for i := range t.nights {
				values = append(values, rangeOf(t.nights[i].row)...)
			}
		}
	}
	a := axisOf(trends[0].metric, values)
	chart := doc.Chart{Caption: caption + ", over time", Low: number(a.lo), High: number(a.hi)}
	table := doc.Table{Caption: caption + ", in numbers", Class: "nights", Columns: []doc.Column{{Name: "begun (UTC)"}, {Name: "run"}}}
	for i := range nights {
		n := &nights[i]
		chart.Labels = append(chart.Labels, n.At.UTC().Format(layout))
		if i > 0 && len(n.why) > 0 {
			chart.Breaks = append(chart.Breaks, i)
		}
	}
	for k, t := range trends {
		table.Columns = append(table.Columns, doc.Column{Name: t.name, Number: true, Keep: min(k, 1)}, doc.Column{Number: true, Keep: 2 + min(k, 1)})
	}
	for _, t := range drawn {
		chart.Series = append(chart.Series, doc.Series{Name: t.name, Points: t.points(a)})
	}
	table.Columns = append(table.Columns, doc.Column{Name: "changed"})
	for i := len(nights) - 1; i >= 0; i-- {
		n := &nights[i]
		row := []doc.Cell{doc.C(n.At.UTC().Format(layout)), doc.C(line(n.Run, 80))}
		for _, t := range trends {
			if r := t.nights[i].row; r != nil {
				row = append(row, doc.C(number(*r.Estimate)), doc.C(interval(r.Low, r.High)))
			} else {
				row = append(row, doc.C(numberOrDash(nil)), doc.Cell{})
			}
		}
		table.Rows = append(table.Rows, append(row, doc.C(line(strings.Join(n.why, ", "), 200))))
	}
	return []doc.Block{chart, table}
}

// points are the nights on the axis of a chart.
func (t *trend) points(a axis) []*doc.Strip {
	points := make([]*doc.Strip, len(t.nights))
	for i := range t.nights {
		n := &t.nights[i]
		if n.row == nil {
			continue
		}
		p := &doc.Strip{At: a.at(*n.row.Estimate), Label: strings.TrimSpace(fmt.Sprintf("%s, %s %s: %s %s", t.name, date(n.At), line(n.Run, 60), number(*n.row.Estimate), interval(n.row.Low, n.row.High)))}
		if n.row.Low != nil && n.row.High != nil {
			p.Interval, p.Low, p.High = true, a.at(*n.row.Low), a.at(*n.row.High)
		}
		points[i] = p
	}
	return points
}

// layoutOf is the shortest way to write when nights were that tells them apart.
func layoutOf(nights []trendNight) string {
	const seconds = "2006-01-02 15:04:05"
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04"} {
		seen := make(map[string]bool)
		for i := range nights {
			seen[nights[i].At.UTC().Format(layout)] = true
		}
		if len(seen) == len(nights) {
			return layout
		}
	}
	return seconds
}

// historyScope says which runs the history is of.
func historyScope(past *history.Past) string {
	from, to := past.Nights[0].At.UTC(), past.Nights[len(past.Nights)-1].At.UTC()
	layout := time.DateOnly
	if from.Format(layout) == to.Format(layout) {
		layout = "2006-01-02 15:04"
	}
	return fmt.Sprintf("%s from %s to %s.", Plural(int64(len(past.Nights)), "run", "runs"), from.Format(layout), to.Format(layout))
}

func historyNotes(data *pageData) []string {
	past := data.options.Past
	var notes []string
	if len(past.Nights) > shownNights {
		notes = append(notes, fmt.Sprintf("The last %d are shown.", shownNights))
	}
	if n := len(data.systems); n > shownSystems {
		notes = append(notes, fmt.Sprintf("By system, the first %d of %d are shown.", shownSystems, n))
	}
	if past.Older > 0 {
		notes = append(notes, fmt.Sprintf("%s before these were not looked at.", Plural(int64(past.Older), "run", "runs")))
	}
	for _, l := range past.LeftOut {
		notes = append(notes, leftOutInWords(l))
	}
	return notes
}

const namedRuns = 3

func leftOutInWords(l history.LeftOut) string {
	var names []string
	for _, name := range l.Runs[:min(len(l.Runs), namedRuns)] {
		names = append(names, line(name, 60))
	}
	if more := len(l.Runs) - namedRuns; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("Left out: %s (%s).", list(names), l.Why)
}
