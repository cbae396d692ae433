package report

import (
	"encoding/csv"
	"fmt"
	"io"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A Calibration is the view model of what a judge's scores are worth.
type Calibration struct {
	Title     string
	Kinds     []*annotations.Calibration
	Repeated  *annotations.Repeated // nil unless runs judged the same data several times
	Corrected []runs.SummaryRow     // of the run, those that have a correction
	Warnings  []string
}

// Write renders the calibration as text, json, csv or markdown. A nil style is
// none.
func (c *Calibration) Write(w io.Writer, format string, style Style) error {
	switch format {
	case "json":
		return c.writeJSON(w)
	case "csv":
		return c.writeCSV(w)
	}
	if style == nil {
		style = plain{}
	}
	p := &paper{markdown: format == "markdown", style: style}
	p.title(c.Title)
	for _, k := range c.Kinds {
		kind(p, k)
	}
	if c.Repeated != nil {
		repeated(p, c.Repeated)
	}
	c.corrections(p)
	for _, text := range c.Warnings {
		p.line(CleanLine(text))
	}
	p.footnotes()
	_, err := io.WriteString(w, p.String())
	return err
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
	t := &table{header: []string{"", "", fmt.Sprintf("%g %%", 100*k.Level), "items"}, right: 1}
	for _, r := range k.Statistics {
		t.rows = append(t.rows, []string{r.Statistic, Number(r.Estimate), interval(r.Low, r.High), Thousands(r.Items) + p.notes.marks(k.Warnings)})
	}
	p.table(t)
	curve(p, "equal width", k.EqualWidth)
	curve(p, "equal mass", k.EqualMass)
	if b := k.Best; b != nil {
		p.line(fmt.Sprintf("best threshold: %s; on documents that it was not chosen on, thresholds so chosen reach a balanced accuracy of %s",
			number(b.Threshold), numberOf(b.BalancedAccuracy)))
	}
	if r := k.Isotonic; r != nil {
		p.line(fmt.Sprintf("isotonic recalibration, fitted on %s items and seen on %s others: ECE %s to %s, Brier %s to %s",
			Thousands(r.FittedOn), Thousands(r.ReportedOn), numberOf(r.ECEBefore), numberOf(r.ECEAfter), numberOf(r.BrierBefore), numberOf(r.BrierAfter)))
	}
	if n := k.Noise; n != nil {
		p.line(fmt.Sprintf("judged again: the variance of one judgment is %.4g, that between items %.4g", n.Judge, n.Sample))
	}
}

func curve(p *paper, name string, c *stats.Calibration) {
	if c == nil {
		return
	}
	t := &table{header: []string{"scores, " + name, "mean score", "share positive", "items"}, right: 1}
	for _, b := range c.Bins {
		t.rows = append(t.rows, []string{fmt.Sprintf("bin %d", b.Index+1), number(b.MeanScore), number(b.PositiveRate), Thousands(b.Count)})
	}
	p.table(t)
}

// corrections shows what the run's numbers come to.
func (c *Calibration) corrections(p *paper) {
	if len(c.Corrected) > 0 {
		p.heading("Corrected for the judge's errors")
		p.table(correctionTable(c.Corrected))
	}
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
			r.Metric, CleanLine(system), r.Agg, Number(r.Estimate), interval(r.Low, r.High), Number(r.Corrected),
			interval(r.CorrectedLow, r.CorrectedHigh), r.CorrectedMethod,
		})
	}
	return t
}

type calibrationJSON struct {
	Schema    string           `json:"schema"`
	Title     string           `json:"title"`
	Kinds     []kindJSON       `json:"kinds"`
	Repeated  *repeatedJSON    `json:"repeated,omitempty"`
	Corrected []correctionJSON `json:"corrected"`
	Warnings  []string         `json:"warnings"`
}

type kindJSON struct {
	Kind       string            `json:"kind"`
	Judge      string            `json:"judge"`
	Items      int64             `json:"items"`
	Documents  int64             `json:"documents"`
	Threshold  float64           `json:"threshold"`
	Positive   float64           `json:"positive"`
	TP         int64             `json:"tp"`
	FP         int64             `json:"fp"`
	FN         int64             `json:"fn"`
	TN         int64             `json:"tn"`
	Level      float64           `json:"level"`
	Statistics []measureJSON     `json:"statistics"`
	EqualWidth []binJSON         `json:"equal_width"`
	EqualMass  []binJSON         `json:"equal_mass"`
	Best       *thresholdJSON    `json:"best_threshold"`
	Isotonic   *recalibratedJSON `json:"isotonic"`
	Noise      *noiseJSON        `json:"noise"`
	Warnings   []string          `json:"warnings"`
}

