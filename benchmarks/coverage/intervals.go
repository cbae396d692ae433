package main

import (
	"math"
	"math/rand/v2"

	"ibid/metrics/stats"
)

// clusterCounts are the numbers of documents that questions are about.
var clusterCounts = []int{8, 15, 40}

const (
	level   = 0.95
	perDoc  = 7    // questions about one document at most; 1 to 7 have the same chance
	center  = 0.65 // of scores before they are cut off at 0 and 1
	between = 0.25 // standard deviation over documents
	within  = 0.30 // and over the questions about one
	flips   = 999  // draws of a test that is not exact: many enough for 0.05
)

// meanScore is the expected score: that of a normal variate cut off at 0 and 1.
var meanScore = cutMean(math.Hypot(between, within))

// cutMean is the mean of a normal variate of that deviation, cut off at 0 and 1.
func cutMean(sd float64) float64 {
	phi := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	cdf := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	low, high := -center/sd, (1-center)/sd
	return center*(cdf(high)-cdf(low)) + sd*(phi(low)-phi(high)) + 1 - cdf(high)
}

// shareRight is the expected share of rows that are right.
var shareRight = math.Erfc(-(center-0.5)/math.Hypot(between, within)/math.Sqrt2) / 2

// A row is one answer as two systems gave it.
type row struct {
	doc    int
	a, b   float64 // scores, with mass at 0 and 1
	length float64 // of what is counted for micro values, in characters
}

func cut(v float64) float64 { return min(1, max(0, v)) }

// right is 1 for a score that is good enough.
func right(v float64) float64 {
	if v > 0.5 {
		return 1
	}
	return 0
}

// sample draws the rows about so many documents. What two systems have in common
// is the document and half of what makes a question hard.
func sample(rng *rand.Rand, docs int) []row {
	var rows []row
	for doc := range docs {
		level := center + between*rng.NormFloat64()
		for range 1 + rng.IntN(perDoc) {
			hard := within * math.Sqrt(0.5) * rng.NormFloat64()
			score := func() float64 { return cut(level + hard + within*math.Sqrt(0.5)*rng.NormFloat64()) }
			rows = append(rows, row{doc, score(), score(), math.Ceil(math.Exp(4 + 0.8*rng.NormFloat64()))})
		}
	}
	return rows
}

// clusters sums a value and what it is divided by, by document.
func clusters(rows []row, value func(*row) (y, x float64)) *stats.Clusters {
	var g stats.Grouper
	for i := range rows {
		y, x := value(&rows[i])
		g.AddRatio(rows[i].doc, y, x)
	}
	var c stats.Clusters
	g.Drain(&c)
	return &c
}

// An interval is one way of estimating and the truth.
type interval struct {
	name  string
	truth float64
	of    func(rows []row) stats.Estimate
}

func score(r *row) (float64, float64)  { return r.a, 1 }
func binary(r *row) (float64, float64) { return right(r.a), 1 }
func pooled(r *row) (float64, float64) { return r.a * r.length, r.length }

// Scores and lengths are independent, so the pooled value has the same truth as
// the mean.
var intervals = []interval{
	{"mean, logit and t, deleting clusters (default)", meanScore, func(rows []row) stats.Estimate { return clusters(rows, score).MeanWithin(level, 0, 1) }},
	{"proportion, Wilson over clusters (default)", shareRight, func(rows []row) stats.Estimate { return clusters(rows, binary).Proportion(level) }},
	{"micro ratio, logit and t of effective clusters (default)", meanScore, func(rows []row) stats.Estimate { return clusters(rows, pooled).RatioWithin(level) }},
	{"paired difference, atanh and t, deleting clusters (default)", 0, func(rows []row) stats.Estimate { return clusters(rows, difference).DifferenceWithin(level, 1) }},
	{"difference of micro ratios, linearised (default)", 0, func(rows []row) stats.Estimate { return ratios(rows).RatioDifference(level, 1) }},
	{"difference of micro ratios, BCa of 999 (cr1)", 0, func(rows []row) stats.Estimate {
		return ratios(rows).Bootstrap(stats.QuotientDifference, stats.Resampling{Resamples: 999, Seed: 1}).BCa(level)
	}},
	{"mean, CR1 and t of effective clusters (cr1)", meanScore, func(rows []row) stats.Estimate { return clusters(rows, score).MeanEffective(level) }},
	{"mean, CR1 and t(G − 1)", meanScore, func(rows []row) stats.Estimate { return clusters(rows, score).Mean(level) }},
	{"proportion, Wilson over clusters, standard error taken for known", shareRight, func(rows []row) stats.Estimate { return clusters(rows, binary).WilsonCluster(level) }},
	{"mean, BCa of 999", meanScore, func(rows []row) stats.Estimate { return bootstrap(rows, score) }},
	{"micro ratio, BCa of 999", meanScore, func(rows []row) stats.Estimate { return bootstrap(rows, pooled) }},
	{"mean, t over rows, clusters ignored (never used)", meanScore, func(rows []row) stats.Estimate {
		var c stats.Clusters
		for i := range rows {
			c.AddRow(rows[i].a)
		}
		return c.Mean(level)
	}},
}

