// Command coverage shows by simulation that intervals and tests keep what they
// promise: how often an interval of level 0.95 covers the truth, how often a test at
// 0.05 rejects where nothing differs, and how often a gate finds a regression that
// was planted. Everything is seeded: the same flags print the same tables.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	replicates := flag.Int("replicates", 4000, "samples for each line of the tables, half as many for each cell of the second")
	datasets := flag.Int("datasets", 200, "datasets that go through the whole program, twice")
	seed := flag.Uint64("seed", 1, "of all draws")
	flag.Parse()
	if err := run(os.Stdout, *replicates, *datasets, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, replicates, datasets int, seed uint64) error {
	fmt.Fprint(w, "| interval of level 0.95 |")
	for _, g := range clusterCounts {
		fmt.Fprintf(w, " %d clusters |", g)
	}
	fmt.Fprint(w, "\n|---|"+columns()+"\n")
	for _, line := range coverage(replicates, seed) {
		line.write(w)
	}
	writeCells(w, (replicates+1)/2, seed)
	writeWebs(w, (replicates+1)/2, seed)
	writeAUROC(w, (replicates+1)/2, seed)
	fmt.Fprint(w, "\n| test at 0.05, nothing differs |")
	for _, g := range clusterCounts {
		fmt.Fprintf(w, " %d clusters |", g)
	}
	fmt.Fprint(w, "\n|---|"+columns()+"\n")
	for _, line := range rejections(replicates, seed) {
		line.write(w)
	}
	if datasets == 0 {
		return nil
	}
	p, err := plant(datasets, seed)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nGate `%s`, %d datasets of %d questions about %d documents; a comparison of two past\nnights says that a difference of %.4f is found 80 %% of the time; planted: %d characters, %.4f.\n\n",
		gate, datasets, questions, documents, p.detectable, p.shift, p.planted)
	fmt.Fprintf(w, "| | gate failed |\n|---|--:|\n| regression planted | %.3f |\n| nothing planted | %.3f |\n", p.found, p.alarms)
	return nil
}

func columns() string {
	s := ""
	for range clusterCounts {
		s += "--:|"
	}
	return s
}

// A line is one row of a table: a share for each number of clusters.
type line struct {
	name   string
	shares []float64
}

func (l *line) write(w io.Writer) {
	fmt.Fprintf(w, "| %s |", l.name)
	for _, share := range l.shares {
		fmt.Fprintf(w, " %.3f |", share)
	}
	fmt.Fprintln(w)
}
