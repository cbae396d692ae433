package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"ibid/metrics/stats"
)

// A cell is a kind of data that an interval is tried on: how scores are distributed, how
// many a cluster has at most, and how alike those of one cluster are.
type cell struct {
	name     string
	quantile func(u float64) float64
	mean     float64
	most     int
	alike    float64 // latent correlation within a cluster
}

// mixed is a distribution on [0, 1] that is 0 with one chance, 1 with another, and
// between them as inner is.
func mixed(zero, one float64, inner distuv.Beta) (quantile func(u float64) float64, mean float64) {
	return func(u float64) float64 {
		switch {
		case u < zero:
			return 0
		case u >= 1-one:
			return 1
		}
		return inner.Quantile((u - zero) / (1 - zero - one))
	}, one + (1-zero-one)*inner.Mean()
}

// cells are six distributions with and without mass at 0 and 1, with means from .025 to
// .95; clusters of 1, of 1 to 7 and of 1 to 30 rows; correlations of 0, .2 and .5.
func cells() []cell {
	var out []cell
	for _, d := range []struct {
		name      string
		zero, one float64
		inner     distuv.Beta
	}{
		{"around .5", 0, 0, distuv.Beta{Alpha: 2, Beta: 2}},
		{"around .8", 0, 0, distuv.Beta{Alpha: 8, Beta: 2}},
		{"near 0", 0, 0, distuv.Beta{Alpha: 1, Beta: 39}},
		{"60 % are 1, 10 % are 0", 0.1, 0.6, distuv.Beta{Alpha: 1, Beta: 1}},
		{"90 % are 1", 0, 0.9, distuv.Beta{Alpha: 2, Beta: 2}},
		{"80 % are 0, 10 % are 1", 0.8, 0.1, distuv.Beta{Alpha: 1, Beta: 1}},
	} {
		quantile, mean := mixed(d.zero, d.one, d.inner)
		for _, most := range []int{1, 7, 30} {
			for _, alike := range []float64{0, 0.2, 0.5} {
				if most == 1 && alike > 0 {
					continue // nothing is alike then
				}
				out = append(out, cell{fmt.Sprintf("%s, 1 to %d rows, correlation %.1f", d.name, most, alike), quantile, mean, most, alike})
			}
		}
	}
	return out
}

// sample draws the scores of two systems about so many clusters.
func (c *cell) sample(rng *rand.Rand, clusters int) []row {
	var rows []row
	for g := range clusters {
		common := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		score := func(i int) float64 {
			z := math.Sqrt(c.alike)*common[i] + math.Sqrt(1-c.alike)*rng.NormFloat64()
			return c.quantile(math.Erfc(-z/math.Sqrt2) / 2)
		}
		for range 1 + rng.IntN(c.most) {
			rows = append(rows, row{g, score(0), score(1), math.Ceil(math.Exp(4 + 0.8*rng.NormFloat64()))})
		}
	}
	return rows
}

// A cellMethod is a way to make an interval, whose truth depends on the cell.
type cellMethod struct {
	name  string
	low   float64 // least possible value; 1 is the largest
	truth func(c *cell) float64
	of    func(rows []row) stats.Estimate
}

func difference(r *row) (float64, float64) { return r.b - r.a, 1 }

func meanOf(c *cell) float64 { return c.mean }
func zero(*cell) float64     { return 0 }

var cellMethods = []cellMethod{
	{"mean, logit and t, deleting clusters (default)", 0, meanOf, func(rows []row) stats.Estimate { return clusters(rows, score).MeanWithin(level, 0, 1) }},
	{"mean, CR1 and t of effective clusters (cr1)", 0, meanOf, func(rows []row) stats.Estimate { return clusters(rows, score).MeanEffective(level) }},
	{"micro ratio, logit and t of effective clusters (default)", 0, meanOf, func(rows []row) stats.Estimate { return clusters(rows, pooled).RatioWithin(level) }},
	{"micro ratio, logit and t(G − 1) (cr1)", 0, meanOf, func(rows []row) stats.Estimate { return clusters(rows, pooled).Ratio(level) }},
	{"difference, atanh and t, deleting clusters (default)", -1, zero, func(rows []row) stats.Estimate { return clusters(rows, difference).DifferenceWithin(level, 1) }},
	{"difference of micro ratios, linearised (default)", -1, zero, func(rows []row) stats.Estimate { return ratios(rows).RatioDifference(level, 1) }},
	{"difference, CR1 and t(G − 1) (cr1)", -1, zero, func(rows []row) stats.Estimate { return clusters(rows, difference).Mean(level) }},
}

