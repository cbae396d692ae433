package annotations

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// ppiMethod is how a summary names its corrections by labels.
const ppiMethod = "ppi++"

// PeopleRows are the judged metrics of rows that people judged wholly, by the position of the
// row.
type PeopleRows map[int64]map[metrics.Metric]float64

// A summaryKey names the macro value of a metric over all rows of a system, "" for
// all systems.
type summaryKey struct{ system, metric string }

// CorrectByLabels corrects the macro values without a slice of the summary of the finished run in
// dir by the rows that people judged, which must be a random part of it: a
// prediction-powered mean (PPI++) for each metric that rests on the judge, system
// by system and pooled. It returns what speaks against a random part.
func CorrectByLabels(dir string, judged PeopleRows, summary []runs.SummaryRow) (warnings []string, err error) {
	rows, err := readPredicted(dir, judged)
	if err != nil {
		return nil, err
	}
	clearCorrections(summary, ppiMethod)
	var corrected []*runs.SummaryRow
	var tests []chosen
	for i := range summary {
		row := &summary[i]
		if row.Agg != runs.Macro || row.Slice != "" {
			continue
		}
		predicted := rows[summaryKey{row.System, row.Metric}]
		if predicted == nil {
			continue
		}
		labelled := predicted.labelled()
		if labelled < stats.FewestLabels || labelled == len(predicted.judge) {
			continue
		}
		d, _ := metrics.Lookup(row.Metric)
		units := stats.NewRows(predicted.questions, predicted.documents)
		e, _ := stats.PPI(predicted.judge, predicted.human, units, d.Min, d.Max, row.Level)
		if !e.HasInterval {
			continue
		}
		row.Corrected, row.CorrectedLow, row.CorrectedHigh = e.Nullable()
		row.CorrectedMethod = fmt.Sprintf("%s, %d of %d rows labelled", ppiMethod, labelled, len(predicted.judge))
		corrected, tests = append(corrected, row), append(tests, predicted.chosen(units, row.Level))
	}
	for i, c := range tests {
		c.p *= float64(len(tests))
		if c.p < 1-corrected[i].Level {
			corrected[i].CorrectedMethod += ", perhaps not at random"
			warnings = append(warnings, c.warning(corrected[i]))
		}
	}
	return warnings, nil
}

// clearCorrections takes away what was corrected by a method before.
func clearCorrections(summary []runs.SummaryRow, method string) {
	for i := range summary {
		if row := &summary[i]; strings.HasPrefix(row.CorrectedMethod, method) {
			row.Corrected, row.CorrectedLow, row.CorrectedHigh, row.CorrectedMethod = nil, nil, nil, ""
		}
	}
}

// predictedRows are the rows where a metric is defined: with the judge's value and, where
// people judged them wholly, theirs.
type predictedRows struct {
	judge     []float64
	human     []ibid.Number
	questions []string
	documents *stats.Documents // nil if rows touch none
}

