package harness

import (
	"context"
	"fmt"
	"slices"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A counted says how many rows a run has, how many of them are error rows, and which
// rows of its summary may be known of too little.
type counted struct {
	rows, errors int64
	doubtful     []runs.SummaryRow
	left         int64 // rows that count as worst because something is left out
	few          bool  // intervals of a system, of what most of its rows have, rest on few documents
}

// summarize makes summary.parquet from rows.parquet: the summary is a function
// of the rows and nothing else. States in memory at a time take about so many bytes.
func (p *Plan) summarize(ctx context.Context, memory int) (out counted, err error) {
	c := p.job.Config
	s := &c.Settings
	f, err := runs.OpenRows(p.Dir)
	if err != nil {
		return out, err
	}
	defer f.Close()
	groups, err := findGroups(f, sliceKeys(s.Slices))
	if err != nil {
		return out, err
	}
	sum := &summarizer{
		file: f, groups: groups, items: append(metrics.Definitions(), runs.SummaryCounts()...), judged: p.judge != nil,
		level: s.Statistics.Level, coverage: s.MinCoverage, workers: p.job.workers(), memory: memory, progress: p.stage("summarizing", f.Len()),
	}
	sum.tag = runs.ClusterTag(s.Statistics.Cluster)
	if sum.left, err = f.LeftOut(); err != nil {
		return out, err
	}
	out.left = sum.left.Rows
	if err := sum.findUnits(ctx, s.Statistics.Cluster); err != nil {
		return out, err
	}
	out.rows, out.errors = groups.rows, groups.errors
	err = runs.Summary.WriteEach(p.Dir, func(yield func(*runs.SummaryRow) error) error {
		return sum.each(ctx, func(rows []runs.SummaryRow) error {
			noteOffsets(rows)
			rows = withhold(rows, &s.Reporting)
			for i := range rows {
				out.few = out.few || sum.touched.Documents != nil && rows[i].System != "" && rows[i].Slice == "" && rows[i].Agg == runs.Macro && rows[i].N >= rows[i].Undefined && slices.ContainsFunc(rows[i].Warnings, stats.SaysFew)
				if mayBeFew(&rows[i]) {
					out.doubtful = append(out.doubtful, rows[i])
				}
				if err := yield(&rows[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return out, err
}

// noteOffsets says beside every span metric of a system and slice which share of the
// quotes stands at its offsets, where that is not all of them.
func noteOffsets(rows []runs.SummaryRow) {
	share := make(map[string]float64) // by the way of aggregating
	for i := range rows {
		if r := &rows[i]; r.Metric == metrics.OffsetAccuracy.String() && r.Estimate != nil && *r.Estimate < 1 {
			share[r.Agg] = *r.Estimate
		}
	}
	for i := range rows {
		r := &rows[i]
		accuracy, less := share[r.Agg]
		if !less {
			continue
		}
		if d, ok := metrics.Lookup(r.Metric); ok && d.OfSpans() && r.Estimate != nil {
			r.Warnings = append(r.Warnings[:len(r.Warnings):len(r.Warnings)], fmt.Sprintf("%s is %.3f: the other quotes are not at their offsets", metrics.OffsetAccuracy, accuracy))
		}
	}
}

// Groups of metrics that are details of how spans match, and metrics that say
// which claims are hallucinated and how, beyond the rate.
var (
	spanDetails          = []string{"best matches", "matched spans"}
	hallucinationDetails = []string{"contradiction_rate", "contradicted_claims", "hallucinated_claims"}
)

// withhold leaves out of a summary what the settings do not want reported. What
// overall scores and gates of the specification are made of stays.
func withhold(rows []runs.SummaryRow, want *configs.Reporting) []runs.SummaryRow {
	rows = slices.DeleteFunc(rows, func(r runs.SummaryRow) bool {
		d, ok := metrics.Lookup(r.Metric)
		return !want.DetailedSpanAnalysis && ok && slices.Contains(spanDetails, d.Group) ||
			!want.HallucinationDetails && slices.Contains(hallucinationDetails, r.Metric)
	})
	if !want.ConfidenceIntervals {
		for i := range rows {
			r := &rows[i]
			r.Low, r.High, r.CorrectedLow, r.CorrectedHigh, r.Method = nil, nil, nil, nil, ""
			if r.Reason == "" {
				r.Warnings = nil
			}
		}
	}
	return rows
}
