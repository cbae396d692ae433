package harness

import (
	"ibid/configs"
	"ibid/metrics/stats"
)

// A resampling is how a cluster bootstrap draws the intervals that replace the analytic
// ones of a summary: for each metric, system and slice, about 10 s of a processor for
// 10,000 resamples of a million clusters.
type resampling struct {
	how    stats.Resampling
	method stats.Method
}

// intervals are what a bootstrap says of one item in one group; nil where it says
// nothing.
type intervals struct{ macro, micro *stats.Estimate }

// resamplingOf is nil if intervals are analytic, as they are by default: every
// metric has one.
func resamplingOf(c *configs.Settings) *resampling {
	method := stats.Method(c.Statistics.Method)
	if method != stats.BCaBootstrap && method != stats.PercentileBootstrap {
		return nil
	}
	return &resampling{
		method: method,
		how:    stats.Resampling{Resamples: int(c.Statistics.Resamples), Seed: uint64(c.Seed), Workers: 1},
	}
}

// draw makes the bootstrap interval of an item over clusters that have keys. It is nil if
// there is none, or if it would have no width. The analytic interval is used then.
func (r *resampling) draw(of *denseValues, c *clustered, keys []uint64, pooled bool, level float64) *stats.Estimate {
	units := stats.NewUnits(2)
	defined := true
	for code := range c.ends {
		sum := of.sum(c.at(code), pooled)
		if sum.rows == 0 {
			continue
		}
		y, okY := sum.y.Float64()
		x, okX := sum.x.Float64()
		defined = defined && okY && okX
		units.Add(keys[code], sum.rows, y, x)
	}
	if !defined || units.Len() < 2 {
		return nil
	}
	b := units.Bootstrap(stats.Quotient, r.how)
	e := b.BCa(level)
	if r.method == stats.PercentileBootstrap {
		e = b.Percentile(level)
	}
	if !e.HasInterval || e.Degenerate {
		return nil
	}
	return &e
}
