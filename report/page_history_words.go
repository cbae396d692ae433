package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"ibid/annotations"
	"ibid/metrics"
)

// trendWord is the state of the last night.
func trendWord(nights []trendNight, d metrics.Definition) Word {
	n := &nights[len(nights)-1]
	g := n.group
	switch {
	case n.signals() && n.rose():
		return Word{"rose", "rose", "The nights are higher than those of the baseline, by more than chance explains.", signalTone(d.Direction, metrics.HigherIsBetter)}
	case n.signals():
		return Word{"fell", "fell", "The nights are lower than those of the baseline, by more than chance explains.", signalTone(d.Direction, metrics.LowerIsBetter)}
	case !n.Value.Defined:
		return Word{"undefined", "undefined in this run", "This run has no value.", Neutral}
	case g.Complete && !g.Ready && n.unlike() > 0:
		return Word{"higher", "higher", "The nights of the baseline are all alike, and this one is higher.", unlikeTone(d.Direction, metrics.HigherIsBetter)}
	case g.Complete && !g.Ready && n.unlike() < 0:
		return Word{"lower", "lower", "The nights of the baseline are all alike, and this one is lower.", unlikeTone(d.Direction, metrics.LowerIsBetter)}
	case g.Complete && !g.Ready:
		return Word{"alike", "no limits", "The nights of the baseline are all alike, so nothing says how far chance moves a night.", Neutral}
	case !n.Watched:
		short := fmt.Sprintf("baseline: %d of %d nights", g.Baseline.N, annotations.BaselineNights)
		return Word{"baseline", short, "The first nights say what is usual; later ones are compared with them.", Neutral}
	}
	return Word{"within", "within limits", "The last nights are where those of the baseline were, as far as the charts tell.", Good}
}

// signalTone is how bad a move is of a metric, if it is one towards what would be
// better in the given direction.
func signalTone(d, towards metrics.Direction) Tone {
	switch d {
	case metrics.Neutral:
		return Warn
	case towards:
		return Note
	}
	return Bad
}

// unlikeTone is signalTone of what no chart can test.
func unlikeTone(d, towards metrics.Direction) Tone {
	if tone := signalTone(d, towards); tone != Bad {
		return tone
	}
	return Warn
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
		case n.Value.Defined:
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
		case !n.Up.Defined:
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
func movedInWords(trends []Trend) string {
	var parts []string
	for _, way := range []string{"fell", "rose"} {
		var names []string
		for _, t := range trends {
			if t.Word.Code == way {
				names = append(names, strings.ToLower(t.Label[:1])+t.Label[1:])
			}
		}
		if len(names) > 0 {
			parts = append(parts, list(names)+" "+way)
		}
	}
	return strings.Join(parts, "; ")
}

// stateInWords is what the charts say together.
func stateInWords(trends []Trend) string {
	if moved := movedInWords(trends); moved != "" {
		return "Against the nights before, " + moved + "."
	}
	counts := make(map[string]int)
	for _, t := range trends {
		counts[t.Word.Code]++
	}
	switch within := counts["within"]; {
	case within == len(trends) && within == 1:
		return "No signal: the metric is within its limits."
	case within == len(trends):
		return fmt.Sprintf("No signal: all %d metrics are within their limits.", within)
	case within > 0:
		return fmt.Sprintf("No signal: %d of %d metrics are within their limits, the others have no limits or no value.", within, len(trends))
	case counts["baseline"] > 0:
		return fmt.Sprintf("There are no control limits yet: a baseline takes %d nights over the same questions, with the same judge and settings.", annotations.BaselineNights)
	}
	return "No metric can be watched: the nights of its baseline are all alike, or this run has no value."
}

// sayHistory puts signals into the verdict.
func (b *pageBuilder) sayHistory() {
	if moved := movedInWords(b.page.History.Trends); moved != "" {
		b.page.Lines = append(b.page.Lines, Finding{{Text: "Against "}, {"the nights before", "#history"}, {Text: ", " + moved + "."}})
	}
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

// historyNotes say what is not shown.
func (b *pageBuilder) historyNotes() []string {
	past := b.options.Past
	ends := datesOf(past.Nights[0].At, past.Nights[len(past.Nights)-1].At)
	scope := fmt.Sprintf("%s from %s to %s", plural(int64(len(past.Nights)), "run", "runs"), ends[0], ends[1])
	if len(b.systems) > 1 {
		scope += ", all systems pooled"
	}
	notes := []string{scope + "."}
	if len(past.Nights) > shownNights {
		notes = append(notes, fmt.Sprintf("Charts show the last %d; baselines are of all.", shownNights))
	}
	if n := len(b.systems); n > shownSystems {
		notes = append(notes, fmt.Sprintf("By system, the first %d of %d are shown.", shownSystems, n))
	}
	if past.Older > 0 {
		notes = append(notes, fmt.Sprintf("%s before these were not looked at.", plural(int64(past.Older), "run", "runs")))
	}
	for _, l := range past.LeftOut {
		notes = append(notes, leftOutInWords(l))
	}
	return notes
}

// namedRuns is how many runs a note names.
const namedRuns = 3

func leftOutInWords(l annotations.LeftOut) string {
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
			"(mean moving range / 1.128). Other questions, documents, settings or versions, another model or prompt begin a new baseline.", annotations.BaselineNights),
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
