package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"ibid/metrics/stats"
)

// writeAUROC tries the interval of an AUROC of .72, .90 and .97 over clusters of 1 to 7 items
// of both kinds, whose scores have a correlation of 0, .2 and .5. What is covered is the mean
// of all estimates.
func writeAUROC(w io.Writer, replicates int, seed uint64) {
	fmt.Fprint(w, "\n| AUROC, over 9 cells | clusters | mean coverage | worst cell | truth below | above | mean width | leaves the bounds |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, g := range slices.Concat(clusterCounts, []int{200}) {
		for method, name := range []string{"logit and t over clusters (default)", "the same over items, clusters ignored (never used)"} {
			l := coverAUROC(g, method == 1, replicates, seed)
			fmt.Fprintf(w, "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.1f %% |\n", name, g, l.mean, l.worst, l.below, l.above, l.width, 100*l.beyond)
		}
	}
}

func coverAUROC(clusters int, ignore bool, replicates int, seed uint64) cellLine {
	l := cellLine{worst: 1}
	for _, shift := range []float64{0.82, 1.81, 2.66} {
		for _, alike := range []float64{0, 0.2, 0.5} {
			estimates := make([]stats.Estimate, 0, replicates)
			truth := 0.0
			for r := range replicates {
				rng := rand.New(rand.NewPCG(seed+uint64(100*shift)+uint64(10*alike), uint64(clusters)<<32|uint64(r)))
				var scores []float64
				var positive []bool
				var names []string
				for c := range clusters {
					common := rng.NormFloat64()
					for range 1 + rng.IntN(perDoc) {
						yes := rng.IntN(2) == 0
						score := math.Sqrt(alike)*common + math.Sqrt(1-alike)*rng.NormFloat64()
						if yes {
							score += shift
						}
						name := fmt.Sprint(c)
						if ignore {
							name = fmt.Sprint(len(names))
						}
						scores, positive, names = append(scores, score), append(positive, yes), append(names, name)
					}
				}
				if e := stats.ClusteredAUROC(scores, positive, names, level); e.Defined() {
					estimates = append(estimates, e)
					truth += e.Value
				}
			}
			truth /= float64(len(estimates))
			var k kept
			for i := range estimates {
				k.note(&estimates[i], truth, 0, 1/float64(len(estimates)))
			}
			l.worst = min(l.worst, k.covered)
			l.add(&k, 1.0/9, fmt.Sprintf("AUROC %.2f, correlation %.1f", truth, alike))
		}
	}
	return l
}
