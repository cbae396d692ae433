package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ibid"
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
	few          bool // intervals of a system, of what most of its rows have, rest on few documents
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
		file: f, groups: groups, items: summaryItems(), judged: p.judge != nil,
		level: s.Statistics.Level, workers: p.job.workers(), progress: p.stage("summarizing", f.Len()),
	}
	sum.tag = runs.ClusterTag(s.Statistics.Cluster)
	if err := sum.findUnits(ctx, s.Statistics.Cluster); err != nil {
		return out, err
	}
	blocks, err := sum.blocks(ctx, p.Dir, memory)
	if err != nil {
		return out, err
	}
	defer blocks.remove()
	out.rows, out.errors = groups.rows, groups.errors
	err = runs.Summary.WriteEach(p.Dir, func(yield func(*runs.SummaryRow) error) error {
		return blocks.each(ctx, func(rows []runs.SummaryRow) error {
			noteOffsets(rows)
			rows = withhold(rows, &s.Reporting)
			for i := range rows {
				out.few = out.few || sum.touched.Documents != nil && rows[i].System != "" && rows[i].Slice == "" && rows[i].Agg == runs.Macro && rows[i].N >= rows[i].Undefined && slices.ContainsFunc(rows[i].Warnings, stats.SaysFew)
				if mayLackRows(&rows[i], c.MinDefined) {
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

// A summarizer summarises items, each over all groups.
type summarizer struct {
	file     *runs.Frame
	groups   *groups
	items    []item
	judged   bool // the run has a judge
	level    float64
	units    []*units // of groups in which rows depend on each other; nil of others
	touched  *runs.RowDocuments
	tag      string    // that statistics.cluster names; "" if it names none
	buffers  sync.Pool // of *itemColumns
	workers  int
	progress func(done int64)
}

// An item is one metric or count to summarize.
type item struct{ def metrics.Definition }

// micro reports whether the item has a pooled value of its own.
func (it *item) micro() bool { return len(it.def.Num) > 0 }

// summaryItems are the items of a summary.
func summaryItems() (items []item) {
	for _, d := range append(metrics.Definitions(), metrics.CountDefinitions()[:runs.ContractCounts]...) {
		items = append(items, item{d})
	}
	return items
}

// A state is what is known of one item in one group.
type state struct {
	defined      int64
	macro, micro quotient
}

// A quotient is a mean, or a quotient of sums, with its spread.
type quotient struct {
	num, den float64
	spread   stats.Spread
}

// A block is what is known of neighbouring items in all groups that have rows of their
// own.
type block struct {
	*summarizer
	items  []item
	states [][]state       // by group, then item
	judged [][]judgedState // by item, then group; nil of an item that is not judged
}

// block adds up the items [from, to): it reads each of their columns twice, for the values and
// for how far rows are from them.
func (s *summarizer) block(ctx context.Context, from, to int) (*block, error) {
	b := &block{summarizer: s, items: s.items[from:to], states: make([][]state, len(s.groups.all)), judged: make([][]judgedState, to-from)}
	for _, g := range s.groups.own {
		b.states[g] = make([]state, to-from)
	}
	columns, _ := s.buffers.Get().(*itemColumns)
	if columns == nil {
		columns = newItemColumns(s)
	}
	defer s.buffers.Put(columns)
	for i := range b.items {
		if err := columns.summarize(ctx, b, i); err != nil {
			return nil, err
		}
		if s.judged && len(b.items[i].def.Scorable) > 0 {
			var err error
			if b.judged[i], err = s.judgedStates(ctx, &b.items[i].def); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// rows appends the rows of the summary that a group with rows of its own has of the
// items.
func (b *block) rows(g int, out []runs.SummaryRow) []runs.SummaryRow {
	group := &b.groups.all[g]
	for i := range b.items {
		it, st := &b.items[i], &b.states[g][i]
		row := runs.SummaryRow{
			System: group.system, Slice: group.slice, Metric: it.def.Name,
			N: st.defined, Undefined: group.rows - st.defined,
		}
		if group.rows > 0 {
			row.DefinedShare = new(float64(st.defined) / float64(group.rows))
		}
		add := func(agg string, of *quotient, pooled bool) {
			r := row
			r.Agg = agg
			e := stats.Estimate{Level: b.level, Reason: ibid.NoData}
			if of.den != 0 {
				e = runs.Interval(&it.def, of.num/of.den, &of.spread, pooled, b.level)
			}
			e.NameGiven(func(d int32) string { return b.units[g].name(b.touched, d) })
			r.Fill(&e)
			if b.tag != "" {
				for i, w := range r.Warnings {
					r.Warnings[i] = strings.NewReplacer("one document", "one "+b.tag+" value", "other documents", "other "+b.tag+" values").Replace(w)
				}
			}
			if agg == runs.Micro && e.Defined() {
				r.Num, r.Den = new(of.num), new(of.den)
			}
			if b.judged[i] != nil {
				b.judged[i][g].complete(&r, &it.def)
				r.WithholdSelective()
			}
			out = append(out, r)
		}
		add(runs.Macro, &st.macro, false)
		switch {
		case it.micro():
			add(runs.Micro, &st.micro, true)
		case it.def.Kind == metrics.Binary: // of which the two are one
			add(runs.Micro, &st.macro, true)
		}
	}
	return out
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
