package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"ibid/annotations"
	"ibid/dataset/runs"
)

// A Calibration is the view model of what a judge's scores are worth.
type Calibration struct {
	Title     string                                `json:"title"`
	Of        string                                `json:"labelled_run,omitempty"` // the run whose labels the judge was measured by, "" for a table
	Kinds     runs.ListOf[*annotations.Calibration] `json:"kinds"`                  // by kind of question
	Corrected runs.ListOf[runs.SummaryRow]          `json:"corrected"`              // of the run, those that have a correction
	Warnings  runs.ListOf[string]                   `json:"warnings"`
}

// calibrationSchema names the JSON form of a calibration, printed or left in a run.
const calibrationSchema = "ibid.calibration/v1"

type calibrationJSON struct {
	Schema string `json:"schema"`
	*Calibration
}

func (c *Calibration) asJSON() any { return calibrationJSON{calibrationSchema, c} }

func (c *Calibration) writeCSV(w io.Writer) error {
	var lines []annotations.CalibrationLine
	for _, k := range c.Kinds {
		lines = append(lines, k.Lines()...)
	}
	return annotations.CalibrationLines.WriteCSV(w, lines)
}

func (c *Calibration) writeTo(p *paper) {
	p.title(c.Title)
	for _, k := range c.Kinds {
		kind(p, k)
	}
	if len(c.Corrected) > 0 {
		p.heading("Corrected for the judge's errors")
		p.table(correctionTable(c.Corrected))
	}
	for _, text := range c.Warnings {
		p.line(CleanLine(text))
	}
	p.footnotes()
}

func kind(p *paper, k *annotations.Calibration) {
	head := fmt.Sprintf("%s items", Thousands(k.Items))
	if k.Kind != "" {
		head = CleanLine(k.Kind) + ": " + head
	}
	p.heading(fmt.Sprintf("%s of %s documents, yes from %g on", head, Thousands(k.Documents), k.Threshold))
	p.table(&table{header: []string{"", "judge yes", "judge no"}, right: 1, rows: [][]string{
		{"people yes", Thousands(k.Confusion.TP), Thousands(k.Confusion.FN)},
		{"people no", Thousands(k.Confusion.FP), Thousands(k.Confusion.TN)},
	}})
	for _, r := range k.Statistics {
		if r.Verdict != "" {
			p.line(fmt.Sprintf("%s by %s: %s %s, target %g", verdictText(r.Verdict, r.Need), r.Statistic, numberOrDash(r.Estimate), interval(r.Low, r.High), *r.Target))
		}
	}
	t := &table{header: []string{"", "", fmt.Sprintf("%g %%", 100*k.Level), "items"}, right: 1}
	for _, r := range k.Statistics {
		t.rows = append(t.rows, []string{r.Statistic, numberOrDash(r.Estimate), interval(r.Low, r.High), Thousands(r.Items) + p.notes.marks(slices.Concat(k.Warnings, r.Warnings))})
	}
	p.table(t)
	curve(p, "equal width", k.EqualWidth, func(b *annotations.CalibrationBin) string { return binRange(b.Index, k.Bins) })
	curve(p, "equal mass", k.EqualMass, func(b *annotations.CalibrationBin) string { return fmt.Sprintf("bin %d", b.Index+1) })
	if b := k.Best; b != nil {
		p.line(fmt.Sprintf("best threshold: %s; on documents that it was not chosen on, thresholds so chosen reach a balanced accuracy of %s",
			number(b.Threshold), numberOf(b.BalancedAccuracy)))
	}
	if r := k.Isotonic; r != nil {
		p.line(fmt.Sprintf("isotonic recalibration, fitted on %s items and seen on %s others: ECE %s to %s, Brier %s to %s",
			Thousands(r.FittedOn), Thousands(r.ReportedOn), numberOf(r.ECEBefore), numberOf(r.ECEAfter), numberOf(r.BrierBefore), numberOf(r.BrierAfter)))
	}
}

// judgedTable is one line for each kind of question: what the judge's verdicts are
// worth.
func (c *Calibration) judgedTable() *table {
	t := &table{header: []string{"", "items", "documents", "sensitivity", "", "specificity", "", "kappa", "", "AUROC", "ECE"}, right: 1}
	for _, k := range c.Kinds {
		cells := []string{CleanLine(k.Kind), Thousands(k.Items), Thousands(k.Documents)}
		for _, name := range []string{"sensitivity", "specificity", "kappa"} {
			r := k.Statistic(name)
			cells = append(cells, numberOrDash(r.Estimate), interval(r.Low, r.High))
		}
		for _, name := range []string{"auroc", "ece"} {
			cells = append(cells, numberOrDash(k.Statistic(name).Estimate))
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

func curve(p *paper, name string, bins []annotations.CalibrationBin, named func(*annotations.CalibrationBin) string) {
	t := &table{header: []string{"scores, " + name, "mean score", "share positive", "", "items"}, right: 1}
	for _, b := range bins {
		t.rows = append(t.rows, []string{named(&b), number(b.MeanScore), number(b.PositiveRate), interval(b.Low, b.High), Thousands(b.Count)})
	}
	p.table(t)
}

// binRange is the scores of a bin of equal width, in words.
func binRange(index, bins int) string {
	if bins < 1 {
		return fmt.Sprintf("bin %d", index+1)
	}
	return fmt.Sprintf("%.3g to %.3g", float64(index)/float64(bins), float64(index+1)/float64(bins))
}

// correctionTable sets corrected values beside the raw ones.
func correctionTable(rows []runs.SummaryRow) *table {
	t := &table{header: []string{"metric", "system", "", "raw", "", "corrected", "", "by"}, right: 3}
	for _, r := range rows {
		system := r.System
		if system == "" {
			system = "all systems"
		}
		t.rows = append(t.rows, []string{
			r.Metric, CleanLine(system), r.Agg, numberOrDash(r.Estimate), interval(r.Low, r.High), numberOrDash(r.Corrected),
			interval(r.CorrectedLow, r.CorrectedHigh), r.CorrectedMethod,
		})
	}
	return t
}

// SaveCalibration leaves a calibration in the directory of its run, in the form
// that format json prints.
func SaveCalibration(dir string, c *Calibration) error {
	return runs.WriteJSON(filepath.Join(dir, runs.CalibrationFile), c.asJSON())
}

// ReadCalibration reads what [SaveCalibration] left in the directory of a run; nil
// if there is none. What was corrected is not read, which
// the summary of the run has.
func ReadCalibration(dir string) (*Calibration, error) {
	path := filepath.Join(dir, runs.CalibrationFile)
	in := calibrationJSON{Calibration: new(Calibration)}
	_, err := runs.ReadJSON(path, &in)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if in.Schema != calibrationSchema {
		return nil, fmt.Errorf("%s: schema is %q, this ibid reads %q", path, in.Schema, calibrationSchema)
	}
	in.Corrected = nil
	return in.Calibration, nil
}