func bootstrap(rows []row, value func(*row) (y, x float64)) stats.Estimate {
	var g stats.Grouper
	for i := range rows {
		y, x := value(&rows[i])
		g.AddRatio(rows[i].doc, y, x)
	}
	u := stats.NewUnits(2)
	g.Each(func(code int, y, x float64, rows int64, _ bool) { u.Add(uint64(code), rows, y, x) })
	return u.Bootstrap(stats.Quotient, stats.Resampling{Resamples: 999, Seed: 1}).BCa(level)
}

// coverage is how often each interval covers the truth.
func coverage(replicates int, seed uint64) []line {
	lines := make([]line, len(intervals))
	for i, in := range intervals {
		lines[i].name = in.name
	}
	for _, g := range clusterCounts {
		hits := make([]int, len(intervals))
		for r := range replicates {
			rows := sample(rand.New(rand.NewPCG(seed, uint64(g)<<32|uint64(r))), g)
			for i, in := range intervals {
				if e := in.of(rows); e.HasInterval && e.Low <= in.truth && in.truth <= e.High {
					hits[i]++
				}
			}
		}
		for i, n := range hits {
			lines[i].shares = append(lines[i].shares, float64(n)/float64(replicates))
		}
	}
	return lines
}

// A test is one way of telling two systems apart.
type test struct {
	name string
	p    func(rows []row) (float64, bool)
}

var tests = []test{
	{"mean, sign flip over clusters (default)", func(rows []row) (float64, bool) {
		return defined(stats.SignFlip(sums(rows, func(r *row) float64 { return r.b - r.a }), flips, 1))
	}},
	{"0/1, sign flip over clusters (default)", func(rows []row) (float64, bool) {
		return defined(stats.SignFlip(sums(rows, func(r *row) float64 { return right(r.b) - right(r.a) }), flips, 1))
	}},
	{"micro ratio, swapped clusters (default)", func(rows []row) (float64, bool) {
		return defined(ratios(rows).SwapTest(flips, 1))
	}},
	{"mean, t over clusters", func(rows []row) (float64, bool) {
		var a, b []float64
		var codes []int
		for _, r := range rows {
			a, b, codes = append(a, r.b), append(b, r.a), append(codes, r.doc)
		}
		p := stats.NewPaired(a, b, codes, level)
		return defined(p.T)
	}},
	{"mean, sign flip over rows, clusters ignored (never used)", func(rows []row) (float64, bool) {
		var d []float64
		for _, r := range rows {
			d = append(d, r.b-r.a)
		}
		return defined(stats.SignFlip(d, flips, 1))
	}},
}

// ratios are the sums of the pooled values of both systems by document.
func ratios(rows []row) *stats.Units {
	u := stats.NewUnits(4)
	a, b, x := sums(rows, func(r *row) float64 { return r.a * r.length }), sums(rows, func(r *row) float64 { return r.b * r.length }), sums(rows, func(r *row) float64 { return r.length })
	for i := range a {
		u.Add(uint64(i), 1, b[i], x[i], a[i], x[i])
	}
	return u
}

func defined(t stats.Test) (float64, bool) { return t.P, t.Defined() }

// sums are those of a value by document.
func sums(rows []row, value func(*row) float64) []float64 {
	var all []float64
	for i := range rows {
		if rows[i].doc == len(all) {
			all = append(all, 0)
		}
		all[rows[i].doc] += value(&rows[i])
	}
	return all
}

// rejections is how often each test rejects although nothing differs. Documents
// suit one system or the other, so that rows of one are alike in their difference.
func rejections(replicates int, seed uint64) []line {
	lines := make([]line, len(tests))
	for i, t := range tests {
		lines[i].name = t.name
	}
	for _, g := range clusterCounts {
		hits := make([]int, len(tests))
		for r := range replicates {
			rng := rand.New(rand.NewPCG(seed+1, uint64(g)<<32|uint64(r)))
			rows := sample(rng, g)
			suits := make([]float64, g)
			for i := range suits {
				suits[i] = 0.2 * rng.NormFloat64()
			}
			for i := range rows {
				rows[i].b = cut(rows[i].b + suits[rows[i].doc]/2)
				rows[i].a = cut(rows[i].a - suits[rows[i].doc]/2)
			}
			for i, t := range tests {
				if p, ok := t.p(rows); ok && p <= 1-level {
					hits[i]++
				}
			}
		}
		for i, n := range hits {
			lines[i].shares = append(lines[i].shares, float64(n)/float64(replicates))
		}
	}
	return lines
}
