package harness

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"ibid/annotations"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// Judged is what a judge and people said of the same run.
type Judged struct {
	Verdicts map[string][]annotations.Verdict     // by kind of question
	Rows     map[int64]map[metrics.Metric]float64 // by position: judged metrics of rows that people judged wholly
}

// The kinds of questions about support.
const (
	claimSupport    = "claim support"
	citationSupport = "citation support"
)

// ReadJudged compares the verdicts of the finished run m in dir with the labels of
// its dataset, and scores the rows that have labels as if people had judged them.
func ReadJudged(ctx context.Context, dir string, m *runs.Manifest) (*Judged, error) {
	p, err := reopen(ctx, m)
	if err != nil {
		return nil, err
	}
	verdicts, err := annotations.ReadVerdicts(dir)
	if err != nil {
		return nil, err
	}
	if len(verdicts) == 0 {
		return nil, usagef("%s has no verdicts of a judge", dir)
	}
	s := &p.job.Config.Settings
	p.job.Limit, p.job.Only = m.Limit, TagsOf(m.Only)
	policy, err := judge.ParseLabelPolicy(s.LabelPolicy)
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	p.job.Judge = judge.NewHuman(policy)
	p.judge = p.job.Judge
	if p.options, err = optionsOf(s, humanJudge); err != nil {
		return nil, &UsageError{Err: err}
	}
	all, err := dataset.Open(s.Dataset, dataset.ReadOptions{Columns: s.Columns, Want: want | wantJudged})
	if err != nil {
		return nil, asUsage(err)
	}
	p.source, p.people = all, all.Select(wantAnnotated)
	if err := p.survey(ctx); err != nil {
		return nil, asUsage(err)
	}
	docs, err := p.loadDocuments(ctx)
	if err != nil {
		return nil, asUsage(err)
	}
	if docs != nil {
		defer docs.Close()
	}
	scorer, err := newScorer(p, docs)
	if err != nil {
		return nil, err
	}
	out := &Judged{Verdicts: make(map[string][]annotations.Verdict), Rows: make(map[int64]map[metrics.Metric]float64)}
	err = eachRow(ctx, p.source, p.job.Limit, func(row *dataset.Row) error {
		if !p.job.wants(row) || len(row.Labels) == 0 {
			return nil
		}
		out.compare(p, policy, row, verdicts)
		failure, err := scorer.score(ctx, row)
		if err != nil || failure != nil {
			return err
		}
		out.keep(row.Pos, &scorer.scores)
		return nil
	})
	return out, err
}

// compare pairs the labels of a row with the judge's verdicts.
func (j *Judged) compare(p *Plan, policy judge.LabelPolicy, row *dataset.Row, verdicts annotations.Verdicts) {
	for _, it := range p.judgedOf(row) {
		score, ok := verdicts[it.Verdict]
		if !ok {
			continue
		}
		var opinions []judge.Said
		for k := range row.Labels {
			l := &row.Labels[k]
			if l.Value.Valid && l.Kind == it.Verdict.Kind && l.ClaimID == it.Verdict.Claim && l.CitationID == it.Verdict.Citation {
				opinions = append(opinions, judge.Said{Annotator: l.Annotator, Value: l.Value.Value})
			}
		}
		human, ok := policy.Value(opinions)
		if !ok {
			continue
		}
		kind := it.Verdict.Question()
		j.Verdicts[kind] = append(j.Verdicts[kind], annotations.Verdict{Item: it.ID, Cluster: it.Cluster, Human: human, Judge: score})
	}
}

// keep notes the metrics of a row in which labels leave nothing open.
func (j *Judged) keep(row int64, s *metrics.Scores) {
	for m, d := range metrics.Definitions() {
		if v, ok := s.Value(metrics.Metric(m)); ok && d.Corrigible() && !s.HasBounds[m] {
			if j.Rows[row] == nil {
				j.Rows[row] = make(map[metrics.Metric]float64)
			}
			j.Rows[row][metrics.Metric(m)] = v
		}
	}
}

// PPIMethod and RoganGladenMethod are how a summary names its corrections.
const (
	PPIMethod         = "ppi++"
	RoganGladenMethod = "rogan-gladen"
)

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

// shares are the metrics that are the share of items that a judge calls supported,
// with the kind of question that the judge was asked.
var shares = map[string]string{"citation_correctness": citationSupport, "cited_claim_precision": claimSupport}

// CorrectByRates corrects the micro values that are shares of supported items by
// the judge's sensitivity and specificity on other items, as an older labelled run
// has them (Rogan & Gladen). It returns how many values it corrected.
func CorrectByRates(rates map[string]stats.Confusion, summary []runs.SummaryRow) (corrected int) {
	for i := range summary {
		row := &summary[i]
		kind, ok := shares[row.Metric]
		c, known := rates[kind]
		if !ok || !known || row.Agg != runs.Micro || row.Slice != "" || row.Num == nil || *row.Den == 0 {
			continue
		}
		p, n := *row.Num / *row.Den, effective(row)
		e := stats.RoganGladen(p*n, n, c.TP, c.TP+c.FN, c.TN, c.TN+c.FP, row.Level)
		if !e.Value.Defined || !e.Bounds.Defined() {
			continue
		}
		row.Corrected, row.CorrectedLow, row.CorrectedHigh = e.Value.Pointer(), e.Low.Pointer(), e.High.Pointer()
		row.CorrectedMethod = fmt.Sprintf("%s, %d labels", RoganGladenMethod, c.N())
		corrected++
	}
	return corrected
}

// effective is how many independent items say as much about a share as its items
// do, which share questions and documents: as many as give the interval that the
// summary has on the logit scale.
func effective(row *runs.SummaryRow) float64 {
	p, n := *row.Num / *row.Den, *row.Den
	if row.Low == nil || p <= 0 || p >= 1 || *row.Low <= 0 || *row.High >= 1 {
		return min(n, float64(row.Clusters))
	}
	logit := func(v float64) float64 { return math.Log(v / (1 - v)) }
	half := (logit(*row.High) - logit(*row.Low)) / 2
	if half <= 0 {
		return min(n, float64(row.Clusters))
	}
	z := stats.NormalQuantile(row.Level)
	se := p * (1 - p) * half / z
	return min(n, p*(1-p)/(se*se))
}

// SaveCorrections replaces the summary of the finished run in dir by one with
// corrections. Of rows that people judged it also leaves what they come to, for
// comparisons of runs; judged is nil if the corrections come from another run.
func SaveCorrections(dir string, summary []runs.SummaryRow, judged *Judged) error {
	if judged != nil {
		labelled, err := judged.labelled(dir)
		if err != nil {
			return err
		}
		if err := runs.WriteLabelled(dir, labelled); err != nil {
			return err
		}
	}
	return runs.WriteSummary(filepath.Clean(dir), summary)
}

// labelled are the rows of the run in dir that people judged.
func (j *Judged) labelled(dir string) ([]runs.LabelledRow, error) {
	defs := metrics.Definitions()
	var rows []runs.LabelledRow
	err := runs.ScanRows(dir, nil, func(at runs.RowKey, _ runs.Record) {
		if values := j.Rows[at.Row]; values != nil {
			r := runs.LabelledRow{ID: at.ID, System: at.System, Row: at.Row, Values: make(map[string]float64, len(values))}
			for m, v := range values {
				r.Values[defs[m].Name] = v
			}
			rows = append(rows, r)
		}
	})
	return rows, err
}
