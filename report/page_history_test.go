package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ibid/annotations/history"
	"ibid/dataset/runs"
)

// pastOf is a history of nights, one a day, with these values of char_f1; a value
// that is not a number is undefined.
func pastOf(values ...float64) *history.Past {
	p := &history.Past{}
	for i, v := range values {
		n := history.RunNight{Night: history.Night{
			Run: fmt.Sprintf("night-%d", i+1), At: time.Date(2026, 5, 1+i, 2, 0, 0, 0, time.UTC), Basis: map[string]string{"judge": "a"}, Items: "q",
		}}
		if !math.IsNaN(v) {
			for _, system := range []string{"", "alpha", "beta"} {
				n.Summary = append(n.Summary, runs.SummaryRow{
					System: system, Metric: "char_f1", Agg: runs.Macro, Estimate: new(v), Low: new(v - 0.03), High: new(v + 0.03), Level: 0.95, Clusters: 50,
				})
			}
		}
		p.Nights = append(p.Nights, n)
	}
	return p
}

// fall is a history that falls after twelve nights, with another judge before the
// fourth of them.
func fall() *history.Past {
	values := []float64{0.79, 0.81, 0.8}
	for i := range 9 {
		values = append(values, 0.8+0.01*float64(1-2*(i%2)))
	}
	p := pastOf(append(values, 0.74, 0.73, math.NaN(), 0.75, 0.72, 0.74, 0.72)...)
	for i := 3; i < len(p.Nights); i++ {
		p.Nights[i].Basis = map[string]string{"judge": "b"}
	}
	return p
}

func historyPage(t *testing.T, p *history.Past) *page {
	t.Helper()
	return harbour().page(t, PageOptions{Past: p})
}

// trendOf is the trend of a metric on a page.
func trendOf(t *testing.T, p *page, name string) *metricTrend {
	t.Helper()
	if find[historyView](p) == nil {
		t.Fatal("the page has no history")
	}
	i := slices.IndexFunc(find[historyView](p).Trends, func(t metricTrend) bool { return t.Name == name })
	if i < 0 {
		t.Fatalf("no trend of %s", name)
	}
	return &find[historyView](p).Trends[i]
}

// missing is how many marks are of nights without a value.
func missing(c *trendChart) (n int) {
	for _, m := range c.Marks {
		if m.Kind == "none" {
			n++
		}
	}
	return n
}

func TestHistory(t *testing.T) {
	p := historyPage(t, fall())
	trend := trendOf(t, p, "char_f1")
	var events []string
	for _, e := range trend.Events {
		events = append(events, fmt.Sprint(e.Number, " ", e.Text))
	}
	want := []string{"1 changed judge on 2026-05-04"}
	if !slices.Equal(events, want) {
		t.Errorf("events = %q, want %q", events, want)
	}
	if n := len(trend.Chart.Values); n != 2 || missing(&trend.Chart) != 1 {
		t.Errorf("%d lines, %d nights without a value; want 2 and 1", n, missing(&trend.Chart))
	}
	for i, m := range trend.Chart.Marks {
		if m.This != (i == len(trend.Chart.Marks)-1) {
			t.Errorf("night %d: this run is %v", i+1, m.This)
		}
	}
	if got, want := trend.Nights[3].Says, "changed judge"; got != want {
		t.Errorf("the fourth line says %q, want %q", got, want)
	}
	if got, want := trend.Nights[18].Says, "this run"; got != want {
		t.Errorf("the last line says %q, want %q", got, want)
	}
	if got, want := find[historyView](p).Says, "Character F1 by system. 19 runs from 2026-05-01 to 2026-05-19."; got != want {
		t.Errorf("the section says %q, want %q", got, want)
	}
	if len(find[historyView](p).Systems) != 2 || find[historyView](p).Systems[0].Label != "alpha" {
		t.Errorf("systems = %v", find[historyView](p).Systems)
	}
	spark := find[historyView](p).Spark
	if want := "Character F1 of the last 19 runs: first 0.790 on 2026-05-01, last 0.720 on 2026-05-19, lowest 0.720, highest 0.810; 1 change of questions, judge or settings between them"; spark.Label != want {
		t.Errorf("sparkline = %q, want %q", spark.Label, want)
	}
	if len(spark.Paths) != 2 || len(spark.Dots) != 18 {
		t.Errorf("sparkline of %d lines and %d dots, want 2 and 18", len(spark.Paths), len(spark.Dots))
	}
}

