package main

import (
	"fmt"
	"math/rand/v2"

	"ibid"
	"ibid/metrics/stats"
)

// A promise is one line of the table.
type promise struct {
	what, promised string
	measure        func(runs int, seed uint64) string
}

// promises are all of them, in the order of the table.
var promises = []promise{
	{
		"interval of the raw judge covers what people would say (sensitivity 0.9, specificity 0.7; 2,000 rows)", "no promise",
		func(runs int, seed uint64) string { return percent(coverage(runs, seed).raw) },
	},
	{
		"PPI++ with 200 labels of the same rows covers it", "92 % to 97 %",
		func(runs int, seed uint64) string { return percent(coverage(runs, seed).ppi) },
	},
	{
		"Rogan–Gladen with 200 older labels covers it", "92 % to 97 %",
		func(runs int, seed uint64) string { return percent(coverage(runs, seed).roganGladen) },
	},
	{
		"CUSUM, k 0.5, h 5: nights to a false alarm", "465",
		func(runs int, seed uint64) string { return fmt.Sprintf("%.0f", charts(runs, seed).cusum) },
	},
	{
		"EWMA, λ 0.2, L 2.86: nights to a false alarm", "370",
		func(runs int, seed uint64) string { return fmt.Sprintf("%.0f", charts(runs, seed).ewma) },
	},
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// The simulated judge and people.
const (
	rows        = 2000
	labels      = 200
	prevalence  = 0.5
	sensitivity = 0.9
	specificity = 0.7
	level       = 0.95
)

// covered are shares of data sets whose interval holds the truth.
type covered struct{ raw, ppi, roganGladen float64 }

// coverage simulates judged runs of which the truth is what people would say of
// all rows of the population.
func coverage(runs int, seed uint64) covered {
	var hit covered
	for i := range runs {
		draw := stats.NewStream(seed, 1, uint64(i))
		var predicted []stats.Predicted
		yes := 0
		for r := range rows {
			human, judge := judged(&draw)
			p := stats.Predicted{Cluster: fmt.Sprint(r), Judge: judge}
			if r < labels { // rows are exchangeable: the first are a random part
				p.Human = stats.Of(human)
			}
			yes += int(judge)
			predicted = append(predicted, p)
		}
		raw := stats.Wilson(float64(yes), rows, level)
		hit.raw += count(raw.Low <= prevalence && prevalence <= raw.High)
		hit.ppi += covers(stats.PPIClusters(predicted, level, 0, 1).Bounds)

		var older stats.Confusion
		for range labels {
			human, judge := judged(&draw)
			older.Add(human == 1, judge == 1)
		}
		corrected := stats.RoganGladen(float64(yes), rows, float64(older.TP), float64(older.TP+older.FN), float64(older.TN), float64(older.TN+older.FP), level)
		hit.roganGladen += covers(corrected.Bounds)
	}
	n := float64(runs)
	return covered{hit.raw / n, hit.ppi / n, hit.roganGladen / n}
}

// judged draws a row: what people say of it, and what the judge says.
func judged(draw *stats.Stream) (human, judge float64) {
	right := specificity
	if draw.Float64() < prevalence {
		human, right = 1, sensitivity
	}
	if draw.Float64() < right {
		return human, human
	}
	return human, 1 - human
}

func covers(b stats.Bounds) float64 {
	return count(b.Defined() && b.Low.Value <= prevalence && prevalence <= b.High.Value)
}

func count(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// lengths are mean numbers of nights to the first false alarm.
type lengths struct{ cusum, ewma float64 }

// charts simulates series in which nothing happens.
func charts(runs int, seed uint64) lengths {
	var sum lengths
	for i := range runs {
		stream := stats.NewStream(seed, 3, uint64(i))
		draw := rand.New(&stream)
		series := make([]ibid.Number, 0, 1024)
		sum.cusum += float64(firstAlarm(draw, &series, func(x []ibid.Number) int {
			if _, alarm := stats.StandardCUSUM(0, stats.Of(1)).Chart(x); alarm != nil {
				return alarm.Night
			}
			return -1
		}))
		sum.ewma += float64(firstAlarm(draw, &series, func(x []ibid.Number) int {
			for k, night := range stats.StandardEWMA(0, stats.Of(1)).Chart(x) {
				if night.Signal {
					return k
				}
			}
			return -1
		}))
	}
	return lengths{sum.cusum / float64(runs), sum.ewma / float64(runs)}
}

// firstAlarm is the night of the first alarm, from 1. The series is made longer
// until there is one.
func firstAlarm(draw *rand.Rand, series *[]ibid.Number, alarm func([]ibid.Number) int) int {
	for {
		if k := alarm(*series); k >= 0 {
			return k + 1
		}
		for range max(512, len(*series)) {
			*series = append(*series, stats.Of(draw.NormFloat64()))
		}
	}
}
