package report

import (
	"io"
	"strings"
	"time"

	"ibid/annotations/history"
	"ibid/dataset/runs"
)

// A History is the view model of runs over time.
type History struct {
	Title  string
	Runs   *RunList
	Series []history.Series
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
			p.line(changedText(g))
		}
		t := &table{header: []string{"date", "run", "value", "± se"}, right: 2}
		for _, n := range g.Nights {
			t.rows = append(t.rows, []string{date(n.At), CleanLine(n.Run), numberOf(n.Value), optional(n.SE.Pointer())})
		}
		p.table(t)
	}
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02") }

// changedText says what is not as in the segment before.
func changedText(g *history.Segment) string {
	return "changed " + CleanLine(strings.Join(g.Why, ", "))
}

type historyJSON struct {
	Schema string                 `json:"schema"`
	Title  string                 `json:"title"`
	Runs   runs.ListOf[listedRun] `json:"runs"`
	Series []seriesJSON           `json:"series"`
}

type seriesJSON struct {
	Metric   string        `json:"metric"`
	System   string        `json:"system"`
	Segments []segmentJSON `json:"segments"`
}

type segmentJSON struct {
	Changed []string        `json:"changed"`
	Nights  []history.Night `json:"nights"`
}

func (h *History) asJSON() any {
	out := historyJSON{Schema: "ibid.history/v2", Title: h.Title, Runs: h.Runs.Runs, Series: []seriesJSON{}}
	for _, s := range h.Series {
		j := seriesJSON{Metric: s.Metric, System: s.System, Segments: []segmentJSON{}}
		for _, g := range s.Segments {
			j.Segments = append(j.Segments, segmentJSON{append([]string{}, g.Why...), g.Nights})
		}
		out.Series = append(out.Series, j)
	}
	return out
}