// TestDatesTellNightsApart: nights of one day have the time of day, those of one minute
// the second.
func TestDatesTellNightsApart(t *testing.T) {
	for _, tt := range []struct {
		step        time.Duration
		table, axis string
	}{
		{24 * time.Hour, "2026-05-01 2026-05-04", "1 May, 2 May, 3 May, 4 May"},
		{3 * time.Hour, "2026-05-01 00:00 2026-05-01 09:00", "00:00, 03:00, 06:00, 09:00"},
		{7 * time.Second, "2026-05-01 00:00:00 2026-05-01 00:00:21", "00:00:00, 00:00:07, 00:00:14, 00:00:21"},
	} {
		past := pastOf(0.7, 0.8, 0.75, 0.8)
		for i := range past.Nights {
			past.Nights[i].At = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * tt.step)
		}
		trend := trendOf(t, historyPage(t, past), "char_f1")
		var axis []string
		for _, d := range trend.Chart.Dates {
			axis = append(axis, d.Text)
		}
		if got := trend.Nights[0].Date + " " + trend.Nights[3].Date; got != tt.table || strings.Join(axis, ", ") != tt.axis {
			t.Errorf("every %v: %q and %q, want %q and %q", tt.step, got, strings.Join(axis, ", "), tt.table, tt.axis)
		}
	}
}

// TestHistoryAgrees: the table of a trend says what ibid history says.
func TestHistoryAgrees(t *testing.T) {
	past := fall()
	trend := trendOf(t, historyPage(t, past), "char_f1")
	series, _ := history.SeriesOf(past.Nights, "char_f1", "", history.Options{})
	at := 0
	for _, g := range series.Segments {
		for _, n := range g.Nights {
			got := trend.Nights[at]
			want := []string{n.Run, numberOf(n.Value)}
			if have := []string{got.Run, got.Value}; !slices.Equal(have, want) {
				t.Errorf("night %d is %q, want %q", at+1, have, want)
			}
			at++
		}
	}
	if at != len(trend.Nights) {
		t.Errorf("%d lines of %d nights", len(trend.Nights), at)
	}
}

// TestNoHistory: pages without enough nights, and of several runs.
func TestNoHistory(t *testing.T) {
	for name, past := range map[string]*history.Past{
		"none": nil, "one night before": pastOf(0.7, 0.8), "one value": pastOf(math.NaN(), math.NaN(), 0.8),
	} {
		if p := historyPage(t, past); find[historyView](p) != nil {
			t.Errorf("%s: the page has a history", name)
		} else if html := writePage(t, p); strings.Contains(html, `id="history"`) || strings.Contains(html, `class="spark"`) {
			t.Errorf("%s: the page shows a history", name)
		}
	}
	two, err := newPage(t.Context(), PageOptions{Past: fall()}, harbour().run(t), harbour().run(t))
	if err != nil {
		t.Fatal(err)
	}
	if find[historyView](two) != nil {
		t.Error("the page of two runs has a history")
	}
}

// TestHistoryIsBounded: long histories show their end.
func TestHistoryIsBounded(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = 0.8 + 0.01*float64(1-2*(i%2))
	}
	p := historyPage(t, pastOf(values...))
	trend := trendOf(t, p, "char_f1")
	if len(trend.Chart.Marks) != shownNights || len(trend.Nights) != shownNights || find[historyView](p).Spark.Nights != sparkNights {
		t.Errorf("%d marks, %d lines, %d runs in the sparkline", len(trend.Chart.Marks), len(trend.Nights), find[historyView](p).Spark.Nights)
	}
}

