package harness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"ibid/annotations"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// ppiMethod is how a summary names its corrections by labels.
const ppiMethod = "ppi++"

// A summaryKey names the macro value of a metric over all rows of a system, "" for
// all systems.
type summaryKey struct{ system, metric string }

// CorrectByLabels corrects the macro values without a slice of the summary of the finished run in
// dir by the rows that people judged, which must be a random part of it: a
// prediction-powered mean (PPI++) for each metric that rests on the judge, system
// by system and pooled. It returns what speaks against a random part.
func CorrectByLabels(dir string, judged *Judged, summary []runs.SummaryRow) (warnings []string, err error) {
	rows, err := predictedRows(dir, judged)
	if err != nil {
		return nil, err
	}
	clearCorrections(summary, ppiMethod)
	var corrected []*runs.SummaryRow
	var ps []*float64
	for i := range summary {
		row := &summary[i]
		if row.Agg != runs.Macro || row.Slice != "" {
			continue
		}
		predicted := rows[summaryKey{row.System, row.Metric}]
		labelled := labelledOf(predicted)
		if labelled < stats.FewestLabels || labelled == len(predicted) {
			continue
		}
		d, _ := metrics.Lookup(row.Metric)
		e := stats.PPIClusters(predicted, row.Level, d.Min, d.Max)
		if !e.Bounds.Defined() {
			continue
		}
		row.Corrected, row.CorrectedLow, row.CorrectedHigh = e.Value.Pointer(), e.Low.Pointer(), e.High.Pointer()
		row.CorrectedMethod = fmt.Sprintf("%s, %d of %d rows labelled", ppiMethod, labelled, len(predicted))
		corrected, ps = append(corrected, row), append(ps, chosenPValue(predicted, row.Level))
	}
	for i, p := range stats.Holm(ps) {
		if p != nil && *p < 1-corrected[i].Level {
			corrected[i].CorrectedMethod += ", perhaps not at random"
			warnings = append(warnings, notRandom(corrected[i], rows[summaryKey{corrected[i].System, corrected[i].Metric}], *p))
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

// predictedRows are the rows of the run in dir with the judge's values and, where
// people judged them wholly, theirs.
func predictedRows(dir string, judged *Judged) (map[summaryKey][]stats.Predicted, error) {
	var names []string
	byName := make(map[string]metrics.Metric)
	for k, d := range metrics.Definitions() {
		if d.Corrigible() {
			names = append(names, d.Name)
			byName[d.Name] = metrics.Metric(k)
		}
	}
	rows := make(map[summaryKey][]stats.Predicted)
	columns := append([]string{"id", "system", "row", "cluster"}, names...)
	components, err := readComponents(dir)
	if err != nil {
		return nil, err
	}
	err = runs.Rows().Scan(dir, columns, func(row int64, at *runs.Row) error {
		cluster := at.ID
		switch {
		case at.Cluster != "":
			cluster = "\x00" + at.Cluster
		case components != nil:
			cluster = components[row]
		}
		for _, name := range names {
			value, ok := at.Numbers[name]
			if !ok {
				continue
			}
			r := stats.Predicted{Cluster: cluster, Judge: value}
			if v, ok := judged.Rows[at.Row][byName[name]]; ok {
				r.Human = stats.Of(v)
			}
			rows[summaryKey{"", name}] = append(rows[summaryKey{"", name}], r)
			rows[summaryKey{at.System, name}] = append(rows[summaryKey{at.System, name}], r)
		}
		return nil
	})
	return rows, err
}

// readComponents names what documents connect each row of a run with; nil if no questions
// share documents. Corrections take these for clusters also where they are large, and then
// have wide intervals or none.
func readComponents(dir string) ([]string, error) {
	f, err := parquet.OpenResult(filepath.Join(dir, runs.RowsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	touching, questions, err := runs.ReadTouching(context.Background(), f)
	if err != nil || !touching.Shared(questions) {
		return nil, err
	}
	members := make([]stats.Member, len(questions))
	for row, question := range questions {
		members[row] = stats.Member{Unit: question, Row: int32(row)}
	}
	d := touching.Depend(members, false, 0)
	names := make([]string, len(questions))
	unit := -1
	for i, m := range members {
		if i == 0 || members[i-1].Unit != m.Unit {
			unit++
		}
		names[m.Row] = "\x01" + strconv.FormatUint(d.Keys[d.Of[unit]], 16)
	}
	return names, nil
}

func labelledOf(rows []stats.Predicted) (n int) {
	for _, r := range rows {
		if r.Human.Known() {
			n++
		}
	}
	return n
}

// judgeMeans are the judge's means over labelled and over other rows.
func judgeMeans(rows []stats.Predicted, level float64) (labelled, others stats.Estimate) {
	var groupers [2]stats.Grouper
	codes := make(map[string]int)
	for _, r := range rows {
		code, ok := codes[r.Cluster]
		if !ok {
			code = len(codes)
			codes[r.Cluster] = code
		}
		which := 1
		if r.Human.Known() {
			which = 0
		}
		groupers[which].Add(code, r.Judge)
	}
	var sums [2]stats.Clusters
	for i := range groupers {
		groupers[i].Drain(&sums[i])
	}
	return sums[0].Mean(level), sums[1].Mean(level)
}

// chosenPValue is the p-value of the judge's mean over labelled rows being that over
// the others, as it is for a random part; nil if there is no test. Labelled and
// other rows that share a cluster are alike, which makes the test cautious.
func chosenPValue(rows []stats.Predicted, level float64) *float64 {
	labelled, others := judgeMeans(rows, level)
	if u := stats.NewUnpaired(&labelled, &others, level); u.T.Defined() {
		return new(u.T.P)
	}
	return nil
}

func notRandom(row *runs.SummaryRow, rows []stats.Predicted, p float64) string {
	system := cmp.Or(row.System, "all systems")
	labelled, others := judgeMeans(rows, row.Level)
	return fmt.Sprintf("%s, %s: labelled rows look chosen, not drawn: the judge gives them %.3f on average, the others %.3f (p = %.2g after Holm); "+
		"a correction by rows that are no random part is biased", row.Metric, system, labelled.Value, others.Value, p)
}

// roganGladenMethod is how a summary names its corrections by a judge's rates.
const roganGladenMethod = "rogan-gladen"

// shares are the metrics that are a share of items the judge calls supported, with
// the kind of question that the judge was asked.
var shares = map[string]string{
	"citation_correctness":  annotations.CitationSupport,
	"cited_claim_precision": annotations.ClaimSupport,
}

// CorrectByRates corrects values of the summary that are shares of supported items
// by the judge's sensitivity and specificity on other items, as an older labelled
// run has them (Rogan & Gladen). The correction is linear, so a mean of the rows'
// shares is corrected as a share of all items is.
func CorrectByRates(rates map[string]annotations.Rates, summary []runs.SummaryRow) {
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
// and documents. If the interval tells no standard error, each cluster counts as one
// item.
func effective(row *runs.SummaryRow) float64 {
	n := float64(row.Clusters)
	if se, ok := standardError(row); ok {
		n = *row.Estimate * (1 - *row.Estimate) / (se * se)
	}
	if row.Agg == runs.Micro {
		n = min(n, *row.Den)
	}
	return n
}

// standardError is the standard error of a share in (0, 1), computed from its
// interval as if that were normal. Student's intervals are wider, so the result is
// rather too large. Those on the logit scale are symmetric there.
func standardError(row *runs.SummaryRow) (se float64, ok bool) {
	p := *row.Estimate
	if row.Low == nil || p <= 0 || p >= 1 {
		return 0, false
	}
	se = (*row.High - *row.Low) / 2
	if method := stats.Method(row.Method).Base(); method == stats.LogitT || method == stats.LogitEffective || method == stats.LogitCR3 {
		if *row.Low <= 0 || *row.High >= 1 {
			return 0, false
		}
		logit := func(v float64) float64 { return math.Log(v / (1 - v)) }
		se = p * (1 - p) * (logit(*row.High) - logit(*row.Low)) / 2
	}
	se /= stats.NormalQuantile(row.Level)
	return se, se > 0
}
