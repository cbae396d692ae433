package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
	"ibid/report/doc"
)

// A Comparison is the view of how sides compare.
type Comparison struct {
	*compare.Result
}

// NewComparison makes the view.
func NewComparison(r *compare.Result) *Comparison { return &Comparison{r} }

func (c *Comparison) asJSON() any {
	return struct {
		*compare.Result
		Headline string `json:"headline"`
	}{c.Result, c.headline()}
}

func (c *Comparison) writeCSV(w io.Writer) error { return compare.Lines.WriteCSV(w, c.Lines()) }

func (c *Comparison) section() doc.Section {
	return doc.Section{Title: c.title(), Blocks: c.blocks(failureLists(c.Result, nil))}
}

// title names the sides.
func (c *Comparison) title() string {
	var names []string
	for _, s := range c.Sides {
		if s.Name != c.Base {
			names = append(names, s.Name)
		}
	}
	switch {
	case c.By == "run":
		return c.Base + " -> " + strings.Join(names, ", ")
	case c.Base != "":
		return "run " + c.Sides[0].Run + ": " + c.Base + " -> " + strings.Join(names, ", ")
	}
	return "run " + c.Sides[0].Run + ": " + strings.Join(names, ", ")
}

// blocks are the answer, the lists of failures, what a reader must know, the metrics that
// decide, then the others.
func (c *Comparison) blocks(failures []doc.Block) []doc.Block {
	out := append(paras(doc.Lead, []string{c.headline()}), failures...)
	out = append(out, paras(doc.Note, slices.Concat(c.Notes, c.leftOut()))...)
	var deciding, others, sliced []*compare.Metric
	for i := range c.Metrics {
		switch m := &c.Metrics[i]; {
		case m.Deciding:
			deciding = append(deciding, m)
		case m.Slice != "":
			sliced = append(sliced, m)
		default:
			others = append(others, m)
		}
	}
	for rest := deciding; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(m *compare.Metric) bool { return quantityName(m) != quantityName(rest[0]) })
		if n < 0 {
			n = len(rest)
		}
		out = append(out, c.table(shortQuantity(rest[0])+", "+c.title(), rest[:n])...)
		rest = rest[n:]
	}
	for _, more := range []struct {
		summary string
		all     []*compare.Metric
	}{{"other metrics, each interval by itself", others}, {"by slice, each interval by itself", sliced}} {
		if len(more.all) > 0 {
			out = append(out, doc.Details{Summary: more.summary, Blocks: c.table(more.summary+", "+c.title(), more.all)})
		}
	}
	var names []string
	var all []compare.Took
	for _, s := range c.Sides {
		names, all = append(names, s.Name), append(all, s.Took)
	}
	out = append(out, tookTable(names, all)...)
	return append(out, doc.Details{Summary: "how this was compared", Blocks: c.how(deciding)})
}

// leftOut says which sides and rows count in nothing.
func (c *Comparison) leftOut() (out []string) {
	for _, a := range c.SetAside {
		out = append(out, fmt.Sprintf("%s is set aside by %s: %s; min_defined is %v", a.Name, a.Metric, a.Why, metrics.MinDefined))
	}
	for _, u := range c.Unpaired {
		of := u.Name
		if u.System != "" {
			of += ", system " + u.System
		}
		out = append(out, fmt.Sprintf("%s only in %s (%s)", Plural(u.Rows, "row", "rows"), of, idList(u.Named)))
	}
	return out
}

// namedIDs is how many rows are named; JSON has more.
const namedIDs = 3

func idList(d compare.Named) string {
	ids := slices.Clone(d.IDs[:min(len(d.IDs), namedIDs)])
	if d.Rows > int64(len(ids)) {
		ids = append(ids, "…")
	}
	return strings.Join(ids, ", ")
}

