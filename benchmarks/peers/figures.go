//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"ibid/benchmarks/program"
)

// figures measures commands of ibid by themselves on two runs of as many rows as -rows says.
func (b *bench) figures() error {
	first, err := b.answers(b.rows, 0)
	if err != nil {
		return err
	}
	second, err := b.answers(b.rows, 1)
	if err != nil {
		return err
	}
	large, other, out := filepath.Join(b.dir, "large"), filepath.Join(b.dir, "other"), filepath.Join(b.dir, "out")
	run := func(data, dir string) []string {
		return []string{"run", data, "--judge", "none", "--out", filepath.Dir(dir), "--id", filepath.Base(dir), "-q", "-o", os.DevNull}
	}
	fmt.Printf("\n| command, of %g million rows | CPU s | peak MB |\n|---|--:|--:|\n", float64(b.rows)/1e6)
	for _, f := range []struct {
		what string
		args []string
	}{
		{"`sample`", []string{"sample", first, "-o", out, "-q"}},
		{"`run`", run(first, large)},
		{"`run` of other answers", run(second, other)},
		{"`show ROW`, ids in no order", []string{"show", large, fmt.Sprintf("q-%08d", b.rows/2), "-o", out, "-q"}},
		{"`show --failing`", []string{"show", large, "--failing", "-o", out, "-q"}},
		{"`show --failing --format csv`", []string{"show", large, "--failing", "--format", "csv", "-o", out, "-q"}},
		{"`compare` of both runs", []string{"compare", large, other, "-o", out, "-q"}},
		{"`report`", []string{"report", large, "-o", out, "-q"}},
	} {
		cost, _, err := program.Run(append([]string{b.ibid}, f.args...)...)
		if err := errors.Join(err, os.RemoveAll(out)); err != nil {
			return err
		}
		fmt.Printf("| %s | %.2f | %.0f |\n", f.what, cost.CPU.Seconds(), cost.PeakMB)
	}
	return nil
}
