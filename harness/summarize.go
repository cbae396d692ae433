package harness

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A counted says how many rows a run has, how many of them are error rows, and which
// rows of its summary may be known of too little.
type counted struct {
	rows, errors int64
	doubtful     []runs.SummaryRow
	sampled      string // see [summarizer.sampled]
}

// summarize makes summary.parquet from rows.parquet: the summary is a function
// of the rows and nothing else. What is known of parts saves reading them; states in memory
// at a time take about so many bytes.
func (p *Plan) summarize(ctx context.Context, known knownParts, memory int) (out counted, err error) {
	c := p.job.Config
	s := &c.Settings
	f, err := parquet.OpenResult(filepath.Join(p.Dir, runs.RowsFile))
	if err != nil {
		return out, err
	}
	defer f.Close()
	groups, err := findGroups(f, sliceKeys(s.Slices), s.Statistics.Cluster != "id" && s.Statistics.Cluster != autoCluster, known)
	if err != nil {
		return out, err
	}
	sum := &summarizer{
		file: f, groups: groups, known: known, items: summaryItems(f.Fields()), judged: p.judge != nil,
		level: s.Statistics.Level, method: s.Statistics.Method, resampling: resamplingOf(s), workers: p.job.workers(),
		progress: p.stage("summarizing", f.Rows()),
	}
	if sum.resampling != nil || groups.spread() {
		if err := sum.collectClusters(ctx); err != nil {
			return out, err
		}
	}
	if s.Statistics.Cluster == autoCluster {
		if err := sum.findDependences(ctx, uint64(s.Seed)); err != nil {
			return out, err
		}
	}
	blocks, err := sum.blocks(ctx, p.Dir, memory)
	if err != nil {
		return out, err
	}
	defer blocks.remove()
	out.sampled = sum.sampled()
	out.rows, out.errors = groups.rows, groups.errors
	err = runs.Summary.WriteEach(p.Dir, func(yield func(*runs.SummaryRow) error) error {
		return blocks.each(ctx, func(rows []runs.SummaryRow) error {
			noteOffsets(rows)
			rows = withhold(rows, &s.Reporting)
			for i := range rows {
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
	file       *parquet.ResultFile
	groups     *groups
	known      knownParts
	items      []item
	judged     bool // the run has a judge
	level      float64
	method     string             // the setting statistics.method
	resampling *resampling        // nil if intervals are analytic
	clusters   *rowClusters       // nil if nothing needs them
	dependent  map[int]*dependent // groups whose rows share documents
	buffers    sync.Pool          // of *denseValues
	errors     sync.Pool          // of *[]groupErrors
	workers    int
	progress   func(done int64)
}

// A block is what is known of neighbouring items in all groups that have rows of their
// own.
type block struct {
	*summarizer
	from   int // the number of its first item
	items  []item
	states [][]state       // by group, then item
	judged [][]judgedState // by item, then group; nil of an item that is not judged
	drawn  [][]intervals   // by item, then group; nil without a bootstrap
	apart  map[int][]state // of dependent groups: the states by their documents, by item
}

// block adds up the items [from, to): it reads each of their columns once, and once more
// where rows of one cluster are scattered.
func (s *summarizer) block(ctx context.Context, from, to int) (*block, error) {
	b := &block{summarizer: s, from: from, items: s.items[from:to], states: make([][]state, len(s.groups.all)), judged: make([][]judgedState, to-from)}
	for _, g := range s.groups.own {
		b.states[g] = make([]state, to-from)
	}
	reader := newColumnReader(s.file)
	for part := range s.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.known[int64(part)].sums == nil {
			if err := b.add(reader, part); err != nil {
				return nil, err
			}
		}
	}
	b.addKnown()
	if len(b.dependent) > 0 {
		b.apart = make(map[int][]state, len(b.dependent))
		for g := range b.dependent {
			b.apart[g] = make([]state, len(b.items))
		}
	}
	for i := range b.items {
		if err := b.collect(ctx, i); err != nil {
			return nil, err
		}
		if s.judged && s.file.Has(b.items[i].def.Name+runs.LowSuffix) {
			var err error
			if b.judged[i], err = s.judgedStates(ctx, &b.items[i].def); err != nil {
				return nil, err
			}
		}
	}
	return b, b.addPairs(ctx)
}

// addKnown adds the sums of the parts that are known, once each.
func (b *block) addKnown() {
	added := make(map[*signatureSums]bool)
	for part := range b.groups.perPart {
		sums := b.known[int64(part)].sums
		if sums == nil || added[sums] {
			continue
		}
		added[sums] = true
		for _, g := range b.groups.members[b.groups.perPart[part].same] {
			for i := range b.items {
				if st := &sums.states[b.from+i]; b.groups.all[g].spread {
					b.states[g][i].defined += st.defined
				} else {
					b.states[g][i].merge(st)
				}
			}
		}
	}
}

// add adds one row group to the states of the groups whose rows are clusters of
// their own; for the others it counts the defined rows.
func (b *block) add(r *columnReader, part int) error {
	if b.file.GroupRows(part) == 0 {
		return nil
	}
	r.part = part
	signatures := &b.groups.perPart[part]
	var values itemValues
	for i := range b.items {
		if err := values.read(r, &b.items[i]); err != nil {
			return err
		}
		add := func(sig, from, to int) {
			for _, g := range b.groups.members[sig] {
				b.states[g][i].count(to - from)
				if !b.groups.all[g].spread {
					b.states[g][i].add(&values, from, to)
				}
			}
		}
		if signatures.each == nil {
			add(int(signatures.same), 0, values.defined.Len())
			continue
		}
		values.defined.Each(func(row, at int) { add(int(signatures.each[row]), at, at+1) })
	}
	return nil
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
		use := st
		if apart := b.apart[g]; apart != nil {
			use = &apart[i]
		}
		add := func(agg string, of, alone *stats.Clusters, pooled bool, drawn *stats.Estimate) {
			r := row
			r.Agg = agg
			e := runs.EstimateOf(&it.def, of, pooled, b.level, b.method)
			if use != st {
				naive := runs.EstimateOf(&it.def, alone, pooled, b.level, b.method)
				r.FillNaive(&e, &naive)
				if b.resampling != nil && drawn == nil && !b.dependent[g].of.Components {
					r.Warnings = append(r.Warnings, stats.NotExchangeableText)
				}
			}
			e = redrawn(e, drawn)
			r.Fill(&e)
			if agg == runs.Micro && e.Defined() {
				r.Num, r.Den = new(e.Num), new(e.Den)
			}
			if b.judged[i] != nil {
				b.judged[i][g].complete(&r, &it.def)
				r.WithholdSelective()
			}
			out = append(out, r)
		}
		var drawn intervals
		if b.drawn != nil {
			drawn = b.drawn[i][g]
		}
		add(runs.Macro, &use.macro, &st.macro, false, drawn.macro)
		switch {
		case it.micro():
			add(runs.Micro, &use.micro, &st.micro, true, drawn.micro)
		case it.def.Kind == metrics.Binary: // of which the two are one
			add(runs.Micro, &use.macro, &st.macro, false, drawn.macro)
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
			r.Low, r.High, r.CorrectedLow, r.CorrectedHigh, r.Method = nil, nil, nil, nil, ""
			if r.Reason == "" {
				r.Warnings = nil
			}
		}
	}
	return rows
}
