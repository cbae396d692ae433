package report

import (
	"io"
	"strings"
	"time"

	"ibid/annotations/history"
	"ibid/dataset/runs"
	"ibid/report/doc"
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

// section are the runs, then each metric over them: a new table where numbers stop meaning
// the same.
func (h *History) section() doc.Section {
	out := h.Runs.blocks()
	for _, s := range h.Series {
		name := s.Metric
		if s.System != "" {
			name += ", system " + s.System
		}
		out = append(out, doc.Heading{Text: doc.T(name)})
		for _, g := range s.Segments {
			t := doc.Table{Columns: []doc.Column{{Name: "date"}, {Name: "run"}, {Name: "value", Number: true}, {Name: "± se", Number: true}}}
			if len(g.Why) > 0 {
				t.Caption = "changed " + strings.Join(g.Why, ", ")
			}
			for _, n := range g.Nights {
				t.Rows = append(t.Rows, []doc.Cell{doc.C(date(n.At)), doc.C(n.Run), doc.C(numberOf(n.Value)), doc.C(optional(n.SE.Pointer()))})
			}
			out = append(out, t)
		}
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
