package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/metrics"
)

// A compareView is how runs or systems differ, as package compare found it.
type compareView struct {
	By       string // "run" or "system"
	Notes    []string
	How      []string // how differences, intervals and p-values were made
	Sides    []compareSide
	Matrix   []matrixLine // headline metrics × sides, of systems of one run
	Columns  []matrixLine // headline metrics, of runs
	Overview []pairCells  // pairs × headline metrics, of runs
	Pairs    []pairView
	Rankings []rankingView
}

// A compareSide is one column of the matrix.
type compareSide struct {
	Name, Rows    string
	Base          bool
	Shape, Colour int
}

// A matrixLine is one metric in all sides.
type matrixLine struct {
	Name, Label, Better string
	Cells               []matrixCell
}

// A pairCells is one pair in all headline metrics.
type pairCells struct {
	Title string
	Cells []matrixCell
}

// A matrixCell is one metric of one side: its value and, where it is not the
// base, how it differs from that.
type matrixCell struct {
	Value, Diff, Detail string
	Word                word
	Base                bool
}

// A pairView is one side against another.
type pairView struct {
	Title   string
	Rows    string   // what is compared, in words
	Dropped []string // what was left out, in words
	Ends    [2]string
	Lines   []differenceLine // headline metrics
	More    []differenceLine // other metrics and slices
	Open    bool
}

// A differenceLine is one metric, or a slice of it, of a pair.
type differenceLine struct {
	Name, Label, Slice string
	Base, New, Diff    string
	Interval, P, Test  string
	Corrected          string // for the judge's errors, "" if nothing is known of those
	MDE                string
	Word               word
	Strip              stripView
	N                  string
	Flips              []flipLink
	Why                string // why there is no difference
	Notes              []int
}

// A flipLink is rows that changed in one direction. Its link shows them.
type flipLink struct{ Sign, Text, Link string }

// A rankingView orders the sides by one metric.
type rankingView struct {
	Name, Label string
	Places      []rankingPlace
	Ends        [2]string
}

type rankingPlace struct {
	Name, Rank, Value, Interval, Says string
	Shape, Colour                     int
	Strip                             stripView
}

// outcomeOfDifference puts the outcomes of package compare into words.
var outcomeOfDifference = map[compare.Outcome]word{
	compare.Better:    {"better", "better", "Significantly better, after adjustment for several tests.", toneGood},
	compare.Worse:     {"worse", "worse", "Significantly worse, after adjustment for several tests.", toneBad},
	compare.Different: {"different", "different", "Significantly different; neither direction is better.", toneNote},
	compare.Undecided: {"undecided", "~", "Not significant: chance alone may explain the difference.", toneNeutral},
	compare.Unknown:   {"unknown", "no test", "There is too little data for a test.", toneNeutral},
}

// compareSection takes over what package compare found.
func compareSection(data *pageData) *section {
	r := data.options.Comparison
	switch {
	case r != nil && len(r.Pairs) > 0:
	case data.options.NotCompared != "":
		return &section{"compare", "Compare", &compareView{Notes: []string{"Not compared: " + shown(data.options.NotCompared)}}}
	default:
		return nil
	}
	c := &compareView{By: r.By, How: howCompared(r)}
	for _, n := range r.Notes {
		c.Notes = append(c.Notes, strings.ReplaceAll(shown(n), "hallucination_score", shownMetric("hallucination_score")))
	}
	for k, s := range r.Sides {
		c.Sides = append(c.Sides, compareSide{Name: line(s.Name, 80), Rows: Plural(s.Rows, "row", "rows"), Base: k == 0, Shape: k % 4, Colour: k % 8})
	}
	pairs := pagePairs(r)
	if r.By == "run" {
		c.Columns, c.Overview = differenceOverview(r, pairs)
	} else {
		c.Matrix = differenceMatrix(data, r)
	}
	if len(pairs) == maxAgainst && len(r.Sides) > maxAgainst+1 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d of %d comparisons with %s are shown; ibid compare has all.", maxAgainst, len(r.Sides)-1, line(r.Sides[0].Name, 80)))
	}
	for _, k := range pairs {
		c.Pairs = append(c.Pairs, newPairView(data, r, k))
	}
	if len(c.Pairs) > 0 { // the first one that changed
		open := slices.IndexFunc(c.Pairs, func(p pairView) bool {
			return slices.ContainsFunc(p.Lines, func(l differenceLine) bool { return l.Word.Tone == toneGood || l.Word.Tone == toneBad })
		})
		c.Pairs[max(open, 0)].Open = true
	}
	for _, ranking := range r.Rankings {
		c.Rankings = append(c.Rankings, newRankingView(data, r, &ranking))
	}
	return &section{"compare", "Compare", c}
}