// TestHistoryOfGaps: what is undefined for long is not drawn.
func TestHistoryOfGaps(t *testing.T) {
	values := make([]float64, 90)
	for i := range values {
		values[i] = math.NaN()
	}
	values[3], values[4], values[5] = 0.8, 0.7, 0.8
	if p := historyPage(t, pastOf(values...)); find[historyView](p) != nil {
		t.Error("a history of nights before those that are shown")
	}
	values[60], values[61] = 0.8, 0.7
	p := historyPage(t, pastOf(values...))
	if got := missing(&trendOf(t, p, "char_f1").Chart); got != shownNights-2 || find[historyView](p).Spark != nil {
		t.Errorf("%d nights without a value, sparkline %v", got, find[historyView](p).Spark)
	}
	if html := writePage(t, p); strings.Contains(html, `class="spark"`) || !strings.Contains(html, `id="history"`) {
		t.Error("the page shows a sparkline, or no history")
	}
}

// TestTrendChartFits: whatever the values, all is within the picture.
func TestTrendChartFits(t *testing.T) {
	for _, values := range [][]float64{
		{0, 0, 0}, {1, 1, 1}, {0, 1, 0}, {0.5, 0.5001, 0.4999}, {0.999, 1, 0.999, 1, 0.998, 1, 0.999, 1, 0.2},
	} {
		c := trendOf(t, historyPage(t, pastOf(values...)), "char_f1").Chart
		for i, m := range c.Marks {
			y, err := strconv.ParseFloat(m.Y, 64)
			if err != nil || y < trendTop-0.1 || y > trendTall-trendFoot+0.1 {
				t.Errorf("%v: night %d is at %s", values, i+1, m.Y)
			}
		}
		if n := len(c.Ticks); n < 2 || n > trendTicks+1 {
			t.Errorf("%v: %d values at the side", values, n)
		}
		if strings.Contains(fmt.Sprint(c), "NaN") || strings.Contains(fmt.Sprint(c), "Inf") {
			t.Errorf("%v: the chart holds what is no number: %v", values, c)
		}
	}
}

func TestTrendPictures(t *testing.T) {
	p := historyPage(t, fall())
	for _, x := range []struct {
		name, template string
		data           any
	}{
		{"trend.html", "trend", trendOf(t, p, "char_f1")},
		{"spark.html", "spark", find[historyView](p).Spark},
	} {
		t.Run(x.name, func(t *testing.T) { goldenPicture(t, x.name, x.template, x.data) })
	}
}

// TestHistoryIsClean: names of runs, folders and ingredients come from others.
func TestHistoryIsClean(t *testing.T) {
	const hostile = "<script>alert(1)</script>\u202eevil\u2066\x00"
	past := fall()
	for i := range past.Nights {
		past.Nights[i].Run = hostile
	}
	past.Nights[18].Basis = map[string]string{"judge": "b", hostile: "x"}
	past.LeftOut = []history.LeftOut{{Why: history.OtherQuestions, Runs: []string{hostile, "b", "c", "d", "e"}}}
	p := historyPage(t, past)
	if got, want := find[historyView](p).Notes[0], "Left out: <script>alert(1)</script>\ufffdevil\ufffd\u2400, b, c and 2 more (other questions)."; got != want {
		t.Errorf("note = %q, want %q", got, want)
	}
	html := writePage(t, p)
	static, _, _ := strings.Cut(html, `<script type="application/octet-stream"`)
	for _, bad := range []string{"<script>alert", "\u202e", "\u2066", "\x00"} {
		if strings.Contains(static, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(static, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the page does not name the runs")
	}
}
