//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"ibid/benchmarks/program"
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

// measure lets the sides take turns, starts included, and returns the median cost of each.
func (b *bench) measure(sides ...side) ([]program.Cost, error) {
	works, starts := make([][]program.Cost, len(sides)), make([][]program.Cost, len(sides))
	for range b.times {
		for i, s := range sides {
			c, _, err := program.Run(s.run...)
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
			if c, _, err = program.Run(s.start...); err != nil {
				return nil, err
			}
			starts[i] = append(starts[i], c)
		}
	}
	out := make([]program.Cost, len(sides))
	for i := range sides {
		out[i] = median(works[i])
		if len(starts[i]) > 0 {
			out[i].CPU -= median(starts[i]).CPU
		}
		out[i].CPU *= time.Duration(max(1, sides[i].parts))
	}
	return out, nil
}

// median is the median of CPU and of peaks.
func median(all []program.Cost) (m program.Cost) {
	byCPU := slices.SortedFunc(slices.Values(all), func(a, b program.Cost) int { return int(a.CPU - b.CPU) })
	m.CPU = byCPU[len(all)/2].CPU
	for _, c := range all {
		m.PeakMB = max(m.PeakMB, c.PeakMB)
	}
	return m
}

// compare makes comparisons and prints them as a table.
func (b *bench) compare(all []comparison) error {
	fmt.Printf("\n| question | ibid | CPU s | peak MB | peer | CPU s | peak MB | ratio | aim |\n|---|---|--:|--:|---|--:|--:|--:|--:|\n")
	var missing []string
	for _, c := range all {
		if !b.only.MatchString(c.what) {
			continue
		}
		err := c.same()
		if err == nil {
			err = b.one(&c)
		}
		if errors.Is(err, program.ErrMissing) {
			missing = append(missing, fmt.Sprintf("%s: %v", c.what, err))
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	for _, m := range missing {
		fmt.Printf("\nLeft out: %s.\n", m)
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
		ours += fmt.Sprintf(" (%.2f µs a row)", float64(got[0].CPU.Nanoseconds())/1e3/float64(c.rows))
	}
	peer := c.theirs.name
	if c.theirs.parts > 1 {
		peer += fmt.Sprintf(", 1/%d of the task", c.theirs.parts)
	}
	aim := ""
	if c.reach > 0 {
		aim = "≤ " + ratio(c.reach)
	}
	fmt.Printf("| %s | %s | %.2f | %.0f | %s | %.2f | %.0f | %s | %s |\n", c.what, ours, got[0].CPU.Seconds(), got[0].PeakMB,
		peer, got[1].CPU.Seconds(), got[1].PeakMB, ratio(got[0].CPU.Seconds()/got[1].CPU.Seconds()), aim)
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
		if _, out, err := program.Run(command...); err == nil {
			versions = append(versions, strings.TrimSpace(string(out)))
		}
	}
	return fmt.Sprintf("%d cores, %s; %s; medians of %d runs in turn, starts of programs subtracted.", runtime.NumCPU(), model, strings.Join(versions, ", "), b.times)
}
