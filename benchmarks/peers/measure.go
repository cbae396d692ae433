//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A side is a program that answers a question.
type side struct {
	name  string
	run   []string // the command
	start []string // the same program with nothing to do, whose CPU is subtracted; nil for none
	parts int64    // how many times larger the other side's task is; 0 is 1
	leave string   // what it leaves behind, which is removed
}

// A comparison is one question put to two programs. same compares their answers before
// anything is timed.
type comparison struct {
	what         string
	ours, theirs side
	same         func() error
	reach        float64 // the ratio of CPU that is aimed at, 0 for none
	rows         int64   // of our side, where a figure a row says something
}

// errMissing says that a program is not there.
var errMissing = errors.New("is not installed")

// A cost is what a process took.
type cost struct {
	cpu    time.Duration
	peakMB float64
}

// run runs a command once and asks the kernel what it took.
func run(args []string) (c cost, out []byte, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err = cmd.Output(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return c, nil, fmt.Errorf("%s %w", args[0], errMissing)
		}
		return c, nil, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return c, nil, errors.New("no resource usage on this system")
	}
	return cost{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), float64(usage.Maxrss) / 1024}, out, nil
}

// measure lets the sides take turns, starts included, and returns the median cost of each.
func (b *bench) measure(sides ...side) ([]cost, error) {
	works, starts := make([][]cost, len(sides)), make([][]cost, len(sides))
	for range b.times {
		for i, s := range sides {
			c, _, err := run(s.run)
			if s.leave != "" {
				err = errors.Join(err, os.RemoveAll(s.leave))
			}
			if err != nil {
				return nil, err
			}
			works[i] = append(works[i], c)
			if s.start == nil {
				continue
			}
			if c, _, err = run(s.start); err != nil {
				return nil, err
			}
			starts[i] = append(starts[i], c)
		}
	}
	out := make([]cost, len(sides))
	for i := range sides {
		out[i] = median(works[i])
		if len(starts[i]) > 0 {
			out[i].cpu -= median(starts[i]).cpu
		}
		out[i].cpu *= time.Duration(max(1, sides[i].parts))
	}
	return out, nil
}

// median is the median of CPU and of peaks.
func median(all []cost) (m cost) {
	byCPU := slices.SortedFunc(slices.Values(all), func(a, b cost) int { return int(a.cpu - b.cpu) })
	m.cpu = byCPU[len(all)/2].cpu
	for _, c := range all {
		m.peakMB = max(m.peakMB, c.peakMB)
	}
	return m
}

// compare makes comparisons and prints them as a table.
func (b *bench) compare(all []comparison) error {
	b.print("\n| question | ibid | CPU s | peak MB | peer | CPU s | peak MB | ratio | aim |\n|---|---|--:|--:|---|--:|--:|--:|--:|\n")
	var missing []string
	for _, c := range all {
		if !b.only.MatchString(c.what) {
			continue
		}
		err := c.same()
		if err == nil {
			err = b.one(&c)
		}
		if errors.Is(err, errMissing) {
			missing = append(missing, fmt.Sprintf("%s: %v", c.what, err))
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	for _, m := range missing {
		b.print("\nLeft out: %s.\n", m)
	}
	return nil
}

func (b *bench) one(c *comparison) error {
	got, err := b.measure(c.ours, c.theirs)
	if err != nil {
		return err
	}
	ours := c.ours.name
	if c.rows > 0 {
		ours += fmt.Sprintf(" (%.2f µs a row)", float64(got[0].cpu.Nanoseconds())/1e3/float64(c.rows))
	}
	peer := c.theirs.name
	if c.theirs.parts > 1 {
		peer += fmt.Sprintf(", 1/%d of the task", c.theirs.parts)
	}
	aim := ""
	if c.reach > 0 {
		aim = "≤ " + ratio(c.reach)
	}
	b.print("| %s | %s | %.2f | %.0f | %s | %.2f | %.0f | %s | %s |\n", c.what, ours, got[0].cpu.Seconds(), got[0].peakMB,
		peer, got[1].cpu.Seconds(), got[1].peakMB, ratio(got[0].cpu.Seconds()/got[1].cpu.Seconds()), aim)
	return nil
}

// ratio writes a small ratio as a fraction.
func ratio(r float64) string {
	if r < 0.3 {
		return fmt.Sprintf("1/%.0f", 1/r)
	}
	return fmt.Sprintf("%.2f", r)
}

// machine says what the figures are from.
func (b *bench) machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.SplitSeq(string(text), "\n") {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	versions := []string{strings.Replace(runtime.Version(), "go", "Go ", 1)}
	for _, command := range [][]string{{b.duck(), "SELECT 'DuckDB ' || version()"}, {"bedtools", "--version"}, {b.python, "-c", "import scipy; print('scipy', scipy.__version__)"}} {
		if _, out, err := run(command); err == nil {
			versions = append(versions, strings.TrimSpace(string(out)))
		}
	}
	return fmt.Sprintf("%d cores, %s; %s; medians of %d runs in turn, starts of programs subtracted.", runtime.NumCPU(), model, strings.Join(versions, ", "), b.times)
}
