package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ibid/annotations/compare"
	"ibid/annotations/history"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A History is the view model of the runs of a folder over time.
type History struct {
	Dir    string
	Runs   int64
	Series []Series
}

// A Series is one series of a history, and its runs.
type Series struct {
	*history.Account
	Nights []history.Night
}

func (h *History) writeCSV(w io.Writer) error {
	var all []history.Record
	for _, s := range h.Series {
		all = append(all, s.Lines()...)
	}
	return history.Lines.WriteCSV(w, all)
}

func (h *History) section() doc.Section {
	out := doc.Section{Title: fmt.Sprintf("history of %s: %s", h.Dir, h.count())}
	if h.Runs == 0 {
		out.Blocks = append(out.Blocks, doc.Para{Text: doc.T(fmt.Sprintf("No runs in %s. Make one: ibid run DATASET", h.Dir))})
		return out
	}
	var last *history.Line
	for _, s := range h.Series {
		for k, name := range metricsOf(s.Account) {
			out.Blocks = append(out.Blocks, seriesTable(s.Account, name, k == 0, ""))
		}
		if l := &s.Runs[len(s.Runs)-1]; last == nil || l.At.After(last.At) {
			last = l
		}
	}
	out.Blocks = append(out.Blocks, doc.Para{Text: doc.T("ibid show " + shellWord(filepath.Join(h.Dir, last.Run)) + "  # the last")})
	return out
}

// All are the runs of all series.
func (h *History) All() (all []history.Night) {
	for _, s := range h.Series {
		all = append(all, s.Nights...)
	}
	return all
}

// count counts runs and series.
func (h *History) count() string {
	text := Plural(h.Runs, "run", "runs")
	if n := len(h.Series); n > 1 {
		text += fmt.Sprintf(" in %d series", n)
	}
	return text
}

// WriteIndex writes the page over the runs of a folder: for each series its leading metric by
// system in a chart, and its tables, which lead to the pages of runs.
func (h *History) WriteIndex(w io.Writer, version string) error {
	var out []doc.Block
	for _, s := range h.Series {
		for k, name := range metricsOf(s.Account) {
			if _, isMetric := metrics.Lookup(name); isMetric && len(s.Runs) > 1 {
				var trends []trend
				systems := systemsOf(s.Account, name)
				for _, system := range systems[:min(len(systems), shownSystems)] {
					trends = append(trends, newTrend(s.Nights, name, system, line(system, 60)))
				}
				out = append(out, trendBlocks(line(label(name)+" · "+s.Name, 120), trends)[0])
			}
			out = append(out, seriesTable(s.Account, name, k == 0, indexFile))
		}
	}
	if h.Runs == 0 {
		out = append(out, doc.Para{Text: doc.T("There is no finished run here: ibid run DATASET makes one.")})
	}
	p := doc.Page{Title: line(h.Dir, 80), Version: version, Sections: []doc.Section{{ID: "runs", Title: h.count(), Name: "Runs", Top: true, Blocks: out}}}
	return p.Write(w)
}

// indexFile is the page of a run beside the index.
const indexFile = "index.html"

// metricsOf are the metrics of a series, in the order in which they are shown; one without
// a name if it has none.
func metricsOf(s *history.Account) (names []string) {
	for i := range s.Runs {
		for _, v := range s.Runs[i].Values {
			if !slices.Contains(names, v.Metric) {
				names = append(names, v.Metric)
			}
		}
	}
	if len(names) == 0 {
		names = []string{""}
	}
	return names
}

// How many systems have a column, and how many runs a line.
const (
	seriesSystems = 4
	seriesRuns    = 60
)

// systemsOf are the systems that have values of a metric, sorted.
func systemsOf(s *history.Account, metric string) (systems []string) {
	for i := range s.Runs {
		for _, v := range s.Runs[i].Values {
			if v.Metric == metric && !slices.Contains(systems, v.System) {
				systems = append(systems, v.System)
			}
		}
	}
	slices.Sort(systems)
	return systems
}

