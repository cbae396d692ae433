package report

import (
	"bytes"
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

func kindsOf(c *trendChart) string {
	var out []string
	for _, m := range c.Marks {
		out = append(out, m.Kind[:1])
	}
	return strings.Join(out, "")
}

func TestHistory(t *testing.T) {
	p := historyPage(t, fall())
	trend := trendOf(t, p, "char_f1")
	if got, want := trend.Word.Code+" "+string(trend.Word.Tone), "fell bad"; got != want {
		t.Errorf("the state is %s, want %s", got, want)
	}
	if got, want := trend.Signal, "It fell: 0.720 in this run, 0.800 in the mean of its baseline. EWMA and CUSUM have signalled since 2026-05-14; by CUSUM it began on 2026-05-13."; got != want {
		t.Errorf("signal = %q, want %q", got, want)
	}
	var events []string
	for _, e := range trend.Events {
		events = append(events, fmt.Sprint(e.Number, e.Change, " ", e.Text))
	}
	want := []string{"1 false new baseline: changed judge on 2026-05-04", "2 true change point: from 0.801 to 0.733 on 2026-05-13 (Pettitt p = 0.016)"}
	if !slices.Equal(events, want) {
		t.Errorf("events = %q, want %q", events, want)
	}
	// Three nights of the first baseline, eight of the second, two that are watched
	// and signal nothing yet, then signals but for the night without a value.
	if got, want := kindsOf(&trend.Chart), "bbb"+"bbbbbbbb"+"ww"+"snssss"; got != want {
		t.Errorf("nights are drawn as %s, want %s", got, want)
	}
	for i, m := range trend.Chart.Marks {
		if m.This != (i == len(trend.Chart.Marks)-1) {
			t.Errorf("night %d: this run is %v", i+1, m.This)
		}
	}
	if got, want := trend.Nights[3].Says, "new baseline: changed judge"; got != want {
		t.Errorf("the fourth line says %q, want %q", got, want)
	}
	if got, want := trend.Nights[18].Says, "signal of EWMA CUSUM; this run"; got != want {
		t.Errorf("the last line says %q, want %q", got, want)
	}
	if got, want := view[verdictView](p).Lines[0], (finding{{Text: "Against "}, {"the nights before", "#history"}, {Text: ", alpha and beta fell in character F1."}}); !slices.Equal(got, want) {
		t.Errorf("the verdict says %v, want %v", got, want)
	}
	if len(find[historyView](p).Systems) != 2 || find[historyView](p).Systems[0].Label != "alpha" {
		t.Errorf("systems = %v", find[historyView](p).Systems)
	}
	spark := find[historyView](p).Spark
	if want := "Character F1 of the last 19 runs: first 0.790 on 2026-05-01, last 0.720 on 2026-05-19, lowest 0.720, highest 0.810; 1 new baseline between them"; spark.Label != want {
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

// TestOnset: a second fall began when it began, not with the first one.
func TestOnset(t *testing.T) {
	values := []float64{0.81, 0.79, 0.81, 0.79, 0.81, 0.79, 0.81, 0.79, 0.70, 0.84, 0.84, 0.8, 0.8, 0.8, 0.8, 0.74, 0.74}
	trend := trendOf(t, historyPage(t, pastOf(values...)), "char_f1")
	if want := "; by CUSUM it began on 2026-05-16."; !strings.HasSuffix(trend.Signal, want) {
		t.Errorf("signal = %q, want %q at its end", trend.Signal, want)
	}
}

// TestLikelyChange: a p-value is never 0.
func TestLikelyChange(t *testing.T) {
	values := make([]float64, 40)
	for i := range values {
		values[i] = 0.8 + 0.01*float64(1-2*(i%2))
		if i >= 20 {
			values[i] -= 0.3
		}
	}
	trend := trendOf(t, historyPage(t, pastOf(values...)), "char_f1")
	if len(trend.Events) != 1 || trend.Events[0].Text != "change point: from 0.800 to 0.500 on 2026-05-21 (Pettitt p < 0.001)" {
		t.Errorf("events = %v", trend.Events)
	}
}

// TestHistoryAgrees: the table of a trend says what ibid history says.
func TestHistoryAgrees(t *testing.T) {
	past := fall()
	trend := trendOf(t, historyPage(t, past), "char_f1")
	series, _ := history.SeriesOf(past.Nights, "char_f1", "", history.Options{Baseline: history.BaselineNights})
	at := 0
	for _, g := range series.Segments {
		for _, n := range g.Nights {
			got := trend.Nights[at]
			want := []string{n.Run, numberOf(n.Value), optional(n.EWMA.Pointer()), interval(n.Low.Pointer(), n.High.Pointer())}
			if have := []string{got.Run, got.Value, got.EWMA, got.Limits}; !slices.Equal(have, want) {
				t.Errorf("night %d is %q, want %q", at+1, have, want)
			}
			at++
		}
	}
	if at != len(trend.Nights) {
		t.Errorf("%d lines of %d nights", len(trend.Nights), at)
	}
}

// TestHistoryStates: a night in a word.
func TestHistoryStates(t *testing.T) {
	steady := make([]float64, 20)
	for i := range steady {
		steady[i] = 0.8 + 0.01*float64(1-2*(i%2))
	}
	const unwatched = "No system can be watched: the nights of its baseline are all alike, or this run has no value."
	rising := append(slices.Clone(steady[:10]), 0.9, 0.91, 0.92)
	for _, tt := range []struct {
		name       string
		values     []float64
		word, tone string
		says       string
	}{
		{"within", steady, "within limits", "good", "No signal: all 2 systems are within their limits."},
		{"young", steady[:5], "baseline: 5 of 8 nights", "neutral", "There are no control limits yet: a baseline takes 8 nights over the same questions, with the same judge and settings."},
		{"alike", make([]float64, 12), "no limits", "neutral", unwatched},
		{"alike but for the last", append(make([]float64, 12), 0.1), "higher", "note", unwatched},
		{"rising", rising, "rose", "note", "Against the nights before, alpha and beta rose."},
		{"without a value", append(slices.Clone(steady), math.NaN()), "undefined in this run", "neutral", unwatched},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := historyPage(t, pastOf(tt.values...))
			w := trendOf(t, p, "char_f1").Word
			if w.Short != tt.word || string(w.Tone) != tt.tone || find[historyView](p).Says != "Character F1 by system. "+tt.says {
				t.Errorf("%q, %s, %q; want %q, %s, %q", w.Short, w.Tone, find[historyView](p).Says, tt.word, tt.tone, tt.says)
			}
		})
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

// TestHistoryIsBounded: long histories show their end, whose limits are those of
// the whole.
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
	if kinds := kindsOf(&trend.Chart); strings.Trim(kinds, "w") != "" {
		t.Errorf("nights are drawn as %s; the baseline is long past", kinds)
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
	if got := strings.Count(kindsOf(&trendOf(t, p, "char_f1").Chart), "n"); got != shownNights-2 || find[historyView](p).Spark != nil {
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
	if got, want := find[historyView](p).Notes[1], "Left out: <script>alert(1)</script>\ufffdevil\ufffd\u2400, b, c and 2 more (other questions)."; got != want {
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

// TestHistoryOfLowerIsBetter: a rate that rises is bad.
func TestHistoryOfLowerIsBetter(t *testing.T) {
	past := fall()
	for i := range past.Nights {
		for k := range past.Nights[i].Summary {
			s := &past.Nights[i].Summary[k]
			s.Metric, s.Estimate, s.Low, s.High = "hallucination_rate", new(1-*s.Estimate), new(1-*s.High), new(1-*s.Low)
		}
	}
	nights := trendNights(past, "hallucination_rate", "")
	trend := newTrend("hallucination_rate", "x", nights)
	if trend.Word.Code != "rose" || trend.Word.Tone != toneBad {
		t.Errorf("the state is %s, %s; want rose, bad", trend.Word.Code, trend.Word.Tone)
	}
}

// TestAlikeIsNoYoungBaseline: ibid history does not ask for nights that it has.
func TestAlikeIsNoYoungBaseline(t *testing.T) {
	for n, want := range map[int]string{3: "no baseline yet: 3 nights so far", 9: "no limits: the 8 nights of the baseline are all alike"} {
		series, _ := history.SeriesOf(pastOf(make([]float64, n)...).Nights, "char_f1", "", history.Options{Baseline: history.BaselineNights})
		var b bytes.Buffer
		if err := (&History{Title: "x", Series: []history.Series{series}}).Write(&b, "text", TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "\n"+want+"\n") {
			t.Errorf("%d nights that are alike: %q lacks %q", n, b.String(), want)
		}
	}
}