type measureJSON struct {
	Statistic string   `json:"statistic"`
	Estimate  *float64 `json:"estimate"`
	Low       *float64 `json:"ci_low"`
	High      *float64 `json:"ci_high"`
	Method    string   `json:"method"`
	Items     int64    `json:"items"`
}

type binJSON struct {
	Index        int     `json:"bin"`
	Count        int64   `json:"count"`
	MeanScore    float64 `json:"mean_score"`
	PositiveRate float64 `json:"positive_rate"`
}

type thresholdJSON struct {
	Threshold        float64      `json:"threshold"`
	BalancedAccuracy stats.Number `json:"held_out_balanced_accuracy"`
}

type recalibratedJSON struct {
	X           []float64    `json:"x"`
	Fitted      []float64    `json:"fitted"`
	FittedOn    int64        `json:"fitted_on"`
	ReportedOn  int64        `json:"reported_on"`
	ECEBefore   stats.Number `json:"ece_before"`
	ECEAfter    stats.Number `json:"ece_after"`
	BrierBefore stats.Number `json:"brier_before"`
	BrierAfter  stats.Number `json:"brier_after"`
}

type noiseJSON struct {
	Items     int64   `json:"items"`
	Judgments int64   `json:"judgments"`
	Judge     float64 `json:"judge_variance"`
	Sample    float64 `json:"sample_variance"`
}

type correctionJSON struct {
	System        string   `json:"system"`
	Metric        string   `json:"metric"`
	Agg           string   `json:"agg"`
	Estimate      *float64 `json:"estimate"`
	Low           *float64 `json:"ci_low"`
	High          *float64 `json:"ci_high"`
	Corrected     *float64 `json:"corrected"`
	CorrectedLow  *float64 `json:"corrected_low"`
	CorrectedHigh *float64 `json:"corrected_high"`
	Method        string   `json:"corrected_method"`
}

func binsJSON(c *stats.Calibration) []binJSON {
	out := []binJSON{}
	if c != nil {
		for _, b := range c.Bins {
			out = append(out, binJSON(b))
		}
	}
	return out
}

func (c *Calibration) writeJSON(w io.Writer) error {
	out := calibrationJSON{Schema: "ibid.calibration/v1", Title: c.Title, Kinds: []kindJSON{}, Corrected: []correctionJSON{}, Warnings: append([]string{}, c.Warnings...)}
	for _, k := range c.Kinds {
		j := kindJSON{
			Kind: k.Kind, Judge: k.Judge, Items: k.Items, Documents: k.Documents, Threshold: k.Threshold, Positive: k.Positive,
			TP: k.Confusion.TP, FP: k.Confusion.FP, FN: k.Confusion.FN, TN: k.Confusion.TN, Level: k.Level,
			EqualWidth: binsJSON(k.EqualWidth), EqualMass: binsJSON(k.EqualMass), Warnings: append([]string{}, k.Warnings...),
		}
		for _, r := range k.Statistics {
			j.Statistics = append(j.Statistics, measureJSON(r))
		}
		if b := k.Best; b != nil {
			j.Best = &thresholdJSON{b.Threshold, b.BalancedAccuracy}
		}
		if r := k.Isotonic; r != nil {
			j.Isotonic = (*recalibratedJSON)(r)
		}
		if n := k.Noise; n != nil {
			j.Noise = (*noiseJSON)(n)
		}
		out.Kinds = append(out.Kinds, j)
	}
	if c.Repeated != nil {
		out.Repeated = repeatedOf(c.Repeated)
	}
	for _, r := range c.Corrected {
		out.Corrected = append(out.Corrected, correctionJSON{
			r.System, r.Metric, r.Agg, r.Estimate, r.Low, r.High, r.Corrected, r.CorrectedLow, r.CorrectedHigh, r.CorrectedMethod,
		})
	}
	return encodeJSON(w, out)
}

func (c *Calibration) writeCSV(w io.Writer) error {
	rows := [][]string{{"kind", "judge", "statistic", "items", "estimate", "ci_low", "ci_high", "level", "method"}}
	for _, k := range c.Kinds {
		for _, r := range k.Statistics {
			rows = append(rows, []string{k.Kind, k.Judge, r.Statistic, count(r.Items), exact(r.Estimate), exact(r.Low), exact(r.High), exact(&k.Level), r.Method})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}
