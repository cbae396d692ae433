//go:build unix

// Command peers measures ibid beside other programs that answer the same question, each
// from its own package, and by itself on the sizes that people meet. Whole processes take
// turns; CPU is user + system time as the kernel counts it, medians, less what the start
// of each program takes. Before anything is timed the answers are compared: a peer that
// answers otherwise is an error. A peer that is not installed is left out, and named.
//
//	go run ./benchmarks/peers -ibid bin/ibid
//	go run ./benchmarks/peers -ibid bin/ibid -rows 2000000 -only 'scan|SQL' -write benchmarks/results.md
//
// DuckDB is built from benchmarks/duckdb, which needs cgo; the others are Debian's
// packages bedtools, bedops and python3-scipy.
package main

import (
	"bytes"
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
	flag.StringVar(&b.ibid, "ibid", "bin/ibid", "the program to measure")
	flag.Int64Var(&b.rows, "rows", 2_000_000, "answers of the large datasets; runs of up to a million leave a page, too")
	flag.StringVar(&b.python, "python", "python3", "the Python that has scipy")
	flag.IntVar(&b.times, "times", 5, "timed runs of each side")
	only := flag.String("only", "", "a `pattern` of the comparisons to make; default all")
	keep := flag.String("keep", "", "a `folder` for datasets that are to be used again")
	write := flag.String("write", "", "a Markdown `file` whose section between <!-- peers --> and <!-- /peers --> is replaced")
	flag.Parse()
	exit(measureAll(b, *only, *keep, *write))
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
	out             bytes.Buffer // the tables so far
}

func measureAll(b *bench, only, keep, write string) (err error) {
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
	b.print("%s\n", b.machine())
	if err := b.comparisons(); err != nil {
		return err
	}
	if err := b.figures(); err != nil {
		return err
	}
	if write == "" {
		return nil
	}
	return replaceSection(write, b.out.Bytes())
}

// print prints a part of the tables and keeps it for the file.
func (b *bench) print(format string, args ...any) {
	fmt.Printf(format, args...)
	fmt.Fprintf(&b.out, format, args...)
}

// replaceSection replaces what stands between the marks of this command in a file.
func replaceSection(path string, text []byte) error {
	const begin, end = "<!-- peers -->\n", "<!-- /peers -->\n"
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	from, to := bytes.Index(old, []byte(begin)), bytes.Index(old, []byte(end))
	if from < 0 || to < from {
		return fmt.Errorf("%s has no section between %q and %q", path, begin, end)
	}
	from += len(begin)
	return os.WriteFile(path, bytes.Join([][]byte{old[:from], old[to:]}, text), 0o666)
}
