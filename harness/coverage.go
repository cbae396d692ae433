package harness

import (
	"context"
	"slices"

	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// A judgedState adds up, for one judged metric in one group, how much of it was
// scored, and the least and the greatest value that it could have.
type judgedState struct {
	scorable, unscored float64 // items
	num, revocable     float64 // of the micro value
	low, high          float64 // sums over the rows that are defined or bounded
	rows               int64   // those rows
	bounded            bool    // some of them has bounds

	known  float64 // sum over the rows with a value, each by the share of its items whose texts are known
	noText bool    // some row has items without
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
				st.scorable += terms.scorable[row]
				st.unscored += terms.unscored[row]
				st.num += terms.num[row]
				st.revocable += terms.revocable[row]
				st.bounds(row, &value, &low, &high)
				if value.Valid[row] {
					st.known += metrics.Known(terms.scorable[row], terms.noText[row])
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
		st.low += low.Doubles[row]
		st.high += high.Doubles[row]
	case value.Valid[row]:
		st.low += value.Doubles[row]
		st.high += value.Doubles[row]
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
	r.Unscored = int64(st.unscored)
	if st.noText {
		r.DefinedShare = new(st.known / float64(r.N+r.Undefined))
	}
	if st.scorable > 0 {
		r.Coverage = new((st.scorable - st.unscored) / st.scorable)
	}
	if r.Agg == runs.Micro {
		st.microBounds(r, d)
		return
	}
	// A metric that never has bounds, such as a variance, has none over rows either.
	if st.rows > 0 && (st.bounded || st.unscored == 0) {
		r.BoundLow, r.BoundHigh = new(st.low/float64(st.rows)), new(st.high/float64(st.rows))
	}
}

// microBounds bounds a quotient of sums in [0, 1] whose denominator is the scored
// items: each unscored one adds 0 or 1 to its numerator, a revocable one takes 1 or 0 from it.
func (st *judgedState) microBounds(r *runs.SummaryRow, d *metrics.Definition) {
	if d.Min != 0 || d.Max != 1 || st.scorable <= 0 {
		return
	}
	r.BoundLow = new((st.num - st.revocable) / st.scorable)
	r.BoundHigh = new((st.num + st.unscored - st.revocable) / st.scorable)
}
