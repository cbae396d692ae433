//go:build unix

// Command peers measures ibid beside other programs that answer the same question, each
// from its own package, and by itself on the sizes that people meet. Whole processes take
// turns; CPU is user + system time as the kernel counts it, medians, less what the start
// of each program takes. Before anything is timed the answers are compared: a peer that
// answers otherwise is an error. A peer that is not installed is left out, and named.
//
//	go run ./peers -ibid ../bin/ibid
//	go run ./peers -ibid ../bin/ibid -rows 2000000 -only 'scan|SQL'
//
// DuckDB is built from the folder duckdb, which needs cgo; the others are Debian's packages
// bedtools and python3-scipy.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

func main() {
	if len(os.Args) > 2 && own[os.Args[1]] != nil {
		exit(own[os.Args[1]](os.Args[2:]))
		return
	}
	b := &bench{}
	flag.StringVar(&b.ibid, "ibid", "../bin/ibid", "the program to measure")
	flag.Int64Var(&b.rows, "rows", 2_000_000, "answers of the datasets; runs of up to a million leave a page, too")
	flag.StringVar(&b.python, "python", "python3", "the Python that has scipy")
	flag.IntVar(&b.times, "times", 5, "timed runs of each side")
	only := flag.String("only", "", "a `pattern` of the comparisons to make; default all, and commands of ibid by themselves")
	keep := flag.String("keep", "", "a `folder` for datasets that are to be used again")
	flag.Parse()
	exit(measureAll(b, *only, *keep))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// A bench is what all comparisons share.
type bench struct {
	ibid, self, dir string
	python          string
	rows            int64
	times           int
	only            *regexp.Regexp
}

func measureAll(b *bench, only, keep string) (err error) {
	if b.only, err = regexp.Compile(only); err != nil {
		return err
	}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.ibid, err = filepath.Abs(b.ibid); err != nil {
		return err
	}
	if b.dir, err = filepath.Abs(keep); err != nil {
		return err
	}
	if keep == "" {
		if b.dir, err = os.MkdirTemp("", "ibid-peers-"); err != nil {
			return err
		}
		defer os.RemoveAll(b.dir)
	}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return err
	}
	fmt.Println(b.machine())
	if err := b.comparisons(); err != nil || only != "" {
		return err
	}
	return b.figures()
}
