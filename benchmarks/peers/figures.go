//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// A figure is a command at a size that people meet, and what it may take.
type figure struct {
	what      string
	side      side
	prepare   func() error
	cpu, peak float64 // seconds and MB that are aimed at, 0 for none
}

// figures measures commands of ibid by themselves.
func (b *bench) figures() error {
	b.print("\n| command | CPU s | aim | peak MB | aim |\n|---|--:|--:|--:|--:|\n")
	for _, f := range b.allFigures() {
		if !b.only.MatchString(f.what) {
			continue
		}
		err := f.prepare()
		if err == nil {
			err = b.figure(&f)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.what, err)
		}
	}
	return nil
}

func (b *bench) figure(f *figure) error {
	f.side.start = []string{b.ibid, "version"}
	got, err := b.measure(f.side)
	if err != nil {
		return err
	}
	aim := func(v float64) string {
		if v == 0 {
			return ""
		}
		return "≤ " + strconv.FormatFloat(v, 'g', -1, 64)
	}
	b.print("| %s | %.2f | %s | %.0f | %s |\n", f.what, got[0].cpu.Seconds(), aim(f.cpu), got[0].peakMB, aim(f.peak))
	return nil
}

func (b *bench) allFigures() []figure {
	large, other := filepath.Join(b.dir, "large"), filepath.Join(b.dir, "other")
	many, sliced := filepath.Join(b.dir, "many-systems"), filepath.Join(b.dir, "many-slices")
	page, out := filepath.Join(b.dir, "page", "small"), filepath.Join(b.dir, "out") // beside no other run, whose questions it would read
	ids := b.dataset(shape{rows: b.rows, systems: 1, shuffled: true})
	newer := b.dataset(shape{rows: b.rows, systems: 1, shuffled: true, seed: 1})
	small := b.dataset(shape{rows: 10_000, systems: 1})
	rows := func(n int64) string { return fmt.Sprintf("%g million rows", float64(n)/1e6) }
	command := func(args ...string) side { return side{run: append([]string{b.ibid}, args...), leave: out} }
	middle := fmt.Sprintf("q-%08d", b.rows/2)
	return []figure{
		{"`sample` of " + rows(b.rows), command("sample", ids.path, "-o", out, "-q"), b.all(ids), 3, 0},
		{"`show ROW` of " + rows(b.rows) + ", ids in no order", command("show", large, middle, "-o", out, "-q"), b.all(ids, b.ran(large, ids)), 0.1, 0},
		{"`show --failing` of " + rows(b.rows), command("show", large, "--failing", "-o", out, "-q"), b.all(ids, b.ran(large, ids)), 0, 200},
		{"`show --failing --format csv` of " + rows(b.rows), command("show", large, "--failing", "--format", "csv", "-o", out, "-q"), b.all(ids, b.ran(large, ids)), 0, 200},
		{
			"`compare` of two runs of " + rows(b.rows), command("compare", large, other, "-o", out, "-q"),
			b.all(ids, newer, b.ran(large, ids), b.ran(other, newer)), 2, 200,
		},
		{"`report` of " + rows(b.rows), command("report", large, "-o", out, "-q"), b.all(ids, b.ran(large, ids)), 10, 300},
		b.system(many, 3),
		b.slices(sliced),
		{
			"`report` of 10,000 rows", command("report", page, "-o", out, "-q"),
			b.all(small, b.ran(page, small)), 1, 0,
		},
	}
}

// system is a run of a thousand systems.
func (b *bench) system(dir string, rows int64) figure {
	data := b.dataset(shape{rows: rows, systems: 1000})
	s := side{run: b.runArgs(dir, data), leave: dir}
	return figure{fmt.Sprintf("`run` of 1,000 systems with %d rows each", rows), s, b.all(data), 0, 300}
}

// slices is a run of 10,000 rows with as many values of a tag.
func (b *bench) slices(dir string) figure {
	data := b.dataset(shape{rows: 20_000, systems: 1, tagged: true})
	s := side{run: b.runArgs(dir, data, "--set", "slices=[topic]"), leave: dir}
	return figure{"`run` of 20,000 rows in 10,000 slices", s, b.all(data), 0, 300}
}

// A step makes what a figure needs.
type step struct {
	path string
	make func() error
}

func (b *bench) all(steps ...step) func() error {
	return func() error {
		for _, s := range steps {
			if err := s.make(); err != nil {
				return err
			}
		}
		return nil
	}
}

// dataset is a dataset that is made if it is not there.
func (b *bench) dataset(s shape) step {
	return step{filepath.Join(b.dir, s.file()), func() error { _, err := b.answers(s); return err }}
}

// ran is a run that is made if it is not there.
func (b *bench) ran(dir string, data step) step {
	return step{dir, func() error {
		if _, err := os.Stat(dir); err == nil {
			return nil
		}
		_, _, err := run(b.runArgs(dir, data))
		return err
	}}
}

func (b *bench) runArgs(dir string, data step, more ...string) []string {
	return slices.Concat([]string{b.ibid, "run", data.path, "--judge", "none", "--out", filepath.Dir(dir), "--id", filepath.Base(dir), "-q", "-o", os.DevNull}, more)
}
