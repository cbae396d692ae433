package report

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// WriteIndex writes the page over the runs of a folder: a line of the first number that
// matters for each system, and a table of the runs, the newest first.
func (l *RunList) WriteIndex(w io.Writer, version string) error {
	newest := slices.Clone(l.Runs)
	slices.Reverse(newest)
	out := l.charts()
	if len(newest) == 0 {
		out = append(out, doc.Para{Text: doc.T("There is no finished run here: ibid run DATASET makes one.")})
	} else {
		table := runTable(newest, func(r *listedRun) string { return url.PathEscape(r.folder) + "/index.html" })
		table.Caption = "Runs, the newest first"
		out = append(out, table)
	}
	title := Plural(int64(len(newest)), "run", "runs")
	p := doc.Page{Title: line(l.Dir, 80), Version: version, Sections: []doc.Section{{ID: "runs", Title: title, Name: "Runs", Top: true, Blocks: out}}}
	return p.Write(w)
}

// charts draw the first number that matters of each system, a chart for the runs of a series
// by one judge, in the order in which their first runs were begun.
func (l *RunList) charts() (charts []doc.Block) {
	bySeries := make(map[string][]listedRun)
	var order []string
	for _, r := range l.Runs {
		if len(r.systems) == 0 {
			continue
		}
		if bySeries[r.series] == nil {
			order = append(order, r.series)
		}
		bySeries[r.series] = append(bySeries[r.series], r)
	}
	for _, name := range order {
		var trends []trend
		of := bySeries[name]
		d, _ := metrics.Lookup(of[0].Metric)
		for k, r := range of {
			for _, row := range r.systems {
				system := line(row.System, 60)
				i := slices.IndexFunc(trends, func(t trend) bool { return t.name == system })
				if i < 0 {
					i = len(trends)
					t := trend{name: system, metric: d}
					for _, r := range of {
						t.nights = append(t.nights, trendNight{run: r.ID, at: r.Started})
					}
					trends = append(trends, t)
				}
				trends[i].nights[k].row = row
			}
		}
		charts = append(charts, trendBlocks(line(label(d.Name)+" · "+strings.TrimSuffix(name, ", "+d.Name), 120), trends)[0])
	}
	return charts
}

// mostAsked is how many answers a page of those that are asked for has at most.
const mostAsked = 500

// WriteAnswers writes a page of the answers of a run that have all words of a query, at most
// [mostAsked] of them, those that fail first, in full: somebody must serve it.
func WriteAnswers(ctx context.Context, w io.Writer, o PageOptions, query string, run RunData) error {
	data := newPageData(o, []RunData{run})
	fits, err := fits(ctx, query, &run)
	if err != nil {
		return err
	}
	survey, err := readAnswers(data, mostAsked, fits)
	if err == nil {
		err = packAnswers(ctx, data)
	}
	if err != nil {
		return err
	}
	found := survey.fitting
	if n := int64(len(data.answers)); n < found {
		data.left = fmt.Sprintf("The first %s of %s answers, those that fail first: search for the others.", Thousands(n), Thousands(found))
	}
	s := answersSection(data)
	s.Top, s.Name, s.Title = true, "Answers", Plural(found, "answer", "answers")+" of "+line(run.Manifest.ID, 80)
	s.Blocks = append([]doc.Block{doc.Form{Action: "rows", Button: "search", Fields: []doc.Field{{Label: "search all answers of the run", Name: "q", Value: query}}}}, s.Blocks...)
	p := doc.Page{Title: line(run.Manifest.ID, 80), Version: o.Version, Served: true, Links: o.Links, Sections: []doc.Section{*s}, Packs: data.packs}
	return p.Write(w)
}

// A RunList is the view model of the runs of a folder.
type RunList struct {
	Dir  string
	Runs []listedRun
}

type listedRun struct {
	ID       string       `json:"id"`
	Started  time.Time    `json:"started"`
	Rows     int64        `json:"rows"`
	Errors   int64        `json:"error_rows"`
	Systems  int          `json:"systems"`
	Judge    string       `json:"judge"`
	Metric   string       `json:"metric"` // the first that matters; "" if none is defined
	Value    *float64     `json:"value"`  // over all rows
	Low      *float64     `json:"ci_low"`
	High     *float64     `json:"ci_high"`
	Gates    int          `json:"gates"`
	Passed   int          `json:"gates_passed"`
	Verdict  runs.Verdict `json:"verdict"` // of the gates; "" without gates
	Baseline string       `json:"baseline"`

	folder  string             // its name in the folder of the list
	series  string             // runs that are points of one line
	systems []*runs.SummaryRow // the first number that matters of each
}

// Add appends the run in dir, which is one of a series.
func (l *RunList) Add(dir, series string, m *runs.Manifest, summary []runs.SummaryRow, gates []runs.GateResult) {
	s := NewSummary(m, summary, gates)
	r := listedRun{
		ID: m.ID, Started: m.Timings.Started, Rows: m.Rows, Errors: m.Errors, Systems: len(s.systems()), Judge: m.Judge.Kind,
		Gates: len(gates), Baseline: m.Baseline, folder: filepath.Base(dir),
	}
	for i := range s.Blocks { // all systems together come first
		b := &s.Blocks[i]
		if b.Slice != "" {
			continue
		}
		if lead := leadOf(func(name string) bool { return b.line(name) != nil }); len(lead) > 0 {
			v := &b.line(lead[0]).Macro
			r.Metric, r.Value, r.Low, r.High = lead[0], v.Estimate, v.Low, v.High
		}
		break
	}
	r.series = series + ", " + m.Judge.Kind + ", " + r.Metric
	for _, b := range s.systems() {
		if v := b.line(r.Metric); v != nil && v.Macro.Estimate != nil {
			r.systems = append(r.systems, &v.Macro)
		}
	}
	count := countGates(gates)
	r.Passed, r.Verdict = int(count[runs.Passed]), count.gravest()
	l.Runs = append(l.Runs, r)
}

// runTable has a line for each run; link leads to its page.
func runTable(list []listedRun, link func(r *listedRun) string) doc.Table {
	t := doc.Table{Columns: []doc.Column{
		{Name: "run"},
		{Name: "begun (UTC)"},
		{Name: "rows", Number: true, Keep: 1},
		{Name: "systems", Number: true, Keep: 3},
		{Name: "metric"},
		{Name: "value", Number: true},
		{Name: "interval", Number: true, Keep: 1},
		{Name: "gates", Keep: 2},
		{Name: "baseline", Keep: 3},
	}}
	for i := range list {
		r, gates, baseline := &list[i], doc.Cell{}, ""
		if r.Gates > 0 {
			gates.Text = doc.Text{{Text: fmt.Sprintf("%d/%d %s", r.Passed, r.Gates, r.Verdict), Tone: gateWords[r.Verdict].tone.doc()}}
		}
		if r.Baseline != "" {
			baseline = clipLine(filepath.Base(r.Baseline), 30)
		}
		t.Rows = append(t.Rows, []doc.Cell{
			{Text: doc.Text{{Text: clipLine(r.ID, 40), Link: link(r)}}},
			doc.C(r.Started.UTC().Format("2006-01-02 15:04")), doc.C(Thousands(r.Rows)), doc.C(Thousands(int64(r.Systems))),
			doc.C(shortName(r.Metric)), doc.C(numberOrDash(r.Value)), doc.C(interval(r.Low, r.High)), gates, doc.C(baseline),
		})
	}
	return t
}
