package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"

	"ibid"
	"ibid/annotations/history"
)

// The measures of a chart, in pixels.
const (
	chartWidth  = 720
	chartHeight = 180
	chartLeft   = 64
	chartRight  = 16
	chartTop    = 32
	chartBottom = 28
)

// writeSVG draws one chart for each series, one below the other: the value of each
// night, the EWMA with its limits, and a line where a new baseline begins. It
// needs no colour to be read: nights with a signal are squares.
func (h *History) writeSVG(w io.Writer) error {
	var b strings.Builder
	height := chartHeight * max(1, len(h.Series))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="12" role="img">`+"\n",
		chartWidth, height, chartWidth, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", escapeXML(h.Title))
	for i := range h.Series {
		chart(&b, &h.Series[i], i*chartHeight)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(CleanLine(s))) // a strings.Builder does not fail
	return b.String()
}

// A scale maps nights and values to pixels.
type chartScale struct {
	nights    int
	low, high float64
	top       int
}

func (s *chartScale) x(night int) float64 {
	return chartLeft + (float64(night)+0.5)*float64(chartWidth-chartLeft-chartRight)/float64(s.nights)
}

func (s *chartScale) y(v float64) float64 {
	return float64(s.top+chartHeight-chartBottom) - (v-s.low)/(s.high-s.low)*float64(chartHeight-chartTop-chartBottom)
}

func scaleOf(s *history.Series, top int) chartScale {
	c := chartScale{low: math.Inf(1), high: math.Inf(-1), top: top}
	for _, g := range s.Segments {
		for _, n := range g.Nights {
			c.nights++
			for _, v := range []ibid.Number{n.Value, n.EWMA, n.Low, n.High} {
				if v.Known() {
					c.low, c.high = min(c.low, v.Value), max(c.high, v.Value)
				}
			}
		}
	}
	if c.low > c.high {
		c.low, c.high = 0, 1
	}
	if pad := (c.high - c.low) / 10; pad > 0 {
		c.low, c.high = c.low-pad, c.high+pad
	} else {
		c.low, c.high = c.low-0.05, c.high+0.05
	}
	return c
}

func chart(b *strings.Builder, s *history.Series, top int) {
	c := scaleOf(s, top)
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="600">%s</text>`+"\n", chartLeft, top+20, escapeXML(seriesName(s)))
	for _, v := range []float64{c.low + (c.high-c.low)/12, c.high - (c.high-c.low)/12} {
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end" fill="#555">%s</text>`+"\n", chartLeft-8, c.y(v)+4, number(v))
	}
	at := 0
	for i := range s.Segments {
		g := &s.Segments[i]
		if i > 0 {
			x := (c.x(at-1) + c.x(at)) / 2
			fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#555" stroke-dasharray="2 3"><title>new baseline: %s</title></line>`+"\n",
				x, x, top+chartTop, top+chartHeight-chartBottom, escapeXML(strings.Join(g.Why, ", ")))
		}
		path(b, &c, g, at, `stroke="#b45309" stroke-dasharray="5 4"`, func(n *history.ChartedNight) ibid.Number { return n.Low })
		path(b, &c, g, at, `stroke="#b45309" stroke-dasharray="5 4"`, func(n *history.ChartedNight) ibid.Number { return n.High })
		path(b, &c, g, at, `stroke="#1d4ed8" stroke-width="2"`, func(n *history.ChartedNight) ibid.Number { return n.EWMA })
		path(b, &c, g, at, `stroke="#9ca3af"`, func(n *history.ChartedNight) ibid.Number { return n.Value })
		for k := range g.Nights {
			point(b, &c, &g.Nights[k], at+k)
		}
		at += len(g.Nights)
	}
	if at > 0 {
		first, last := s.Segments[0].Nights[0], s.Segments[len(s.Segments)-1].Nights
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="#555">%s</text><text x="%d" y="%d" text-anchor="end" fill="#555">%s</text>`+"\n",
			chartLeft, top+chartHeight-8, date(first.At), chartWidth-chartRight, top+chartHeight-8, date(last[len(last)-1].At))
	}
}

// path draws a line through the nights that have a value.
func path(b *strings.Builder, c *chartScale, g *history.Segment, from int, style string, value func(*history.ChartedNight) ibid.Number) {
	var points []string
	for k := range g.Nights {
		if v := value(&g.Nights[k]); v.Known() {
			points = append(points, fmt.Sprintf("%.1f,%.1f", c.x(from+k), c.y(v.Value)))
		}
	}
	if len(points) > 1 {
		fmt.Fprintf(b, `<polyline fill="none" %s points="%s"/>`+"\n", style, strings.Join(points, " "))
	}
}

func point(b *strings.Builder, c *chartScale, n *history.ChartedNight, at int) {
	if !n.Value.Known() {
		return
	}
	x, y := c.x(at), c.y(n.Value.Value)
	title := fmt.Sprintf("<title>%s %s: %s %s</title>", date(n.At), escapeXML(n.Run), number(n.Value.Value), signals(n))
	if n.EWMASignal || n.CUSUMSignal {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="9" height="9" fill="#b91c1c">%s</rect>`+"\n", x-4.5, y-4.5, title)
		return
	}
	fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="#374151">%s</circle>`+"\n", x, y, title)
}
