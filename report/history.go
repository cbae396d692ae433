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
	out.Blocks = h.blocks("")
	var last *history.Line
	for _, s := range h.Series {
		if l := &s.Runs[len(s.Runs)-1]; last == nil || l.At.After(last.At) {
			last = l
		}
	}
	if last != nil {
		out.Blocks = append(out.Blocks, doc.Para{Text: doc.T("ibid show " + ShellWord(filepath.Join(h.Dir, last.Run)) + "  # the last")})
	}
	return out
}

// blocks are those of the series. Runs are linked to their pages, if these have a name.
func (h *History) blocks(page string) (out []doc.Block) {
	for _, s := range h.Series {
		out = append(out, s.blocks(page)...)
	}
	if h.Runs == 0 {
		out = append(out, doc.Para{Text: doc.T(fmt.Sprintf("No runs in %s. Make one: ibid run DATASET", h.Dir))})
	}
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

// WriteIndex writes the page over the runs of a folder, which leads to the pages of runs.
func (h *History) WriteIndex(w io.Writer, version string) error {
	p := doc.Page{Title: h.Dir, Version: version, Sections: []doc.Section{{ID: "runs", Title: h.count(), Name: "Runs", Top: true, Blocks: h.blocks(indexFile)}}}
	return p.Write(w)
}

// blocks are the metrics of the series, each by system in a chart and in a table. Runs are
// linked to their pages, if these have a name.
func (s *Series) blocks(page string) (out []doc.Block) {
	names, systems := metricsOf(s.Account)
	for k, name := range names {
		if d, isMetric := metrics.Lookup(name); isMetric && len(s.Runs) > 1 {
			out = append(out, s.chart(&d, systems[name]))
		}
		out = append(out, seriesTable(s.Account, name, systems[name], k == 0, page))
	}
	return out
}

// indexFile is the page of a run beside the index.
const indexFile = "index.html"

// metricsOf are the metrics of a series, in the order in which they are shown, one without a
// name if it has none; and of each, the systems that have values, sorted.
func metricsOf(s *history.Account) (names []string, systems map[string][]string) {
	systems = make(map[string][]string)
	for _, r := range s.Lines() {
		if !slices.Contains(names, r.Metric) {
			names = append(names, r.Metric)
		}
		if at, seen := slices.BinarySearch(systems[r.Metric], r.System); !seen {
			systems[r.Metric] = slices.Insert(systems[r.Metric], at, r.System)
		}
	}
	if len(names) == 0 {
		names = []string{""}
	}
	return names, systems
}

// How many systems have a column, and how many runs a line.
const (
	seriesSystems = 4
	seriesRuns    = 60
)

// seriesTable is a line for each run, the newest first: its gates, a metric by system, and what
// changed. A page, if it has a name, is linked.
func seriesTable(s *history.Account, metric string, systems []string, first bool, page string) doc.Table {
	caption := clip(s.Name, 40)
	if len(s.Runs) > 1 {
		caption += fmt.Sprintf(", %d runs", len(s.Runs))
	}
	if len(s.Runs) > seriesRuns {
		caption += fmt.Sprintf(", the last %d", seriesRuns)
	}
	if metric != "" {
		caption += ": " + shortName(metric)
	}
	switch base := clip(s.Base, 40); {
	case !first || base == "":
	case s.Gone:
		caption += "; base " + base + " is gone: --accept RUN names another"
	case s.Accepted != nil:
		caption += "; base " + base + ", accepted " + minute(s.Accepted.At)
	default:
		caption += "; base " + base
	}
	shown := s.Runs[max(0, len(s.Runs)-seriesRuns):]
	if n := len(systems) - seriesSystems; n > 0 {
		caption += fmt.Sprintf("; %s: --json", Plural(int64(n), "more system", "more systems"))
	}
	t := doc.Table{Caption: caption}
	for i := range slices.Backward(shown) {
		r := &shown[i]
		name := doc.Span{Text: clip(r.Run, 40)}
		if page != "" {
			name.Link = url.PathEscape(r.Run) + "/" + page
		}
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
		t.Row()
		t.Add(doc.Column{Name: "begun (UTC)", Keep: 1}, doc.C(minute(r.At)))
		t.Add(doc.Column{Name: "run"}, doc.Cell{Text: doc.Text{name}})
		t.Add(doc.Column{Name: "gates"}, doc.Cell{Text: doc.Text{{Text: string(r.Gates), Tone: gateWords[r.Gates].Tone}}})
		for _, system := range systems[:min(len(systems), seriesSystems)] {
			value := "–"
			if v := values[system]; v != nil {
				value = numberOrDash(v.Estimate)
			}
			t.Add(doc.Column{Name: cmp.Or(clip(system, 20), "value"), Number: true}, doc.C(value))
		}
		t.Add(doc.Column{Name: "change"}, doc.C(fewChanges(append(worse, better...))))
		t.Add(doc.Column{Name: "not as before", Keep: 2}, doc.C(clip(strings.Join(r.Marks, ", "), 200)))
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
		text = clip(v.System, 20) + " " + text
	}
	if v.Since != r.Run {
		text += ", since " + clip(v.Since, 40)
	}
	return text
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func (h *History) asJSON() any {
	out := struct {
		Schema string                        `json:"schema"`
		Series runs.ListOf[*history.Account] `json:"series"`
	}{Schema: "ibid.history/v2"}
	for _, s := range h.Series {
		out.Series = append(out.Series, s.Account)
	}
	return out
}

// shownSystems is how many systems a chart has.
const shownSystems = 8

// historySection shows how the run's series went up to it; nil if it begins a series.
func historySection(data *pageData) *doc.Section {
	past := data.options.Past
	if past == nil || data.several() || len(past.Runs) < 2 {
		return nil
	}
	return docSection("history", "History", past.blocks(""))
}

// chart draws a metric over the last runs, a line for each system.
func (s *Series) chart(d *metrics.Definition, systems []string) doc.Chart {
	nights := s.Nights[max(0, len(s.Nights)-seriesRuns):]
	systems = systems[:min(len(systems), shownSystems)]
	var values []float64
	for i := range nights {
		for _, system := range systems {
			values = append(values, rangeOf(nights[i].Macro(d.Name, system))...)
		}
	}
	a := axisOf(d, values)
	c := doc.Chart{Caption: fmt.Sprintf("%s · %s, over time", shortName(d.Name), s.Name), Low: number(a.lo), High: number(a.hi)}
	for i := range nights {
		c.Labels = append(c.Labels, minute(nights[i].Manifest.Timings.Started))
		if i > 0 && len(nights[i].Changed) > 0 {
			c.Breaks = append(c.Breaks, i)
		}
	}
	for _, system := range systems {
		line := doc.Series{Name: system}
		for i := range nights {
			var p *doc.Strip
			if r := nights[i].Macro(d.Name, system); r != nil {
				p = strip(a, fmt.Sprintf("%s, %s %s:", system, minute(nights[i].Manifest.Timings.Started), nights[i].Manifest.ID), r, nil)
			}
			line.Points = append(line.Points, p)
		}
		c.Series = append(c.Series, line)
	}
	return c
}

// namedRuns is how many changes of a run are named.
const namedRuns = 3
