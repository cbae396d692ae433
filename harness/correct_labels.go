package harness

import (
	"fmt"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// PPIMethod is how a summary names its corrections by labels.
const PPIMethod = "ppi++"

// A summaryKey names the macro value of a metric over all rows of a system, "" for
// all systems.
type summaryKey struct{ system, metric string }

// CorrectByLabels corrects the macro values of the summary of the finished run in
// dir by the rows that people judged, which must be a random part of it: a
// prediction-powered mean (PPI++) for each metric that rests on the judge, system
// by system and pooled. It returns what speaks against a random part.
func CorrectByLabels(dir string, judged *Judged, summary []runs.SummaryRow) (warnings []string, err error) {
	rows, err := predictedRows(dir, judged)
	if err != nil {
		return nil, err
	}
	forget(summary, PPIMethod)
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
		e := stats.PPIClusters(predicted, row.Level)
		if !e.Bounds.Defined() {
			continue
		}
		row.Corrected, row.CorrectedLow, row.CorrectedHigh = e.Value.Pointer(), e.Low.Pointer(), e.High.Pointer()
		row.CorrectedMethod = fmt.Sprintf("%s, %d of %d rows labelled", PPIMethod, labelled, len(predicted))
		corrected, ps = append(corrected, row), append(ps, singledOut(predicted, row.Level))
	}
	for i, p := range stats.Holm(ps) {
		if p != nil && *p < 1-corrected[i].Level {
			corrected[i].CorrectedMethod += ", perhaps not at random"
			warnings = append(warnings, notRandom(corrected[i], rows[summaryKey{corrected[i].System, corrected[i].Metric}], *p))
		}
	}
	return warnings, nil
}

// forget takes away what was corrected by a method before.
func forget(summary []runs.SummaryRow, method string) {
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
	err := runs.ScanRows(dir, append([]string{"cluster"}, names...), func(at runs.RowKey, cells runs.Record) {
		cluster := at.ID
		if !cells["cluster"].Null {
			cluster = "\x00" + cells["cluster"].Text
		}
		for _, name := range names {
			if cells[name].Null {
				continue
			}
			r := stats.Predicted{Cluster: cluster, Judge: cells[name].Double}
			if v, ok := judged.Rows[at.Row][byName[name]]; ok {
				r.Human = stats.Of(v)
			}
			rows[summaryKey{"", name}] = append(rows[summaryKey{"", name}], r)
			rows[summaryKey{at.System, name}] = append(rows[summaryKey{at.System, name}], r)
		}
	})
	return rows, err
}

func labelledOf(rows []stats.Predicted) (n int) {
	for _, r := range rows {
		if r.Human.Defined {
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
		if r.Human.Defined {
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

// singledOut is the p-value of the judge's mean over labelled rows being that over
// the others, as it is for a random part; nil if there is no test. Labelled and
// other rows that share a cluster are alike, which makes the test cautious.
func singledOut(rows []stats.Predicted, level float64) *float64 {
	labelled, others := judgeMeans(rows, level)
	if u := stats.NewUnpaired(&labelled, &others, level); u.T.Defined() {
		return new(u.T.P)
	}
	return nil
}

func notRandom(row *runs.SummaryRow, rows []stats.Predicted, p float64) string {
	system := row.System
	if system == "" {
		system = "all systems"
	}
	labelled, others := judgeMeans(rows, row.Level)
	return fmt.Sprintf("%s, %s: labelled rows look chosen, not drawn: the judge gives them %.3f on average, the others %.3f (p = %.2g after Holm); "+
		"a correction by rows that are no random part is biased", row.Metric, system, labelled.Value, others.Value, p)
}
