package report

import (
	"fmt"
	"math"
	"strings"

	"ibid/metrics"
)

// A trendChart is a chart of nights. Marks and texts are placed in percent
// of the width, so that they keep their size where the chart does not; paths are
// drawn [trendWide] wide and stretched.
type trendChart struct {
	Title, Desc string
	Wide, Tall  int
	Foot        string // where the plot ends
	Ticks       []trendTick
	Intervals   string   // the nights' own intervals
	Values      []string // one for each segment, broken where a night has no value
	Rules       []trendRule
	Marks       []trendMark
	Dates       []trendDate
}

// A trendDate stands below a night. End says that its text ends there.
type trendDate struct {
	X, Text string
	End     bool
}

// A trendTick is a line of the grid with its value.
type trendTick struct{ Y, TextY, Text string }

// A trendRule stands between two nights, for the event with its number.
type trendRule struct {
	X      string
	Number int
}

type trendMark struct {
	X, Y string
	Kind string // night or none
	This bool   // the run that the page is about
	Text string
}

// The measures of a trend: pixels of its height, and thousandths of its width.
const (
	trendWide  = 1000
	trendTall  = 190
	trendTop   = 22 // room for the numbers of events
	trendFoot  = 8
	trendLeft  = 90.0 // room for the values of the grid
	trendRight = 20.0
	trendTicks = 5 // at most
)

// The axis of a trend covers the values of the nights, with room around them; intervals
// may be much wider, and then go on beyond the picture.
const (
	trendRoom      = 0.08
	mostIntervals  = 0.75 // how far intervals widen the axis on either side, in spans of the rest
	leastTrendSpan = 0.02 // so that a difference in the third decimal does not fill the picture
)

// A trendScale maps nights and values to the picture.
type trendScale struct {
	nights    int
	low, high float64
}

func newTrendScale(nights []trendNight, d metrics.Definition) trendScale {
	s := trendScale{len(nights), math.Inf(1), math.Inf(-1)}
	low, high := s.low, s.high
	for i := range nights {
		n := &nights[i]
		if v := n.Value; v.Known() {
			s.low, s.high = min(s.low, v.Value), max(s.high, v.Value)
		}
		if n.row != nil && n.row.Low != nil {
			low, high = min(low, *n.row.Low), max(high, *n.row.High)
		}
	}
	if missing := leastTrendSpan - (s.high - s.low); missing > 0 {
		s.low, s.high = s.low-missing/2, s.high+missing/2
	}
	span := s.high - s.low
	room := trendRoom * span
	s.low = max(min(s.low-room, low), s.low-mostIntervals*span, d.Min)
	s.high = min(max(s.high+room, high), s.high+mostIntervals*span, d.Max)
	return s
}

// x is the place of a night, of which half nights are between two.
func (s *trendScale) x(night float64) float64 {
	return trendLeft + (night+0.5)*(trendWide-trendLeft-trendRight)/float64(s.nights)
}

// y is the place of a value; one beyond the axis is at its end.
func (s *trendScale) y(v float64) float64 {
	v = min(max(v, s.low), s.high)
	return trendTop + (s.high-v)/(s.high-s.low)*(trendTall-trendTop-trendFoot)
}

func (s *trendScale) percent(night float64) string { return percentText(s.x(night) * 100 / trendWide) }

// ticks are round values on the axis.
func (s *trendScale) ticks() []trendTick {
	step := nice((s.high - s.low) / trendTicks)
	var out []trendTick
	for k := math.Ceil(s.low/step - 1e-9); k*step <= s.high+1e-9*step; k++ {
		y := s.y(k * step)
		out = append(out, trendTick{fixed(y), fixed(y - 4), number(k * step)})
	}
	return out
}

// newTrendChart draws nights and the events among them.
func newTrendChart(title string, nights []trendNight, events []trendEvent, d metrics.Definition) trendChart {
	s := newTrendScale(nights, d)
	c := trendChart{Title: title, Wide: trendWide, Tall: trendTall, Foot: fixed(trendTall - trendFoot), Ticks: s.ticks()}
	for from := 0; from < len(nights); {
		to := from
		for to < len(nights) && nights[to].segment == nights[from].segment {
			to++
		}
		c.Values = appendPath(c.Values, pathOf(&s, nights, from, to))
		from = to
	}
	var intervals strings.Builder
	for i := range nights {
		n := &nights[i]
		if n.row != nil && n.row.Low != nil {
			fmt.Fprintf(&intervals, "M%.1f %.1fV%.1f", s.x(float64(i)), s.y(*n.row.Low), s.y(*n.row.High))
		}
		c.Marks = append(c.Marks, newTrendMark(&s, n, i))
	}
	c.Intervals = intervals.String()
	c.Dates = trendDates(&s, nights)
	for _, e := range events {
		c.Rules = append(c.Rules, trendRule{s.percent(float64(e.at) - 0.5), e.number})
	}
	return c
}

