//go:build unix

// Command mutants changes the source of packages in one place at a time and looks
// whether a test notices: comparisons at their ties, conditions, constants, arithmetic,
// minimum and maximum, the first and the last, arguments of one type, dropped
// statements, continue and break.
//
// The tree is never touched. A package is built once, with all of its mutants in it, by
// go test -overlay; the environment says which of them is on. Each test runs once by
// itself and notes which mutants it reaches, so that a mutant meets only tests that could
// notice it. A mutant that no test reaches is not covered.
//
//	go run ./benchmarks/mutants -n 300 ./metrics/span
//	go run ./benchmarks/mutants -changed HEAD~1
//	go run ./benchmarks/mutants -behaviour benchmarks/mutants/behaviour.md
//
// Tests run with -short, but for what fails or hangs without a mutant. A run over its
// time counts as noticed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

type options struct {
	targets    []target
	changed    string
	only       string
	equivalent string
	write      string
	list       string
	n          int
	seed       uint64
	workers    int
	timeout    time.Duration
	limit      time.Duration
	behaviour  string
}

// A target is a pattern of packages, the packages whose tests are asked too where a mutant
// lives, and the share of mutants that tests must notice.
type target struct {
	pattern string
	also    []string
	least   float64
}

// targets are what is mutated when no package is named.
var targets = []target{
	{".", []string{"./metrics", "./dataset", "./judge", "./annotations"}, 85},
	{"./metrics/span", []string{"./metrics"}, 85},
	{"./metrics/token", []string{"./metrics", "./dataset"}, 85},
	{"./metrics/quote", []string{"./dataset"}, 85},
	{"./metrics/presence", []string{"./metrics", "./metrics/claims"}, 85},
	{"./metrics/claims", []string{"./metrics"}, 85},
	{"./metrics/dialect", []string{"./metrics"}, 85},
	{"./metrics/stats", []string{"./annotations", "./annotations/compare", "./harness/verify"}, 85},
	{"./metrics", []string{"./harness/verify"}, 85},
	{"./annotations", []string{"./harness"}, 70},
	{"./annotations/compare", []string{"./harness"}, 70},
	{"./annotations/history", nil, 70},
	{"./dataset/resolve*.go", nil, 70},
	{"./judge/combine.go,judge.go,roster.go,suspicion.go", nil, 70},
	{"./judge/openrouter/budget.go,flow.go,failure.go,outage.go", nil, 70},
	{"./harness/gates.go", []string{"./cmd/ibid/internal/cli"}, 70},
	{"./harness", []string{"./cmd/ibid/internal/cli", "./harness/verify"}, 70},
}

