package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// A Comparison is the view of how sides compare.
type Comparison struct {
	*compare.Result
}

// NewComparison makes the view.
func NewComparison(r *compare.Result) *Comparison { return &Comparison{r} }

func (c *Comparison) asJSON() any { return comparisonJSON{c.Result, c.headline()} }

func (c *Comparison) writeCSV(w io.Writer) error { return compare.Lines.WriteCSV(w, c.Lines()) }

func (c *Comparison) section() doc.Section {
	return doc.Section{Title: c.title(), Blocks: c.blocks(failureLists(c.Result, nil))}
}

// title names the sides.
func (c *Comparison) title() string {
	var names []string
	for _, s := range c.Sides[1:] {
		names = append(names, s.Name)
	}
	title := c.Sides[0].Name + " -> " + strings.Join(names, ", ")
	if c.By != "run" {
		title = "run " + c.Sides[0].Run + ": " + title
	}
	return title
}

// blocks are the answer, the lists of failures, what a reader must know, the ranking, and
// each pair.
func (c *Comparison) blocks(failures []doc.Block) []doc.Block {
	var out []doc.Block
	if len(c.Pairs) > 0 {
		out = append(out, doc.Para{Kind: doc.Lead, Text: doc.T(c.headline())})
	}
	out = append(out, failures...)
	for _, note := range c.Notes {
		out = append(out, doc.Para{Kind: doc.Note, Text: doc.T(note)})
	}
	if len(c.Rankings) > 0 && len(c.Rankings[0].Places) > 0 {
		out = append(out, c.ranking(&c.Rankings[0]))
	}
	shown := pagePairs(c.Result)
	if len(shown) > 1 {
		out = append(out, c.overview(shown))
	}
	pairs, open := make([]doc.Details, 0, len(shown)), 0
	for _, k := range shown {
		pair, changed := c.pair(&c.Pairs[k])
		if pair.Open = changed && open < shownPairs; pair.Open {
			open++
		}
		pairs = append(pairs, pair)
	}
	for k := range pairs {
		pairs[k].Open = pairs[k].Open || open == 0 && k == 0
		out = append(out, pairs[k])
	}
	if left := len(c.Pairs) - len(shown); left > 0 {
		out = append(out, doc.Para{Kind: doc.Small, Text: doc.T(Plural(int64(left), "more pair", "more pairs") + " in JSON and CSV")})
	}
	var names []string
	var all []compare.Took
	for _, s := range c.Sides {
		names, all = append(names, s.Name), append(all, s.Took)
	}
	out = append(out, tookTable(names, all)...)
	return append(out, doc.Para{Kind: doc.Small, Text: doc.T(c.legend())}, doc.Details{Summary: "how this was compared", Blocks: c.how()})
}

// shownPairs is how many pairs that changed are shown unfolded.
const shownPairs = 3

// legend says what marks and columns mean.
func (c *Comparison) legend() string {
	text := fmt.Sprintf("~ no significant difference: p > %.4g after Holm (headline)", 1-c.Level)
	if slices.ContainsFunc(c.Lines(), func(l compare.Line) bool { return !l.Headline }) {
		text += " or Benjamini-Hochberg (the rest)"
	}
	return text + fmt.Sprintf("; mde is the least difference found %.4g %% of the time", 100*c.Power)
}

// how says how differences were made.
func (c *Comparison) how() []doc.Block {
	paired := func(p compare.Pair) bool { return p.Paired }
	var out []doc.Block
	say := func(text string) { out = append(out, doc.Para{Kind: doc.Item, Text: doc.T(text)}) }
	if slices.ContainsFunc(c.Pairs, paired) {
		say("Rows are paired by question: a difference is the mean of the rows' differences, or of two ratios of sums over the same rows.")
	}
	if !slices.ContainsFunc(c.Pairs, paired) {
		say("Sides that share no question are not paired: they are shown side by side, without a difference.")
	}
	say(fmt.Sprintf("Intervals are at level %s; p-values are two-sided, adjusted by Holm over the headline metrics of a pair and by Benjamini and Hochberg over all others.", levelText(c.Level)))
	if len(c.Rankings) > 0 {
		say("All statements of a ranking hold together at that level; a rank is a range where chance may explain the order.")
	}
	return out
}

