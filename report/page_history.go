package report

import (
	"fmt"
	"strings"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A HistorySection is how the metrics that matter most went over the nights up to
// the run of the page.
type HistorySection struct {
	Spark   *Spark // of the first metric; nil if it is undefined in the last nights
	Says    string
	Trends  []Trend
	Systems []Trend // the first metric of each system; none of a single one
	Notes   []string
	How     []string
}

// A Trend is one metric over nights.
type Trend struct {
	Name, Label     string // Label is what of it is shown: the metric, or the system
	Value, Interval string // of the run of the page
	Word            Word
	Signal          string // which charts signal, since when; "" if none does
	Chart           TrendChart
	Ends            [2]string // dates
	Events          []TrendEvent
	Nights          []TrendNight
}

// A TrendEvent is in words what happened before a night.
type TrendEvent struct {
	Number int // of its rule in the chart
	Change bool
	Text   string
}

// A TrendNight is a night as a line of a table.
type TrendNight struct {
	Date, Run, Value, Interval, EWMA, Limits, Sums, Says string
}

// LeastNights is how many nights a page must have to show a history, the run itself
// among them.
const LeastNights = 3

const (
	shownNights  = 60 // the last ones, of each chart
	shownSystems = 8
)

// A trendNight is a night of a series with the baseline that it belongs to.
type trendNight struct {
	*annotations.ChartedNight
	group   *annotations.Segment
	segment int
	row     *runs.SummaryRow // nil if it has no value
	this    bool
}

func (n *trendNight) signals() bool { return n.EWMASignal || n.CUSUMSignal }

// A trendEvent is something that happened before a night.
type trendEvent struct {
	at, number int
	change     bool // the level changed; else a new baseline begins
	text       string
}

// history fills the section, if the run has enough nights before it.
func (b *pageBuilder) history() {
	past := b.options.Past
	if past == nil || !b.pooled() || len(past.Nights) < LeastNights {
		return
	}
	h := &HistorySection{}
	for _, name := range b.lead {
		nights := trendNights(past, name, "")
		if nights == nil {
			continue
		}
		t := newTrend(name, label(name), nights)
		h.Trends = append(h.Trends, t)
		if len(h.Trends) == 1 {
			h.Spark = sparkLine(t.Label, nights, t.Word)
		}
	}
	if len(h.Trends) == 0 {
		return
	}
	h.Says = stateInWords(h.Trends)
	b.historyBySystem(h)
	h.Notes, h.How = b.historyNotes(), historyHow(len(h.Trends))
	b.page.History = h
	b.sayHistory()
}

// historyBySystem shows the first metric of each system.
func (b *pageBuilder) historyBySystem(h *HistorySection) {
	if len(b.systems) < 2 {
		return
	}
	name := h.Trends[0].Name
	for _, system := range b.systems[:min(len(b.systems), shownSystems)] {
		if nights := trendNights(b.options.Past, name, system); nights != nil {
			h.Systems = append(h.Systems, newTrend(name, line(system, 80), nights))
		}
	}
}

// trendNights are the nights of a metric, nil if fewer than two of those to be shown
// have a value.
func trendNights(past *annotations.Past, metric, system string) []trendNight {
	series, _ := annotations.SeriesOf(past.Nights, metric, system, annotations.HistoryOptions{Baseline: annotations.BaselineNights})
	var nights []trendNight
	for k := range series.Segments {
		g := &series.Segments[k]
		for i := range g.Nights {
			n := trendNight{ChartedNight: &g.Nights[i], group: g, segment: k}
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

func newTrend(name, label string, nights []trendNight) Trend {
	d, _ := metrics.Lookup(name)
	events := trendEvents(nights)
	word := trendWord(nights, d)
	t := Trend{Name: name, Label: label, Word: word, Signal: signalInWords(nights)}
	if row := nights[len(nights)-1].row; row != nil {
		t.Value, t.Interval = Number(row.Estimate), interval(row.Low, row.High)
	}
	// Charts are made of all nights, and only the last ones are shown.
	hidden := max(0, len(nights)-shownNights)
	nights = nights[hidden:]
	for _, e := range events {
		if e.at -= hidden; e.at > 0 {
			t.Events = append(t.Events, TrendEvent{len(t.Events) + 1, e.change, e.text})
			events[len(t.Events)-1] = trendEvent{e.at, len(t.Events), e.change, e.text}
		}
	}
	events = events[:len(t.Events)]
	t.Ends = datesOf(nights[0].At, nights[len(nights)-1].At)
	t.Chart = trendChart(label+" by night", nights, events, d)
	t.Chart.Desc = t.inWords()
	t.Nights = trendTable(nights, events)
	return t
}

// inWords is the chart in a few sentences.
func (t *Trend) inWords() string {
	text := fmt.Sprintf("%s from %s to %s, last %s: %s.", plural(int64(len(t.Chart.Marks)), "night", "nights"), t.Ends[0], t.Ends[1], valueOr(t.Value), t.Word.Short)
	if t.Signal != "" {
		text += " " + t.Signal
	}
	for _, e := range t.Events {
		text += " " + e.Text + "."
	}
	return text
}

func valueOr(value string) string {
	if value == "" {
		return Number(nil)
	}
	return value
}

// trendEvents are the new baselines and the likely changes of level, in order.
func trendEvents(nights []trendNight) []trendEvent {
	var out []trendEvent
	for i := range nights {
		g := nights[i].group
		first := i == 0 || nights[i-1].group != g
		if first && len(g.Why) > 0 {
			out = append(out, trendEvent{at: i, text: baselineText(g) + " on " + date(nights[i].At)})
		}
		if text := changeText(g); text != "" && nights[i].ChartedNight == &g.Nights[g.Change.Index] {
			out = append(out, trendEvent{at: i, change: true, text: text})
		}
	}
	return out
}

// trendTable lists nights, with the events before each.
func trendTable(nights []trendNight, events []trendEvent) []TrendNight {
	var out []TrendNight
	for i := range nights {
		n := &nights[i]
		t := TrendNight{
			Date: date(n.At), Run: line(n.Run, 80), Value: numberOf(n.Value),
			EWMA: optional(n.EWMA.Pointer()), Limits: interval(n.Low.Pointer(), n.High.Pointer()),
		}
		if n.row != nil {
			t.Interval = interval(n.row.Low, n.row.High)
		}
		if n.Up.Defined {
			t.Sums = fmt.Sprintf("%.1f, %.1f", n.Up.Value, n.Down.Value)
		}
		var says []string
		for _, e := range events {
			switch {
			case e.at == i && e.change:
				says = append(says, "change point")
			case e.at == i:
				says = append(says, baselineText(n.group))
			}
		}
		if n.signals() {
			says = append(says, "signal of "+signals(n.ChartedNight))
		}
		if n.this {
			says = append(says, "this run")
		}
		t.Says = strings.Join(says, "; ")
		out = append(out, t)
	}
	return out
}