func main() {
	o := options{targets: targets}
	flag.StringVar(&o.changed, "changed", "", "only lines that differ from this revision; no share is wanted of them")
	flag.StringVar(&o.only, "only", "", "only mutants whose file, function and change have this text")
	flag.StringVar(&o.equivalent, "equivalent", "benchmarks/mutants/equivalent.txt", "the list of mutants that change nothing")
	flag.StringVar(&o.write, "write", "", "put the rows of the table into this file")
	flag.StringVar(&o.list, "list", "", "write the mutants that lived or were not reached to this file")
	flag.IntVar(&o.n, "n", 0, "at most so many mutants of a package, a seeded sample; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "of the sample")
	flag.IntVar(&o.workers, "workers", max(1, runtime.NumCPU()/2), "mutants tried at one time")
	flag.DurationVar(&o.timeout, "timeout", 10*time.Second, "of a mutant, beside three times what its tests take without it")
	flag.DurationVar(&o.limit, "limit", 0, "of all packages, each of which may take an equal share of what is left; says how many mutants were not tried. 0: none")
	flag.StringVar(&o.behaviour, "behaviour", "", "try the changes of this list of sentences, each with its test, and nothing else")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	if err := run(ctx, o, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, patterns []string, w io.Writer) error {
	begun := time.Now()
	if o.behaviour != "" {
		if o.limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, o.limit)
			defer cancel()
		}
		return tryBehaviour(ctx, o, w)
	}
	equivalent, err := readEquivalent(o.equivalent)
	if err != nil {
		return err
	}
	var lines map[string][]int
	if o.changed != "" {
		if lines, err = changedLines(o.changed); err != nil {
			return err
		}
		if len(lines) == 0 {
			fmt.Fprintf(w, "no line of a program differs from %s\n", o.changed)
			return nil
		}
	}
	var rows []row
	var failed []error
	chosen, interrupted := o.chosen(patterns, lines), ctx
	for i, t := range chosen {
		ctx, cancel := ctx, context.CancelFunc(func() {})
		if o.limit > 0 {
			ctx, cancel = context.WithTimeout(ctx, (o.limit-time.Since(begun))/time.Duration(len(chosen)-i))
		}
		more, err := tryTarget(ctx, o, t, equivalent, lines, w)
		cancel()
		if err := interrupted.Err(); err != nil {
			return err
		}
		if err != nil { // of this package: the others can be tried
			failed = append(failed, fmt.Errorf("%s: %w", t.pattern, err))
			fmt.Fprintln(w, failed[len(failed)-1])
		}
		rows = append(rows, more...)
		if err := record(o, rows, more); err != nil { // what ends later loses nothing
			return err
		}
	}
	fmt.Fprintf(w, "\n%s", table(rows))
	report(o, rows, w)
	var low []string
	for _, r := range rows {
		if killed, of := r.killed(); float64(killed)*100 < r.least*float64(of) || of == 0 && r.count("not tried") > 0 {
			low = append(low, r.name)
		}
	}
	if len(low) > 0 {
		failed = append(failed, fmt.Errorf("too few mutants were noticed: %s", strings.Join(low, ", ")))
	}
	return errors.Join(failed...)
}

// chosen are the targets that patterns or changed lines name, or all. What is no target has
// no share to reach.
func (o options) chosen(patterns []string, lines map[string][]int) []target {
	if len(patterns) == 0 && lines == nil {
		return o.targets
	}
	if len(patterns) == 0 {
		for file := range lines {
			if pattern := "./" + path.Dir(file); !slices.Contains(patterns, pattern) {
				patterns = append(patterns, pattern)
			}
		}
		slices.Sort(patterns)
	}
	var list []target
	for _, p := range patterns {
		t := target{pattern: p}
		for _, known := range o.targets {
			if path.Clean(known.pattern) == path.Clean(p) {
				t.also = known.also
				if lines == nil {
					t.least = known.least
				}
			}
		}
		list = append(list, t)
	}
	return list
}

func tryTarget(ctx context.Context, o options, t target, equivalent equivalents, lines map[string][]int, w io.Writer) ([]row, error) {
	packages, err := load(t.pattern)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, s := range packages {
		if lines != nil && len(s.TestGoFiles)+len(s.XTestGoFiles) == 0 {
			continue // a measurement, or a fake that tests use
		}
		if err := s.find(); err != nil {
			return nil, err
		}
		if err := equivalent.check(s); err != nil {
			return nil, err
		}
		r, err := try(ctx, o, s, t, equivalent, lines)
		if err != nil {
			return nil, err
		}
		if len(r.outcomes) > 0 {
			rows = append(rows, r)
			fmt.Fprintln(w, r.String())
		}
	}
	return rows, nil
}

// shown are the mutants that lived which are printed where no file takes all.
const shown = 100

// record puts the new rows into the table's file, and what lived in all into the list.
func record(o options, all, more []row) error {
	if o.list != "" {
		var left strings.Builder
		for _, r := range all {
			for _, line := range r.left() {
				fmt.Fprintln(&left, line)
			}
		}
		if err := os.WriteFile(o.list, []byte(left.String()), 0o644); err != nil {
			return err
		}
	}
	if o.write == "" {
		return nil
	}
	return merge(o.write, slices.DeleteFunc(slices.Clone(more), func(r row) bool {
		return r.count("not tried") == len(r.outcomes) // the older row stays
	}))
}

// report prints the first of what lived, where no file takes it.
func report(o options, rows []row, w io.Writer) {
	if o.list != "" {
		return
	}
	n := 0
	for _, r := range rows {
		for _, line := range r.left() {
			if n++; n == 1 {
				fmt.Fprint(w, "\nnot noticed:\n")
			}
			if n <= shown {
				fmt.Fprintln(w, line)
			}
		}
	}
	if n > shown {
		fmt.Fprintf(w, "and %d more: -list FILE writes all\n", n-shown)
	}
}

