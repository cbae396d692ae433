//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A mutant may take what it is given; the tests of every package run in less.
const memoryKB = 8 << 20

// tests are the tests of one package in a binary that has all mutants of another or its own.
type tests struct {
	binary, dir string
	list        []*oneTest
	failing     []string // without any mutant: they say nothing
	reachedBy   map[int][]*oneTest
	options     options
}

type oneTest struct {
	name string
	took time.Duration
}

// compile builds the tests of a package.
func compile(ctx context.Context, p *source, overlay, binary string, o options) (*tests, error) {
	_, err := output(exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, p.ImportPath))
	return &tests{binary: binary, dir: p.Dir, reachedBy: make(map[int][]*oneTest), options: o}, err
}

// build builds the tests and runs each by itself to see what it reaches.
func build(ctx context.Context, p *source, overlay, binary string, o options) (*tests, error) {
	t, err := compile(ctx, p, overlay, binary, o)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, binary, "-test.list", ".")
	c.Dir = p.Dir
	out, err := output(c)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Test") || strings.HasPrefix(line, "Fuzz") || strings.HasPrefix(line, "Example") {
			names = append(names, line)
		}
	}
	var mu sync.Mutex
	var failed error
	each(o.workers, len(names), func(i int) {
		one := &oneTest{name: names[i]}
		trace := fmt.Sprintf("%s.%d.trace", binary, i)
		begun := time.Now()
		passed, err := t.run(ctx, []*oneTest{one}, 10*time.Minute, "MUTANT_TRACE="+trace)
		one.took = time.Since(begun)
		reached, readErr := os.ReadFile(trace)
		if readErr != nil && !os.IsNotExist(readErr) {
			err = readErr
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			failed = err
		case !passed:
			t.failing = append(t.failing, one.name)
		default:
			t.list = append(t.list, one)
			seen := make(map[int]bool) // a test may start processes that note the same
			for line := range bytes.Lines(reached) {
				if id, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil && !seen[id] {
					seen[id] = true
					t.reachedBy[id] = append(t.reachedBy[id], one)
				}
			}
		}
	})
	slices.Sort(t.failing)
	return t, failed
}

// each calls do for 0 to n-1 on workers goroutines.
func each(workers, n int, do func(int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// run runs the named tests and says whether they pass. What is over its time is killed
// with all of its processes, and does not pass.
func (t *tests) run(ctx context.Context, list []*oneTest, limit time.Duration, env ...string) (bool, error) {
	names := make([]string, len(list))
	for i, one := range list {
		names[i] = one.name
	}
	temp, err := os.MkdirTemp(filepath.Dir(t.binary), "run-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$@"`, memoryKB), "sh",
		t.binary, "-test.short", "-test.failfast", "-test.run", "^("+strings.Join(names, "|")+")$")
	c.Dir = t.dir
	c.Env = append(os.Environ(), "TMPDIR="+temp)
	c.Env = append(c.Env, env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	err = c.Run()
	if c.Process == nil {
		return false, err
	}
	return err == nil, nil
}

// askAll tries the mutants that are not killed yet. first is the first that there was no time
// for; its result, and those of others without time, stay as they were.
func (t *tests) askAll(ctx context.Context, list []*mutant, results []string) (first int, err error) {
	var mu sync.Mutex
	first = len(list)
	each(t.options.workers, len(list), func(i int) {
		if results[i] == "killed" || len(t.reachedBy[list[i].id]) == 0 {
			return
		}
		killed, failed := false, ctx.Err()
		if failed == nil {
			killed, failed = t.kills(ctx, list[i].id)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ctx.Err() != nil:
			first = min(first, i)
		case failed != nil:
			err = failed
		case killed:
			results[i] = "killed"
		default:
			results[i] = "lived"
		}
	})
	return first, err
}

// kills is whether a test notices the mutant; the fast ones are asked first.
func (t *tests) kills(ctx context.Context, id int) (bool, error) {
	reaching := slices.Clone(t.reachedBy[id])
	slices.SortStableFunc(reaching, func(a, b *oneTest) int { return int(a.took - b.took) })
	var sum time.Duration
	fast := 0
	for ; fast < len(reaching) && (fast == 0 || sum < time.Second); fast++ {
		sum += reaching[fast].took
	}
	for _, part := range [][]*oneTest{reaching[:fast], reaching[fast:]} {
		if len(part) == 0 {
			continue
		}
		limit := t.options.timeout
		for _, one := range part {
			limit += 3 * one.took
		}
		passed, err := t.run(ctx, part, limit, "MUTANT="+strconv.Itoa(id))
		if err != nil || !passed {
			return err == nil, err
		}
	}
	return false, nil
}
