package report

import (
	"io"
	"time"

	"ibid/annotations/history"
	"ibid/dataset/runs"
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