// asShown is a difference as people see it: of the hallucination rate in place of the
// score, which is 1 less the rate. Two numbers that say the same are one too many.
func asShown(d *compare.Difference) compare.Difference {
	out := *d
	if d.Metric != "hallucination_score" {
		return out
	}
	turned := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return new(1 - *v)
	}
	less := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return new(0 - *v) // not -0
	}
	out.Metric, out.Direction = "hallucination_rate", -d.Direction
	out.Base, out.New, out.Diff = turned(d.Base), turned(d.New), less(d.Diff)
	out.Low, out.High, out.Higher, out.Lower = less(d.High), less(d.Low), d.Lower, d.Higher
	if c := d.Corrected; c != nil {
		out.Corrected = &compare.Corrected{
			Base: turned(c.Base), New: turned(c.New), Diff: 0 - c.Diff, Low: 0 - c.High, High: 0 - c.Low, Labelled: c.Labelled, Method: c.Method,
		}
	}
	return out
}

// rankingShown is a ranking as people see it: by the hallucination rate in place of the
// score.
func rankingShown(r *compare.Ranking) compare.Ranking {
	out := *r
	if out.Metric = shownMetric(r.Metric); out.Metric == r.Metric {
		return out
	}
	out.Places = slices.Clone(r.Places)
	for i := range out.Places {
		p := &out.Places[i]
		p.Estimate = 1 - p.Estimate
		if p.Low != nil && p.High != nil {
			p.Low, p.High = new(1-*p.High), new(1-*p.Low)
		}
	}
	return out
}

// shownMetric is the metric that people see in place of another.
func shownMetric(name string) string {
	if name == "hallucination_score" {
		return "hallucination_rate"
	}
	return name
}

// hidden reports whether people are shown another metric in place of one.
func hidden(d metrics.Definition) bool { return shownMetric(d.Name) != d.Name }

func newMatrixLine(name string) matrixLine {
	l := matrixLine{Name: shownMetric(bareMetric(name)), Label: quantityLabel(name)}
	if d, ok := metrics.Lookup(l.Name); ok {
		l.Better = betterWords[d.Direction]
	}
	return l
}

func newMatrixCell(raw *compare.Difference) matrixCell {
	d := asShown(raw)
	if unchanged(&d) {
		return matrixCell{Value: numberOrDash(d.New), Word: differenceWord(&d)}
	}
	return matrixCell{Value: numberOrDash(d.New), Diff: differenceText(d.Diff), Detail: differenceDetail(&d), Word: differenceWord(&d)}
}

// differenceMatrix sets the headline metrics of all sides beside the base.
func differenceMatrix(data *pageData, r *compare.Result) []matrixLine {
	var out []matrixLine
	for _, name := range r.Headline {
		l := newMatrixLine(name)
		l.Cells = make([]matrixCell, len(r.Sides))
		known := false
		for _, p := range r.Pairs {
			d := headlineOf(&p, name)
			if p.Base != 0 || d == nil {
				continue
			}
			known = known || d.Base != nil || d.New != nil
			if l.Cells[0].Value == "" {
				l.Cells[0] = baseCell(data, r, d)
			}
			l.Cells[p.New] = newMatrixCell(d)
		}
		if known {
			out = append(out, l)
		}
	}
	return out
}

// differenceOverview has a line for each of the pairs, a cell for each headline metric.
func differenceOverview(r *compare.Result, pairs []int) (columns []matrixLine, lines []pairCells) {
	for _, name := range r.Headline {
		columns = append(columns, newMatrixLine(name))
	}
	for _, k := range pairs {
		p := &r.Pairs[k]
		l := pairCells{Title: pairTitle(r, p)}
		for _, name := range r.Headline {
			cell := matrixCell{}
			if d := headlineOf(p, name); d != nil && d.New != nil {
				cell = newMatrixCell(d)
			}
			l.Cells = append(l.Cells, cell)
		}
		lines = append(lines, l)
	}
	return columns, lines
}