// how says how differences were made.
func (c *Comparison) how(deciding []*compare.Metric) []doc.Block {
	var out []doc.Block
	say := func(text string) { out = append(out, doc.Para{Kind: doc.Item, Text: doc.T(text)}) }
	say("Rows are paired by question. All numbers of a metric are over the questions that every side has a value for; “own” is over all of a side's rows.")
	if len(deciding) > 0 && deciding[0].Family > 0 {
		say(fmt.Sprintf("The intervals of the %s that decide hold together at level %s (Bonferroni); p counts them, too.", Plural(int64(deciding[0].Family), "difference", "differences"), levelText(c.Level)))
	}
	say(fmt.Sprintf("tied: chance may explain the difference; mde is the least one that would have been found %g %% of the time.", 100*stats.DefaultDesign.Power))
	return out
}

// maxDifferences is how many differences a table has; JSON and CSV have all.
const maxDifferences = 40

// table has a row for each difference of some metrics; of sides of one run, the side that the
// others are compared with is the first row.
func (c *Comparison) table(caption string, all []*compare.Metric) []doc.Block {
	one := len(all) == 1 && all[0].System == ""
	t := doc.Table{Caption: caption, Class: "metrics differences"}
	axis, left := differenceAxis(all), 0
	for _, m := range all {
		seen := make(map[string]bool)
		for k := range m.Differences {
			d := &m.Differences[k]
			seen[d.Base], seen[d.New] = true, true
			if k == 0 && one && c.By != "run" {
				c.addRow(&t, m, c.value(m, d.Base), nil, axis, one)
			}
			if len(t.Rows) > maxDifferences {
				left++
				continue
			}
			c.addRow(&t, m, c.value(m, d.New), d, axis, one)
		}
		for i := range m.Sides { // set aside, a range, or without a question in common
			if v := &m.Sides[i]; !seen[v.Name] && (one || len(m.Differences) == 0) {
				c.addRow(&t, m, v, nil, axis, one)
			}
		}
	}
	out := []doc.Block{t}
	if left > 0 {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(Plural(int64(left), "more difference", "more differences") + " in JSON and CSV")})
	}
	return out
}

// value is what a side has of a metric.
func (c *Comparison) value(m *compare.Metric, side string) *compare.Value {
	for i := range m.Sides {
		if m.Sides[i].Name == side {
			return &m.Sides[i]
		}
	}
	return &compare.Value{Name: side}
}

// rankOf is the rank of a side, a range where chance may explain the order; "" if it has none.
func (c *Comparison) rankOf(side string) string {
	for i := range c.Sides {
		switch s := &c.Sides[i]; {
		case s.Name != side || s.Rank == nil:
		case s.Rank[1] > s.Rank[0]:
			return fmt.Sprintf("%d–%d", s.Rank[0], s.Rank[1])
		default:
			return fmt.Sprint(s.Rank[0])
		}
	}
	return ""
}

// label names a row: by what only it has.
func (c *Comparison) label(m *compare.Metric, side string) string {
	var parts []string
	if !m.Deciding {
		parts = append(parts, shortQuantity(m))
	}
	if m.System != "" {
		parts = append(parts, m.System)
	}
	if len(c.Sides) > 2 || c.By != "run" || len(parts) == 0 {
		parts = append(parts, side)
	}
	return strings.Join(parts, ", ")
}