// ranking orders the sides by the first metric that decides.
func (c *Comparison) ranking(r *compare.Ranking) doc.Table {
	t := doc.Table{Caption: "ranking by " + quantityName(&compare.Difference{Metric: r.Metric, Agg: r.Agg}), Class: "metrics", Columns: []doc.Column{
		{Name: ""}, {Name: "estimate", Number: true}, {Name: "simultaneous", Number: true}, {Name: "rank", Number: true}, {Name: ""},
	}}
	for _, p := range r.Places {
		word := ""
		switch {
		case p.Sure:
			word = "best"
		case p.Tied:
			word = "tied"
		}
		t.Rows = append(t.Rows, []doc.Cell{doc.C(c.Sides[p.Side].Name), doc.C(number(p.Estimate)), doc.C(interval(p.Low, p.High)), doc.C(rankText(&p)), doc.C(word)})
	}
	return t
}

// overview has a line for each pair and the difference in each metric that decides.
func (c *Comparison) overview(pairs []int) doc.Table {
	t := doc.Table{Caption: "differences, " + c.title(), Class: "matrix", Columns: []doc.Column{{Name: ""}}}
	for n, name := range c.Headline {
		t.Columns = append(t.Columns, doc.Column{Name: shortQuantity(quantityNamed(name)), Number: true, Keep: n / 2})
	}
	for _, k := range pairs {
		p := &c.Pairs[k]
		row := []doc.Cell{doc.C(c.pairName(p))}
		for _, name := range c.Headline {
			cell := doc.C("–")
			if d := headlineOf(p, name); d != nil && d.Diff != nil {
				w := differenceWord(d)
				cell.Text = doc.Text{{Text: signed(d.Diff) + " "}, {Text: w.Short, Tone: doc.Tone(w.Tone)}}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// pairName names a pair: by its system where only that differs from other pairs.
func (c *Comparison) pairName(p *compare.Pair) string {
	name := c.Sides[p.Base].Name + " -> " + c.Sides[p.New].Name
	if p.System == "" || c.By != "run" {
		return name
	}
	if len(c.Sides) == 2 {
		return p.System
	}
	return p.System + ", " + name
}

func (c *Comparison) pairTitle(p *compare.Pair) string {
	base, other := c.Sides[p.Base].Name, c.Sides[p.New].Name
	title := base + " -> " + other
	switch {
	case p.System != "":
		title += ", system " + p.System
	case c.By == "run" && c.Sides[p.Base].System == "":
		title += ", all systems"
	}
	if !p.Paired {
		return fmt.Sprintf("%s: not paired, no question in common: %s rows side by side", title, Thousands(p.Rows))
	}
	title += fmt.Sprintf(": %s pairs", Thousands(p.Rows))
	for _, d := range []struct {
		side    string
		dropped compare.Named
	}{{base, p.OnlyBase}, {other, p.OnlyNew}} {
		if d.dropped.Rows > 0 {
			title += fmt.Sprintf(", %s only in %s (%s)", Thousands(d.dropped.Rows), d.side, idList(d.dropped))
		}
	}
	return title
}

// namedIDs is how many dropped rows are named; JSON has more.
const namedIDs = 3

func idList(d compare.Named) string {
	var ids []string
	for _, id := range d.IDs[:min(len(d.IDs), namedIDs)] {
		ids = append(ids, CleanLine(id))
	}
	if d.Rows > int64(len(ids)) {
		ids = append(ids, "…")
	}
	return strings.Join(ids, ", ")
}

// pair is the differences of a pair, those that decide and those that are sure before the
// others. Changed says that one of those that decide is sure.
func (c *Comparison) pair(p *compare.Pair) (_ doc.Details, changed bool) {
	title := c.pairTitle(p)
	a := differenceAxis(p)
	first, more := c.pairTable(p, title), c.pairTable(p, "others of "+title)
	for i := range p.Differences {
		d := &p.Differences[i]
		if hidden(d.Metric) && !d.Headline {
			continue
		}
		sure := d.Outcome != compare.Undecided && d.Outcome != compare.Unknown
		changed = changed || sure && d.Headline
		if d.Headline || sure {
			first.Rows = append(first.Rows, pairLine(d, p.Paired, a))
		} else {
			more.Rows = append(more.Rows, pairLine(d, p.Paired, a))
		}
	}
	out := doc.Details{Summary: title, Blocks: []doc.Block{first}}
	if n := len(more.Rows); n > 0 {
		out.Blocks = append(out.Blocks, doc.Details{Summary: fmt.Sprintf("%d more, none of them significant", n), Blocks: []doc.Block{more}})
	}
	return out, changed
}

func (c *Comparison) pairTable(p *compare.Pair, caption string) doc.Table {
	return doc.Table{Caption: caption, Class: "metrics differences", Columns: []doc.Column{
		{Name: ""},
		{Name: c.Sides[p.Base].Name, Number: true, Keep: 2},
		{Name: c.Sides[p.New].Name, Number: true, Keep: 2},
		{Name: "difference", Page: true, Keep: 1},
		{Name: ""},
		{Name: "diff", Number: true},
		{Name: fmt.Sprintf("%g %%", 100*c.Level), Number: true},
		{Name: "p", Number: true},
		{Name: "mde", Number: true, Keep: 3},
		{Name: "better", Number: true, Keep: 1},
		{Name: "worse", Number: true, Keep: 1},
		{Name: "same", Number: true, Keep: 3},
		{Name: "n", Number: true, Keep: 1},
	}}
}

// differenceAxis is the greatest distance from 0 on the axis that the differences of a
// pair share.
func differenceAxis(p *compare.Pair) float64 {
	most := 0.0
	for i := range p.Differences {
		d := &p.Differences[i]
		for _, v := range []*float64{d.Diff, d.Low, d.High} {
			if v != nil && d.Headline && d.Slice == "" {
				most = max(most, math.Abs(*v))
			}
		}
	}
	if most == 0 || most > 0.5 && most < 1.5 { // metrics between 0 and 1 cannot differ by more
		return 1
	}
	return nice(most)
}

func pairLine(d *compare.Difference, paired bool, axis float64) []doc.Cell {
	notes := slices.Clone([]string(d.Warnings))
	if d.Undefined > 0 {
		what := "pairs"
		if !paired {
			what = "rows"
		}
		notes = append(notes, what+" are left out where a side is undefined")
	}
	if d.Reason != "" {
		notes = append(notes, "undefined: "+d.Reason)
	}
	if v := d.Corrected; v != nil {
		notes = append(notes, fmt.Sprintf("corrected for the judge's errors: %s -> %s, %s %s, %s of %s labelled, by %s",
			numberOrDash(v.Base), numberOrDash(v.New), signed(&v.Diff), interval(&v.Low, &v.High), Thousands(v.Labelled), Plural(d.N, "pair", "pairs"), v.Method))
	}
	w := differenceWord(d)
	drawn, mde, better, worse, same := doc.Cell{}, "", "", "", ""
	if d.Diff != nil {
		drawn.Strip = differenceStrip(d, axis)
	}
	if d.Outcome == compare.Undecided {
		mde = numberOrDash(d.MDE)
	}
	if paired {
		better, worse, same = Thousands(d.Improved()), Thousands(d.Declined()), Thousands(d.Same)
		if d.Direction == 0 {
			better, worse = "+"+Thousands(d.Higher), "-"+Thousands(d.Lower)
		}
	}
	name := doc.Cell{Text: doc.Text{{Text: shortQuantity(d), Link: "#m-" + d.Metric}}, Notes: notes}
	return []doc.Cell{
		name, doc.C(numberOrDash(d.Base)), doc.C(numberOrDash(d.New)), drawn,
		{Text: doc.Text{{Text: w.Short, Tone: doc.Tone(w.Tone)}}},
		doc.C(signed(d.Diff)),
		doc.C(interval(d.Low, d.High)), doc.C(pValue(d)), doc.C(mde), doc.C(better), doc.C(worse), doc.C(same), doc.C(Thousands(d.N)),
	}
}

// differenceStrip draws a difference on an axis with a line at 0.
func differenceStrip(d *compare.Difference, most float64) *doc.Strip {
	at := func(v float64) float64 { return (v + most) / (2 * most) }
	w := differenceWord(d)
	s := &doc.Strip{At: at(*d.Diff), Marks: []float64{0.5}, Label: shortQuantity(d) + ": difference " + signed(d.Diff), Tone: doc.Tone(w.Tone)}
	if d.Low != nil && d.High != nil {
		s.Interval, s.Low, s.High = true, at(*d.Low), at(*d.High)
		s.Label += ", interval " + signed(d.Low) + " to " + signed(d.High)
	}
	if w.Tone == toneNeutral {
		s.Tone = doc.Dim
	}
	s.Label += ", " + w.Long
	return s
}

// quantityName is the metric, as gates write it.
func quantityName(d *compare.Difference) string {
	name := d.Metric
	if d.Agg == "micro" {
		name = "micro(" + name + ")"
	}
	if d.Slice != "" {
		name += " [" + CleanLine(d.Slice) + "]"
	}
	return name
}

// shortQuantity is quantityName with the short name of the metric.
func shortQuantity(d *compare.Difference) string {
	short := *d
	short.Metric = shortName(d.Metric)
	return quantityName(&short)
}

// quantityNamed is a metric that decides, such as micro(char_f1).
func quantityNamed(name string) *compare.Difference {
	d := &compare.Difference{Metric: name}
	if q, err := compare.ParseQuantity(name); err == nil && q.Micro {
		d.Metric, d.Agg = q.Metric.Name, runs.Micro
	}
	return d
}

func headlineOf(p *compare.Pair, name string) *compare.Difference {
	for i := range p.Differences {
		if d := &p.Differences[i]; d.Headline && d.Slice == "" && quantityName(d) == name {
			return d
		}
	}
	return nil
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

// pValue is the adjusted p-value, "" if there is none.
func pValue(d *compare.Difference) string {
	switch {
	case d.Adjusted == nil:
		return ""
	case *d.Adjusted < 0.001:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", *d.Adjusted)
}

// outcomeOfDifference puts the outcomes of package compare into words.
var outcomeOfDifference = map[compare.Outcome]word{
	compare.Better:    {"better", "better", "Significantly better, after adjustment for several tests.", toneGood},
	compare.Worse:     {"worse", "worse", "Significantly worse, after adjustment for several tests.", toneBad},
	compare.Different: {"different", "different", "Significantly different; neither direction is better.", toneNote},
	compare.Undecided: {"undecided", "~", "Not significant: chance alone may explain the difference.", toneNeutral},
	compare.Unknown:   {"unknown", "no test", "There is too little data for a test.", toneNeutral},
}

// unchanged reports whether rows are compared and none of them changed.
func unchanged(d *compare.Difference) bool {
	return d.Diff != nil && *d.Diff == 0 && d.Higher+d.Lower == 0 && d.Same > 0
}

// differenceWord is what a difference says. Where the interval excludes 0 and p, adjusted
// for several tests, still leaves chance as a reason, it says so.
func differenceWord(d *compare.Difference) word {
	w := outcomeOfDifference[d.Outcome]
	if unchanged(d) {
		return word{"same", "=", "No row changed.", toneNeutral}
	}
	if d.Outcome == compare.Undecided && d.Low != nil && d.High != nil && (*d.Low > 0 || *d.High < 0) {
		w.Short = "~ p adjusted"
		w.Long = "The interval, of this test alone, excludes 0. After adjustment for several tests chance may still explain the difference."
	}
	return w
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

// A page shows maxPairs pairs; of more, those against the base, the first maxAgainst.
const maxPairs, maxAgainst = 10, 40

// pagePairs are the pairs that a page shows. Where there are pairs of single systems, there
// is none of all systems together: nobody can do anything about a mean of systems.
func pagePairs(r *compare.Result) (shown []int) {
	pooled := func(k int) bool {
		p := &r.Pairs[k]
		return p.System == "" && slices.ContainsFunc(r.Pairs, func(q compare.Pair) bool { return q.System != "" && q.Base == p.Base && q.New == p.New })
	}
	for k := range r.Pairs {
		if !pooled(k) && (len(r.Pairs) <= maxPairs || r.Pairs[k].Base == 0 && len(shown) < maxAgainst) {
			shown = append(shown, k)
		}
	}
	return shown
}

// compareSection is how runs or systems differ, as package compare found it.
func compareSection(data *pageData) *doc.Section {
	r := data.options.Comparison
	switch {
	case r != nil && len(r.Pairs) > 0:
		return docSection("compare", "Compare", NewComparison(r).blocks(nil))
	case data.options.NotCompared != "":
		return docSection("compare", "Compare", []doc.Block{doc.Para{Kind: doc.Note, Text: doc.T("Not compared: " + data.options.NotCompared)}})
	}
	return nil
}

// tookTable sets beside each other what the answers of several took on average,
// nil if nothing is known of any.
func tookTable(names []string, all []compare.Took) []doc.Block {
	t := doc.Table{Caption: "what answers took", Class: "metrics", Columns: []doc.Column{{Name: "mean of an answer"}}}
	for _, name := range names {
		t.Columns = append(t.Columns, doc.Column{Name: name, Number: true}, doc.Column{Name: "n", Number: true, Keep: 1})
	}
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
		row := []doc.Cell{doc.C(of.name)}
		for _, took := range all {
			if m := of.mean(took); m != nil {
				row = append(row, doc.C(amount(m.Value)), doc.C(Thousands(m.N)))
			} else {
				row = append(row, doc.C("–"), doc.C("0"))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []doc.Block{t}
}

// amount prints a number from 0 up with four digits: a cent is not 0.000.
func amount(v float64) string {
	if v >= 1000 {
		return number(v)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
