package report

import (
	"fmt"
	"strings"

	"ibid/annotations"
)

// A CurveChart is a calibration curve: against the mean score of each bin the
// share of its items that people accept, and below it how many items that is.
type CurveChart struct {
	Title, Desc string
	Points      []CurvePoint
	Line        string // through the points, as SVG wants it
	Bars        []CurveBar
	Threshold   string // where a score becomes a yes
	Ticks       []CurveTick
	Note        string // the numbers that belong to the curve
}

// A CurvePoint is a bin with items.
type CurvePoint struct {
	X, Y           string
	Low, High      string // of the interval
	Interval       bool
	Scores, Mean   string // in words
	Share, Between string
	Items          string
}

// A CurveBar is how many items a bin has.
type CurveBar struct {
	X, Y, Width, Height string
	Middle, Above       string // where its number stands
	Items               string
	Named               bool // there is room for the number
}

// A CurveTick is a labelled line of the grid.
type CurveTick struct{ X, Y, Text string }

// The plot is a square; under it is a strip of bars.
const (
	curveLeft, curveTop = 40.0, 10.0
	curveSide           = 250.0
	curveBarsBottom     = 352.0
	curveBarsTall       = 44.0
	curveBarGap         = 1.0
	mostNamedBars       = 12
	curveLeastBar       = 2.0 // high is a bar that has items
)

func curveX(v float64) float64 { return curveLeft + curveSide*min(max(v, 0), 1) }
func curveY(v float64) float64 { return curveTop + curveSide*(1-min(max(v, 0), 1)) }

// curveChart draws the bins of equal width; nil if scores are no shares.
func curveChart(title string, k *annotations.Calibration) *CurveChart {
	if len(k.EqualWidth) == 0 {
		return nil
	}
	c := &CurveChart{Title: title, Threshold: fixed(curveX(k.Threshold))}
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.Ticks = append(c.Ticks, CurveTick{fixed(curveX(v)), fixed(curveY(v)), fmt.Sprintf("%g", v)})
	}
	var most int64
	for _, b := range k.EqualWidth {
		most = max(most, b.Count)
	}
	var line, words []string
	for _, b := range k.EqualWidth {
		p := curvePoint(&b, k.Bins)
		c.Points = append(c.Points, p)
		line = append(line, p.X+","+p.Y)
		words = append(words, fmt.Sprintf("scores %s: mean %s, people accept %s of %s", p.Scores, p.Mean, p.Share, plural(b.Count, "item", "items")))
		c.Bars = append(c.Bars, curveBar(&b, k.Bins, most))
	}
	c.Line, c.Desc = strings.Join(line, " "), strings.Join(words, "; ")+"."
	c.Note = fmt.Sprintf("ECE %s, Brier score %s; both are 0 at best", Number(k.Statistic("ece").Estimate), Number(k.Statistic("brier").Estimate))
	return c
}

func curvePoint(b *annotations.CalibrationBin, bins int) CurvePoint {
	p := CurvePoint{
		X: fixed(curveX(b.MeanScore)), Y: fixed(curveY(b.PositiveRate)), Scores: binRange(b.Index, bins), Mean: number(b.MeanScore),
		Share: number(b.PositiveRate), Between: interval(b.Low, b.High), Items: Thousands(b.Count),
	}
	if b.Low != nil && b.High != nil {
		p.Interval, p.Low, p.High = true, fixed(curveY(*b.Low)), fixed(curveY(*b.High))
	}
	return p
}

func curveBar(b *annotations.CalibrationBin, bins int, most int64) CurveBar {
	wide := curveSide / float64(bins)
	tall := max(curveBarsTall*float64(b.Count)/float64(most), curveLeastBar)
	x, y := curveLeft+wide*float64(b.Index), curveBarsBottom-tall
	return CurveBar{
		X: fixed(x + curveBarGap/2), Y: fixed(y), Width: fixed(max(wide-curveBarGap, 0.5)), Height: fixed(tall),
		Middle: fixed(x + wide/2), Above: fixed(y - 4), Items: Thousands(b.Count), Named: bins <= mostNamedBars,
	}
}