// addRow adds what a side has of a metric, and how it differs from the base; of a side that
// stands alone there is no difference. One says that the table is of one metric, so that the
// base has a row of its own where it is a side of the same run.
func (c *Comparison) addRow(t *doc.Table, m *compare.Metric, v *compare.Value, d *compare.Difference, most float64, one bool) {
	baseName := cmp.Or(c.Base, "base")
	if one && c.By != "run" {
		baseName = "" // the first row has it
	}
	first, own := doc.C(c.label(m, v.Name)), numberOrDash(v.Own)
	var rank, base, value, drawn, word, diff, ends, p, mde, better, worse, same, n doc.Cell
	if m.Deciding && (d == nil || c.By != "run") {
		rank = doc.C(c.rankOf(v.Name))
	}
	if d == nil {
		if m.System != "" && len(c.Sides) == 2 { // which of the two
			first = doc.C(c.label(m, "") + ", " + v.Name)
		}
		if why := cmp.Or(v.Reason, m.Reason); why != "" {
			first.Notes = []string{why}
		}
		if value = doc.C(numberOrDash(v.Estimate)); v.Estimate != nil {
			n = doc.C(Thousands(m.Questions))
		}
		if v.Low != nil {
			own = rangeText(*v.Low, *v.High)
		}
	} else {
		w, alike := differenceWord(d), d.Diff != nil && d.Better+d.Worse == 0
		if !m.Deciding {
			first.Text[0].Link = "#m-" + m.Metric
		}
		if !alike {
			first.Notes, ends = slices.Clone([]string(d.Warnings)), doc.C(interval(d.Low, d.High))
		}
		if d.Undefined > 0 {
			first.Notes = append(first.Notes, "pairs are left out where a side is undefined")
		}
		if d.Reason != "" {
			first.Notes = append(first.Notes, "undefined: "+d.Reason)
		}
		if baseName != "" {
			base = doc.C(numberOrDash(d.BaseMean))
		}
		if d.Diff != nil {
			drawn.Strip = differenceStrip(m, d, most, c.Level)
		}
		if d.BoundLow != nil {
			ends = doc.C(rangeText(*d.BoundLow, *d.BoundHigh))
		}
		if d.MDE != nil {
			mde = doc.C(number(*d.MDE))
		}
		value, word.Text, diff, p = doc.C(numberOrDash(d.NewMean)), doc.Text{{Text: w.Short, Tone: w.Tone}}, doc.C(signed(d.Diff)), doc.C(pValue(d))
		better, worse, same, n = doc.C(Thousands(d.Better)), doc.C(Thousands(d.Worse)), doc.C(Thousands(d.Same)), doc.C(Thousands(d.N))
	}
	t.Row()
	t.Add(doc.Column{}, first)
	t.Add(doc.Column{Name: "rank", Number: true}, rank)
	t.Add(doc.Column{Name: baseName, Number: true, Keep: 2}, base)
	t.Add(doc.Column{Name: "value", Number: true, Keep: 1}, value)
	t.Add(doc.Column{Name: "own", Number: true, Keep: 4}, doc.C(own))
	t.Add(doc.Column{Name: "difference", Page: true, Keep: 1}, drawn)
	t.Add(doc.Column{}, word)
	t.Add(doc.Column{Name: "diff", Number: true}, diff)
	t.Add(doc.Column{Name: "interval", Number: true}, ends)
	t.Add(doc.Column{Name: "p", Number: true}, p)
	t.Add(doc.Column{Name: "mde", Number: true, Keep: 3}, mde)
	t.Add(doc.Column{Name: "better", Number: true, Keep: 2}, better)
	t.Add(doc.Column{Name: "worse", Number: true, Keep: 2}, worse)
	t.Add(doc.Column{Name: "same", Number: true, Keep: 3}, same)
	t.Add(doc.Column{Name: "n", Number: true, Keep: 1}, n)
}

// differenceAxis is the greatest distance from 0 on the axis that differences share.
func differenceAxis(all []*compare.Metric) float64 {
	most := 0.0
	for _, m := range all {
		for i := range m.Differences {
			d := &m.Differences[i]
			for _, v := range []*float64{d.Diff, d.Low, d.High} {
				if v != nil {
					most = max(most, math.Abs(*v))
				}
			}
		}
	}
	if most == 0 || most > 0.5 && most < 1.5 { // metrics between 0 and 1 cannot differ by more
		return 1
	}
	return nice(most)
}

// differenceStrip draws a difference on an axis with a line at 0.
func differenceStrip(m *compare.Metric, d *compare.Difference, most, level float64) *doc.Strip {
	w := differenceWord(d)
	s := strip(axis{-most, most}, shortQuantity(m)+": difference", &runs.SummaryRow{Estimate: d.Diff, Low: d.Low, High: d.High, Level: level}, nil)
	s.Marks, s.Tone = []float64{0.5}, w.Tone
	if w.Long != "" {
		s.Label += ", " + w.Long
	}
	return s
}

