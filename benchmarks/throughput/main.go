// Command throughput measures the whole program: rows with three citations and
// three truth spans each, without documents, from Parquet to a finished run
// directory. It prints CPU time per row and peak memory, and for ten times the
// rows how much more memory that takes.
//
//	go run ./benchmarks/throughput -ibid bin/ibid
//	go run ./benchmarks/throughput -ibid bin/ibid -rows 1000000,10000000 -workers 1,2
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ibid"
	"ibid/dataset"
)

func main() {
	ibid := flag.String("ibid", "bin/ibid", "the program to measure")
	rows := flag.String("rows", "1000000", "rows of the datasets, separated by commas")
	workers := flag.String("workers", "0", "values of --workers, separated by commas; 0 is the default")
	keep := flag.String("keep", "", "folder for datasets that are to be used again; default a temporary one")
	flag.Parse()
	if err := measureAll(*ibid, *rows, *workers, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "throughput:", err)
		os.Exit(1)
	}
}

func measureAll(ibid, rows, workers, keep string) error {
	dir := keep
	if dir == "" {
		temp, err := os.MkdirTemp("", "ibid-throughput-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = temp
	}
	fmt.Println("rows       workers  CPU µs/row  CPU s   wall s  peak MB  peak MB less 8 bytes a row")
	for _, r := range strings.Split(rows, ",") {
		n, err := strconv.ParseInt(r, 10, 64)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, fmt.Sprintf("rows-%d.parquet", n))
		if _, err := os.Stat(path); err != nil {
			if err := generate(path, n); err != nil {
				return err
			}
		}
		for _, w := range strings.Split(workers, ",") {
			if err := measure(ibid, path, dir, n, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure runs the program once and asks the kernel what it took.
func measure(ibid, path, dir string, rows int64, workers string) error {
	out := filepath.Join(dir, "runs")
	defer os.RemoveAll(out)
	args := []string{"run", path, "--judge", "none", "--out", out, "--quiet", "--workers", workers}
	cmd := exec.Command(ibid, args...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", ibid, strings.Join(args, " "), err)
	}
	wall := time.Since(start)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("no resource usage on this system")
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	peak := float64(usage.Maxrss) / 1024
	fmt.Printf("%-10d %-8s %-11.2f %-7.2f %-7.2f %-8.0f %.0f\n", rows, workers,
		float64(cpu.Microseconds())/float64(rows), cpu.Seconds(), wall.Seconds(), peak, peak-8*float64(rows)/(1<<20))
	return nil
}

// generate writes rows with seeded random spans; a third of the predictions hit
// a truth span exactly, a third nearly.
func generate(path string, rows int64) error {
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		if err := w.Write(randomRow(rng, i)); err != nil {
			w.Abort()
			return err
		}
	}
	return w.Close()
}

const documents = 5000

func randomRow(rng *rand.Rand, i int64) *ibid.Answer {
	row := &ibid.Answer{
		ID: fmt.Sprintf("q-%08d", i), Query: "which?", Answer: "this one",
		HasCitations: true, HasTruth: true,
	}
	for range 3 {
		doc := fmt.Sprintf("doc-%05d", rng.IntN(documents))
		page := ibid.Some(1 + rng.Int64N(3))
		start := rng.Int64N(20000)
		end := start + 20 + rng.Int64N(400)
		row.Truth = append(row.Truth, ibid.Mark{Annotator: "ada", Doc: doc, Page: page, Start: known(start), End: known(end)})
		switch rng.IntN(3) {
		case 1:
			start, end = max(0, start+rng.Int64N(21)-10), end+rng.Int64N(21)-10
		case 2:
			start = rng.Int64N(20000)
			end = start + 20 + rng.Int64N(400)
		}
		row.Citations = append(row.Citations, ibid.Citation{Doc: doc, Page: page, Start: known(start), End: known(end)})
	}
	return row
}

func known(v int64) ibid.Integer { return ibid.Some(v) }
