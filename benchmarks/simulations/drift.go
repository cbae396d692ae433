package main

import (
	"fmt"

	"ibid/metrics/stats"
)

// The simulated anchors.
const (
	anchors      = 300
	drift        = 0.05 // share of all verdicts that a judge that moved calls otherwise, all in one direction
	driftSamples = 10_000
)

// moved is the share of simulated pairs of nights in which the check of the judge's
// drift fires. Half of the anchors are supported. The judge of the second night says
// no where it said yes in a planted share of all verdicts, and on both nights any
// verdict is flipped by noise with half of the chance noise, so that about that share
// differs without any drift. Of anchors with several verdicts planted flips come row
// by row, as one answer has them.
func moved(runs int, seed uint64, planted, noise float64, verdicts int) float64 {
	fired := 0.0
	for i := range runs {
		draw := stats.NewStream(seed, 4, uint64(i))
		var flips stats.Flips
		for range anchors {
			gone := draw.Float64() < 2*planted // of the half that is supported
			var gained, lost int64
			for range verdicts {
				was := draw.Float64() < 0.5
				is := was && !gone
				if draw.Float64() < noise/2 {
					was = !was
				}
				if draw.Float64() < noise/2 {
					is = !is
				}
				gained, lost = gained+int64(count(is && !was)), lost+int64(count(was && !is))
			}
			flips.AddRow(int64(verdicts), gained, lost)
		}
		p := flips.Test(driftSamples, seed)
		fired += count(p.Defined() && p.P <= 0.05)
	}
	return fired / float64(runs)
}

// driftPromises are what the check of the judge's drift promises.
func driftPromises() []promise {
	const fires, quiet = ">= 90 %", "<= 5 %"
	var out []promise
	for _, c := range []struct {
		verdicts       int // on each anchor
		noise, planted float64
		promised       string
	}{
		{1, 0, drift, fires},
		{1, 0.01, drift, fires},
		{1, 0.02, drift, fires},
		{1, 0.04, drift, "no promise"},
		{3, 0, drift, fires},
		{3, 0.02, drift, fires},
		{1, 0, 0, quiet},
		{1, 0.01, 0, quiet},
		{1, 0.02, 0, quiet},
		{1, 0.04, 0, quiet},
		{3, 0.02, 0, quiet},
	} {
		what := fmt.Sprintf("%d anchors of %s, %g %% of them differ by noise, %g points planted: the judge is said to have moved",
			anchors, []string{1: "one verdict", 3: "three verdicts"}[c.verdicts], 100*c.noise, 100*c.planted)
		out = append(out, promise{what, c.promised, func(runs int, seed uint64) string {
			return percent(moved(runs, seed, c.planted, c.noise, c.verdicts))
		}})
	}
	return out
}
