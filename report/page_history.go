package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibid/annotations/history"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A historyView is how the metrics that matter most went over the nights up to
// the run of the page.
type historyView struct {
	Spark   *sparkView            // of the first metric; nil if it is undefined in the last nights
	Sparks  map[string]*sparkView // the same of each system, where there are several
	Says    string
	Trends  []metricTrend // of all systems together
	Systems []metricTrend // the first metric of each system; none of a single one
	New     bool          // a segment begins in one of the charts
	Notes   []string
	How     string
}

// A metricTrend is one metric over nights.
type metricTrend struct {
	Name, Label     string // Label is what of it is shown: the metric, or the system
	Value, Interval string // of the run of the page
	Chart           trendChart
	Ends            [2]string // when the first and the last night were
	Events          []eventView
	Nights          []nightView
}

// A eventView is in words what happened before a night.
type eventView struct {
	Number int // of its rule in the chart
	Text   string
}

// A nightView is a night as a line of a table.
type nightView struct {
	Date, Run, Value, Interval, Says string
}

// LeastNights is how many nights a page must have to show a history, the run itself
// among them.
const LeastNights = 3

const (
	shownNights  = 60 // the last ones, of each chart
	shownSystems = 8
)

// A trendNight is a night of a series with the segment that it belongs to.
type trendNight struct {
	*history.Night
	group   *history.Segment
	segment int
	row     *runs.SummaryRow // nil if it has no value
	this    bool
}

// A trendEvent is the beginning of a segment with a night.
type trendEvent struct {
	at, number int
	text       string
}

// newHistory charts the metrics that matter most; nil if the run has too few nights
// before it.
func newHistory(data *pageData) *historyView {
	past := data.options.Past
	if past == nil || data.several() || len(past.Nights) < LeastNights {
		return nil
	}
	h := &historyView{}
	for _, name := range data.lead {
		nights := trendNights(past, name, "")
		if nights == nil {
			continue
		}
		t := newTrend(name, label(name), nights)
		h.Trends = append(h.Trends, t)
		if len(h.Trends) == 1 {
			h.Spark = sparkLine(t.Label, nights)
		}
	}
	if len(h.Trends) == 0 {
		return nil
	}
	if len(data.systems) > 1 {
		name := h.Trends[0].Name
		h.Sparks = make(map[string]*sparkView)
		for _, system := range data.systems[:min(len(data.systems), shownSystems)] {
			if nights := trendNights(past, name, system); nights != nil {
				t := newTrend(name, line(system, 80), nights)
				h.Systems = append(h.Systems, t)
				h.Sparks[system] = sparkLine(label(name), nights)
			}
		}
	}
	h.New = slices.ContainsFunc(slices.Concat(h.Trends, h.Systems), func(t metricTrend) bool { return len(t.Events) > 0 })
	h.Says, h.Notes, h.How = historyScope(data), historyNotes(data), howHistory
	if len(h.Systems) > 0 {
		h.Says = label(h.Trends[0].Name) + " by system. " + h.Says
	}
	return h
}

// historySection shows how the metrics went over the nights up to the run.
func historySection(data *pageData) *section {
	if data.trends == nil {
		return nil
	}
	return &section{"history", "History", data.trends}
}

// trendNights are the nights of a metric, nil if fewer than two of those to be shown
// have a value.
func trendNights(past *history.Past, metric, system string) []trendNight {
	series, _ := history.SeriesOf(past.Nights, metric, system, history.Options{})
	var nights []trendNight
	for k := range series.Segments {
		g := &series.Segments[k]
		for i := range g.Nights {
			n := trendNight{Night: &g.Nights[i], group: g, segment: k}
			n.row = past.Nights[len(nights)].Macro(metric, system)
			nights = append(nights, n)
		}
	}
	values := 0
	for _, n := range nights[max(0, len(nights)-shownNights):] {
		if n.row != nil {
			values++
		}
	}
	if values < 2 {
		return nil
	}
	nights[len(nights)-1].this = true
	return nights
}

