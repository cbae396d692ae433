package harness

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A counted says how many rows a run has, and how many of them are error rows.
type counted struct{ rows, errors int64 }

// summarize makes summary.parquet from rows.parquet: the summary is a function
// of the rows and nothing else.
func (p *Plan) summarize(ctx context.Context) (counted, error) {
	s := &p.job.Config.Settings
	f, err := dataset.OpenResult(filepath.Join(p.Dir, runs.RowsFile))
	if err != nil {
		return counted{}, err
	}
	defer f.Close()
	groups, err := findGroups(f, s.Slices, s.Statistics.Cluster != "id")
	if err != nil {
		return counted{}, err
	}
	sum := &summarizer{
		file: f, groups: groups, items: summaryItems(f), level: s.Statistics.Level, workers: p.job.workers(),
		progress: p.stage("summarizing", f.Rows()),
	}
	states, err := sum.states(ctx)
	if err != nil {
		return counted{}, err
	}
	return counted{groups.rows, groups.errors}, runs.WriteSummary(p.Dir, sum.rows(states))
}

// An item is one metric or count to summarize.
type item struct {
	def    metrics.Definition
	counts bool // its micro value is a quotient of counts
}

func summaryItems(f *dataset.ResultFile) []item {
	var items []item
	for _, d := range metrics.Definitions() {
		items = append(items, item{def: d, counts: len(d.Num) > 0 && onlyCounts(f, d.Num, d.Den)})
	}
	for _, d := range metrics.CountDefinitions()[:runs.ContractCounts] {
		items = append(items, item{def: d})
	}
	return items
}

// micro reports whether the item has a pooled value of its own.
func (it *item) micro() bool { return len(it.def.Num) > 0 }

// A summarizer collects the states of all items and groups.
type summarizer struct {
	file     *dataset.ResultFile
	groups   *groups
	items    []item
	level    float64
	workers  int
	progress func(done int64)
}

// A state is what is known of one item in one group.
type state struct {
	defined      int64
	macro, micro stats.Clusters
}

// states are indexed by group, then by item.
type states [][]state

func (s *summarizer) newStates() states {
	all := make(states, len(s.groups.all))
	for g := range all {
		all[g] = make([]state, len(s.items))
	}
	return all
}

// states reads every number once, row group by row group, and where rows of one
// cluster are scattered once more, metric by metric.
func (s *summarizer) states(ctx context.Context) (states, error) {
	parts := make([]states, s.workers)
	var next, done atomic.Int64
	g, pool := errgroup.WithContext(ctx)
	for w := range parts {
		parts[w] = s.newStates()
		g.Go(func() error {
			reader := newColumnReader(s.file)
			for pool.Err() == nil {
				part := int(next.Add(1) - 1)
				if part >= s.file.RowGroups() {
					return nil
				}
				if err := s.add(reader, part, parts[w]); err != nil {
					return err
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
	if s.groups.spread() {
		return all, s.addClusters(ctx, all)
	}
	return all, nil
}

func (all states) merge(other states) {
	for g := range all {
		for i := range all[g] {
			to, from := &all[g][i], &other[g][i]
			to.defined += from.defined
			to.macro.Merge(&from.macro)
			to.micro.Merge(&from.micro)
		}
	}
}

// add adds one row group to the states of the groups whose rows are clusters of
// their own; for the others it counts the defined rows.
func (s *summarizer) add(r *columnReader, part int, into states) error {
	signatures := &s.groups.perPart[part]
	for i := range s.items {
		values, err := r.item(part, &s.items[i])
		if err != nil {
			return err
		}
		if signatures.each == nil {
			values.keepValid()
			for _, g := range s.groups.members[signatures.same] {
				s.addColumn(&into[g][i], values, s.groups.all[g].spread)
			}
			continue
		}
		for row, valid := range values.valid {
			if !valid {
				continue
			}
			one := values.row(row)
			for _, g := range s.groups.members[signatures.each[row]] {
				s.addColumn(&into[g][i], &one, s.groups.all[g].spread)
			}
		}
	}
	return nil
}

// addColumn adds rows that are all defined.
func (s *summarizer) addColumn(st *state, v *itemValues, spread bool) {
	st.defined += int64(len(v.value))
	if spread {
		return
	}
	st.macro.AddRows(v.value)
	switch {
	case !v.pooled:
	case v.counts:
		st.micro.AddRowCounts(v.numCount, v.denCount)
	default:
		for i, y := range v.num {
			st.micro.AddCluster(y, v.den[i], 1)
		}
	}
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
			macro := row
			macro.Agg = runs.Macro
			e := s.macroOf(it, st)
			macro.Fill(&e)
			out = append(out, macro)
			if it.micro() {
				e = s.microOf(it, st)
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

func (s *summarizer) macroOf(it *item, st *state) stats.Estimate {
	if it.def.Kind == metrics.Binary {
		return st.macro.Proportion(s.level)
	}
	return st.macro.Mean(s.level)
}

func (s *summarizer) microOf(it *item, st *state) stats.Estimate {
	if it.def.Min == 0 && it.def.Max == 1 {
		return st.micro.Ratio(s.level)
	}
	return st.micro.DeltaT(s.level)
}
