package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"ibid/annotations/compare"
	"ibid/annotations/history"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// pastOf is a history of nights, one a day, with these values of char_f1; a value
// that is not a number is undefined.
func pastOf(values ...float64) *Series {
	p := &Series{Account: &history.Account{Name: "night-1"}}
	for i, v := range values {
		m := &runs.Manifest{ID: fmt.Sprintf("night-%d", i+1), Timings: runs.Timings{Started: time.Date(2026, 5, 1+i, 2, 0, 0, 0, time.UTC)}}
		n := history.Night{Listed: runs.Listed{Manifest: m}}
		l := history.Line{Run: m.ID, At: m.Timings.Started}
		if !math.IsNaN(v) {
			for _, system := range []string{"", "alpha", "beta"} {
				n.Summary = append(n.Summary, runs.SummaryRow{
					System: system, Metric: "char_f1", Agg: runs.Macro, Estimate: new(v), Low: new(v - 0.03), High: new(v + 0.03), Level: 0.95, Clusters: 50,
				})
				if system != "" {
					l.Values = append(l.Values, history.Value{Metric: "char_f1", System: system, Estimate: new(v)})
				}
			}
		}
		p.Runs = append(p.Runs, l)
		p.Nights = append(p.Nights, n)
	}
	return p
}

// fall is a history that falls after twelve nights, with another judge before the
// fourth of them.
func fall() *Series {
	values := []float64{0.79, 0.81, 0.8}
	for i := range 9 {
		values = append(values, 0.8+0.01*float64(1-2*(i%2)))
	}
	p := pastOf(append(values, 0.74, 0.73, math.NaN(), 0.75, 0.72, 0.74, 0.72)...)
	p.Nights[3].Changed, p.Runs[3].Marks = []string{"judge"}, []string{"judge"}
	return p
}

func historyPage(t *testing.T, p *Series) *doc.Page {
	t.Helper()
	return harbour().page(t, PageOptions{Past: p})
}

func TestHistory(t *testing.T) {
	text := sectionText(t, historyPage(t, fall()), "history")
	for _, want := range []string{
		"char_f1 · night-1, over time\nalpha  ▇▇▇▇▇▇▇▇▇▇▇▇▆▆·▆▆▆▆\nbeta   ▇",
		"night-1, 19 runs: char_f1\nbegun (UTC)       run       alpha   beta  not as before\n2026-05-19 02:00  night-19  0.720  0.720\n",
		"\n2026-05-15 02:00  night-15      –      –\n",
		"\n2026-05-04 02:00  night-4   0.810  0.810  judge\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the section lacks %q:\n%s", want, text)
		}
	}
	html := writePage(t, historyPage(t, fall()))
	section := html[strings.Index(html, `id="history"`):]
	section = section[:strings.Index(section, "</figure>")]
	if lines, points, breaks := strings.Count(section, `<line x1=`), strings.Count(section, "<circle"), strings.Count(section, `class="break"`); lines != 2*15+2 || points != 2*18 || breaks != 1 {
		t.Errorf("%d lines, %d points and %d breaks of two series of 18 nights, one left out", lines, points, breaks)
	}
}

// TestNoHistory: pages of the first night, and of several runs.
func TestNoHistory(t *testing.T) {
	for name, past := range map[string]*Series{"none": nil, "one night": pastOf(0.7)} {
		if html := writePage(t, historyPage(t, past)); strings.Contains(html, `id="history"`) {
			t.Errorf("%s: the page shows a history", name)
		}
	}
	two, err := newPage(t.Context(), PageOptions{Past: fall()}, harbour().run(t), harbour().run(t))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(writePage(t, two), `id="history"`) {
		t.Error("the page of two runs has a history")
	}
}

// TestHistoryIsBounded: long histories show their end, and what is of no number is not drawn.
func TestHistoryIsBounded(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = 0.8 + 0.01*float64(1-2*(i%2))
	}
	values[199] = math.NaN()
	_, html, _ := strings.Cut(writePage(t, historyPage(t, pastOf(values...))), `<section id="history"`)
	html, _, _ = strings.Cut(html, "</section>")
	if !strings.Contains(html, "200 runs, the last 60") || strings.Count(html, "<bdi>night-") != 60 || strings.Contains(html, "night-140<") {
		t.Errorf("%d lines of nights", strings.Count(html, "<bdi>night-"))
	}
	if strings.Contains(html, "NaN") || strings.Contains(html, "Inf") {
		t.Error("the chart holds what is no number")
	}
}

// TestHistoryIsClean: names of runs, folders and ingredients come from others.
func TestHistoryIsClean(t *testing.T) {
	const hostile = "<script>alert(1)</script>\u202eevil\u2066\x00"
	past := fall()
	for i := range past.Nights {
		past.Nights[i].Manifest.ID, past.Runs[i].Run = hostile, hostile
	}
	past.Nights[18].Changed, past.Runs[18].Marks = []string{hostile}, []string{hostile}
	p := historyPage(t, past)
	static, _, _ := strings.Cut(writePage(t, p), `<script type="application/octet-stream"`)
	for _, bad := range []string{"<script>alert", "\u202e", "\u2066", "\x00"} {
		if strings.Contains(static, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(static, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the page does not name the runs")
	}
}

// TestSeries: a table of a series has the last runs, the newest first, some systems, and the
// changes that are worse first.
func TestSeries(t *testing.T) {
	a := &history.Account{Name: "night-1", Base: "night-1", Gone: true}
	for night := range 70 {
		l := history.Line{Run: fmt.Sprintf("night-%d", night+1), At: time.Date(2026, 5, 1+night, 2, 0, 0, 0, time.UTC), Gates: runs.Failed}
		for k := range 6 {
			v := history.Value{Metric: "char_f1", System: fmt.Sprintf("s%d", k), Estimate: new(0.5), Diff: new(0.25), Word: compare.Better, Since: "night-2"}
			if k > 1 {
				v.Diff, v.Word = new(-0.125), compare.Worse
			}
			l.Values = append(l.Values, v)
		}
		a.Runs = append(a.Runs, l)
	}
	a.Runs[69].Values[0] = history.Value{Metric: "char_f1", System: "s0"}
	h := &History{Dir: "runs", Runs: 70, Series: []Series{{Account: a}}}
	var out bytes.Buffer
	if err := Write(&out, h, "csv", TextOptions{}); err != nil || strings.Count(out.String(), "\n") != 1+70*6 {
		t.Errorf("%d lines of CSV, %v", strings.Count(out.String(), "\n"), err)
	}
	out.Reset()
	if err := Write(&out, h, "markdown", TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"history of runs: 70 runs",
		"night-1, 70 runs, the last 60: char\\_f1; base night-1 is gone: --accept RUN names another; 2 more systems: --json",
		"| 2026-07-09 02:00 | night-70 | fail | – | 0.500 | 0.500 | 0.500 | s2 worse by 0.125, since night-2; s3 worse by 0.125, since night-2; s4 worse by 0.125, since night-2; 2 more |",
		"| 2026-05-11 02:00 | night-11 |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%.2000s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "| night-10 |") {
		t.Error("more than 60 runs")
	}
}