func newTrend(name, label string, nights []trendNight) metricTrend {
	d, _ := metrics.Lookup(name)
	events := trendEvents(nights)
	t := metricTrend{Name: name, Label: label}
	if row := nights[len(nights)-1].row; row != nil {
		t.Value, t.Interval = estimateText(row), interval(row.Low, row.High)
	}
	hidden := max(0, len(nights)-shownNights)
	nights = nights[hidden:]
	for _, e := range events {
		if e.at -= hidden; e.at > 0 {
			t.Events = append(t.Events, eventView{len(t.Events) + 1, e.text})
			events[len(t.Events)-1] = trendEvent{e.at, len(t.Events), e.text}
		}
	}
	events = events[:len(t.Events)]
	layout := layoutOf(nights)
	t.Ends = [2]string{nights[0].At.UTC().Format(layout), nights[len(nights)-1].At.UTC().Format(layout)}
	t.Chart = newTrendChart(label+" by night", nights, events, d)
	t.Chart.Desc = t.inWords()
	t.Nights = trendTable(nights, events)
	return t
}

// inWords is the chart in a few sentences.
func (t *metricTrend) inWords() string {
	text := fmt.Sprintf("%s from %s to %s, last %s.", Plural(int64(len(t.Chart.Marks)), "night", "nights"), t.Ends[0], t.Ends[1], valueOr(t.Value))
	for _, e := range t.Events {
		text += " " + strings.ToUpper(e.Text[:1]) + e.Text[1:] + "."
	}
	return text
}

func valueOr(value string) string {
	if value == "" {
		return numberOrDash(nil)
	}
	return value
}

// trendEvents are the beginnings of segments but the first, in order.
func trendEvents(nights []trendNight) []trendEvent {
	var out []trendEvent
	for i := range nights {
		g := nights[i].group
		first := i == 0 || nights[i-1].group != g
		if first && len(g.Why) > 0 {
			out = append(out, trendEvent{at: i, text: changedText(g) + " on " + date(nights[i].At)})
		}
	}
	return out
}

// trendTable lists nights, with the events before each.
func trendTable(nights []trendNight, events []trendEvent) []nightView {
	var out []nightView
	layout := layoutOf(nights)
	for i := range nights {
		n := &nights[i]
		t := nightView{Date: n.At.UTC().Format(layout), Run: line(n.Run, 80), Value: numberOf(n.Value)}
		if n.row != nil {
			t.Interval = interval(n.row.Low, n.row.High)
		}
		var says []string
		for _, e := range events {
			if e.at == i {
				says = append(says, changedText(n.group))
			}
		}
		if n.this {
			says = append(says, "this run")
		}
		t.Says = strings.Join(says, "; ")
		out = append(out, t)
	}
	return out
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

// datesOf are two dates, with the time of day where they are the same.
func datesOf(from, to time.Time) [2]string {
	ends := [2]string{date(from), date(to)}
	if ends[0] == ends[1] {
		const minutes = "2006-01-02 15:04"
		ends = [2]string{from.UTC().Format(minutes), to.UTC().Format(minutes)}
	}
	return ends
}

// historyScope says which runs the history is of.
func historyScope(data *pageData) string {
	nights := data.options.Past.Nights
	ends := datesOf(nights[0].At, nights[len(nights)-1].At)
	return fmt.Sprintf("%s from %s to %s.", Plural(int64(len(nights)), "run", "runs"), ends[0], ends[1])
}

func historyNotes(data *pageData) []string {
	past := data.options.Past
	var notes []string
	if len(past.Nights) > shownNights {
		notes = append(notes, fmt.Sprintf("Charts show the last %d.", shownNights))
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

// howHistory says how the charts are read.
const howHistory = "Intervals say how far the value may be from that over all questions like these; they belong to each night alone. " +
	"Other questions, documents, settings or versions, another model or prompt begin a new line: numbers before and after do not mean the same. " +
	"Whether two runs differ over the same questions is for ibid compare."
