package harness

import (
	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// maxPatterns bounds the patterns that a rowPatterns keeps; a run has a handful,
// one per kind of row.
const maxPatterns = 256

// A rowPattern is what rows have in common that lack the same numbers for the
// same reasons: the column undefined, and which columns are null.
type rowPattern struct {
	reasons  [metrics.NumMetrics]ibid.Reason
	known    [metrics.NumCounts]bool
	sumKnown [metrics.NumSums]bool

	undefined    parquet.MapRef // in the table, if stored
	stored       bool
	keys, values []string // the entries of undefined

	counts, metrics, poolCounts, sums, laterMetrics, laterSums *parquet.RowMask
}

// rowPatterns finds the pattern of rows. Each one is worked out once.
type rowPatterns struct {
	table     *parquet.Table
	undefined runs.MapColumn
	layout    *runs.RowsLayout
	recent    [4]*rowPattern // the last one first
	byKey     map[string]*rowPattern
	key       []byte
	names     []string // of the metrics
}

// of returns the pattern of a row; those of the rows before it are the most likely.
func (p *rowPatterns) of(s *metrics.Scores) *rowPattern {
	for i, pattern := range p.recent {
		if pattern != nil && pattern.fits(s) {
			copy(p.recent[1:], p.recent[:i])
			p.recent[0] = pattern
			return pattern
		}
	}
	p.key = p.key[:0]
	for _, why := range s.Reasons {
		p.key = append(p.key, byte(why))
	}
	for _, list := range [][]bool{s.Known[:], s.SumKnown[:]} {
		for _, known := range list {
			if known {
				p.key = append(p.key, 1)
			} else {
				p.key = append(p.key, 0)
			}
		}
	}
	pattern := p.byKey[string(p.key)]
	if pattern == nil {
		pattern = p.make(s)
		if len(p.byKey) < maxPatterns {
			if p.byKey == nil {
				p.byKey = make(map[string]*rowPattern)
			}
			pattern.undefined, pattern.stored = p.undefined.Define(pattern.keys, pattern.values), true
			p.byKey[string(p.key)] = pattern
		}
	}
	copy(p.recent[1:], p.recent[:])
	p.recent[0] = pattern
	return pattern
}

// fits reports whether the row has the pattern.
func (p *rowPattern) fits(s *metrics.Scores) bool {
	return p.known == s.Known && p.reasons == s.Reasons && p.sumKnown == s.SumKnown
}

func (p *rowPatterns) make(s *metrics.Scores) *rowPattern {
	if p.names == nil {
		for _, d := range metrics.Definitions() {
			p.names = append(p.names, d.Name)
		}
	}
	pattern := &rowPattern{reasons: s.Reasons, known: s.Known, sumKnown: s.SumKnown}
	var defined [metrics.NumMetrics]bool
	for m, why := range s.Reasons {
		if defined[m] = why == ibid.Defined; !defined[m] {
			pattern.keys = append(pattern.keys, p.names[m])
			pattern.values = append(pattern.values, why.String())
		}
	}
	t, l := p.table, p.layout
	pattern.counts = t.RowMask(l.Counts, s.Known[:runs.ContractCounts])
	pattern.metrics = t.RowMask(l.Metrics, defined[:runs.LaterMetrics])
	pattern.poolCounts = t.RowMask(l.PoolCounts, s.Known[runs.ContractCounts:])
	pattern.sums = t.RowMask(l.Sums, s.SumKnown[:runs.LaterSums])
	pattern.laterMetrics = t.RowMask(l.LaterMetrics, defined[runs.LaterMetrics:])
	pattern.laterSums = t.RowMask(l.LaterSums, s.SumKnown[runs.LaterSums:])
	return pattern
}

// append appends the numbers of a row of this pattern to the table of in.
func (p *rowPattern) append(in *rowPatterns, s *metrics.Scores) {
	if p.stored {
		in.undefined.AppendRef(p.undefined)
	} else {
		in.undefined.Append(p.keys, p.values)
	}
	t := in.table
	t.AppendIntRow(p.counts, s.Counts[:runs.ContractCounts])
	t.AppendDoubleRow(p.metrics, s.Values[:runs.LaterMetrics])
	t.AppendIntRow(p.poolCounts, s.Counts[runs.ContractCounts:])
	t.AppendDoubleRow(p.sums, s.Sums[:runs.LaterSums])
	t.AppendDoubleRow(p.laterMetrics, s.Values[runs.LaterMetrics:])
	t.AppendDoubleRow(p.laterSums, s.Sums[runs.LaterSums:])
}
