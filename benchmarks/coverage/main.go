//go:build unix

// Command coverage tries the intervals and p-values of ibid on simulated data, through the
// program: how often an interval of level .95 covers the truth, and how often a comparison
// of two runs that do not differ has p < .05. A cell is one kind of data, of which one run
// has SETS data sets, each a system. It exits with 1 where coverage is under .91, p < .05
// more often than .07 (both by more than two standard errors), an end is out of range or an
// interval is missing. The same seed prints the same table.
//
//	go run ./coverage -ibid ../bin/ibid
//	go run ./coverage -ibid ../bin/ibid -only '^cl' -sets 1000
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"ibid/benchmarks/program"
)

func main() {
	ibid := flag.String("ibid", "../bin/ibid", "the program to try")
	sets := flag.Int("sets", 300, "data sets of each cell")
	only := flag.String("only", "", "a `pattern` of the cells to try; default all")
	seed := flag.Uint64("seed", 1, "of all draws")
	flag.Parse()
	if err := tryAll(*ibid, *only, *sets, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

// A design says which documents each row of a data set touches.
type design func(rng *rand.Rand) (rows [][]int)

// clustered is documents of low to high rows.
func clustered(documents, low, high int) design {
	return func(rng *rand.Rand) (rows [][]int) {
		for d := range documents {
			rows = append(rows, slices.Repeat([][]int{{d}}, low+rng.IntN(high-low+1))...)
		}
		return rows
	}
}

// hubs is n rows on a document each. A fifth of them touch two of the shared documents, the
// others one.
func hubs(shared, n int) design {
	return func(rng *rand.Rand) (rows [][]int) {
		for i := range n {
			rows = append(rows, append(rng.Perm(shared)[:1+max(0, rng.IntN(5)-3)], shared+i))
		}
		return rows
	}
}

// multi is n rows on 1 to most documents. Document d is drawn with a chance proportional to
// 1/(1 + d)^power.
func multi(documents, n, most int, power float64) design {
	sums := make([]float64, documents)
	for d := range sums {
		sums[d] = math.Pow(float64(1+d), -power) + sums[max(0, d-1)]
	}
	return func(rng *rand.Rand) [][]int {
		rows := make([][]int, n)
		for i := range rows {
			for k := 1 + rng.IntN(most); len(rows[i]) < k; {
				if d, _ := slices.BinarySearch(sums, rng.Float64()*sums[documents-1]); !slices.Contains(rows[i], d) {
					rows[i] = append(rows[i], d)
				}
			}
		}
		return rows
	}
}

// A distribution of values in [0, 1], by its quantiles.
type distribution struct {
	mean     float64
	quantile func(u float64) float64
}

// middle is Beta(2, 2).
var middle = distribution{0.5, func(u float64) float64 { return 0.5 - math.Sin(math.Asin(1-2*u)/3) }}

// mostly is 1 with a chance, else uniform.
func mostly(one float64) distribution {
	return distribution{(1 + one) / 2, func(u float64) float64 { return min(1, u/(1-one)) }}
}

// binary is 1 with a chance, else 0.
func binary(one float64) distribution {
	return distribution{one, func(u float64) float64 {
		if u >= 1-one {
			return 1
		}
		return 0
	}}
}

// A cell is one kind of data.
type cell struct {
	name   string
	design design
	values distribution
	alike  float64 // latent correlation of two rows on the same documents
}

// cells have the names of a design, a distribution and a correlation.
var cells = []cell{
	{"ind:20 bin95 0", clustered(20, 1, 1), binary(0.95), 0},
	{"ind:100 rare 0", clustered(100, 1, 1), binary(0.03), 0},
	{"cl:3:5-20 near1 .3", clustered(3, 5, 20), mostly(0.85), 0.3},
	{"cl:8:1-7 near1 .5", clustered(8, 1, 7), mostly(0.85), 0.5},
	{"cl:15:1-7 mid .4", clustered(15, 1, 7), middle, 0.4},
	{"cl:40:1-7 vnear1 .5", clustered(40, 1, 7), mostly(0.95), 0.5},
	{"hubx:2:60 mid .6", hubs(2, 60), middle, 0.6},
	{"hubx:4:200 near1 .6", hubs(4, 200), mostly(0.85), 0.6},
	{"multi:8:40:6 mid .5", multi(8, 40, 6, 0), middle, 0.5},
	{"multi:40:160:3 near1 .1", multi(40, 160, 3, 0), mostly(0.85), 0.1},
	{"zipf:40:120:3 mid .5", multi(40, 120, 3, 1), middle, 0.5},
}

// write writes data sets of a cell as JSON Lines. Rows, documents and lengths depend on the
// seed, values on side, too. The character recall of a row is its value.
func (c *cell) write(path string, sets int, seed, side uint64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	lines := json.NewEncoder(out)
	for set := range sets {
		rng, values := rand.New(rand.NewPCG(seed, uint64(set))), rand.New(rand.NewPCG(seed+side, uint64(set)))
		effects := make(map[int]float64) // of documents
		for i, docs := range c.design(rng) {
			common := 0.0
			for _, d := range docs {
				if _, known := effects[d]; !known {
					effects[d] = values.NormFloat64()
				}
				common += effects[d] / math.Sqrt(float64(len(docs)))
			}
			z := math.Sqrt(c.alike)*common + math.Sqrt(1-c.alike)*values.NormFloat64()
			v := c.values.quantile(math.Erfc(-z/math.Sqrt2) / 2)
			length := max(1000, int(3000*math.Exp(rng.NormFloat64())))
			cited := []int{0, int(math.Round(v * float64(length)))}
			if cited[1] == 0 {
				cited = []int{length, length + 1}
			}
			var truth, citations []map[string]any
			for _, d := range docs {
				doc := fmt.Sprintf("s%03d-d%d", set, d)
				truth = append(truth, map[string]any{"doc": doc, "start": 0, "end": length})
				citations = append(citations, map[string]any{"doc": doc, "start": cited[0], "end": cited[1]})
			}
			err := lines.Encode(map[string]any{
				"id": fmt.Sprintf("s%03d-q%d", set, i), "system": fmt.Sprintf("s%03d", set), "query": "q", "answer": "a", "truth": truth, "citations": citations,
			})
			if err != nil {
				return err
			}
		}
	}
	return errors.Join(out.Flush(), file.Close())
}

// A tally counts intervals of one cell and aggregation, and p-values between two runs.
type tally struct {
	intervals, below, above, missing, outside, tests, rejected, width float64
}

func (t *tally) interval(r program.Row, truth float64) {
	low, known := r.Number("ci_low")
	high, _ := r.Number("ci_high")
	t.intervals++
	t.width += high - low
	switch {
	case !known:
		t.missing++
	case low < 0 || high > 1:
		t.outside++
	case low > truth:
		t.below++
	case high < truth:
		t.above++
	}
}

// line writes a line of the table and reports whether the cell is as promised.
func (t *tally) line(cell, agg string) bool {
	n := t.intervals
	covered, rejections := 1-(t.below+t.above+t.missing+t.outside)/n, t.rejected/t.tests
	good := covered >= 0.91-2*math.Sqrt(0.91*0.09/n) && rejections <= 0.07+2*math.Sqrt(0.07*0.93/t.tests) && t.missing+t.outside == 0
	fmt.Printf("| %s | %s | %.3f | %.3f | %.3f | %.3f | %.0f | %.0f | %.3f | %s |\n", cell, agg, covered, t.below/n, t.above/n, t.width/n,
		t.outside, t.missing, rejections, map[bool]string{false: "fails"}[good])
	return good
}

// try runs ibid on two draws of a cell and compares them.
func (c *cell) try(ibid, dir string, sets int, seed uint64) (map[string]*tally, error) {
	tallies := map[string]*tally{"macro": {}, "micro": {}}
	out := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for side, run := range out {
		path := run + ".jsonl"
		if err := c.write(path, sets, seed, uint64(side)*1000); err != nil {
			return nil, err
		}
		if _, _, err := program.Run(ibid, "run", path, "--judge", "none", "--out", dir, "--id", filepath.Base(run), "-q", "-o", os.DevNull); err != nil {
			return nil, err
		}
	}
	defer os.RemoveAll(out[0])
	defer os.RemoveAll(out[1])
	summary, err := program.Table(ibid, "show", out[0], "--format", "csv")
	if err != nil {
		return nil, err
	}
	for _, r := range summary {
		if t := tallies[r["agg"]]; t != nil && r["metric"] == "char_recall" && r["system"] != "" && r["slice"] == "" {
			t.interval(r, c.values.mean)
		}
	}
	differences, err := program.Table(ibid, "compare", out[0], out[1], "--metric", "char_recall", "--metric", "micro(char_recall)", "--format", "csv")
	if err != nil {
		return nil, err
	}
	for _, r := range differences {
		if p, known := r.Number("p"); known && r["system"] != "" && r["slice"] == "" {
			tallies[r["agg"]].tests++
			if p < 0.05 {
				tallies[r["agg"]].rejected++
			}
		}
	}
	return tallies, nil
}

func tryAll(ibid, only string, sets int, seed uint64) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ibid-coverage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	failed := 0
	fmt.Println("| cell | aggregation | coverage | truth below | above | width | out of range | none | p < .05 | |\n|---|---|--:|--:|--:|--:|--:|--:|--:|---|")
	for i := range cells {
		c := &cells[i]
		if !chosen.MatchString(c.name) {
			continue
		}
		tallies, err := c.try(ibid, dir, sets, seed+uint64(i))
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for _, agg := range []string{"macro", "micro"} {
			if !tallies[agg].line(c.name, agg) {
				failed++
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d lines are not as promised", failed)
	}
	return nil
}