// quantityName is the metric, as gates write it.
func quantityName(m *compare.Metric) string {
	name := m.Metric
	if m.Agg == runs.Micro {
		name = "micro(" + name + ")"
	}
	if m.Slice != "" {
		name += " [" + m.Slice + "]"
	}
	return name
}

// shortQuantity is quantityName with the short name of the metric.
func shortQuantity(m *compare.Metric) string {
	short := *m
	short.Metric = shortName(m.Metric)
	return quantityName(&short)
}

func signed(v *float64) string {
	if v == nil {
		return "–"
	}
	text := number(*v)
	if *v > 0 && text != "0.000" {
		text = "+" + text
	}
	return text
}

// pValue is the p-value, "" if there is none.
func pValue(d *compare.Difference) string {
	switch {
	case d.P == nil:
		return ""
	case *d.P < 0.001:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", *d.P)
}

// differenceWord puts what the data say of a difference into words.
func differenceWord(d *compare.Difference) word {
	switch {
	case d.Diff != nil && d.N > 0 && d.Better+d.Worse == 0:
		return word{"same", "=", "No row changed.", doc.Dim}
	case d.Word == "":
		return word{}
	}
	return words[d.Word]
}

var words = map[compare.Word]word{
	compare.Better:    {"better", "better", "Better by more than chance explains.", doc.Good},
	compare.Worse:     {"worse", "worse", "Worse by more than chance explains.", doc.Bad},
	compare.Different: {"different", "different", "Different by more than chance explains; neither direction is better.", doc.Dim},
	compare.Tied:      {"tied", "tied", "Chance alone may explain the difference.", doc.Dim},
}

// shownMetric is the metric that people see in place of another.
func shownMetric(name string) string {
	if name == "hallucination_score" {
		return "hallucination_rate"
	}
	return name
}

// hidden reports whether people are shown another metric in place of one.
func hidden(name string) bool { return shownMetric(name) != name }

// compareSection is how runs or systems differ, as package compare found it.
func compareSection(data *pageData) *doc.Section {
	r := data.options.Comparison
	switch {
	case r != nil:
		return docSection("compare", "Compare", NewComparison(r).blocks(nil))
	case data.options.NotCompared != "":
		return docSection("compare", "Compare", []doc.Block{doc.Para{Kind: doc.Note, Text: doc.T("Not compared: " + data.options.NotCompared)}})
	}
	return nil
}

// tookTable sets beside each other what the answers of several took on average,
// nil if nothing is known of any.
func tookTable(names []string, all []compare.Took) []doc.Block {
	t := doc.Table{Caption: "what answers took", Class: "metrics"}
	for _, of := range []struct {
		name string
		mean func(compare.Took) *compare.Mean
	}{
		{"answer_cost_usd", func(t compare.Took) *compare.Mean { return t.CostUSD }},
		{"answer_tokens", func(t compare.Took) *compare.Mean { return t.Tokens }},
		{"answer_latency_ms", func(t compare.Took) *compare.Mean { return t.LatencyMillis }},
	} {
		if !slices.ContainsFunc(all, func(t compare.Took) bool { return of.mean(t) != nil }) {
			continue
		}
		t.Row()
		t.Add(doc.Column{Name: "mean of an answer"}, doc.C(of.name))
		for k, took := range all {
			value, n := "–", "0"
			if m := of.mean(took); m != nil {
				value, n = amount(m.Value), Thousands(m.N)
			}
			t.Add(doc.Column{Name: names[k], Number: true}, doc.C(value))
			t.Add(doc.Column{Name: "n", Number: true, Keep: 1}, doc.C(n))
		}
	}
	return filled(t)
}

// amount prints a number from 0 up with four digits: a cent is not 0.000.
func amount(v float64) string {
	if v >= 1000 {
		return number(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
