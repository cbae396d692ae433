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
	Schema string                      `json:"schema"`
	Title  string                      `json:"title"`
	Runs   runs.ListOf[listedRun]      `json:"runs"`
	Series runs.ListOf[history.Series] `json:"series"`
}

func (h *History) asJSON() any { return historyJSON{"ibid.history/v2", h.Title, h.Runs.Runs, h.Series} }