// pairTitle names a pair: by its system where only that differs from other pairs.
func pairTitle(r *compare.Result, p *compare.Pair) string {
	title := fmt.Sprintf("%s against %s", line(r.Sides[p.New].Name, 80), line(r.Sides[p.Base].Name, 80))
	switch {
	case p.System == "" || r.By != "run":
		return title
	case len(r.Sides) == 2:
		return line(p.System, 80)
	}
	return line(p.System, 80) + ", " + title
}

// baseCell is the value of the base over all of its rows, as the summary has it.
func baseCell(data *pageData, r *compare.Result, d *compare.Difference) matrixCell {
	side := r.Sides[0]
	system := side.System
	for _, res := range data.results {
		if res.run.Manifest.ID == side.Run && system != "" {
			system = res.prefix + system
		}
	}
	find := data.summary.find
	if d.Agg == "micro" {
		find = data.summary.findMicro
	}
	if s := find(system, "", shownMetric(d.Metric)); s != nil && s.Estimate != nil {
		return matrixCell{Value: numberOrDash(s.Estimate), Detail: interval(s.Low, s.High), Base: true}
	}
	shown := asShown(d)
	return matrixCell{Value: numberOrDash(shown.Base), Base: true}
}

func headlineOf(p *compare.Pair, name string) *compare.Difference {
	for i := range p.Differences {
		if d := &p.Differences[i]; d.Headline && d.Slice == "" && quantityOf(d) == name {
			return d
		}
	}
	return nil
}

// quantityOf is what compare calls the metric of a difference.
func quantityOf(d *compare.Difference) string {
	if d.Agg == "micro" {
		return "micro(" + d.Metric + ")"
	}
	return d.Metric
}

func bareMetric(name string) string {
	if inner, ok := strings.CutPrefix(name, "micro("); ok {
		return strings.TrimSuffix(inner, ")")
	}
	return name
}

func quantityLabel(name string) string {
	if bare := bareMetric(name); bare != name {
		return label(shownMetric(bare)) + ", micro"
	}
	return label(shownMetric(name))
}

// differenceDetail is the interval and the adjusted p-value of a difference.
func differenceDetail(d *compare.Difference) string {
	var parts []string
	if i := differenceInterval(d.Low, d.High); i != "" {
		parts = append(parts, i)
	}
	if p := pText(d.Adjusted); p != "" {
		parts = append(parts, p)
	}
	return strings.Join(parts, ", ")
}

// differenceText is a difference with its sign.
func differenceText(v *float64) string {
	switch {
	case v == nil:
		return "–"
	case number(math.Abs(*v)) == "0.000":
		return "0.000"
	case *v < 0:
		return "−" + number(-*v)
	}
	return "+" + number(*v)
}

func differenceInterval(low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return "[" + differenceText(low) + ", " + differenceText(high) + "]"
}

// correctedDifference is a difference without the judge's errors.
func correctedDifference(c *compare.Corrected) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("corrected %s %s, %s labelled", differenceText(&c.Diff), differenceInterval(&c.Low, &c.High), Plural(c.Labelled, "pair", "pairs"))
}

// pText is a p-value, never 0.
func pText(p *float64) string {
	switch {
	case p == nil:
		return ""
	case *p < 0.001:
		return "p < 0.001"
	}
	return "p " + number(*p)
}

