package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A counted says how many rows a run has, how many of them are error rows, and what
// their summary is.
type counted struct {
	rows, errors int64
	summary      []runs.SummaryRow
}

// summarize makes summary.parquet from rows.parquet: the summary is a function
// of the rows and nothing else. What is known of parts saves reading them.
func (p *Plan) summarize(ctx context.Context, known knownParts) (counted, error) {
	s := &p.job.Config.Settings
	f, err := parquet.OpenResult(filepath.Join(p.Dir, runs.RowsFile))
	if err != nil {
		return counted{}, err
	}
	defer f.Close()
	groups, err := findGroups(f, sliceKeys(s.Slices), s.Statistics.Cluster != "id", known)
	if err != nil {
		return counted{}, err
	}
	sum := &summarizer{
		file: f, groups: groups, known: known, items: summaryItems(f.Fields()),
		level: s.Statistics.Level, method: s.Statistics.Method, workers: p.job.workers(),
		progress: p.stage("summarizing", f.Rows()),
	}
	states, err := sum.states(ctx)
	if err != nil {
		return counted{}, err
	}
	if r := newResampler(sum, s); r != nil {
		if sum.drawn, err = r.all(ctx); err != nil {
			return counted{}, err
		}
	}
	rows := sum.rows(states)
	if p.judge != nil {
		if err := sum.addCoverage(ctx, rows); err != nil {
			return counted{}, err
		}
	}
	noteOffsets(rows)
	rows = withhold(rows, &s.Reporting)
	return counted{groups.rows, groups.errors, rows}, runs.WriteSummary(p.Dir, rows)
}

// noteOffsets says beside every span metric which share of the quotes stands at its
// offsets, where that is not all of them.
func noteOffsets(rows []runs.SummaryRow) {
	type group struct{ system, slice, agg string }
	share := make(map[group]float64)
	for i := range rows {
		if r := &rows[i]; r.Metric == metrics.OffsetAccuracy && r.Estimate != nil && *r.Estimate < 1 {
			share[group{r.System, r.Slice, r.Agg}] = *r.Estimate
		}
	}
	for i := range rows {
		r := &rows[i]
		accuracy, less := share[group{r.System, r.Slice, r.Agg}]
		if d, ok := metrics.Lookup(r.Metric); less && ok && d.OfSpans() && r.Estimate != nil {
			r.Warnings = append(r.Warnings[:len(r.Warnings):len(r.Warnings)], fmt.Sprintf("%s is %.3f: the quotes of the others do not stand at their offsets", metrics.OffsetAccuracy, accuracy))
		}
	}
}

// A summarizer collects the states of all items and groups.
type summarizer struct {
	file     *parquet.ResultFile
	groups   *groups
	known    knownParts
	items    []item
	level    float64
	method   string        // the setting statistics.method
	drawn    [][]intervals // of a bootstrap, if there is one
	workers  int
	progress func(done int64)
}

// states are indexed by group, then by item.
type states [][]state

// states collects what is known and reads every other number once, row group by
// row group, and where rows of one cluster are scattered once more, metric by
// metric.
func (s *summarizer) states(ctx context.Context) (states, error) {
	parts := make([]states, s.workers)
	var next, done atomic.Int64
	g, pool := errgroup.WithContext(ctx)
	for w := range parts {
		parts[w] = make(states, len(s.groups.all))
		for g := range parts[w] {
			parts[w][g] = make([]state, len(s.items))
		}
		g.Go(func() error {
			reader := newColumnReader(s.file)
			for pool.Err() == nil {
				part := int(next.Add(1) - 1)
				if part >= s.file.RowGroups() {
					return nil
				}
				if s.known[int64(part)].sums == nil {
					if err := s.add(reader, part, parts[w]); err != nil {
						return err
					}
				}
				s.progress(done.Add(int64(s.file.GroupRows(part))))
			}
			return pool.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all := parts[0]
	for _, part := range parts[1:] {
		all.merge(part)
	}
	s.addKnown(all)
	if s.groups.spread() {
		return all, s.addClusters(ctx, all)
	}
	return all, nil
}

func (all states) merge(other states) {
	for g := range all {
		for i := range all[g] {
			all[g][i].merge(&other[g][i])
		}
	}
}

// addKnown adds the sums of the parts that are known, once each.
func (s *summarizer) addKnown(all states) {
	added := make(map[*signatureSums]bool)
	for part := range s.groups.perPart {
		sums := s.known[int64(part)].sums
		if sums == nil || added[sums] {
			continue
		}
		added[sums] = true
		for _, g := range s.groups.members[s.groups.perPart[part].same] {
			for i := range s.items {
				if s.groups.all[g].spread {
					all[g][i].defined += sums.states[i].defined
				} else {
					all[g][i].merge(&sums.states[i])
				}
			}
		}
	}
}

// add adds one row group to the states of the groups whose rows are clusters of
// their own; for the others it counts the defined rows.
func (s *summarizer) add(r *columnReader, part int, into states) error {
	if s.file.GroupRows(part) == 0 {
		return nil
	}
	r.part = part
	signatures := &s.groups.perPart[part]
	var values itemValues
	for i := range s.items {
		if err := values.read(r, &s.items[i]); err != nil {
			return err
		}
		add := func(sig, from, to int) {
			for _, g := range s.groups.members[sig] {
				into[g][i].count(to - from)
				if !s.groups.all[g].spread {
					into[g][i].add(&values, from, to)
				}
			}
		}
		if signatures.each == nil {
			add(signatures.same, 0, values.defined.Len())
			continue
		}
		values.defined.Each(func(row, at int) { add(signatures.each[row], at, at+1) })
	}
	return nil
}

// rows makes the summary of the states.
func (s *summarizer) rows(all states) []runs.SummaryRow {
	var out []runs.SummaryRow
	for g := range all {
		group := &s.groups.all[g]
		for i := range s.items {
			it, st := &s.items[i], &all[group.same][i]
			row := runs.SummaryRow{
				System: group.system, Slice: group.slice, Metric: it.def.Name,
				N: st.defined, Undefined: group.rows - st.defined,
			}
			if group.rows > 0 {
				row.DefinedShare = new(float64(st.defined) / float64(group.rows))
			}
			macro := row
			macro.Agg = runs.Macro
			var drawn intervals
			if s.drawn != nil {
				drawn = s.drawn[group.same][i]
			}
			e := redrawn(runs.EstimateOf(&it.def, &st.macro, false, s.level, s.method), drawn.macro)
			macro.Fill(&e)
			out = append(out, macro)
			if it.micro() {
				e = redrawn(runs.EstimateOf(&it.def, &st.micro, true, s.level, s.method), drawn.micro)
			} else if it.def.Kind != metrics.Binary {
				continue
			}
			row.Agg = runs.Micro
			row.Fill(&e)
			if e.Defined() {
				row.Num, row.Den = new(e.Num), new(e.Den)
			}
			out = append(out, row)
		}
	}
	return out
}

// redrawn is an estimate with the interval of a bootstrap, if there is one.
func redrawn(e stats.Estimate, drawn *stats.Estimate) stats.Estimate {
	if drawn == nil || !e.Defined() {
		return e
	}
	return e.WithInterval(*drawn)
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
			r.Low, r.High, r.CorrectedLow, r.CorrectedHigh, r.Method, r.Warnings = nil, nil, nil, nil, "", nil
		}
	}
	return rows
}
