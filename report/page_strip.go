package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A stripView is one line of a forest plot: an estimate with its interval on an axis
// that it shares with others. Positions are in percent of its width, so that it
// fits any.
type stripView struct {
	Label     string // the whole picture in words
	X         string // "": there is no mark
	Low, High string
	Width     string // High - Low
	Interval  bool
	Below     bool // the interval goes on beyond the axis
	Above     bool
	Shape     int // of the mark: 0 circle, 1 square, 2 triangle, 3 diamond
	Colour    int // of the mark, 0 to 7
	Gates     []gateRule
	Zero      string // of differences, where 0 is
}

// A gateRule is the limit of a gate on the axis.
type gateRule struct {
	X    string
	Text string
	Pass bool
}

// An axis is the range that strips share.
type axis struct{ lo, hi float64 }

// axisOf is the range of a metric: its bounds, and where it has none, what covers
// the values and 0.
func axisOf(d metrics.Definition, values []float64) axis {
	a := axis{d.Min, d.Max}
	lo, hi := 0.0, 0.0
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	if math.IsInf(a.lo, 0) {
		a.lo = -nice(-lo)
	}
	if math.IsInf(a.hi, 0) {
		a.hi = nice(hi)
	}
	if a.hi <= a.lo {
		a.hi = a.lo + 1
	}
	return a
}

// nice is the least of 1, 2, 5, 10 … that is at least v.
func nice(v float64) float64 {
	if v <= 0 {
		return 0
	}
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5, 10} {
		if v <= f*base {
			return f * base
		}
	}
	return 10 * base
}

// at is the position of v in percent, within the axis.
func (a axis) at(v float64) float64 {
	return 100 * min(max((v-a.lo)/(a.hi-a.lo), 0), 1)
}

func percentText(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }

// strip draws an estimate; without one, only gates.
func (a axis) strip(name string, s *runs.SummaryRow, gates []gateRule) stripView {
	if s.Estimate == nil {
		return stripView{Gates: gates, Label: name + ": no estimate"}
	}
	out := stripView{X: percentText(a.at(*s.Estimate)), Gates: gates, Label: name + " " + number(*s.Estimate)}
	if out.span(a, s.Low, s.High) {
		out.Label += fmt.Sprintf(", %s interval %s to %s", levelText(s.Level), number(*s.Low), number(*s.High))
	}
	for _, g := range gates {
		out.Label += ", gate " + g.Text
	}
	return out
}

// span draws an interval, if there is one.
func (s *stripView) span(a axis, low, high *float64) bool {
	if low == nil || high == nil {
		return false
	}
	lo, hi := a.at(*low), a.at(*high)
	s.Interval, s.Low, s.High, s.Width = true, percentText(lo), percentText(hi), percentText(hi-lo)
	s.Below, s.Above = *low < a.lo, *high > a.hi
	return true
}

func levelText(level float64) string { return fmt.Sprintf("%g %%", math.Round(level*1e6)/1e4) }

// ends are the two ends of the axis in words.
func (a axis) ends() [2]string { return [2]string{number(a.lo), number(a.hi)} }

// gateRules are the limits of gates on a macro value of a group: on an estimate
// or an end of its interval. Gates with quoted names are left out.
func gateRules(gates []runs.GateResult, a axis, system, slice, metric string) []gateRule {
	var out []gateRule
	for _, result := range gates {
		g, err := configs.ParseGate(result.Gate)
		if err != nil || g.Func.NeedsBaseline() || g.Micro || strings.Contains(result.Gate, `"`) {
			continue
		}
		d, known := metrics.Lookup(g.Metric)
		ofSystem, ofSlice, _ := g.Group()
		if known && d.Name == metric && ofSystem == system && ofSlice == slice {
			out = append(out, gateRule{percentText(a.at(g.Number)), g.Op + " " + number(g.Number), result.Verdict == runs.Passed})
		}
	}
	return out
}