// readPredicted reads those of the run in dir.
func readPredicted(dir string, judged PeopleRows) (map[summaryKey]*predictedRows, error) {
	var names []string
	byName := make(map[string]metrics.Metric)
	for k, d := range metrics.Definitions() {
		if d.Corrigible() {
			names = append(names, d.Name)
			byName[d.Name] = metrics.Metric(k)
		}
	}
	rows := make(map[summaryKey]*predictedRows)
	columns := append([]string{"id", "system", "row"}, names...)
	f, err := runs.OpenRows(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := runs.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	touched, err := runs.ReadDocuments(context.Background(), f, m.Effective().Statistics.Cluster)
	if err != nil {
		return nil, err
	}
	err = runs.Rows().Scan(dir, columns, func(row int64, at *runs.Row) error {
		for _, name := range names {
			value := at.Number(name)
			if value == nil {
				continue
			}
			human := ibid.Number{}
			if v, ok := judged[at.Row][byName[name]]; ok {
				human = stats.Of(v)
			}
			for _, system := range []string{"", at.System} {
				key := summaryKey{system, name}
				to := rows[key]
				if to == nil {
					to = new(predictedRows)
					rows[key] = to
				}
				to.judge, to.human, to.questions = append(to.judge, *value), append(to.human, human), append(to.questions, at.ID)
				if touched.Documents != nil {
					if to.documents == nil {
						to.documents = new(stats.Documents)
					}
					to.documents.Add(touched.At(int(row), nil)...)
				}
				if at.System == "" {
					break
				}
			}
		}
		return nil
	})
	return rows, err
}

func (p *predictedRows) labelled() (n int) {
	for _, human := range p.human {
		if human.Known() {
			n++
		}
	}
	return n
}

// A chosen compares the judge's mean over labelled rows with that over the others, which is
// the same for a random part.
type chosen struct{ labelled, others, p float64 }

// chosen has the p-value 1 where there is no test. Labelled and other rows that share a
// document are alike, which makes the test cautious.
func (p *predictedRows) chosen(units *stats.Rows, level float64) chosen {
	var sides [2]*stats.Quotient
	var spreads [2]stats.Spread
	for side, labelled := range []bool{true, false} {
		y, x := make([]float64, len(p.judge)), make([]float64, len(p.judge))
		for i, v := range p.judge {
			if p.human[i].Known() == labelled {
				y[i], x[i] = v, 1
			}
		}
		sides[side] = stats.NewQuotient(units.Sums(y), units.Sums(x))
		spreads[side] = sides[side].Spread(units.Documents(func(row int) bool { return x[row] != 0 }))
	}
	out := chosen{sides[0].Value, sides[1].Value, 1}
	both := spreads[0].Beside(&spreads[1])
	if d := both.Difference(out.labelled-out.others, math.Inf(1), level); d.P.Known() {
		out.p = d.P.Value
	}
	return out
}

func (c *chosen) warning(row *runs.SummaryRow) string {
	return fmt.Sprintf("%s, %s: labelled rows look chosen, not drawn: the judge gives them %.3f on average, the others %.3f (p = %.2g over all that are corrected); "+
		"a correction by rows that are no random part is biased", row.Metric, cmp.Or(row.System, "all systems"), c.labelled, c.others, c.p)
}

// roganGladenMethod is how a summary names its corrections by a judge's rates.
const roganGladenMethod = "rogan-gladen"

// shares are the metrics that are a share of items the judge calls supported, with
// the kind of question that the judge was asked.
var shares = map[string]string{
	"citation_correctness":  CitationSupport,
	"cited_claim_precision": ClaimSupport,
}

// CorrectByRates corrects values of the summary that are shares of supported items
// by the judge's sensitivity and specificity on other items, as an older labelled
// run has them (Rogan & Gladen). The correction is linear, so a mean of the rows'
// shares is corrected as a share of all items is.
func CorrectByRates(rates map[string]Rates, summary []runs.SummaryRow) {
	clearCorrections(summary, roganGladenMethod)
	for i := range summary {
		row := &summary[i]
		of, known := rates[shares[row.Metric]]
		if !known || row.Slice != "" || row.Estimate == nil {
			continue
		}
		p, n := *row.Estimate, effective(row)
		e := of.Corrected(p*n, n, row.Level)
		if !e.Value.Known() || !e.Bounds.Defined() {
			continue
		}
		row.Corrected, row.CorrectedLow, row.CorrectedHigh = e.Value.Pointer(), e.Low.Pointer(), e.High.Pointer()
		row.CorrectedMethod = fmt.Sprintf("%s, %d labels", roganGladenMethod, of.Labels)
	}
}

// effective is the number of independent items that would give the share of row its
// standard error. There are fewer of them than items: items share rows, questions
// and documents. Where no row differs each independent unit counts as one item.
func effective(row *runs.SummaryRow) float64 {
	n := float64(row.Clusters)
	if p := *row.Estimate; row.SE != nil && *row.SE > 0 && p > 0 && p < 1 {
		n = p * (1 - p) / (*row.SE * *row.SE)
	}
	if row.Agg == runs.Micro {
		n = min(n, *row.Den)
	}
	return n
}
