// Package report shows what files and statistics say: finished runs as text,
// JSON, CSV and Markdown. It recomputes nothing.
//
// A view model decides every number and string first; a renderer only lays out.
package report

import (
	"fmt"
	"io"
	"slices"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A Summary is the view model of one run's numbers.
type Summary struct {
	Run    *runs.Manifest
	Title  string // the run in words
	Blocks []summaryBlock
	Gates  []runs.GateResult

	Calibration *Calibration // of the run's judge, nil if there is none

	Took map[string]compare.Took // what answers took, by system; nil if it is not to be shown

	rows []runs.SummaryRow
	by   string // the field that [Summary.By] grouped by
}

// A summaryBlock is the numbers of one system and slice.
type summaryBlock struct {
	Title         string
	System, Slice string
	Lines         []summaryLine
}

// A summaryLine is one metric: its macro value and, where it has one, its micro value.
type summaryLine struct {
	Metric       metrics.Definition
	Macro, Micro runs.SummaryRow
	HasMicro     bool
	Count        bool
	Notes        []string // what a reader must know of it: footnotes
}

// NewSummary makes the view model. Metrics that are undefined in all rows of all
// systems are left out of the blocks, and so is one that people see another for.
func NewSummary(m *runs.Manifest, rows []runs.SummaryRow, gates []runs.GateResult) *Summary {
	s := &Summary{Run: m, Gates: gates, rows: rows}
	defs := slices.Concat(metrics.ByGroup(metrics.Definitions()), metrics.CountDefinitions())
	index := make(map[[4]string]int, len(rows))
	for i, r := range rows {
		index[[4]string{r.System, r.Slice, r.Metric, r.Agg}] = i
	}
	for _, group := range groupsOf(rows) {
		b := summaryBlock{System: group[0], Slice: group[1], Title: CleanLine(blockTitle(group[0], group[1]))}
		for k, d := range defs {
			i, ok := index[[4]string{group[0], group[1], d.Name, runs.Macro}]
			if !ok || rows[i].N == 0 && rows[i].Reason == "" || hidden(d) {
				continue
			}
			line := summaryLine{Metric: d, Macro: rows[i], Count: k >= metrics.NumMetrics}
			if j, ok := index[[4]string{group[0], group[1], d.Name, runs.Micro}]; ok {
				line.Micro, line.HasMicro = rows[j], true
			}
			line.Notes = notesOf(&line)
			b.Lines = append(b.Lines, line)
		}
		s.Blocks = append(s.Blocks, b)
	}
	s.Title = s.title()
	return s
}

// groupsOf lists the systems and slices in file order. Where there is only one
// system, the pooled groups would repeat it and are left out.
func groupsOf(rows []runs.SummaryRow) [][2]string {
	var all [][2]string
	systems := make(map[string]bool)
	for _, r := range rows {
		g := [2]string{r.System, r.Slice}
		if len(all) == 0 || all[len(all)-1] != g {
			all = append(all, g)
		}
		if r.System != "" {
			systems[r.System] = true
		}
	}
	if len(systems) == 1 {
		all = slices.DeleteFunc(all, func(g [2]string) bool { return g[0] == "" })
	}
	return all
}

func blockTitle(system, slice string) string {
	title := "system " + system
	if system == "" {
		title = "all systems"
	}
	if slice != "" {
		title += ", " + slice
	}
	return title
}

func (s *Summary) title() string {
	m := s.Run
	title := fmt.Sprintf("run %s: %s rows, %s citations", CleanLine(m.ID), Thousands(m.Rows), Thousands(m.Citations))
	if m.Errors > 0 {
		title += fmt.Sprintf(", %s error rows", Thousands(m.Errors))
	}
	if m.Judge.Baseline {
		title += ", judge: " + CleanLine(m.Judge.Kind) + " (a baseline)"
	}
	return title
}

// TextOptions say how text is laid out.
type TextOptions struct {
	All   bool  // every system, slice and count in full
	Style Style // nil for none
}

// A View is what a command prints: text, json, csv or markdown.
type View interface {
	asJSON() any
	writeCSV(w io.Writer) error
	writeTo(p *paper) // text or Markdown
}

// Write renders a view in a format.
func Write(w io.Writer, v View, format string, o TextOptions) error {
	switch format {
	case "json":
		return WriteJSON(w, v.asJSON())
	case "csv":
		return v.writeCSV(w)
	}
	p := &paper{markdown: format == "markdown", all: o.All, style: styleOf(o.Style)}
	v.writeTo(p)
	_, err := io.WriteString(w, p.String())
	return err
}

// styleOf is a style, or none.
func styleOf(s Style) Style {
	if s == nil {
		return plain{}
	}
	return s
}

// A Style emphasises text on a terminal.
type Style = doc.Style

type plain struct{}

func (plain) Bold(s string) string { return s }

func (plain) Dim(s string) string { return s }

func (plain) Red(s string) string { return s }

func (plain) Green(s string) string { return s }

// Write is [Write] of the summary.
func (s *Summary) Write(w io.Writer, format string, o TextOptions) error {
	return Write(w, s, format, o)
}

func (s *Summary) writeCSV(w io.Writer) error { return runs.Summary.WriteCSV(w, s.rows) }

func (s *Summary) writeTo(p *paper) {
	if p.markdown {
		s.writeMarkdown(p)
	} else {
		s.writeText(p)
	}
}
