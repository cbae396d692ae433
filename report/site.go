package report

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/report/doc"
)

// A SiteOptions say how pages over several runs are made.
type SiteOptions struct {
	Version string // of the program
	Served  bool   // somebody answers: search, comparing and rows that are asked for work
}

// An indexPage is the view model of the page over the runs of a folder.
type indexPage struct {
	SiteOptions
	Style     template.CSS
	StyleHash string
	Title     string
	Home      string        // the index; "" on it
	Charts    template.HTML // of each dataset and judge
	Runs      []indexRun
	Query     string
	Found     *foundRows // nil unless somebody searched
}

type indexRun struct {
	listedRun
	Link     string
	Begun    string
	Shown    string
	Count    string
	Metric   string
	Number   string
	Interval string
	Gate     string
	Tone     tone
	Against  string
	Folder   string
}

// WriteIndex writes the page over the runs of a folder: a line of the first number that
// matters for each system, and a table of the runs, the newest first. It needs no script.
func (l *RunList) WriteIndex(w io.Writer, o SiteOptions) error {
	p := newIndexPage(o, l.Dir)
	var charts strings.Builder
	if err := doc.WriteHTML(&charts, l.charts()...); err != nil {
		return err
	}
	p.Charts = template.HTML(charts.String())
	for k := len(l.Runs) - 1; k >= 0; k-- {
		p.Runs = append(p.Runs, l.Runs[k].shown(o.Served))
	}
	return p.write(w)
}

func newIndexPage(o SiteOptions, title string) *indexPage {
	style := strings.TrimSpace(pageStyle)
	return &indexPage{SiteOptions: o, Style: template.CSS(style), StyleHash: hashOf(style), Title: line(title, 80)}
}

func (p *indexPage) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := pageTemplates.ExecuteTemplate(out, "index", p); err != nil {
		return err
	}
	return out.Flush()
}

// shown is a run as the table has it.
func (r listedRun) shown(served bool) indexRun {
	out := indexRun{
		listedRun: r, Link: runLink(r.folder, served), Folder: r.folder, Shown: line(r.ID, 60), Begun: r.Started.UTC().Format("2006-01-02 15:04"), Count: Thousands(r.Rows),
		Number: numberOrDash(r.Value), Interval: interval(r.Low, r.High), Gate: "no gates", Tone: toneNeutral,
	}
	if r.Metric != "" {
		out.Metric = label(r.Metric)
	}
	if r.Gates > 0 {
		out.Gate, out.Tone = fmt.Sprintf("%d of %d passed", r.Passed, r.Gates), gateWords[r.Verdict].tone
		if r.Verdict == runs.NoVerdict {
			out.Gate += ", no verdict"
		}
	}
	if r.Baseline != "" {
		out.Against = line(filepath.Base(r.Baseline), 40)
	}
	return out
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
		of := bySeries[name]
		d, _ := metrics.Lookup(of[0].Metric)
		c := doc.Chart{Caption: line(label(d.Name)+" · "+strings.TrimSuffix(name, ", "+d.Name), 120)}
		var names []string
		var values []float64
		for _, r := range of {
			c.Labels = append(c.Labels, date(r.Started))
			for _, v := range r.systems {
				names, values = append(names, v.name), append(values, v.value)
			}
		}
		a := axisOf(d, values)
		c.Low, c.High = number(a.lo), number(a.hi)
		for _, system := range distinct(names) {
			s := doc.Series{Name: line(system, 60), Points: make([]*doc.Strip, len(of))}
			for k, r := range of {
				for _, v := range r.systems {
					if v.name == system {
						s.Points[k] = &doc.Strip{At: a.at(v.value), Label: s.Name + ", " + c.Labels[k] + " " + line(r.ID, 60) + ": " + number(v.value)}
					}
				}
			}
			c.Series = append(c.Series, s)
		}
		charts = append(charts, c)
	}
	return charts
}

// foundRows are the rows that a search over all runs found.
type foundRows struct {
	Runs []foundRun
	Rows int64
}

type foundRun struct {
	Name, Link string
	Count      string
	Left       string // how many are not listed
	Rows       []foundRow
	Failed     string // why the run could not be searched
}

type foundRow struct {
	ID, System, Question, Link string
	Problem                    word
}

// foundOfRun is how many rows a search lists of a run.
const foundOfRun = 10

// A Search is for rows over several runs.
type Search struct {
	Query string
	found foundRows
}

// WritePage writes the page of what was found.
func (p *Search) WritePage(w io.Writer, o SiteOptions, title string) error {
	page := newIndexPage(o, title)
	page.Home, page.Query, page.Found = ".", p.Query, &p.found
	return page.write(w)
}

// Run finds the rows of a run that have all words, the worst first.
func (p *Search) Run(ctx context.Context, data RunData, folder string) {
	out := foundRun{Name: line(data.Manifest.ID, 60), Link: runLink(folder, true) + "rows?q=" + escapeLink(p.Query)}
	defer func() { p.found.Runs = append(p.found.Runs, out) }()
	d, err := readAsked(ctx, PageOptions{}, RowsAsked{Page: 1, Words: wordsOf(p.Query)}, data, foundOfRun, false)
	if err != nil {
		out.Failed = err.Error()
		return
	}
	found := d.asked
	p.found.Rows += found.found
	out.Count = Plural(found.found, "row", "rows")
	r := d.results[0]
	for _, c := range found.rows {
		n, ok := d.find(c.run, c.row)
		if !ok {
			continue
		}
		row := &d.rows[n]
		out.Rows = append(out.Rows, foundRow{
			line(r.id[row.index], 60), line(r.system[row.index], 60), row.question, runLink(folder, true) + "rows?row=" + escapeLink(r.key(row.index)) + "#row=" + r.key(row.index),
			problemWords[row.problem],
		})
	}
	if left := found.found - int64(len(out.Rows)); left > 0 {
		out.Left = Thousands(left)
	}
}

// pageNav is where links to other pages stand on a page.
const pageNav = `<nav aria-label="Sections">`

// errOtherVersion says that another version made a page.
var errOtherVersion = errors.New("another version of ibid made the page")

// AddLinks writes a page that [WritePage] made, with links to other pages. A page that this
// version did not make is an error, and nothing is written.
func AddLinks(w io.Writer, made []byte, links ...Link) error {
	head, rest, found := bytes.Cut(made, []byte(pageNav))
	policy := bytes.ReplaceAll(head, []byte("&#43;"), []byte("+")) // as a hash stands in an attribute
	if !found || !bytes.Contains(policy, []byte(hashOf(strings.TrimSpace(pageScript)))) || !bytes.Contains(policy, []byte(hashOf(strings.TrimSpace(pageStyle)))) {
		return errOtherVersion
	}
	var more strings.Builder
	if err := pageTemplates.ExecuteTemplate(&more, "links", links); err != nil {
		return err
	}
	for _, part := range [][]byte{head, []byte(pageNav), []byte(more.String()), rest} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// ServedPolicy is the Content-Security-Policy that a server of pages sends: the style and
// the script of this version and nothing else, whatever is in a page.
func ServedPolicy() string {
	return "default-src 'none'; script-src '" + hashOf(strings.TrimSpace(pageScript)) + "'; style-src '" + hashOf(strings.TrimSpace(pageStyle)) +
		"'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
}
