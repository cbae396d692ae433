package report

import (
	"fmt"
	"math"
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
	Key     trendKey
	Notes   []string
	How     []string
}

// A trendKey says which signs occur in the charts, so that the legend has no others.
type trendKey struct{ Base, Watched, Signal, Missing, Lines, Limits, New, Change bool }

// A metricTrend is one metric over nights.
type metricTrend struct {
	Name, Label     string // Label is what of it is shown: the metric, or the system
	Subject         string // the same within a sentence
	Value, Interval string // of the run of the page
	Word            word
	Signal          string // which charts signal, since when; "" if none does
	Chart           trendChart
	Ends            [2]string // when the first and the last night were
	Events          []eventView
	Nights          []nightView
}

// A eventView is in words what happened before a night.
type eventView struct {
	Number int // of its rule in the chart
	Change bool
	Text   string
}

// A nightView is a night as a line of a table.
type nightView struct {
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
	*history.ChartedNight
	group   *history.Segment
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
		t.Subject = inSentence(t.Label)
		h.Trends = append(h.Trends, t)
		if len(h.Trends) == 1 {
			h.Spark = sparkLine(t.Label, nights, t.Word)
		}
	}
	if len(h.Trends) == 0 {
		return nil
	}
	h.Says = stateInWords(h.Trends, "metric")
	if len(data.systems) > 1 {
		name := h.Trends[0].Name
		h.Sparks = make(map[string]*sparkView)
		for _, system := range data.systems[:min(len(data.systems), shownSystems)] {
			if nights := trendNights(past, name, system); nights != nil {
				t := newTrend(name, line(system, 80), nights)
				t.Subject = t.Label
				h.Systems = append(h.Systems, t)
				h.Sparks[system] = sparkLine(label(name), nights, t.Word)
			}
		}
		h.Says = label(name) + " by system. " + stateInWords(h.Systems, "system")
	}
	for _, t := range slices.Concat(h.Trends, h.Systems) {
		h.Key.add(&t)
	}
	h.Notes, h.How = historyNotes(data), historyHow(len(h.Trends))
	return h
}

