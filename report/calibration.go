package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
	"ibid/report/doc"
)

// A Calibration is the view of what a judge's scores are worth.
type Calibration struct {
	Title     string                                `json:"title"`
	Of        string                                `json:"labelled_run,omitempty"` // the run whose labels the judge was measured by, "" for a table
	Kinds     runs.ListOf[*annotations.Calibration] `json:"kinds"`                  // by kind of question
	Corrected runs.ListOf[runs.SummaryRow]          `json:"corrected"`              // of the run, those that have a correction
	Warnings  runs.ListOf[string]                   `json:"warnings"`

	Fitted   *annotations.Thresholds `json:"-"` // by which the judge decides; nil if by the setting
	Recorded bool                    `json:"-"` // the judge is a file of verdicts
	Offer    string                  `json:"-"` // what thresholds on overlap would bring, "" if nothing
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

func (c *Calibration) section() doc.Section {
	blocks := c.blocks("")
	if len(c.Corrected) > 0 {
		blocks = append(blocks, correctionTable("Corrected for the judge's errors", c.Corrected))
	}
	if c.Offer != "" {
		blocks = append(blocks, doc.Para{Text: doc.T(c.Offer)})
	}
	return doc.Section{Title: c.Title, Blocks: append(blocks, paras(doc.Plain, c.Warnings)...)}
}

// blocks are the kinds of questions, those about support first. Of ends captions where there
// are several runs.
func (c *Calibration) blocks(of string) (out []doc.Block) {
	first := []string{annotations.CitationSupport, annotations.ClaimSupport} // the last is the first
	kinds := slices.Clone(c.Kinds)
	slices.SortStableFunc(kinds, func(a, b *annotations.Calibration) int {
		return slices.Index(first, b.Kind) - slices.Index(first, a.Kind)
	})
	for _, k := range kinds {
		out = append(out, kindBlocks(k, of)...)
	}
	return out
}

// kindBlocks are one kind of question: how often judge and people agree, what follows from
// that, and the scores in bins.
func kindBlocks(k *annotations.Calibration, of string) []doc.Block {
	x := &k.Confusion
	title := fmt.Sprintf("%s items of %s documents, %s", Thousands(k.Items), Thousands(k.Documents), decidesInWords(k))
	if k.Kind != "" {
		title = k.Kind + ": " + title
	}
	title += of
	confusion := doc.Table{Caption: "judge against people, " + title, Class: "kinds", Columns: []doc.Column{{}, {Name: "judge yes", Number: true}, {Name: "judge no", Number: true}}, Rows: [][]doc.Cell{
		{doc.C("people yes"), doc.C(Thousands(x.TP)), doc.C(Thousands(x.FN))},
		{doc.C("people no"), doc.C(Thousands(x.FP)), doc.C(Thousands(x.TN))},
	}}
	measures := doc.Table{Caption: "measures, " + title, Class: "metrics", Columns: []doc.Column{
		{}, {Name: "", Number: true}, {Name: fmt.Sprintf("%g %%", 100*k.Level), Number: true}, {Name: "0 to 1, with interval", Page: true, Keep: 1}, {Name: "items", Number: true},
	}}
	lead := confusionInWords(x)
	if k.Abstains {
		lead = fmt.Sprintf("Says supported: %s of %s, %s rightly; %s undecided. It never says no, so that nothing else is known of it.",
			Thousands(k.Items), Thousands(k.Items+k.Undecided), Thousands(x.TP), Thousands(k.Undecided))
	}
	out := []doc.Block{doc.Heading{Text: doc.T(title)}, doc.Para{Kind: doc.Lead, Text: doc.T(lead)}}
	if !k.Abstains && k.Undecided > 0 {
		out = append(out, doc.Para{Text: doc.T(fmt.Sprintf("%s undecided.", Thousands(k.Undecided)))})
	}
	if !k.Abstains {
		if x.TP+x.FN == 0 || x.TN+x.FP == 0 { // nothing can be told from chance
			return out
		}
		out = append(out, confusion)
	}
	for _, r := range k.Statistics {
		drawn, items := doc.Cell{Strip: strip(axis{0, 1}, r.Statistic, &runs.SummaryRow{Estimate: r.Estimate, Low: r.Low, High: r.High, Level: k.Level}, r.Target)}, doc.C(Thousands(r.Items))
		items.Notes = slices.Concat([]string(k.Warnings), []string(r.Warnings))
		measures.Rows = append(measures.Rows, []doc.Cell{doc.C(r.Statistic), doc.C(numberOrDash(r.Estimate)), doc.C(interval(r.Low, r.High)), drawn, items})
		if r.Verdict != "" {
			verdict := r.Verdict
			if r.Need != nil {
				verdict += fmt.Sprintf(": about %s would decide", Plural(*r.Need, "item", "items"))
			}
			out = append(out, doc.Para{Text: doc.Text{{Text: verdict, Tone: verdictTones[r.Verdict]}, {
				Text: fmt.Sprintf(" by %s: %s %s, target %g", r.Statistic, numberOrDash(r.Estimate), interval(r.Low, r.High), *r.Target),
			}}})
		}
	}
	out = append(out, measures)
	if b := k.Best; b != nil {
		out = append(out, doc.Para{Text: doc.T(fmt.Sprintf("best threshold: %s; --fit FILE would choose it, and reach a balanced accuracy of %s on documents that had no part in the choice",
			number(b.Threshold), numberOf(b.BalancedAccuracy)))})
	}
	if k.Fitted != nil {
		out = append(out, doc.Para{Text: doc.T("The thresholds are chosen on these labels. What is counted here was decided by those of four fifths of the documents, of the other fifth.")})
	}
	if len(k.Bins) > 0 {
		out = append(out, doc.Details{Summary: "scores in bins, " + title, Blocks: []doc.Block{binTable("scores, "+title, k.Bins)}})
	}
	return out
}

// decidesInWords is from where on the judge's answer is a yes.
func decidesInWords(k *annotations.Calibration) string {
	if k.Fitted == nil {
		return fmt.Sprintf("yes from %g on", k.Threshold)
	}
	t := k.Fitted.Thresholds
	var parts []string
	if t.Supported != nil {
		parts = append(parts, "yes from "+number(*t.Supported)+" on")
	}
	if t.Unsupported != nil {
		parts = append(parts, "no up to "+number(*t.Unsupported))
	}
	return strings.Join(parts, ", ")
}

func confusionInWords(x *stats.Confusion) string {
	accepted, rejected := x.TP+x.FN, x.TN+x.FP
	text := "People accept none of them."
	if accepted > 0 {
		text = fmt.Sprintf("It accepts %s of the %s that people accept.", Thousands(x.TP), Thousands(accepted))
	}
	if rejected == 0 {
		return text + " People reject none of them."
	}
	return text + fmt.Sprintf(" Of the %s that people reject it accepts %s.", Thousands(rejected), Thousands(x.FP))
}

func binTable(caption string, bins []annotations.CalibrationBin) doc.Table {
	t := doc.Table{Caption: caption, Class: "kinds", Columns: []doc.Column{
		{Name: "scores"}, {Name: "mean score", Number: true}, {Name: "share positive", Number: true}, {Name: "", Number: true}, {Name: "items", Number: true},
	}}
	for i := range bins {
		b := &bins[i]
		t.Rows = append(t.Rows, []doc.Cell{
			doc.C(fmt.Sprintf("%g to %g", b.From, b.To)), doc.C(number(b.MeanScore)), doc.C(number(b.PositiveRate)), doc.C(interval(b.Low, b.High)), doc.C(Thousands(b.Count)),
		})
	}
	return t
}

// correctionTable sets corrected values beside the raw ones.
func correctionTable(caption string, rows []runs.SummaryRow) doc.Table {
	t := doc.Table{Caption: caption, Class: "metrics", Columns: []doc.Column{
		{Name: "metric"}, {Name: "system"}, {}, {Name: "raw", Number: true}, {Name: "", Number: true, Keep: 1}, {Name: "corrected", Number: true}, {Name: "", Number: true},
	}}
	for _, r := range rows {
		system := r.System
		if system == "" {
			system = "all systems"
		}
		last := doc.C(interval(r.CorrectedLow, r.CorrectedHigh))
		if r.CorrectedMethod != "" {
			last.Notes = []string{r.CorrectedMethod}
		}
		metric := doc.Cell{Text: doc.Text{{Text: r.Metric, Link: "#m-" + r.Metric}}}
		t.Rows = append(t.Rows, []doc.Cell{metric, doc.C(system), doc.C(r.Agg), doc.C(numberOrDash(r.Estimate)), doc.C(interval(r.Low, r.High)), doc.C(numberOrDash(r.Corrected)), last})
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

// judgeSection tells what judges did and what they are worth: of runs that asked a model,
// whose judge was compared with people, or whose scores are corrected.
func judgeSection(data *pageData) *doc.Section {
	var out []doc.Block
	for _, r := range data.results {
		m, c := r.run.Manifest, r.calibration
		corrected := r.summary.corrected()
		if m.Judge.Calls == 0 && c == nil && len(corrected) == 0 {
			continue
		}
		of := data.named(" of %s", r)
		if data.several() {
			out = append(out, doc.Heading{Text: doc.T(m.ID)})
		}
		out = append(out, doc.Para{Text: doc.T(judgeInWords(r))}, judgeFacts(&m.Judge))
		if c != nil {
			source := "Compared with the labels that people gave in this run."
			if c.Of != m.ID {
				source = fmt.Sprintf("Compared with the labels that people gave in the run %s, which had the same judge.", c.Of)
			}
			out = append(out, doc.Para{Text: doc.T(source)})
			out = slices.Concat(out, paras(doc.Note, c.Warnings), c.blocks(of))
		}
		if len(corrected) > 0 {
			out = append(out, correctionTable("Scores corrected by what people said"+of, corrected))
		}
	}
	return docSection("judge", "Judge", out)
}

// judgeFacts are what the calls of the judge took.
func judgeFacts(j *runs.JudgeRecord) (facts doc.Facts) {
	if j.Calls > 0 {
		facts.Add("calls", Thousands(j.Calls))
		facts.Add("from the cache", fmt.Sprintf("%s (%s)", Thousands(j.Cached), percent(j.Cached, j.Calls)))
		facts.Add("retries", Thousands(j.Retries))
	}
	if j.PromptTokens+j.CompletionTokens > 0 {
		facts.Add("tokens", fmt.Sprintf("%s asked, %s answered", Thousands(j.PromptTokens), Thousands(j.CompletionTokens)))
	}
	if j.LatencyMillis != nil {
		facts.Add("mean latency of a call", fmt.Sprintf("%.1f s", *j.LatencyMillis/1000))
	}
	if j.CostUSD != nil {
		facts.Add("cost", fmt.Sprintf("$%.4f", *j.CostUSD))
		if n := j.Asked; n > 0 {
			facts.Add("cost of 1,000 claims", fmt.Sprintf("$%.4f", *j.CostUSD/float64(n)*1000))
		}
	}
	return facts
}
