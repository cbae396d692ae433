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
		kind := it.Kind
		if kind == "support" {
			kind = "claim support"
			if it.Verdict.Citation != "" {
				kind = "citation support"
			}
		}
		j.Verdicts[kind] = append(j.Verdicts[kind], annotations.Verdict{Item: it.ID, Cluster: it.Cluster, Human: human, Judge: score})
	}
}

// keep notes the judged metrics of a row in which nothing is left open.
func (j *Judged) keep(row int64, s *metrics.Scores) {
	for m, d := range metrics.Definitions() {
		if v, ok := s.Value(metrics.Metric(m)); ok && d.Judged && !s.HasBounds[m] {
			if j.Rows[row] == nil {
				j.Rows[row] = make(map[metrics.Metric]float64)
			}
			j.Rows[row][metrics.Metric(m)] = v
		}
	}
}

// leastLabelled is the fewest labelled rows that a correction rests on.
const leastLabelled = 10

// PPIMethod and RoganGladenMethod are how a summary names its corrections.
const (
	PPIMethod         = "ppi++"
	RoganGladenMethod = "rogan-gladen"
)

// CorrectByLabels corrects the macro values of the summary of the finished run in
// dir by the rows that people judged, which must be a random part of it: a
// prediction-powered mean (PPI++) for each judged metric, system by system and
// pooled. It returns how many values it corrected.
func CorrectByLabels(dir string, m *runs.Manifest, judged *Judged, summary []runs.SummaryRow) (corrected int, err error) {
	var names []string
	byName := make(map[string]metrics.Metric)
	for k, d := range metrics.Definitions() {
		if d.Judged {
			names = append(names, d.Name)
			byName[d.Name] = metrics.Metric(k)
		}
	}
	type key struct{ system, metric string }
	rows := make(map[key][]stats.Predicted)
	err = runs.ScanRows(dir, append([]string{"cluster"}, names...), func(at runs.RowKey, cells runs.Record) {
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
			rows[key{"", name}] = append(rows[key{"", name}], r)
			rows[key{at.System, name}] = append(rows[key{at.System, name}], r)
		}
	})
	if err != nil {
		return 0, err
	}
	for i := range summary {
		row := &summary[i]
		if row.Agg != runs.Macro || row.Slice != "" {
			continue
		}
		predicted := rows[key{row.System, row.Metric}]
		labelled := 0
		for _, r := range predicted {
			if r.Human.Defined {
				labelled++
			}
		}
		if labelled < leastLabelled || labelled == len(predicted) {
			continue
		}
		e := stats.PPIClusters(predicted, row.Level)
		if !e.Bounds.Defined() {
			continue
		}
		row.Corrected, row.CorrectedLow, row.CorrectedHigh = e.Value.Pointer(), e.Low.Pointer(), e.High.Pointer()
		row.CorrectedMethod = fmt.Sprintf("%s, %d of %d rows labelled", PPIMethod, labelled, len(predicted))
		corrected++
	}
	return corrected, nil
}

// shares are the metrics that are the share of items that a judge calls supported,
// with the kind of question that the judge was asked.
var shares = map[string]string{"citation_correctness": "citation support", "cited_claim_precision": "claim support"}

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

// SaveCorrections replaces the summary of a finished run by one with corrections.
func SaveCorrections(dir string, summary []runs.SummaryRow) error {
	return runs.WriteSummary(filepath.Clean(dir), summary)
}
