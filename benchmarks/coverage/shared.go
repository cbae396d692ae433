package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"ibid/metrics/stats"
)

// A web is a kind of data whose rows touch one to several of so many documents, each the
// same number of rows: what rows have in common with others that touch a document is alike.
type web struct {
	documents, rows, most int
	alike                 float64
}

func webs() (all []web) {
	for _, size := range [][2]int{{8, 40}, {15, 60}, {40, 160}, {200, 800}} {
		for _, most := range []int{2, 3, 6} {
			for _, alike := range []float64{0, 0.2, 0.5} {
				all = append(all, web{size[0], size[1], most, alike})
			}
		}
	}
	return all
}

// A linked row is one answer of two systems with the documents that it touches.
type linked struct {
	docs    []int
	a, b, x float64
}

// sample draws rows; the score of a system is 0 or 1 for some, and its mean is that of
// meanLinked.
func (w *web) sample(rng *rand.Rand) []linked {
	effects := make([][2]float64, w.documents)
	for i := range effects {
		effects[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	rows := make([]linked, w.rows)
	for i := range rows {
		r := &rows[i]
		r.docs = rng.Perm(w.documents)[:1+rng.IntN(w.most)]
		score := func(k int) float64 {
			common := 0.0
			for _, doc := range r.docs {
				common += effects[doc][k]
			}
			z := math.Sqrt(w.alike/float64(len(r.docs)))*common + math.Sqrt(1-w.alike)*rng.NormFloat64()
			return cut(center + within*z)
		}
		r.a, r.b, r.x = score(0), score(1), math.Ceil(math.Exp(4+0.8*rng.NormFloat64()))
	}
	return rows
}

// meanLinked is the expected score of a linked row.
var meanLinked = cutMean(within)

// A linkedMethod makes an interval of one kind of number from rows by one way of saying
// what is alike.
type linkedMethod struct {
	name  string
	truth float64
	low   float64
	of    func(rows []linked, y func(*linked) (float64, float64)) stats.Estimate
	value func(*linked) (float64, float64)
}

// byFirst are the clusters that the first documents make, byRow those of the rows.
func byFirst(r *linked, _ int) int { return r.docs[0] }
func byRow(_ *linked, i int) int   { return i }

func grouped(rows []linked, y func(*linked) (float64, float64), code func(*linked, int) int) *stats.Clusters {
	var g stats.Grouper
	for i := range rows {
		v, x := y(&rows[i])
		g.AddRatio(code(&rows[i], i), v, x)
	}
	var c stats.Clusters
	g.Drain(&c)
	return &c
}

// auto is how statistics.cluster: auto has it.
func auto(rows []linked, y func(*linked) (float64, float64)) *stats.Clusters {
	var touching stats.Touching
	members := make([]stats.Member, len(rows))
	for i, r := range rows {
		names := make([]string, len(r.docs))
		for k, doc := range r.docs {
			names[k] = fmt.Sprint(doc)
		}
		touching.Add(names...)
		members[i] = stats.Member{Unit: stats.Key(fmt.Sprint(i)), Row: int32(i)}
	}
	d := touching.Depend(members, true, 1)
	switch {
	case d == nil:
		return grouped(rows, y, byRow)
	case d.Components:
		unit := make(map[int]int32)
		for at, m := range members {
			unit[int(m.Row)] = d.Of[at]
		}
		c := grouped(rows, y, func(_ *linked, i int) int { return int(unit[i]) })
		c.Named(stats.ByComponents)
		return c
	}
	c := grouped(rows, y, byRow)
	sums := make([]stats.Sum, len(rows))
	for at, m := range members {
		v, x := y(&rows[m.Row])
		sums[at] = stats.Sum{Y: v, X: x, Rows: 1}
	}
	c.RestOn(d, slices.Values(sums))
	return c
}

func linkedScore(r *linked) (float64, float64)      { return r.a, 1 }
func linkedPooled(r *linked) (float64, float64)     { return r.a * r.x, r.x }
func linkedDifference(r *linked) (float64, float64) { return r.b - r.a, 1 }

var linkedMethods = []linkedMethod{
	{"mean, auto (default)", meanLinked, 0, func(r []linked, y func(*linked) (float64, float64)) stats.Estimate {
		return auto(r, y).MeanWithin(level, 0, 1)
	}, linkedScore},
	{"mean, first document (before, with doc)", meanLinked, 0, func(r []linked, y func(*linked) (float64, float64)) stats.Estimate {
		return grouped(r, y, byFirst).MeanWithin(level, 0, 1)
	}, linkedScore},
	{"mean, rows as independent (before)", meanLinked, 0, func(r []linked, y func(*linked) (float64, float64)) stats.Estimate {
		return grouped(r, y, byRow).MeanWithin(level, 0, 1)
	}, linkedScore},
	{"micro ratio, auto (default)", meanLinked, 0, func(r []linked, y func(*linked) (float64, float64)) stats.Estimate {
		return auto(r, y).RatioWithin(level)
	}, linkedPooled},
	{"micro ratio, rows as independent (before)", meanLinked, 0, func(r []linked, y func(*linked) (float64, float64)) stats.Estimate {
		return grouped(r, y, byRow).Ratio(level)
	}, linkedPooled},
	{"difference, auto (default)", 0, -1, func(r []linked, y func(*linked) (float64, float64)) stats.Estimate {
		return auto(r, y).DifferenceWithin(level, 1)
	}, linkedDifference},
	{"difference, rows as independent (before)", 0, -1, func(r []linked, y func(*linked) (float64, float64)) stats.Estimate {
		return grouped(r, y, byRow).DifferenceWithin(level, 1)
	}, linkedDifference},
}

// A webLine is how a method did over all webs of so many documents.
type webLine struct {
	cellLine
	rejected float64 // share of p-values of at most 0.05, of differences
}

// coverWebs tries every method on every web, by its number of documents.
func coverWebs(replicates int, seed uint64, counts []int) map[int][]webLine {
	out := make(map[int][]webLine)
	cells := make(map[int]float64)
	for _, w := range webs() {
		cells[w.documents]++
	}
	for n, w := range webs() {
		if !slices.Contains(counts, w.documents) {
			continue
		}
		lines := out[w.documents]
		if lines == nil {
			lines = make([]webLine, len(linkedMethods))
			out[w.documents] = lines
		}
		done := make([]kept, len(linkedMethods))
		one := 1 / float64(replicates)
		for r := range replicates {
			rows := w.sample(rand.New(rand.NewPCG(seed+uint64(n), uint64(r))))
			for i := range linkedMethods {
				m, k := &linkedMethods[i], &done[i]
				e := m.of(rows, m.value)
				k.note(&e, m.truth, m.low, one)
				if test := e.Student(); m.low < 0 && test.Defined() && test.P <= 1-level {
					lines[i].rejected += one / cells[w.documents]
				}
			}
		}
		for i, k := range done {
			l := &lines[i]
			if l.mean == 0 || k.covered < l.worst {
				l.worst = k.covered
			}
			l.add(&k, 1/cells[w.documents], fmt.Sprintf("1 to %d documents, correlation %.1f", w.most, w.alike))
		}
	}
	return out
}

func writeWebs(w io.Writer, replicates int, seed uint64) {
	fmt.Fprint(w, "\n| rows on 1 to 2, 3 or 6 of so many documents | documents | mean coverage | worst cell | truth below | above | mean width | leaves the bounds | p ≤ .05 |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	counts := slices.Concat(clusterCounts, []int{200})
	lines := coverWebs(replicates, seed, counts)
	var wide []string
	for i, m := range linkedMethods {
		for _, documents := range counts {
			l := lines[documents][i]
			p := ""
			if m.low < 0 {
				p = fmt.Sprintf("%.3f", l.rejected)
			}
			fmt.Fprintf(w, "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.1f %% | %s |\n", m.name, documents, l.mean, l.worst, l.below, l.above, l.width, 100*l.beyond, p)
			wide = append(wide, l.listed(fmt.Sprintf("%s, %d documents", m.name, documents))...)
		}
	}
	writeWide(w, wide)
}
