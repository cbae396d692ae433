package harness

import (
	"context"

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
	return all, s.file.Each(func(b *runs.Block) error {
		value, has := b.Numbers(d.Name)
		low, bounded := b.Numbers(d.Name + runs.LowSuffix)
		high, _ := b.Numbers(d.Name + runs.HighSuffix)
		scorable, unscored, num, revocable, noText := b.Sum(d.Scorable), b.Sum(d.Unscored), b.Sum(d.Num), b.Sum(d.Revocable), b.Sum(d.NoText())
		if b.Err() != nil {
			return b.Err()
		}
		signatures := &s.groups.perPart[b.Number]
		for row := range b.Len() {
			for _, g := range s.groups.members[signatures.at(row)] {
				st := &all[g]
				st.scorable += scorable[row]
				st.unscored += unscored[row]
				st.num += num[row]
				st.revocable += revocable[row]
				switch {
				case bounded[row]:
					st.bounded = true
					st.low, st.high, st.rows = st.low+low[row], st.high+high[row], st.rows+1
				case has[row]:
					st.low, st.high, st.rows = st.low+value[row], st.high+value[row], st.rows+1
				}
				if has[row] {
					st.known += metrics.Known(scorable[row], noText[row])
					st.noText = st.noText || noText[row] > 0
				}
			}
		}
		return ctx.Err()
	})
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
