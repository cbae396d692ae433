package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGrowth: what a command costs grows with the rows and no faster. Four times the
// rows take four times the CPU time, start-up aside; something quadratic would take
// sixteen times, and eight is too much.
func TestGrowth(t *testing.T) {
	t.Parallel()
	if testing.Short() || raced() {
		t.Skip("-short, or the race detector, which adds its own time to each")
	}
	const few, factor, most = 4000, 4, 8
	small, large := growth(t, few), growth(t, factor*few)
	for _, name := range growing {
		// A tenth of a second is the least that can be told from chance.
		a, b := max(small[name], 100*time.Millisecond), large[name]
		t.Logf("%-8s %6.2f s, %6.2f s: × %.1f", name, small[name].Seconds(), b.Seconds(), float64(b)/float64(a))
		if b > most*a {
			t.Errorf("%s: %v for %d rows, %v for %d", name, small[name], few, b, factor*few)
		}
	}
}

// growing are the commands of TestGrowth, in their order.
var growing = []string{"check", "run", "again", "sample", "agree", "failing", "row", "compare", "gate", "report", "rescore"}

// growth is the CPU time of each command over n rows, without that of a start.
func growth(t *testing.T, n int) map[string]time.Duration {
	dir := t.TempDir()
	if err := writeAnswers(filepath.Join(dir, "a.parquet"), n); err != nil {
		t.Fatal(err)
	}
	took := make(map[string]time.Duration)
	lines := [][2]string{
		{"start", "version"},
		{"check", "check a.parquet"},
		{"run", "run a.parquet --judge none --id a"},
		{"again", "run a.parquet --judge none --id b"},
		{"sample", "sample a.parquet -o blind"},
		{"agree", "agree a.parquet"},
		{"failing", "show runs/a --failing"},
		{"row", "show runs/a q-000001/left"},
		{"compare", "compare runs/a runs/b"},
		{"gate", "gate runs/a --gate char_f1>=0"},
		{"report", "report runs/a -o page.html"},
		{"rescore", "rescore runs/a"},
	}
	for _, line := range lines {
		took[line[0]] = cpuTime(t, dir, strings.Fields(line[1])...)
	}
	for name := range took {
		if name != "start" {
			took[name] = max(0, took[name]-took["start"])
		}
	}
	return took
}

// cpuTime runs a command, whatever its exit code, unless it cannot be used so.
func cpuTime(t *testing.T, dir string, args ...string) time.Duration {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "ibid", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if code := exitCode(err); code == 2 || code < 0 {
		t.Fatalf("ibid %q: exit code %d\n%s", args, code, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
