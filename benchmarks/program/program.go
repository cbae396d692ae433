//go:build unix

// Package program runs ibid and other programs as their users do: as processes, with the
// CPU and memory that the kernel counts, and results as CSV.
package program

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrMissing says that a program is not installed.
var ErrMissing = errors.New("is not installed")

// A Cost is the time and memory that a process took.
type Cost struct {
	Wall, CPU time.Duration // CPU is user + system time
	PeakMB    float64       // largest resident set
}

// Run runs a command and returns its cost and standard output.
func Run(args ...string) (c Cost, out []byte, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	if out, err = cmd.Output(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return c, nil, fmt.Errorf("%s %w", args[0], ErrMissing)
		}
		return c, nil, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	c.Wall, c.CPU = time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.PeakMB = float64(usage.Maxrss) / 1024
	}
	return c, out, nil
}

// A Row is a line of a table by the names of its columns. Empty cells are null.
type Row map[string]string

// Number returns a number of the row, false if it is null.
func (r Row) Number(column string) (float64, bool) {
	v, err := strconv.ParseFloat(r[column], 64)
	return v, err == nil
}

// Table runs a command that prints CSV and returns its rows.
func Table(args ...string) ([]Row, error) {
	_, out, err := Run(args...)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("%s: no table: %w", strings.Join(args, " "), err)
	}
	rows := make([]Row, len(lines)-1)
	for i, line := range lines[1:] {
		rows[i] = make(Row, len(line))
		for k, name := range lines[0] {
			rows[i][name] = line[k]
		}
	}
	return rows, nil
}