func newPairView(data *pageData, r *compare.Result, k int) pairView {
	p := &r.Pairs[k]
	v := pairView{Title: pairTitle(r, p)}
	v.Rows = Plural(p.Rows, "pair of rows with the same question", "pairs of rows with the same question")
	if !p.Paired {
		v.Rows = Plural(p.Rows, "row", "rows") + "; not paired: the sides share no question, so there is no difference between them"
	}
	for _, d := range []struct {
		dropped compare.Named
		side    int
	}{{p.OnlyBase, p.Base}, {p.OnlyNew, p.New}} {
		if d.dropped.Rows > 0 {
			v.Dropped = append(v.Dropped, fmt.Sprintf("%s of %s without a counterpart left out: %s", Plural(d.dropped.Rows, "row", "rows"), line(r.Sides[d.side].Name, 80), namesShown(d.dropped)))
		}
	}
	a := differenceAxis(p)
	v.Ends = [2]string{differenceText(&a.lo), differenceText(&a.hi)}
	for i := range p.Differences {
		d := &p.Differences[i]
		if d.Base == nil && d.New == nil && d.Headline {
			continue
		}
		l := newDifferenceLine(data, k, d, a)
		if d.Headline && d.Slice == "" {
			v.Lines = append(v.Lines, l)
		} else if d.Diff != nil {
			v.More = append(v.More, l)
		}
	}
	return v
}