// seriesTable is a line for each run, the newest first: its gates, a metric by system, and what
// changed. A page, if it has a name, is linked.
func seriesTable(s *history.Account, metric string, first bool, page string) doc.Table {
	caption := line(s.Name, 40)
	if len(s.Runs) > 1 {
		caption += fmt.Sprintf(", %d runs", len(s.Runs))
	}
	if len(s.Runs) > seriesRuns {
		caption += fmt.Sprintf(", the last %d", seriesRuns)
	}
	if metric != "" {
		caption += ": " + shortName(metric)
	}
	switch base := line(s.Base, 40); {
	case !first || base == "":
	case s.Gone:
		caption += "; base " + base + " is gone: --accept RUN names another"
	case s.Accepted != nil:
		caption += "; base " + base + ", accepted " + date(s.Accepted.At)
	default:
		caption += "; base " + base
	}
	shown := s.Runs[max(0, len(s.Runs)-seriesRuns):]
	var begun []time.Time
	for i := range shown {
		begun = append(begun, shown[i].At)
	}
	layout := layoutOf(begun)
	t := doc.Table{Caption: caption, Columns: []doc.Column{{Name: "begun (UTC)", Keep: 1}, {Name: "run"}, {Name: "gates"}}}
	systems := systemsOf(s, metric)
	columns := systems[:min(len(systems), seriesSystems)]
	for _, name := range columns {
		t.Columns = append(t.Columns, doc.Column{Name: cmp.Or(line(name, 20), "value"), Number: true})
	}
	if n := len(systems) - len(columns); n > 0 {
		t.Caption += fmt.Sprintf("; %s: --json", Plural(int64(n), "more system", "more systems"))
	}
	t.Columns = append(t.Columns, doc.Column{Name: "change"}, doc.Column{Name: "not as before", Keep: 2})
	for i := range slices.Backward(shown) {
		r := &shown[i]
		name := doc.Span{Text: clipLine(r.Run, 40)}
		if page != "" {
			name.Link = url.PathEscape(r.Run) + "/" + page
		}
		row := []doc.Cell{doc.C(r.At.Format(layout)), {Text: doc.Text{name}}, {Text: doc.Text{{Text: string(r.Gates), Tone: gateWords[r.Gates].tone.doc()}}}}
		values := make(map[string]*history.Value)
		var worse, better []string
		for k := range r.Values {
			if v := &r.Values[k]; v.Metric == metric {
				values[v.System] = v
				switch text := changeInWords(r, v, len(systems) > 1); v.Word {
				case compare.Worse:
					worse = append(worse, text)
				case compare.Better:
					better = append(better, text)
				}
			}
		}
		for _, name := range columns {
			c := doc.C("–")
			if v := values[name]; v != nil {
				c = doc.C(numberOrDash(v.Estimate))
			}
			row = append(row, c)
		}
		t.Rows = append(t.Rows, append(row, doc.C(fewChanges(append(worse, better...))), doc.C(line(strings.Join(r.Marks, ", "), 200))))
	}
	return t
}

// fewChanges lists the first changes of a run.
func fewChanges(all []string) string {
	if n := len(all) - namedRuns; n > 0 {
		all = append(all[:namedRuns], fmt.Sprintf("%d more", n))
	}
	return strings.Join(all, "; ")
}

// changeInWords says how a system changed from the base; "" if that is not known.
func changeInWords(r *history.Line, v *history.Value, named bool) string {
	if v.Diff == nil {
		return ""
	}
	text := fmt.Sprintf("%s by %s", v.Word, number(math.Abs(*v.Diff)))
	if named {
		text = line(v.System, 20) + " " + text
	}
	if v.Since != r.Run {
		text += ", since " + line(v.Since, 40)
	}
	return text
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02") }

type historyJSON struct {
	Schema string                        `json:"schema"`
	Series runs.ListOf[*history.Account] `json:"series"`
}

func (h *History) asJSON() any {
	out := historyJSON{Schema: "ibid.history/v2"}
	for _, s := range h.Series {
		out.Series = append(out.Series, s.Account)
	}
	return out
}

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
	run string
	at  time.Time
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
		if t := newTrend(past.Nights, metric, system, name); t.known() > 1 {
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
func newTrend(nights []history.Night, metric, system, name string) trend {
	d, _ := metrics.Lookup(metric)
	t := trend{name: name, metric: d}
	for i := range nights[max(0, len(nights)-shownNights):] {
		n := &nights[max(0, len(nights)-shownNights)+i]
		t.nights = append(t.nights, trendNight{n.Manifest.ID, n.Manifest.Timings.Started, n.Changed, n.Macro(metric, system)})
	}
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
	var begun []time.Time
	for i := range nights {
		begun = append(begun, nights[i].at)
	}
	layout := layoutOf(begun)
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
		chart.Labels = append(chart.Labels, n.at.UTC().Format(layout))
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
		row := []doc.Cell{doc.C(n.at.UTC().Format(layout)), doc.C(line(n.run, 80))}
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
		p := &doc.Strip{At: a.at(*n.row.Estimate), Label: strings.TrimSpace(fmt.Sprintf("%s, %s %s: %s %s", t.name, date(n.at), line(n.run, 60), number(*n.row.Estimate), interval(n.row.Low, n.row.High)))}
		if n.row.Low != nil && n.row.High != nil {
			p.Interval, p.Low, p.High = true, a.at(*n.row.Low), a.at(*n.row.High)
		}
		points[i] = p
	}
	return points
}

// layoutOf is the shortest way to write times that tells them apart.
func layoutOf(times []time.Time) string {
	const seconds = "2006-01-02 15:04:05"
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04"} {
		seen := make(map[string]bool)
		for _, t := range times {
			seen[t.UTC().Format(layout)] = true
		}
		if len(seen) == len(times) {
			return layout
		}
	}
	return seconds
}

// historyScope says which runs the history is of.
func historyScope(past *history.Past) string {
	from, to := past.Nights[0].Manifest.Timings.Started.UTC(), past.Nights[len(past.Nights)-1].Manifest.Timings.Started.UTC()
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
	if len(past.Unreadable) > 0 {
		notes = append(notes, fmt.Sprintf("Left out: %s (cannot be read).", namedRunsOf(past.Unreadable)))
	}
	return notes
}

const namedRuns = 3

func namedRunsOf(all []string) string {
	var names []string
	for _, name := range all[:min(len(all), namedRuns)] {
		names = append(names, line(name, 60))
	}
	if more := len(all) - namedRuns; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return list(names)
}