// add notes what occurs in a chart.
func (k *trendKey) add(t *metricTrend) {
	for _, m := range t.Chart.Marks {
		k.Base, k.Watched, k.Signal, k.Missing = k.Base || m.Kind == "base", k.Watched || m.Kind == "watched", k.Signal || m.Kind == "signal", k.Missing || m.Kind == "none"
	}
	k.Lines, k.Limits = k.Lines || len(t.Chart.EWMA) > 0, k.Limits || len(t.Chart.Bands) > 0
	for _, e := range t.Events {
		k.New, k.Change = k.New || !e.Change, k.Change || e.Change
	}
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
	series, _ := history.SeriesOf(past.Nights, metric, system, history.Options{Baseline: history.BaselineNights})
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

func newTrend(name, label string, nights []trendNight) metricTrend {
	d, _ := metrics.Lookup(name)
	events := trendEvents(nights)
	word := trendWord(nights, d)
	t := metricTrend{Name: name, Label: label, Word: word, Signal: signalInWords(nights)}
	if row := nights[len(nights)-1].row; row != nil {
		t.Value, t.Interval = numberOrDash(row.Estimate), interval(row.Low, row.High)
	}
	// Charts are made of all nights, and only the last ones are shown.
	hidden := max(0, len(nights)-shownNights)
	nights = nights[hidden:]
	for _, e := range events {
		if e.at -= hidden; e.at > 0 {
			t.Events = append(t.Events, eventView{len(t.Events) + 1, e.change, e.text})
			events[len(t.Events)-1] = trendEvent{e.at, len(t.Events), e.change, e.text}
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
	text := fmt.Sprintf("%s from %s to %s, last %s: %s.", Plural(int64(len(t.Chart.Marks)), "night", "nights"), t.Ends[0], t.Ends[1], valueOr(t.Value), t.Word.Short)
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
		return numberOrDash(nil)
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
func trendTable(nights []trendNight, events []trendEvent) []nightView {
	var out []nightView
	layout := layoutOf(nights)
	for i := range nights {
		n := &nights[i]
		t := nightView{
			Date: n.At.UTC().Format(layout), Run: line(n.Run, 80), Value: numberOf(n.Value),
			EWMA: optional(n.EWMA.Pointer()), Limits: interval(n.Low.Pointer(), n.High.Pointer()),
		}
		if n.row != nil {
			t.Interval = interval(n.row.Low, n.row.High)
		}
		if n.Up.Known() {
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

// trendWord is the state of the last night.
func trendWord(nights []trendNight, d metrics.Definition) word {
	n := &nights[len(nights)-1]
	g := n.group
	switch {
	case n.signals() && n.rose():
		return word{"rose", "rose", "The nights are higher than those of the baseline, by more than chance explains.", signalTone(d.Direction, metrics.HigherIsBetter)}
	case n.signals():
		return word{"fell", "fell", "The nights are lower than those of the baseline, by more than chance explains.", signalTone(d.Direction, metrics.LowerIsBetter)}
	case !n.Value.Known():
		return word{"undefined", "undefined in this run", "This run has no value.", toneNeutral}
	case g.Complete && !g.Ready && n.unlike() > 0:
		return word{"higher", "higher", "The nights of the baseline are all alike, and this one is higher.", unlikeTone(d.Direction, metrics.HigherIsBetter)}
	case g.Complete && !g.Ready && n.unlike() < 0:
		return word{"lower", "lower", "The nights of the baseline are all alike, and this one is lower.", unlikeTone(d.Direction, metrics.LowerIsBetter)}
	case g.Complete && !g.Ready:
		return word{"alike", "no limits", "The nights of the baseline are all alike, so nothing says how far chance moves a night.", toneNeutral}
	case !n.Watched:
		short := fmt.Sprintf("baseline: %d of %d nights", g.Baseline.N, history.BaselineNights)
		return word{"baseline", short, "The first nights say what is usual; later ones are compared with them.", toneNeutral}
	}
	return word{"within", "within limits", "The last nights are where those of the baseline were, as far as the charts tell.", toneGood}
}

// signalTone is how bad a move is of a metric, if it is one towards what would be
// better in the given direction.
func signalTone(d, towards metrics.Direction) tone {
	switch d {
	case metrics.Neutral:
		return toneWarn
	case towards:
		return toneNote
	}
	return toneBad
}

// unlikeTone is signalTone of what no chart can test.
func unlikeTone(d, towards metrics.Direction) tone {
	if tone := signalTone(d, towards); tone != toneBad {
		return tone
	}
	return toneWarn
}

// unlike is how far a night is from a baseline whose nights are all alike, but for
// rounding.
func (n *trendNight) unlike() float64 {
	d := n.Value.Value - n.group.Baseline.Mean.Value
	if math.Abs(d) < 1e-9 {
		return 0
	}
	return d
}

// rose tells a signal upwards from one downwards.
func (n *trendNight) rose() bool {
	if n.EWMASignal {
		return n.EWMA.Value > n.High.Value
	}
	return n.Up.Value > n.Down.Value
}

func (n *trendNight) moved() string {
	if n.rose() {
		return "rose"
	}
	return "fell"
}

// since is the first of the nights that have signalled up to the last one; nights
// without a value do not count.
func since(nights []trendNight) *trendNight {
	first := &nights[len(nights)-1]
	for i := len(nights) - 2; i >= 0 && nights[i].group == first.group; i-- {
		switch n := &nights[i]; {
		case n.signals():
			first = n
		case n.Value.Known():
			return first
		}
	}
	return first
}

// onset is the night from which on the sum of CUSUM that signals in the last one has
// been above 0.
func onset(nights []trendNight) *trendNight {
	first := &nights[len(nights)-1]
	up := first.Up.Value > first.Down.Value
	for i := len(nights) - 2; i >= 0 && nights[i].group == first.group && nights[i].Watched; i-- {
		n := &nights[i]
		switch {
		case !n.Up.Known():
		case up && n.Up.Value > 0, !up && n.Down.Value > 0:
			first = n
		default:
			return first
		}
	}
	return first
}

// signalInWords says which charts signal in the last night, "" if none does.
func signalInWords(nights []trendNight) string {
	n := &nights[len(nights)-1]
	if !n.signals() {
		return ""
	}
	g := n.group
	charts := "EWMA and CUSUM have"
	switch {
	case !n.CUSUMSignal:
		charts = "EWMA has"
	case !n.EWMASignal:
		charts = "CUSUM has"
	}
	text := fmt.Sprintf("It %s: %s in this run, %s in the mean of its baseline. %s ", n.moved(), numberOf(n.Value), numberOf(g.Baseline.Mean), charts)
	if from := since(nights); from.ChartedNight != n.ChartedNight {
		text += "signalled since " + date(from.At)
	} else {
		text += "just signalled"
	}
	if n.CUSUMSignal {
		text += fmt.Sprintf("; by CUSUM it began on %s", date(onset(nights).At))
	}
	return text + "."
}

// movedInWords names the metrics that signal, by direction, "" if none does.
func movedInWords(trends []metricTrend) string {
	var parts []string
	for _, way := range []string{"fell", "rose"} {
		var names []string
		for _, t := range trends {
			if t.Word.Code == way {
				names = append(names, t.Subject)
			}
		}
		if len(names) > 0 {
			parts = append(parts, list(names)+" "+way)
		}
	}
	return strings.Join(parts, "; ")
}

// stateInWords is what the charts say together, each of one metric or of one system.
func stateInWords(trends []metricTrend, what string) string {
	if moved := movedInWords(trends); moved != "" {
		return "Against the nights before, " + moved + "."
	}
	counts := make(map[string]int)
	for _, t := range trends {
		counts[t.Word.Code]++
	}
	switch within := counts["within"]; {
	case within == len(trends) && within == 1:
		return fmt.Sprintf("No signal: the %s is within its limits.", what)
	case within == len(trends):
		return fmt.Sprintf("No signal: all %d %ss are within their limits.", within, what)
	case within > 0:
		return fmt.Sprintf("No signal: %d of %d %ss are within their limits, the others have no limits or no value.", within, len(trends), what)
	case counts["baseline"] > 0:
		return fmt.Sprintf("There are no control limits yet: a baseline takes %d nights over the same questions, with the same judge and settings.", history.BaselineNights)
	}
	return fmt.Sprintf("No %s can be watched: the nights of its baseline are all alike, or this run has no value.", what)
}

// whatMoved says which metrics signal, for the verdict.
func whatMoved(data *pageData) []finding {
	if data.trends == nil {
		return nil
	}
	moved := movedInWords(data.trends.Trends)
	if len(data.trends.Systems) > 0 {
		if moved = movedInWords(data.trends.Systems); moved != "" {
			moved += " in " + inSentence(data.trends.Trends[0].Label)
		}
	}
	if moved == "" {
		return nil
	}
	return []finding{{{Text: "Against "}, {"the nights before", "#history"}, {Text: ", " + moved + "."}}}
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

func historyNotes(data *pageData) []string {
	past := data.options.Past
	ends := datesOf(past.Nights[0].At, past.Nights[len(past.Nights)-1].At)
	scope := fmt.Sprintf("%s from %s to %s", Plural(int64(len(past.Nights)), "run", "runs"), ends[0], ends[1])
	notes := []string{scope + "."}
	if len(past.Nights) > shownNights {
		notes = append(notes, fmt.Sprintf("Charts show the last %d; baselines are of all.", shownNights))
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

// historyHow says how the charts are made and read.
func historyHow(metrics int) []string {
	how := []string{
		fmt.Sprintf("The first %d nights of a baseline say what is usual: their mean is the target, and how far one night is from the next the standard deviation σ of a night "+
			"(mean moving range / 1.128). Other questions, documents, settings or versions, another model or prompt begin a new baseline.", history.BaselineNights),
		"EWMA is a mean in which the last night weighs 0.2 and those before less and less; its limits are 2.86 standard deviations of that mean (Roberts 1959; Lucas and Saccucci 1990). " +
			"CUSUM adds up how far nights are beyond 0.5 σ above the target, and below it, and signals from 5 σ on (Page 1954). A change point is where one shift explains the nights of a baseline best, " +
			"shown if Pettitt's test (1979) has p < 0.05.",
		"Intervals say how far the value may be from that over all questions like these; they belong to each night alone. Nights over the same questions share that error, so limits are narrower. " +
			"Whether two runs differ over the same questions is for ibid compare.",
	}
	alarm := "While nothing happens, EWMA signals about once in 370 nights and CUSUM about once in 465"
	if metrics > 1 {
		alarm += fmt.Sprintf(", for each of the %d metrics", metrics)
	}
	return append(how, alarm+".")
}
