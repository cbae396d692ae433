package report

import (
	"fmt"
	"slices"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A CalibrationSection is what a judge's verdicts are worth, compared with people.
type CalibrationSection struct {
	Run    string       // "" if there is one
	Source string       // whose labels, in words
	Doubts []string     // what speaks against it
	Kinds  []JudgedKind // claims and citations
	Others []JudgedLine // other questions, which are answered yes or no
}

// A JudgedKind is one kind of question that people answered, too.
type JudgedKind struct {
	Title   string
	Says    string // the result in one sentence
	Matrix  ConfusionTable
	Lines   []JudgedMeasure
	Chart   *CurveChart // nil if scores are no shares
	Remarks []string
}

// A ConfusionTable counts verdicts of the judge by those of people.
type ConfusionTable struct {
	Title string
	Rows  [2]ConfusionRow // people accept, people reject
}

// A ConfusionRow is what the judge said of what people agree about.
type ConfusionRow struct {
	Name     string
	Yes, No  ConfusionCell
	RightYes bool // a yes is right
}

// A ConfusionCell is a count and its share of its row.
type ConfusionCell struct{ Count, Share string }

// A JudgedMeasure is one number about the judge.
type JudgedMeasure struct {
	Name, Meaning   string
	Value, Interval string
	Strip           Strip
	Notes           []int
}

// A JudgedLine is the confusion of a question in one line.
type JudgedLine struct {
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

// calibrated reads what the judge of a run was found to be worth; nil if nobody
// compared it with people.
func (b *pageBuilder) calibrated(r *results) (*CalibrationSection, error) {
	c, err := ReadCalibration(r.run.Dir)
	if c == nil || err != nil {
		return nil, err
	}
	s := &CalibrationSection{Source: "Compared with the labels that people gave in this run."}
	if c.Of != r.run.Manifest.ID {
		s.Source = fmt.Sprintf("Compared with the labels that people gave in the run %s, which had the same judge.", line(c.Of, 80))
	}
	for _, w := range c.Warnings {
		s.Doubts = append(s.Doubts, line(w, 400))
	}
	if len(b.results) > 1 {
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
				s.Kinds = append(s.Kinds, b.judgedKind(k, title(known.title), known.items))
			}
		}
	}
	for _, k := range c.Kinds {
		if !slices.ContainsFunc(supportKinds, func(known supportKind) bool { return known.kind == k.Kind }) {
			s.Others = append(s.Others, judgedLine(k))
		}
	}
	return s, nil
}

func (b *pageBuilder) judgedKind(k *annotations.Calibration, title, items string) JudgedKind {
	x := &k.Confusion
	out := JudgedKind{
		Title: title,
		Says:  confusionInWords(x, items),
		Matrix: ConfusionTable{Title: title + " Judge against people", Rows: [2]ConfusionRow{
			{"people accept", cellOf(x.TP, x.TP+x.FN), cellOf(x.FN, x.TP+x.FN), true},
			{"people reject", cellOf(x.FP, x.TN+x.FP), cellOf(x.TN, x.TN+x.FP), false},
		}},
		Chart: curveChart(title+" Calibration curve", k),
	}
	for _, m := range measures {
		out.Lines = append(out.Lines, b.judgedMeasure(m.name, m.meaning, k.Statistic(m.code), k.Level))
	}
	out.Remarks = append(out.Remarks, fmt.Sprintf("%s with people’s labels, of %s. The judge accepts from a score of %s on, people from %s on.",
		plural(k.Items, "item", "items"), plural(k.Documents, "document", "documents"), number(k.Threshold), number(k.Positive)))
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
	if k.EqualWidth == nil {
		out.Remarks = append(out.Remarks, "Its scores are not between 0 and 1, so there is no calibration curve.")
	}
	return out
}

// confusionInWords is the confusion as a sentence.
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

func cellOf(n, of int64) ConfusionCell { return ConfusionCell{Thousands(n), percent(n, of)} }

func (b *pageBuilder) judgedMeasure(name, meaning string, r annotations.CalibrationRow, level float64) JudgedMeasure {
	m := JudgedMeasure{Name: name, Meaning: meaning, Value: Number(r.Estimate), Interval: interval(r.Low, r.High)}
	if r.Estimate != nil {
		m.Strip = agreementStrip(name, &runs.AgreementRow{Estimate: r.Estimate, Low: r.Low, High: r.High, Level: level})
	}
	for _, w := range r.Warnings {
		m.Notes = append(m.Notes, b.page.note(w))
	}
	return m
}

func judgedLine(k *annotations.Calibration) JudgedLine {
	x := &k.Confusion
	of := func(n, all int64) string { return Thousands(n) + " of " + Thousands(all) }
	share := func(name string) string {
		r := k.Statistic(name)
		text := Number(r.Estimate)
		if r.Low != nil {
			text += " " + interval(r.Low, r.High)
		}
		return text
	}
	return JudgedLine{
		Name: label(line(k.Kind, 60)), Items: Thousands(k.Items), Sensitivity: share("sensitivity"), Specificity: share("specificity"),
		Found: of(x.TP, x.TP+x.FN), Passed: of(x.FP, x.FP+x.TN),
	}
}
