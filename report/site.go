package report

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"ibid/annotations/history"
	"ibid/metrics"
	"ibid/report/doc"
)

// A SiteOptions say how pages over several runs are made.
type SiteOptions struct {
	Version string // of the program
	Served  bool   // somebody answers: comparing and answers that are asked for work
}

// WriteIndex writes the page over the runs of a folder: a line of the first number that
// matters for each system, and a table of the runs, the newest first.
func (l *RunList) WriteIndex(w io.Writer, o SiteOptions) error {
	newest := slices.Clone(l.Runs)
	slices.Reverse(newest)
	out := l.charts()
	table := runTable(newest, func(r *listedRun) string { return runLink(r.folder, o.Served) })
	table.Caption = "Runs, the newest first"
	if len(newest) == 0 {
		out = append(out, doc.Para{Text: doc.T("There is no finished run here: ibid run DATASET makes one.")})
	} else {
		out = append(out, table)
	}
	if o.Served {
		var runs []doc.Option
		for _, r := range newest {
			runs = append(runs, doc.Option{Value: r.folder, Text: line(r.ID, 60)})
		}
		if len(runs) > 1 {
			out = append(out, doc.Form{Action: "compare", Button: "compare", Fields: []doc.Field{
				{Label: "base", Name: "run", Options: runs, Value: runs[1].Value}, {Label: "with", Name: "run", Options: runs},
			}})
		}
	}
	title := Plural(int64(len(newest)), "run", "runs")
	p := doc.Page{Title: line(l.Dir, 80), Version: o.Version, Served: o.Served, Sections: []doc.Section{{ID: "runs", Title: title, Name: "Runs", Top: true, Blocks: out}}}
	return p.Write(w)
}

// runLink is the address of the page of a run in a folder, from the index on.
func runLink(folder string, served bool) string {
	if served {
		return "run/" + url.PathEscape(folder) + "/"
	}
	return url.PathEscape(folder) + "/index.html"
}

// charts draw the first number that matters of each system, a chart for the runs over one
// dataset by one judge, in the order in which their first runs were begun.
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
						t.nights = append(t.nights, trendNight{Night: &history.Night{Run: r.ID, At: r.Started}})
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
