//go:build unix

// Command coverage tries ibid on simulated data: how often an interval covers the truth, and how
// often p < .05 where nothing differs. It exits with 1 where that is under .91 or over .07 (by
// more than two standard errors), an end is out of range, or an interval is missing.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"ibid/benchmarks/program"
)

// A design says which documents each question touches. Those below 0 have no effect on values.
type design func(rng *rand.Rand) (questions [][]int)

// clustered is documents of low to high questions.
func clustered(documents, low, high int) design {
	return func(rng *rand.Rand) (out [][]int) {
		for d := range documents {
			out = append(out, slices.Repeat([][]int{{d}}, low+rng.IntN(high-low+1))...)
		}
		return out
	}
}

// hubs is n questions on pages in turn. A fifth touch two of the shared documents, the others one.
func hubs(shared, n, pages int) design {
	return func(rng *rand.Rand) (out [][]int) {
		for i := range n {
			out = append(out, append(rng.Perm(shared)[:1+max(0, rng.IntN(5)-3)], -1-i%pages))
		}
		return out
	}
}

// multi is n questions on 1 to most documents, drawn with chances proportional to 1/(1 + d)^power.
func multi(documents, n, most int, power float64) design {
	sums := make([]float64, documents)
	for d := range sums {
		sums[d] = math.Pow(float64(1+d), -power) + sums[max(0, d-1)]
	}
	return func(rng *rand.Rand) [][]int {
		out := make([][]int, n)
		for i := range out {
			for k := 1 + rng.IntN(most); len(out[i]) < k; {
				if d, _ := slices.BinarySearch(sums, rng.Float64()*sums[documents-1]); !slices.Contains(out[i], d) {
					out[i] = append(out[i], d)
				}
			}
		}
		return out
	}
}

// middle are the quantiles of Beta(2, 2).
func middle(u float64) float64 { return 0.5 - math.Sin(math.Asin(1-2*u)/3) }

// mostly are those of 1 with a chance, else uniform.
func mostly(one float64) func(float64) float64 {
	return func(u float64) float64 { return min(1, u/(1-one)) }
}

// binary are those of 1 with a chance, else 0.
func binary(one float64) func(float64) float64 {
	return func(u float64) float64 { return math.Ceil(u - 1 + one) }
}

// A cell is one kind of data. Several systems answer the same questions and are pooled.
type cell struct {
	name     string
	design   design
	mean     float64 // of the values
	quantile func(u float64) float64
	alike    float64 // latent correlation of two questions on the same documents
	systems  int
}

var cells = []cell{
	{"ind:20 bin95", clustered(20, 1, 1), 0.95, binary(0.95), 0, 1},
	{"ind:100 rare", clustered(100, 1, 1), 0.03, binary(0.03), 0, 1},
	{"cl:3:5-20 near1 .3", clustered(3, 5, 20), 0.925, mostly(0.85), 0.3, 1},
	{"cl:8:1-7 near1 .5", clustered(8, 1, 7), 0.925, mostly(0.85), 0.5, 1},
	{"cl:40:1-7 vnear1 .5", clustered(40, 1, 7), 0.975, mostly(0.95), 0.5, 1},
	{"hubx:2:60 mid .6", hubs(2, 60, 60), 0.5, middle, 0.6, 1},
	{"hubx:4:200 near1 .6", hubs(4, 200, 200), 0.925, mostly(0.85), 0.6, 1},
	{"multi:8:40:6 mid .5", multi(8, 40, 6, 0), 0.5, middle, 0.5, 1},
	{"multi:40:160:3 near1 .1", multi(40, 160, 3, 0), 0.925, mostly(0.85), 0.1, 1},
	{"zipf:40:120:3 mid .5", multi(40, 120, 3, 1), 0.5, middle, 0.5, 1},
	{"one handbook, hubx:15:60 mid .5", hubs(15, 60, 1), 0.5, middle, 0.5, 1},
	{"four systems, cl:15:1-7 mid .4", clustered(15, 1, 7), 0.5, middle, 0.4, 4},
}

func must(err error) {
	if err != nil {
		log.Fatal("coverage: ", err)
	}
}