// pathOf is the line of the nights of one segment.
func pathOf(s *trendScale, nights []trendNight, from, to int) string {
	var b strings.Builder
	command := "M"
	for i := from; i < to; i++ {
		v := nights[i].Value
		if !v.Known() {
			command = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", command, s.x(float64(i)), s.y(v.Value))
		if command == "M" {
			b.WriteString("h0") // so that a single night is seen, too
		}
		command = "L"
	}
	return b.String()
}

func appendPath(paths []string, path string) []string {
	if path == "" {
		return paths
	}
	return append(paths, path)
}

// mostDates is how many nights have a date below them.
const mostDates = 5

// trendDates are the dates below some of the nights, the first and the last among them: the
// day, or the time where nights fall on the same day.
func trendDates(s *trendScale, nights []trendNight) (dates []trendDate) {
	layout := "2 Jan"
	switch layoutOf(nights) {
	case "2006-01-02 15:04":
		layout = "15:04"
	case "2006-01-02 15:04:05":
		layout = "15:04:05"
	}
	last := len(nights) - 1
	step := max(1, (last+mostDates-2)/(mostDates-1))
	for i := 0; i < last; i += step {
		if last-i >= step || i == 0 { // not too close to the last
			dates = append(dates, trendDate{X: s.percent(float64(i)), Text: nights[i].At.UTC().Format(layout)})
		}
	}
	end := percentText(min(100, s.x(float64(last))*100/trendWide+5))
	return append(dates, trendDate{end, nights[last].At.UTC().Format(layout), true})
}

func newTrendMark(s *trendScale, n *trendNight, at int) trendMark {
	m := trendMark{X: s.percent(float64(at)), Kind: "night", This: n.this, Text: fmt.Sprintf("%s %s: %s", date(n.At), line(n.Run, 60), numberOf(n.Value))}
	if !n.Value.Known() {
		m.Kind, m.Y = "none", fixed(trendTall-trendFoot)
		return m
	}
	m.Y = fixed(s.y(n.Value.Value))
	return m
}

// A sparkView is a small line without axes.
type sparkView struct {
	Name, Label string // Label is the whole picture in words
	Wide, Tall  int
	Paths       []string // one for each segment
	Dots        []sparkDot
	Nights      int
	Value       string // of the last night that has one
}

type sparkDot struct {
	X, Y string
	This bool
}

const (
	sparkNights = 20
	sparkWide   = 140
	sparkTall   = 34
	sparkPad    = 5.0
)

// sparkLine draws the last nights of a series, broken where a new segment begins;
// nil if none of them has a value.
func sparkLine(name string, nights []trendNight) *sparkView {
	nights = nights[max(0, len(nights)-sparkNights):]
	var first, last *trendNight
	low, high := math.Inf(1), math.Inf(-1)
	for i := range nights {
		if n := &nights[i]; n.Value.Known() {
			if first == nil {
				first = n
			}
			last, low, high = n, min(low, n.Value.Value), max(high, n.Value.Value)
		}
	}
	if first == nil {
		return nil
	}
	k := &sparkView{Name: name, Wide: sparkWide, Tall: sparkTall, Nights: len(nights)}
	k.Value = numberOf(last.Value)
	k.Label = fmt.Sprintf("%s of the last %d runs: first %s on %s, last %s on %s, lowest %s, highest %s",
		name, len(nights), numberOf(first.Value), date(first.At), k.Value, date(last.At), number(low), number(high))
	if n := nights[len(nights)-1].segment - nights[0].segment; n > 0 {
		k.Label += fmt.Sprintf("; %s between them", Plural(int64(n), "change of questions, judge or settings", "changes of questions, judge or settings"))
	}
	step := (sparkWide - 2*sparkPad) / float64(max(len(nights)-1, 1))
	command, segment, path := "M", nights[0].segment, ""
	for i := range nights {
		n := &nights[i]
		if n.segment != segment {
			k.Paths, path, command, segment = appendPath(k.Paths, path), "", "M", n.segment
		}
		if !n.Value.Known() {
			command = "M"
			continue
		}
		x, y := sparkPad+step*float64(i), sparkTall/2.0
		if high > low {
			y = sparkPad + (high-n.Value.Value)/(high-low)*(sparkTall-2*sparkPad)
		}
		path += fmt.Sprintf("%s%.1f %.1f", command, x, y)
		command = "L"
		k.Dots = append(k.Dots, sparkDot{fixed(x), fixed(y), n.this})
	}
	k.Paths = appendPath(k.Paths, path)
	return k
}