// try tries the mutants of a package, or a sample of them.
func try(ctx context.Context, o options, s *source, t target, equivalent equivalents, lines map[string][]int) (row, error) {
	begun := time.Now()
	r := row{name: s.label(), least: t.least, all: len(s.mutants), seed: o.seed}
	list := slices.DeleteFunc(slices.Clone(s.mutants), func(m *mutant) bool {
		return lines != nil && !slices.Contains(lines[m.file], m.line) || !strings.Contains(m.key(), o.only)
	})
	if o.n > 0 && len(list) > o.n {
		r.sampled = true
		random := rand.New(rand.NewPCG(o.seed, 0))
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:o.n]
	}
	var asked []*mutant
	for _, m := range list {
		if why := equivalent[m.key()]; why != "" {
			r.outcomes = append(r.outcomes, outcome{m, "equivalent"})
		} else {
			asked = append(asked, m)
		}
	}
	if len(asked) > 0 {
		dir, err := os.MkdirTemp("", "ibid-mutants-")
		if err != nil {
			return r, err
		}
		defer os.RemoveAll(dir)
		overlay, err := s.overlay(dir)
		if err != nil {
			return r, err
		}
		results, err := r.ask(ctx, o, s, t.also, overlay, dir, asked)
		if err != nil {
			return r, err
		}
		for i, m := range asked {
			r.outcomes = append(r.outcomes, outcome{m, results[i]})
		}
	}
	slices.SortFunc(r.outcomes, func(a, b outcome) int { return a.id - b.id })
	r.took = time.Since(begun)
	return r, nil
}

// ask asks the tests of the package, then those of others where a mutant lives. Where the
// time ends in the tests of the package, what comes behind the first mutant that was not asked
// is not tried; where it ends in those of others, what they were not asked lived or is not
// covered: no share is higher for want of time.
func (r *row) ask(ctx context.Context, o options, s *source, also []string, overlay, dir string, asked []*mutant) ([]string, error) {
	results := make([]string, len(asked))
	for i := range results {
		results[i] = "not covered"
	}
	for i := range len(also) + 1 {
		p := s
		if i > 0 {
			list, err := load(also[i-1])
			if err != nil {
				return nil, err
			}
			p = list[0]
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		if !slices.ContainsFunc(results, func(r string) bool { return r != "killed" }) {
			break
		}
		first := 0 // that was not tried
		t, err := build(ctx, p, overlay, filepath.Join(dir, fmt.Sprintf("%d.test", i)), o)
		if err == nil && ctx.Err() == nil {
			r.failing = append(r.failing, t.failing...)
			first, err = t.askAll(ctx, asked, results)
		}
		if ctx.Err() != nil {
			if i == 0 {
				for j := first; j < len(results); j++ {
					results[j] = "not tried"
				}
			}
			return results, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// changedLines gives the lines of Go files that differ from a revision, by file.
func changedLines(revision string) (map[string][]int, error) {
	out, err := output(exec.Command("git", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--relative", revision, "--", "*.go"))
	if err != nil {
		return nil, err
	}
	lines := make(map[string][]int)
	file := ""
	for line := range strings.Lines(string(out)) {
		if name, is := strings.CutPrefix(line, "+++ "); is {
			file = strings.TrimPrefix(strings.TrimSpace(name), "b/")
			continue
		}
		var at, n int
		if !strings.HasPrefix(line, "@@ ") || strings.HasSuffix(file, "_test.go") || file == "/dev/null" {
			continue
		}
		_, added, _ := strings.Cut(line, " +")
		if _, err := fmt.Sscanf(added, "%d,%d", &at, &n); err != nil {
			n = 1
			if _, err := fmt.Sscanf(added, "%d", &at); err != nil {
				return nil, fmt.Errorf("git diff: %q", line)
			}
		}
		for i := range n {
			lines[file] = append(lines[file], at+i)
		}
	}
	return lines, nil
}