// write writes 300 data sets. Documents and lengths depend on the seed, values on side, too. The
// character recall of a row is its value.
func (c *cell) write(path string, seed, side uint64) {
	var out bytes.Buffer
	for set := range uint64(300) {
		rng, values := rand.New(rand.NewPCG(seed, set)), rand.New(rand.NewPCG(1000*side+seed, set))
		effects := make(map[int]float64) // of documents
		for i, docs := range c.design(rng) {
			shared := slices.DeleteFunc(slices.Clone(docs), func(d int) bool { return d < 0 })
			effect, question, length := 0.0, values.NormFloat64(), max(1000, int(3000*math.Exp(rng.NormFloat64())))
			for _, d := range shared {
				if _, known := effects[d]; !known {
					effects[d] = values.NormFloat64()
				}
				effect += effects[d] / math.Sqrt(float64(len(shared)))
			}
			places := func(from, to int) string {
				text := ""
				for _, d := range docs {
					text += fmt.Sprintf(`,{"doc":"s%d-d%d","start":%d,"end":%d}`, set, d, from, to)
				}
				return text[1:]
			}
			for system := range c.systems {
				z := math.Sqrt(c.alike)*effect + math.Sqrt((1-c.alike)/2)*(question+values.NormFloat64())
				from, to := 0, int(math.Round(c.quantile(math.Erfc(-z/math.Sqrt2)/2)*float64(length)))
				if to == 0 { // one code point behind the truth
					from, to = length, length+1
				}
				fmt.Fprintf(&out, `{"id":"s%d-q%d","system":"%s","tags":{"set":"%d"},"query":"q","answer":"a","truth":[%s],"citations":[%s]}`+"\n",
					set, i, []string{fmt.Sprintf("s%03d", set), fmt.Sprint(system)}[min(1, c.systems-1)], set, places(0, length), places(from, to))
			}
		}
	}
	must(os.WriteFile(path, out.Bytes(), 0o666))
}

// try prints two lines of the table and reports whether they are as promised.
func (c *cell) try(ibid, dir string, seed uint64) (good bool) {
	sides, pooled := []string{filepath.Join(dir, fmt.Sprint("a", seed)), filepath.Join(dir, fmt.Sprint("b", seed))}, c.systems > 1
	for side, run := range sides {
		c.write(run+".jsonl", seed, uint64(side))
		_, _, err := program.Run(ibid, "run", run+".jsonl", "--judge", "none", "--set", map[bool]string{true: "slices=[set]", false: "slices=[]"}[pooled], "--out", dir, "--id", filepath.Base(run), "-q", "-o", os.DevNull)
		must(err)
	}
	intervals, err := program.Table(ibid, "show", sides[0], "--format", "csv")
	must(err)
	differences, err := program.Table(ibid, "compare", sides[0], sides[1], "--metric", "char_recall", "--metric", "micro(char_recall)", "--slice", "set", "--format", "csv")
	must(err)
	good = true
	for _, agg := range []string{"macro", "micro"} {
		var n, below, above, width, outside, none, tests, rejected float64
		for _, r := range intervals {
			if r["metric"] != "char_recall" || r["agg"] != agg || pooled != (r["system"] == "") || pooled != (r["slice"] != "") {
				continue
			}
			low, known := r.Number("ci_low")
			high, _ := r.Number("ci_high")
			n, width = n+1, width+high-low
			for count, is := range map[*float64]bool{&none: !known, &outside: low < 0 || high > 1, &below: low > c.mean, &above: known && high < c.mean} {
				if is {
					*count++
				}
			}
		}
		for _, r := range differences {
			low, known := r.Number("ci_low") // of a slice, by itself: it leaves 0 out where p < .05
			if high, _ := r.Number("ci_high"); known && r["agg"] == agg && r["slice"] != "" {
				if tests++; low > 0 || high < 0 {
					rejected++
				}
			}
		}
		covered := 1 - (below+above+none)/n
		ok := covered >= 0.91-2*math.Sqrt(0.91*0.09/n) && rejected <= 0.07*tests+2*math.Sqrt(0.07*0.93*tests) && none+outside == 0
		good = good && ok
		fmt.Printf("| %s | %s | %.3f | %.3f | %.3f | %.3f | %.0f | %.0f | %.3f | %s |\n", c.name, agg, covered, below/n, above/n, width/n, outside, none, rejected/tests, map[bool]string{false: "fails"}[ok])
	}
	return good
}

func main() {
	ibid := flag.String("ibid", "../bin/ibid", "the program to try")
	flag.Parse()
	dir, err := os.MkdirTemp("", "ibid-coverage-")
	must(err)
	good := true
	fmt.Println("| cell | aggregation | coverage | truth below | above | width | out of range | none | p < .05 | |\n|---|---|--:|--:|--:|--:|--:|--:|--:|---|")
	for i, c := range cells {
		good = c.try(*ibid, dir, uint64(i)) && good
	}
	must(os.RemoveAll(dir))
	os.Exit(map[bool]int{false: 1}[good])
}
