package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"ibid"
	"ibid/annotations/history"
	"ibid/dataset/runs"
)

// A History is the view model of runs over time.
type History struct {
	Title  string
	Runs   *RunList
	Series []history.Series
}

// Write is [Write] of the history, which can be svg, too.
func (h *History) Write(w io.Writer, format string, o TextOptions) error {
	if format == "svg" {
		return h.writeSVG(w)
	}
	return Write(w, h, format, o)
}

func (h *History) writeCSV(w io.Writer) error {
	var lines []history.Line
	for i := range h.Series {
		lines = append(lines, h.Series[i].Lines()...)
	}
	return history.Lines.WriteCSV(w, lines)
}

func (h *History) writeTo(p *paper) {
	p.title(h.Title)
	h.Runs.writeTo(p)
	for i := range h.Series {
		h.series(p, &h.Series[i])
	}
}

func seriesName(s *history.Series) string {
	if s.System == "" {
		return s.Metric
	}
	return s.Metric + ", system " + CleanLine(s.System)
}

func (h *History) series(p *paper, s *history.Series) {
	p.heading(seriesName(s))
	for i := range s.Segments {
		g := &s.Segments[i]
		if len(g.Why) > 0 {
			p.line(baselineText(g))
		}
		t := &table{header: []string{"date", "run", "value", "± se", "EWMA", "limits", "sums up, down", ""}, right: 2}
		for _, n := range g.Nights {
			sums := ""
			if n.Up.Known() {
				sums = fmt.Sprintf("%.1f, %.1f", n.Up.Value, n.Down.Value)
			}
			t.rows = append(t.rows, []string{
				date(n.At), CleanLine(n.Run), numberOf(n.Value), optional(n.SE.Pointer()), optional(n.EWMA.Pointer()),
				interval(n.Low.Pointer(), n.High.Pointer()), sums, signals(&n),
			})
		}
		p.table(t)
		for _, text := range verdicts(g) {
			p.line(text)
		}
	}
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02") }

func signals(n *history.ChartedNight) string {
	var out []string
	if n.EWMASignal {
		out = append(out, "EWMA")
	}
	if n.CUSUMSignal {
		out = append(out, "CUSUM")
	}
	return strings.Join(out, " ")
}

// likelyChange is the p-value below which a change point is spoken of.
const likelyChange = 0.05

// verdicts are what the charts of a baseline say.
func verdicts(g *history.Segment) []string {
	var out []string
	switch {
	case g.Complete && !g.Ready:
		out = append(out, fmt.Sprintf("no limits: the %s of the baseline are all alike", Plural(g.Baseline.N, "night", "nights")))
	case !g.Ready:
		out = append(out, fmt.Sprintf("no baseline yet: %s so far", Plural(g.Baseline.N, "night", "nights")))
	case g.Alarm != nil:
		way := "fell"
		if g.Alarm.Upward {
			way = "rose"
		}
		out = append(out, fmt.Sprintf("CUSUM: it %s; signal on %s, begun on %s", way, date(g.Nights[g.Alarm.Night].At), date(g.Nights[g.Alarm.Onset].At)))
	}
	if text := changeText(g); text != "" {
		out = append(out, text)
	}
	return out
}

// changeText is the change point of a baseline, "" if it has no likely one.
func changeText(g *history.Segment) string {
	c := g.Change
	if !c.Found || !g.Pettitt.P.Known() || g.Pettitt.P.Value >= likelyChange {
		return ""
	}
	p := "< 0.001" // never 0
	if g.Pettitt.P.Value >= 0.001 {
		p = fmt.Sprintf("= %.3f", g.Pettitt.P.Value)
	}
	return fmt.Sprintf("change point: from %s to %s on %s (Pettitt p %s)", number(c.MeanLeft), number(c.MeanRight), date(g.Nights[c.Index].At), p)
}

// baselineText is why a baseline begins.
func baselineText(g *history.Segment) string {
	return "new baseline: changed " + CleanLine(strings.Join(g.Why, ", "))
}

type historyJSON struct {
	Schema string                 `json:"schema"`
	Title  string                 `json:"title"`
	Runs   runs.ListOf[listedRun] `json:"runs"`
	Series []seriesJSON           `json:"series"`
}

type seriesJSON struct {
	Metric    string        `json:"metric"`
	System    string        `json:"system"`
	Baselines []segmentJSON `json:"baselines"`
}

type segmentJSON struct {
	Changed  []string               `json:"changed"`
	Ready    bool                   `json:"ready"`
	N        int64                  `json:"baseline_nights"`
	Mean     ibid.Number            `json:"mean"`
	Sigma    ibid.Number            `json:"sigma"`
	Nights   []history.ChartedNight `json:"nights"`
	Verdicts []string               `json:"verdicts"`
	Change   *changeJSON            `json:"change_point"`
}

type changeJSON struct {
	Date   string      `json:"date"`
	Before float64     `json:"mean_before"`
	After  float64     `json:"mean_after"`
	P      ibid.Number `json:"pettitt_p"`
}

func (h *History) asJSON() any {
	out := historyJSON{Schema: "ibid.history/v1", Title: h.Title, Runs: h.Runs.Runs, Series: []seriesJSON{}}
	for _, s := range h.Series {
		j := seriesJSON{Metric: s.Metric, System: s.System, Baselines: []segmentJSON{}}
		for i := range s.Segments {
			g := &s.Segments[i]
			k := segmentJSON{
				Changed: append([]string{}, g.Why...), Ready: g.Ready, N: g.Baseline.N, Mean: g.Baseline.Mean, Sigma: g.Baseline.Sigma, Nights: g.Nights,
				Verdicts: append([]string{}, verdicts(g)...),
			}
			if c := g.Change; c.Found {
				k.Change = &changeJSON{date(g.Nights[c.Index].At), c.MeanLeft, c.MeanRight, g.Pettitt.P}
			}
			j.Baselines = append(j.Baselines, k)
		}
		out.Series = append(out.Series, j)
	}
	return out
}
