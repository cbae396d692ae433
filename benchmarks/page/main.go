//go:build unix

// Command page measures the HTML report of a large run: rows with three claims and
// three citations each into documents of 2,000 characters, judged by the lexical
// baseline. It prints how long the page takes to make, its size, and the peak
// memory of the program.
//
//	go run ./benchmarks/page -ibid bin/ibid
//	go run ./benchmarks/page -ibid bin/ibid -rows 100000
//
// With -keep DIR the run and its page, DIR/report.html, stay for a look at them.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ibid := flag.String("ibid", "bin/ibid", "the program to measure")
	rows := flag.Int("rows", 10_000, "answers")
	docs := flag.Int("documents", 4_000, "documents")
	keep := flag.String("keep", "", "a `folder` for the run and its page")
	flag.Parse()
	if err := measure(*ibid, *keep, *rows, *docs); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func measure(ibid, dir string, rows, docs int) error {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "ibid-page-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	answers, documents := filepath.Join(dir, "answers.parquet"), filepath.Join(dir, "documents.parquet")
	out, page := filepath.Join(dir, "runs"), filepath.Join(dir, "report.html")
	texts, err := writeDocuments(documents, docs)
	if err != nil {
		return err
	}
	if err := writeAnswers(answers, texts, rows); err != nil {
		return err
	}
	// The run's own page goes to a file of its own, so that only the second one is timed.
	if _, err := timed(exec.Command(ibid, "run", answers, "--documents", documents, "--judge", "lexical", "--out", out, "--id", "large",
		"--report", filepath.Join(dir, "first.html"), "--quiet")); err != nil {
		return err
	}
	cost, err := timed(exec.Command(ibid, "report", filepath.Join(out, "large"), "-o", page))
	if err != nil {
		return err
	}
	info, err := os.Stat(page)
	if err != nil {
		return err
	}
	per := 10_000 / float64(rows)
	fmt.Printf("%d rows, %d documents: %.2f s wall, %.2f s CPU (%.2f and %.2f s per 10,000 rows), %.1f MB, peak %d MB\n", rows, docs,
		cost.wall.Seconds(), cost.cpu.Seconds(), cost.wall.Seconds()*per, cost.cpu.Seconds()*per, float64(info.Size())/1e6, cost.peakMB)
	return nil
}

// A cost is what a process took.
type cost struct {
	wall, cpu time.Duration
	peakMB    int64
}

func timed(cmd *exec.Cmd) (cost, error) {
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%s: %w", cmd.Args[1], err)
	}
	c := cost{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.peakMB = usage.Maxrss / 1024
	}
	return c, nil
}