func namesShown(d compare.Named) string {
	var names []string
	for _, id := range d.IDs[:min(len(d.IDs), 5)] {
		names = append(names, line(id, 40))
	}
	if more := d.Rows - int64(len(names)); more > 0 {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// differenceAxis is the range that the differences of a pair share, with 0 in its
// middle.
func differenceAxis(p *compare.Pair) axis {
	most := 0.0
	for i := range p.Differences {
		d := &p.Differences[i]
		if !d.Headline || d.Slice != "" {
			continue
		}
		for _, v := range []*float64{d.Diff, d.Low, d.High} {
			if v != nil {
				most = max(most, math.Abs(*v))
			}
		}
	}
	switch {
	case most > 0.5 && most < 1.5: // metrics between 0 and 1 cannot differ by more, though intervals of method cr1 may
		most = 1
	case most == 0:
		most = 1
	default:
		most = nice(most)
	}
	return axis{-most, most}
}

func newDifferenceLine(data *pageData, pair int, raw *compare.Difference, a axis) differenceLine {
	d := new(asShown(raw))
	l := differenceLine{
		Name: d.Metric, Label: quantityLabel(quantityOf(d)), Slice: line(d.Slice, 80), Base: numberOrDash(d.Base), New: numberOrDash(d.New), Diff: differenceText(d.Diff),
		Interval: differenceInterval(d.Low, d.High), P: pText(d.Adjusted), Test: shown(d.Test), Word: differenceWord(d), N: Thousands(d.N), Why: shown(d.Reason),
		Corrected: correctedDifference(d.Corrected),
	}
	if d.MDE != nil && d.Outcome == compare.Undecided {
		l.MDE = "±" + number(math.Abs(*d.MDE))
	}
	l.Notes = data.notes.numbers(d.Warnings)
	if d.Diff != nil {
		l.Strip = differenceStrip(l.Label, d, a)
	}
	if d.Slice == "" {
		l.Flips = flipLinks(data, pair, d)
	}
	return l
}

// differenceStrip draws a difference on an axis with a line at 0.
func differenceStrip(name string, d *compare.Difference, a axis) stripView {
	s := stripView{X: percentText(a.at(*d.Diff)), Zero: percentText(a.at(0)), Label: name + ": difference " + differenceText(d.Diff), Colour: differenceColour[d.Outcome], Shape: differenceShape[d.Outcome]}
	if s.span(a, d.Low, d.High) {
		s.Label += ", interval " + differenceText(d.Low) + " to " + differenceText(d.High)
	}
	s.Label += ", " + differenceWord(d).Long
	return s
}

// Better and worse differ in shape, too. Colours are those of systems: 2 is green,
// 1 is orange, 6 is grey.
var (
	differenceColour = map[compare.Outcome]int{compare.Better: 2, compare.Worse: 1, compare.Different: 0, compare.Undecided: 6, compare.Unknown: 6}
	differenceShape  = map[compare.Outcome]int{compare.Better: 2, compare.Worse: 1, compare.Different: 3, compare.Undecided: 0, compare.Unknown: 0}
)

func newRankingView(data *pageData, r *compare.Result, ranking *compare.Ranking) rankingView {
	v := rankingView{Name: shownMetric(ranking.Metric), Label: label(shownMetric(ranking.Metric))}
	if ranking.Agg == "micro" {
		v.Label += ", micro"
	}
	d, _ := metrics.Lookup(v.Name)
	places := rankingShown(ranking).Places
	var values []float64
	for _, p := range places {
		values = append(values, p.Estimate)
		for _, end := range []*float64{p.Low, p.High} {
			if end != nil {
				values = append(values, *end)
			}
		}
	}
	a := axisOf(d, values)
	v.Ends = a.ends()
	for _, p := range places {
		name := line(r.Sides[p.Side].Name, 80)
		place := rankingPlace{Name: name, Rank: count(int64(p.Best)), Value: number(p.Estimate), Interval: interval(p.Low, p.High), Shape: p.Side % 4, Colour: p.Side % 8}
		if p.Worst > p.Best {
			place.Rank += "–" + count(int64(p.Worst))
		}
		switch {
		case p.Sure:
			place.Says = "surely the best"
		case p.Tied:
			place.Says = "may be the best"
		}
		place.Strip = stripView{X: percentText(a.at(p.Estimate)), Label: name + " " + number(p.Estimate), Shape: place.Shape, Colour: place.Colour}
		place.Strip.span(a, p.Low, p.High)
		v.Places = append(v.Places, place)
	}
	return v
}

// howCompared says how differences were made.
func howCompared(r *compare.Result) []string {
	paired, unpaired := false, false
	for _, p := range r.Pairs {
		paired, unpaired = paired || p.Paired, unpaired || !p.Paired
	}
	var out []string
	if paired {
		out = append(out, "Rows are paired by question: a difference is the mean of the rows' differences, or of two ratios of sums over the same rows.")
	}
	if unpaired {
		out = append(out, "Sides that share no question are not paired: they are shown side by side, without a difference.")
	}
	out = append(out, fmt.Sprintf("Intervals are at level %s; p-values are two-sided, adjusted by Holm over the headline metrics of a pair and by Benjamini and Hochberg over all others. ~ stands for not significant; MDE is the least difference that would have been found with chance %s.",
		levelText(r.Level), number(r.Power)))
	if len(r.Rankings) > 0 {
		out = append(out, "All statements of a ranking hold together at that level; a rank is a range where chance may explain the order.")
	}
	return out
}

// whatChanged says how many headline metrics changed between runs, and which the most.
// Pairs in which none did share a sentence.
func whatChanged(data *pageData) (says []finding) {
	r := data.options.Comparison
	if r == nil || r.By != "run" {
		return nil
	}
	var same, untested []string
	for _, k := range pagePairs(r) {
		p := &r.Pairs[k]
		var most *compare.Difference
		sure, tested := int64(0), int64(0)
		for i := range p.Differences {
			d := &p.Differences[i]
			if !d.Headline || d.Slice != "" || d.Diff == nil || d.Outcome == compare.Unknown {
				continue
			}
			tested++
			if d.Outcome != compare.Undecided {
				sure++
				if most == nil || math.Abs(*d.Diff) > math.Abs(*most.Diff) {
					most = d
				}
			}
		}
		switch {
		case tested == 0:
			untested = append(untested, pairTitle(r, p))
		case most == nil:
			same = append(same, pairTitle(r, p))
		default:
			d := asShown(most)
			says = append(says, sentence("%s: %s of %s changed, most %s: %s", pairTitle(r, p), Thousands(sure), Plural(tested, "headline metric", "headline metrics"), inSentence(quantityLabel(quantityOf(&d))), sureness(&d))...)
		}
	}
	if len(same) > 0 {
		says = append(says, sentence("%s: no headline metric differs by more than chance may explain", list(same))...)
	}
	if len(untested) > 0 {
		says = append(says, sentence("%s: there is too little data to test a headline metric", list(untested))...)
	}
	return says
}

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

// A flipIndex says which rows changed in one metric of one pair: one character for
// each row that the page lists, + where the new side has more than the base, - less,
// = the same, and a space where nothing is compared. Rows are those of the new side.
type flipIndex struct {
	Pair   int    `json:"pair"`
	Title  string `json:"title"`
	Metric string `json:"metric"`
	Label  string `json:"label"`
	Better string `json:"better"` // the character of rows that got better, "" if neither direction is
	Signs  string `json:"signs"`
}

// flips finds the rows that changed in the headline metrics of each pair.
func flips(data *pageData, listed []int) []flipIndex {
	r := data.options.Comparison
	if r == nil {
		return []flipIndex{}
	}
	place := make(map[int]int, len(listed))
	for k, n := range listed {
		place[n] = k
	}
	out := []flipIndex{}
	for _, k := range pagePairs(r) {
		p := &r.Pairs[k]
		if !p.Paired {
			continue
		}
		partners := partners(data, r, p)
		for i := range p.Differences {
			d := new(asShown(&p.Differences[i]))
			if !d.Headline || d.Slice != "" || d.Agg == "micro" || d.Diff == nil {
				continue
			}
			f := flipIndex{
				Pair: k, Title: pairTitle(r, p), Metric: d.Metric, Label: label(d.Metric),
				Better: map[int]string{1: "+", -1: "-"}[d.Direction],
			}
			signs := make([]byte, len(listed))
			for at := range signs {
				signs[at] = ' '
			}
			for other, base := range partners {
				if at, ok := place[other]; ok {
					signs[at] = signOfChange(data, d.Metric, base, other)
				}
			}
			f.Signs = string(signs)
			out = append(out, f)
		}
	}
	return out
}

// sign compares a metric of two rows.
func signOfChange(data *pageData, metric string, base, other int) byte {
	x, ok := data.results[data.rows[base].run].metric(metric).at(data.rows[base].index)
	y, okOther := data.results[data.rows[other].run].metric(metric).at(data.rows[other].index)
	switch {
	case !ok || !okOther:
		return ' '
	case y > x:
		return '+'
	case y < x:
		return '-'
	}
	return '='
}

// partners finds the row of the base for each row of the new side.
func partners(data *pageData, r *compare.Result, p *compare.Pair) map[int]int {
	type key struct{ Id, System string }
	of := func(s *compare.Side) map[key]int {
		system := s.System
		if p.System != "" {
			system = p.System
		}
		rows := make(map[key]int)
		for n := range data.rows {
			row := &data.rows[n]
			res := data.results[row.run]
			if res.run.Manifest.ID != s.Run {
				continue
			}
			k := key{res.id[row.index], res.system[row.index][len(res.prefix):]}
			if system != "" {
				if k.System != system {
					continue
				}
				k.System = "" // the sides' systems have different names
			}
			rows[k] = n
		}
		return rows
	}
	base, other := of(&r.Sides[p.Base]), of(&r.Sides[p.New])
	out := make(map[int]int, len(other))
	for k, n := range other {
		if m, ok := base[k]; ok {
			out[n] = m
		}
	}
	return out
}

type rowName struct{ run, id, system string }

// basesOf names the rows that those of the results are compared with.
func basesOf(all []*results, r *compare.Result) map[rowName]bool {
	out := make(map[rowName]bool)
	for _, k := range pagePairs(r) {
		p := &r.Pairs[k]
		base, other := &r.Sides[p.Base], &r.Sides[p.New]
		for _, res := range all {
			if res.run.Manifest.ID != other.Run {
				continue
			}
			for i, id := range res.id {
				system := res.system[i][len(res.prefix):]
				if only := cmp.Or(p.System, other.System); only == "" || only == system {
					out[rowName{base.Run, id, cmp.Or(p.System, base.System, system)}] = true
				}
			}
		}
	}
	return out
}

// flipLinks are the links to the rows of a pair that got better, worse or stayed.
func flipLinks(data *pageData, pair int, d *compare.Difference) []flipLink {
	if d.Diff == nil || d.Higher+d.Lower+d.Same == 0 {
		return nil
	}
	link := func(what string) string {
		if !d.Headline || d.Agg == "micro" || !data.options.Comparison.Pairs[pair].Paired {
			return ""
		}
		return rowsLink(fmt.Sprintf("changed:%d/%s/%s", pair, d.Metric, what))
	}
	if d.Direction == 0 {
		return []flipLink{{"▲", Thousands(d.Higher), link("higher")}, {"▼", Thousands(d.Lower), link("lower")}, {"=", Thousands(d.Same), link("same")}}
	}
	return []flipLink{{"better", Thousands(d.Improved()), link("better")}, {"worse", Thousands(d.Declined()), link("worse")}, {"same", Thousands(d.Same), link("same")}}
}
