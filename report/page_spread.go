package report

import (
	"fmt"

	"ibid/metrics"
)

// A Spread is the distribution of one metric over rows: bars of equal width, and
// one for rows where it is undefined.
type Spread struct {
	Name, Label string
	Desc        string
	Bins        []Bin
	Undefined   Bin
	Ends        [2]string
}

// A Bin is the rows with values in [From, To), the last one with To.
type Bin struct {
	Label  string // in words
	Count  string
	Rows   string // Count with its noun
	Link   string
	X, Y   string // place and height in a box of 220 × 80
	Height string
	Width  string
}

const (
	bins       = 10
	spreadTall = 80.0
	binWide    = 18.0
	binGap     = 1.5
)

// spreads fills the distributions of the metrics that matter most.
func (b *pageBuilder) spreads() {
	for _, name := range b.lead {
		d, _ := metrics.Lookup(name)
		if s, ok := b.spread(d); ok {
			b.page.Spreads = append(b.page.Spreads, s)
		}
	}
}

func (b *pageBuilder) spread(d metrics.Definition) (Spread, bool) {
	values, undefined := b.valuesOf(d)
	if len(values) == 0 {
		return Spread{}, false
	}
	a := axisOf(d, values)
	var counts [bins]int
	for _, v := range values {
		counts[binOf(a, v)]++
	}
	s := Spread{Name: d.Name, Label: label(d.Name), Ends: a.ends()}
	most := undefined
	for _, n := range counts {
		most = max(most, n)
	}
	for k, n := range counts {
		from, to := a.edge(k), a.edge(k+1)
		bin := newBin(n, most, k)
		bin.Label = fmt.Sprintf("%s to %s", number(from), number(to))
		bin.Link = "#f=" + escapeLink(fmt.Sprintf("%s:%g..%g", d.Name, from, to))
		s.Bins = append(s.Bins, bin)
		if n > 0 {
			s.Desc += fmt.Sprintf("%s: %s. ", bin.Label, plural(int64(n), "row", "rows"))
		}
	}
	s.Undefined = newBin(undefined, most, bins+1)
	s.Undefined.Label, s.Undefined.Link = "undefined", "#f="+escapeLink(d.Name+":undefined")
	s.Desc += fmt.Sprintf("Undefined: %s.", plural(int64(undefined), "row", "rows"))
	return s, true
}

// valuesOf are the values that rows have of a metric, and how many have none.
func (b *pageBuilder) valuesOf(d metrics.Definition) (values []float64, undefined int) {
	for n := range b.rows {
		row := &b.rows[n]
		if v, ok := b.results[row.run].metric(d.Name).at(row.index); ok {
			values = append(values, rounded(v))
		} else {
			undefined++
		}
	}
	return values, undefined
}

// edge is the lower edge of bin k.
func (a axis) edge(k int) float64 { return rounded(a.lo + (a.hi-a.lo)*float64(k)/bins) }

// binOf is the bin that a value falls into, by the edges as links have them.
func binOf(a axis, v float64) int {
	k := min(max(int((v-a.lo)/(a.hi-a.lo)*bins), 0), bins-1)
	for k+1 < bins && v >= a.edge(k+1) {
		k++
	}
	for k > 0 && v < a.edge(k) {
		k--
	}
	return k
}

// newBin lays out bar k of n rows, where the tallest has most.
func newBin(n, most, k int) Bin {
	height := spreadTall * float64(n) / float64(max(most, 1))
	if n > 0 {
		height = max(height, 2) // a single row must not vanish
	}
	return Bin{
		Count: Thousands(int64(n)), Rows: plural(int64(n), "row", "rows"), X: fixed(float64(k) * (binWide + binGap)), Width: fixed(binWide),
		Height: fixed(height), Y: fixed(spreadTall - height),
	}
}

func fixed(v float64) string { return fmt.Sprintf("%.1f", v) }