// A kept says how an interval did in one cell.
type kept struct {
	covered, below, above float64 // shares: the truth is within, below and above
	width, beyond         float64 // mean width; share of intervals that leave the bounds
}

// tryCell tries every method on one cell.
func tryCell(c *cell, clusters, replicates int, seed, number uint64) []kept {
	out := make([]kept, len(cellMethods))
	for r := range replicates {
		rows := c.sample(rand.New(rand.NewPCG(seed+number, uint64(clusters)<<32|uint64(r))), clusters)
		for i, m := range cellMethods {
			e := m.of(rows)
			out[i].note(&e, m.truth(c), m.low, 1/float64(replicates))
		}
	}
	return out
}

// note notes one of so many intervals, of a number in [low, 1].
func (k *kept) note(e *stats.Estimate, truth, low, one float64) {
	switch {
	case !e.HasInterval:
	case truth < e.Low:
		k.below += one
	case truth > e.High:
		k.above += one
	default:
		k.covered += one
	}
	k.width += (e.High - e.Low) * one
	if e.Low < low || e.High > 1 {
		k.beyond += one
	}
}

// A cellLine is how a method did over all cells with so many clusters.
type cellLine struct {
	mean, worst, width, beyond, below, above float64
	wide                                     []string // cells that are covered more than 98 % of the time
}

// coverCells tries every method on every cell.
func coverCells(replicates int, seed uint64, counts []int) map[int][]cellLine {
	out := make(map[int][]cellLine)
	all := cells()
	for _, g := range counts {
		lines := make([]cellLine, len(cellMethods))
		for n := range all {
			for i, k := range tryCell(&all[n], g, replicates, seed, uint64(n)) {
				l, share := &lines[i], 1/float64(len(all))
				if n == 0 || k.covered < l.worst {
					l.worst = k.covered
				}
				l.add(&k, share, all[n].name)
			}
		}
		out[g] = lines
	}
	return out
}

// add adds how a method did in one cell, a share of all of them.
func (l *cellLine) add(k *kept, share float64, name string) {
	l.mean += share * k.covered
	l.width += share * k.width
	l.beyond += share * k.beyond
	l.below += share * k.below
	l.above += share * k.above
	if k.covered > 0.98 {
		l.wide = append(l.wide, fmt.Sprintf("%s (%.3f)", name, k.covered))
	}
}

// listed names the cells that are covered more than 98 % of the time.
func (l *cellLine) listed(name string) []string {
	if len(l.wide) == 0 {
		return nil
	}
	return []string{"- " + name + ": " + strings.Join(l.wide, "; ")}
}

func writeWide(w io.Writer, wide []string) {
	if len(wide) > 0 {
		fmt.Fprintf(w, "\nCells that are covered more than 98 %% of the time:\n\n%s\n", strings.Join(wide, "\n"))
	}
}

func writeCells(w io.Writer, replicates int, seed uint64) {
	fmt.Fprintf(w, "\n| over %d cells | clusters | mean coverage | worst cell | truth below | above | mean width | leaves the bounds |\n|---|--:|--:|--:|--:|--:|--:|--:|\n", len(cells()))
	counts := slices.Concat(clusterCounts, []int{200})
	lines := coverCells(replicates, seed, counts)
	var wide []string
	for i, m := range cellMethods {
		for _, g := range counts {
			l := lines[g][i]
			fmt.Fprintf(w, "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.1f %% |\n", m.name, g, l.mean, l.worst, l.below, l.above, l.width, 100*l.beyond)
			wide = append(wide, l.listed(fmt.Sprintf("%s, %d clusters", m.name, g))...)
		}
	}
	writeWide(w, wide)
}
