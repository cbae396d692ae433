package harness

import (
	"context"
	"slices"

	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// A judgedState adds up, for one judged metric in one group, how much of it was
// scored, and the least and the greatest value that it could have.
type judgedState struct {
	scorable, unscored stats.Exact // items
	num, revocable     stats.Exact // of the micro value
	low, high          stats.Exact // sums over the rows that are defined or bounded
	rows               int64       // those rows
	bounded            bool        // some of them has bounds

	known  stats.Exact // sum over the rows with a value, each by the share of its items whose texts are known
	noText bool        // some row has items without
}

// judgedStates adds up one metric over all groups.
func (s *summarizer) judgedStates(ctx context.Context, d *metrics.Definition) ([]judgedState, error) {
	all := make([]judgedState, len(s.groups.all))
	var value, low, high parquet.ColumnValues
	var terms judgedTerms
	for part := range s.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for name, into := range map[string]*parquet.ColumnValues{d.Name: &value, d.Name + runs.LowSuffix: &low, d.Name + runs.HighSuffix: &high} {
			if err := s.file.ReadColumn(part, name, into); err != nil {
				return nil, err
			}
		}
		if err := terms.read(s.file, part, d); err != nil {
			return nil, err
		}
		signatures := &s.groups.perPart[part]
		for row := range value.Rows {
			for _, g := range s.groups.members[signatures.at(row)] {
				st := &all[g]
				st.scorable.Add(terms.scorable[row])
				st.unscored.Add(terms.unscored[row])
				st.num.Add(terms.num[row])
				st.revocable.Add(terms.revocable[row])
				st.bounds(row, &value, &low, &high)
				if value.Valid[row] {
					st.known.Add(metrics.Known(terms.scorable[row], terms.noText[row]))
					st.noText = st.noText || terms.noText[row] > 0
				}
			}
		}
	}
	return all, nil
}

// bounds adds what the metric of one row can be.
func (st *judgedState) bounds(row int, value, low, high *parquet.ColumnValues) {
	switch {
	case low.Valid[row]:
		st.bounded = true
		st.low.Add(low.Doubles[row])
		st.high.Add(high.Doubles[row])
	case value.Valid[row]:
		st.low.Add(value.Doubles[row])
		st.high.Add(value.Doubles[row])
	default:
		return
	}
	st.rows++
}

// judgedTerms are sums of count columns, row by row. They serve one part and one metric
// after the other.
type judgedTerms struct {
	scorable, unscored, num, revocable, noText []float64

	column parquet.ColumnValues
}

// read adds up the terms of a metric in a part.
func (t *judgedTerms) read(file *parquet.ResultFile, part int, d *metrics.Definition) error {
	for _, x := range []struct {
		sum   *[]float64
		terms []metrics.Term
	}{{&t.scorable, d.Scorable}, {&t.unscored, d.Unscored}, {&t.num, d.Num}, {&t.revocable, d.Revocable}, {&t.noText, d.NoText()}} {
		sum := slices.Grow((*x.sum)[:0], file.GroupRows(part))[:file.GroupRows(part)]
		clear(sum)
		*x.sum = sum
		for _, term := range x.terms {
			c := &t.column
			if err := file.ReadColumn(part, term.Column, c); err != nil {
				return err
			}
			for row := range sum {
				if c.Kind == parquet.Double {
					sum[row] += term.Factor * c.Doubles[row]
				} else {
					sum[row] += term.Factor * float64(c.Ints[row])
				}
			}
		}
	}
	return nil
}

// complete fills in a row of the summary.
func (st *judgedState) complete(r *runs.SummaryRow, d *metrics.Definition) {
	scorable, _ := st.scorable.Float64()
	unscored, _ := st.unscored.Float64()
	r.Unscored = int64(unscored)
	if known, _ := st.known.Float64(); st.noText {
		r.DefinedShare = new(known / float64(r.N+r.Undefined))
	}
	if scorable > 0 {
		r.Coverage = new((scorable - unscored) / scorable)
	}
	if r.Agg == runs.Micro {
		st.microBounds(r, d, scorable, unscored)
		return
	}
	// A metric that never has bounds, such as a variance, has none over rows either.
	if st.rows > 0 && (st.bounded || unscored == 0) {
		low, _ := st.low.Float64()
		high, _ := st.high.Float64()
		r.BoundLow, r.BoundHigh = new(low/float64(st.rows)), new(high/float64(st.rows))
	}
}

// microBounds bounds a quotient of sums in [0, 1] whose denominator is the scored
// items: each unscored one adds 0 or 1 to its numerator, a revocable one takes 1 or 0 from it.
func (st *judgedState) microBounds(r *runs.SummaryRow, d *metrics.Definition, scorable, unscored float64) {
	if d.Min != 0 || d.Max != 1 || scorable <= 0 {
		return
	}
	num, _ := st.num.Float64()
	revocable, _ := st.revocable.Float64()
	r.BoundLow, r.BoundHigh = new((num-revocable)/scorable), new((num+unscored-revocable)/scorable)
}
