package report

import (
	"fmt"
	"slices"
	"strings"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A calibrationView is what a judge's verdicts are worth, compared with people.
type calibrationView struct {
	Run    string       // "" if there is one
	Source string       // whose labels, in words
	Doubts []string     // what speaks against it
	Kinds  []judgedKind // claims and citations
	Others []judgedLine // other questions, which are answered yes or no
}

// A judgedKind is one kind of question that people answered, too.
type judgedKind struct {
	Title   string
	Says    string // the result in one sentence
	Matrix  confusionTable
	Lines   []judgedMeasure
	Chart   *curveChart // nil if scores are no shares
	Remarks []string
}

// A confusionTable counts verdicts of the judge by those of people.
type confusionTable struct {
	Title string
	Rows  [2]confusionRow // people accept, people reject
}

// A confusionRow is what the judge said of what people agree about.
type confusionRow struct {
	Name     string
	Yes, No  confusionCell
	RightYes bool // a yes is right
}

type confusionCell struct{ Count, Share string }

// A judgedMeasure is one number about the judge.
type judgedMeasure struct {
	Name, Meaning   string
	Value, Interval string
	Strip           stripView
	Notes           []int
}

// A judgedLine is the confusion of a question in one line.
type judgedLine struct {
	Name                     string
	Items                    string
	Sensitivity, Specificity string
	Found, Passed            string // of what people accept; of what they reject
}

// measures are the numbers that are shown of a judge, in this order.
var measures = []struct{ code, name, meaning string }{
	{"sensitivity", "Sensitivity", "of what people accept, the share it accepts"},
	{"specificity", "Specificity", "of what people reject, the share it rejects"},
	{"precision", "Precision", "of what it accepts, the share people accept"},
	{"kappa", "Cohen’s κ", "agreement beyond chance"},
	{"mcc", "MCC", "correlation of the verdicts"},
	{"auroc", "AUROC", "how well its scores rank, whatever the threshold"},
}

// A supportKind is a kind of question with a degree as its answer, as the page asks
// it, and what it is about.
type supportKind struct{ kind, title, items string }

// supportKinds are in the order of the page.
var supportKinds = []supportKind{
	{annotations.ClaimSupport, "Is the claim supported?", "claims"},
	{annotations.CitationSupport, "Does the citation support its claim?", "citations"},
}

// calibrated is what the judge of a run was found to be worth; nil if nobody
// compared it with people.
func calibrated(data *pageData, r *results) *calibrationView {
	c := r.calibration
	if c == nil {
		return nil
	}
	s := &calibrationView{Source: "Compared with the labels that people gave in this run."}
	if c.Of != r.run.Manifest.ID {
		s.Source = fmt.Sprintf("Compared with the labels that people gave in the run %s, which had the same judge.", line(c.Of, 80))
	}
	for _, w := range c.Warnings {
		s.Doubts = append(s.Doubts, line(w, 400))
	}
	if len(data.results) > 1 {
		s.Run = line(r.run.Manifest.ID, 80)
	}
	title := func(text string) string {
		if s.Run != "" {
			text += " (" + s.Run + ")"
		}
		return text
	}
	for _, known := range supportKinds {
		for _, k := range c.Kinds {
			if k.Kind == known.kind {
				s.Kinds = append(s.Kinds, newJudgedKind(data, k, title(known.title), known.items))
			}
		}
	}
	for _, k := range c.Kinds {
		if !slices.ContainsFunc(supportKinds, func(known supportKind) bool { return known.kind == k.Kind }) {
			s.Others = append(s.Others, newJudgedLine(k))
		}
	}
	return s
}

func newJudgedKind(data *pageData, k *annotations.Calibration, title, items string) judgedKind {
	x := &k.Confusion
	out := judgedKind{
		Title: title,
		Says:  confusionInWords(x, items),
		Matrix: confusionTable{Title: title + " Judge against people", Rows: [2]confusionRow{
			{"people accept", cellOf(x.TP, x.TP+x.FN), cellOf(x.FN, x.TP+x.FN), true},
			{"people reject", cellOf(x.FP, x.TN+x.FP), cellOf(x.TN, x.TN+x.FP), false},
		}},
		Chart: newCurveChart(title+" Calibration curve", k),
	}
	for _, m := range measures {
		out.Lines = append(out.Lines, newJudgedMeasure(data, m.name, m.meaning, k.Statistic(m.code), k.Level))
	}
	out.Remarks = append(out.Remarks, fmt.Sprintf("%s with people’s labels, of %s. The judge accepts from a score of %s on, people from %s on.",
		Plural(k.Items, "item", "items"), Plural(k.Documents, "document", "documents"), number(k.Threshold), number(k.Positive)))
	for _, r := range k.Statistics {
		if r.Verdict != "" {
			out.Remarks = append(out.Remarks, fmt.Sprintf("The judge is %s, by %s: %s %s, target %g.", verdictText(r.Verdict, r.Need), label(r.Statistic), numberOrDash(r.Estimate), interval(r.Low, r.High), *r.Target))
		}
	}
	if best := k.Best; best != nil {
		out.Remarks = append(out.Remarks, fmt.Sprintf("Best threshold: %s. Chosen so on four fifths of the documents, it has a balanced accuracy of %s on the others.",
			number(best.Threshold), numberOf(best.BalancedAccuracy)))
	}
	if i := k.Isotonic; i != nil {
		out.Remarks = append(out.Remarks, fmt.Sprintf("Isotonic recalibration on half of the documents takes the ECE of the other half from %s to %s.", numberOf(i.ECEBefore), numberOf(i.ECEAfter)))
	}
	for _, w := range k.Warnings {
		out.Remarks = append(out.Remarks, label(line(w, 400))+".")
	}
	if len(k.EqualWidth) == 0 {
		out.Remarks = append(out.Remarks, "Its scores are not between 0 and 1, so there is no calibration curve.")
	}
	return out
}

func confusionInWords(x *stats.Confusion, items string) string {
	accepted, rejected := x.TP+x.FN, x.TN+x.FP
	text := "People accept none of the " + items + "."
	if accepted > 0 {
		text = fmt.Sprintf("It accepts %s of the %s %s that people accept.", Thousands(x.TP), Thousands(accepted), items)
	}
	if rejected == 0 {
		return text + " People reject none of them."
	}
	return text + fmt.Sprintf(" Of the %s that people reject it accepts %s.", Thousands(rejected), Thousands(x.FP))
}

func cellOf(n, of int64) confusionCell { return confusionCell{Thousands(n), percent(n, of)} }

func newJudgedMeasure(data *pageData, name, meaning string, r annotations.CalibrationRow, level float64) judgedMeasure {
	m := judgedMeasure{Name: name, Meaning: meaning, Value: numberOrDash(r.Estimate), Interval: interval(r.Low, r.High)}
	if r.Estimate != nil {
		m.Strip = agreementStrip(name, &runs.AgreementRow{Estimate: r.Estimate, Low: r.Low, High: r.High, Level: level})
	}
	m.Notes = data.notes.numbers(r.Warnings)
	return m
}

func newJudgedLine(k *annotations.Calibration) judgedLine {
	x := &k.Confusion
	of := func(n, all int64) string { return Thousands(n) + " of " + Thousands(all) }
	share := func(name string) string {
		r := k.Statistic(name)
		text := numberOrDash(r.Estimate)
		if r.Low != nil {
			text += " " + interval(r.Low, r.High)
		}
		return text
	}
	return judgedLine{
		Name: label(line(k.Kind, 60)), Items: Thousands(k.Items), Sensitivity: share("sensitivity"), Specificity: share("specificity"),
		Found: of(x.TP, x.TP+x.FN), Passed: of(x.FP, x.FP+x.TN),
	}
}

// A curveChart is a calibration curve: against the mean score of each bin the
// share of its items that people accept, and below it how many items that is.
type curveChart struct {
	Title, Desc string
	Points      []curvePoint
	Line        string // through the points, as SVG wants it
	Bars        []curveBar
	Threshold   string // where a score becomes a yes
	Ticks       []curveTick
	Note        string // the numbers that belong to the curve
}

// A curvePoint is a bin with items.
type curvePoint struct {
	X, Y           string
	Low, High      string // of the interval
	Interval       bool
	Scores, Mean   string // in words
	Share, Between string
	Items          string
}

// A curveBar is how many items a bin has.
type curveBar struct {
	X, Y, Width, Height string
	Middle, Above       string // where its number stands
	Items               string
	Named               bool // there is room for the number
}

// A curveTick is a labelled line of the grid.
type curveTick struct{ X, Y, Text string }

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

// newCurveChart draws the bins of equal width; nil if scores are no shares.
func newCurveChart(title string, k *annotations.Calibration) *curveChart {
	if len(k.EqualWidth) == 0 {
		return nil
	}
	c := &curveChart{Title: title, Threshold: fixed(curveX(k.Threshold))}
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.Ticks = append(c.Ticks, curveTick{fixed(curveX(v)), fixed(curveY(v)), fmt.Sprintf("%g", v)})
	}
	var most int64
	for _, b := range k.EqualWidth {
		most = max(most, b.Count)
	}
	var line, words []string
	for _, b := range k.EqualWidth {
		p := newCurvePoint(&b, k.Bins)
		c.Points = append(c.Points, p)
		line = append(line, p.X+","+p.Y)
		words = append(words, fmt.Sprintf("scores %s: mean %s, people accept %s of %s", p.Scores, p.Mean, p.Share, Plural(b.Count, "item", "items")))
		c.Bars = append(c.Bars, newCurveBar(&b, k.Bins, most))
	}
	c.Line, c.Desc = strings.Join(line, " "), strings.Join(words, "; ")+"."
	c.Note = fmt.Sprintf("ECE %s, Brier score %s; both are 0 at best", numberOrDash(k.Statistic("ece").Estimate), numberOrDash(k.Statistic("brier").Estimate))
	return c
}

func newCurvePoint(b *annotations.CalibrationBin, bins int) curvePoint {
	p := curvePoint{
		X: fixed(curveX(b.MeanScore)), Y: fixed(curveY(b.PositiveRate)), Scores: binRange(b.Index, bins), Mean: number(b.MeanScore),
		Share: number(b.PositiveRate), Between: interval(b.Low, b.High), Items: Thousands(b.Count),
	}
	if b.Low != nil && b.High != nil {
		p.Interval, p.Low, p.High = true, fixed(curveY(*b.Low)), fixed(curveY(*b.High))
	}
	return p
}

func newCurveBar(b *annotations.CalibrationBin, bins int, most int64) curveBar {
	wide := curveSide / float64(bins)
	tall := max(curveBarsTall*float64(b.Count)/float64(most), curveLeastBar)
	x, y := curveLeft+wide*float64(b.Index), curveBarsBottom-tall
	return curveBar{
		X: fixed(x + curveBarGap/2), Y: fixed(y), Width: fixed(max(wide-curveBarGap, 0.5)), Height: fixed(tall),
		Middle: fixed(x + wide/2), Above: fixed(y - 4), Items: Thousands(b.Count), Named: bins <= mostNamedBars,
	}
}
