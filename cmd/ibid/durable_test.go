package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ibid/dataset/parquet"
	"ibid/dataset/runs"
)

// command runs ibid in dir and returns what it printed and its exit code.
func command(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "ibid", args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environ(dir), &out, &errs
	code = exitCode(cmd.Run())
	return out.String(), errs.String(), code
}

// mustIbid is command for what has to end with exit code 0.
func mustIbid(t *testing.T, dir string, args ...string) (stdout string) {
	t.Helper()
	stdout, stderr, code := command(t, dir, args...)
	if code != 0 {
		t.Fatalf("ibid %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// results reads the files of a run that may not differ.
func results(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for _, name := range resultFiles {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !ofTwoAnnotators(name) {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

// sameResults wants the run in dir to have the bytes of want.
func sameResults(t *testing.T, dir string, want map[string][]byte) {
	t.Helper()
	for name, data := range results(t, dir) {
		if !bytes.Equal(data, want[name]) {
			t.Errorf("%s: %s differs: %d bytes, want %d", dir, name, len(data), len(want[name]))
		}
	}
}

// testKilledPage wants one page of a run, whether it was killed on its way or not.
// Each run has a folder of its own, for a page sets a run beside the one before it.
func testKilledPage(t *testing.T) {
	page := func(kill bool) string {
		dir := t.TempDir()
		rows, args := durable()
		if err := writeAnswers(filepath.Join(dir, "answers.parquet"), rows); err != nil {
			t.Fatal(err)
		}
		run := filepath.Join(dir, "runs", "night")
		args = append(args, "--id", "night", "--workers", "1")
		began := func() bool {
			parts, _ := filepath.Glob(filepath.Join(run, "parts", "*.rows"))
			return len(parts) > 0
		}
		if kill && runUntil(t, dir, began, args...) {
			t.Fatal("the run was complete before it could be killed")
		}
		mustIbid(t, dir, args...)
		data, err := os.ReadFile(filepath.Join(run, "report.html"))
		if err != nil {
			t.Fatal(err)
		}
		return moments.ReplaceAllString(string(data), "MOMENT")
	}
	if whole, killed := page(false), page(true); whole != killed {
		t.Error("the page of a killed run differs: " + firstDifference(killed, whole))
	}
}

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC`)

// firstDifference is where two texts part, with a few bytes of both.
func firstDifference(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	from := max(0, n-40)
	return fmt.Sprintf("byte %d: %q and %q", n, a[from:min(len(a), n+60)], b[from:min(len(b), n+60)])
}

// durable is how many rows make twenty parts, and the arguments of their run.
func durable() (rows int, args []string) {
	return 5_000, []string{"run", "answers.parquet", "--judge", "none", "-q", "--set", "rows_per_part=256"}
}

// raced reports whether the race detector is on: then a run takes ten times as long.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// times is n in make night, else a quarter of it: with so many rows, a run dies no differently.
func times(n int) int {
	if os.Getenv("IBID_NIGHT") != "" {
		return n
	}
	return (n + 3) / 4
}

// TestDurability proves for the whole program that results depend on the input
// alone: not on the number of workers, and not on how often and when the run was
// killed. Killing with SIGKILL leaves no time to tidy up.
func TestDurability(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows, args := durable()
	if err := writeAnswers(filepath.Join(dir, "answers.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	command := func(id string, more ...string) []string {
		return slices.Concat(args, []string{"-o", "out-" + id, "--id", id}, more)
	}
	started := time.Now()
	mustIbid(t, dir, command("one", "--workers", "1")...)
	took := time.Since(started)
	want := results(t, filepath.Join(dir, "runs", "one"))
	severalParts(t, filepath.Join(dir, "runs", "one", runs.RowsFile))

	for _, workers := range []string{"2", "8"} {
		t.Run("workers="+workers, func(t *testing.T) {
			id := "workers-" + workers
			mustIbid(t, dir, command(id, "--workers", workers)...)
			sameResults(t, filepath.Join(dir, "runs", id), want)
		})
	}
	t.Run("killed", func(t *testing.T) { testKilled(t, dir, command, took, want) })
	t.Run("page", testKilledPage)
}

// severalParts wants a file of more than one row group: one for each part.
func severalParts(t *testing.T, path string) {
	t.Helper()
	f, err := parquet.OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.RowGroups() < 4 {
		t.Errorf("%s has %d row groups, want 4 or more for the test to mean something", path, f.RowGroups())
	}
}

// testKilled kills runs, every other one at a seeded moment of the time that one
// takes and the others after their first parts, and lets each go on until it is
// complete.
func testKilled(t *testing.T, dir string, command func(string, ...string) []string, took time.Duration, want map[string][]byte) {
	random := rand.New(rand.NewPCG(9, 9))
	killed, resumed, kills := 0, 0, times(10)
	for n := 0; killed < kills; n++ {
		id := "killed-" + itoa(n)
		run := filepath.Join(dir, "runs", id)
		for {
			parts := func() int {
				rows, _ := filepath.Glob(filepath.Join(run, "parts", "*.rows"))
				return len(rows)
			}
			started, before, moment := time.Now(), parts(), time.Duration(random.Float64()*float64(took))
			die := func() bool {
				if killed%2 == 0 { // the process removes the parts that were left
					n := parts()
					before = min(before, n)
					return n > before
				}
				return time.Since(started) > moment
			}
			if killed == kills {
				die = func() bool { return false }
			}
			if runUntil(t, dir, die, command(id, "--workers", itoa(1+random.IntN(3)))...) {
				break
			}
			killed++
			if parts() > 0 {
				resumed++
			}
		}
		sameResults(t, run, want)
		onlyResults(t, run, "agreement.parquet", "disagreements.json", "report.html")
		if killed < kills && n > 10*kills {
			t.Fatalf("only %d of %d runs could be killed", killed, n)
		}
	}
	t.Logf("killed %d times, with parts left %d times; a run takes %v", killed, resumed, took)
	if resumed == 0 {
		t.Error("no run was killed while it had parts: the test shows nothing about going on")
	}
}

// runUntil runs the command and kills it once something is true. It reports whether
// the command was done before.
func runUntil(t *testing.T, dir string, something func() bool, args ...string) bool {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "ibid", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, environ(dir), &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		for tick := time.Tick(time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick:
			}
			if something() {
				_ = cmd.Process.Kill()
				return
			}
		}
	}()
	err := cmd.Wait()
	close(done)
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case err == nil:
		return true
	case ok && status.Signaled() && status.Signal() == syscall.SIGKILL:
		return false
	}
	t.Fatalf("ibid %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	return false
}

// onlyResults wants nothing in a finished run but what belongs there: no parts,
// and no file under a temporary name.
func onlyResults(t *testing.T, run string, further ...string) {
	t.Helper()
	entries, err := os.ReadDir(run)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := append([]string{"citations.parquet", "manifest.json", "rows.parquet", "run.log", "summary.parquet"}, further...)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("%s holds %s, want %s", run, names, want)
	}
}

// TestCompleteRun runs a complete run again: exit code 0, the summary once more,
// and no file is touched.
func TestCompleteRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustIbid(t, dir, "init", "-q")
	// Rows that are errors would be tried again; in German there is none.
	args := []string{"run", "ibid.yaml", "--id", "one", "--judge", "none", "--set", "gates=[]", "--only", "lang=de"}
	first := mustIbid(t, dir, args...)
	run := filepath.Join(dir, "runs", "one")
	onlyResults(t, run, "agreement.parquet", "disagreements.json", "quotes.parquet", "report.html", "texts.parquet")
	before := modified(t, run)
	second, stderr, code := command(t, dir, append(args, "--workers", "2")...)
	if code != 0 || second != first {
		t.Errorf("exit code %d, want 0; summary\n%s\nwant\n%s", code, second, first)
	}
	if want := "ibid: runs/one is complete already; nothing was done\n"; !strings.Contains(stderr, want) {
		t.Errorf("stderr %q, want %q in it", stderr, want)
	}
	for name, at := range modified(t, run) {
		if !at.Equal(before[name]) {
			t.Errorf("%s was written again", name)
		}
	}
}

func modified(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string]time.Time)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		times[e.Name()] = info.ModTime()
	}
	return times
}

// TestSecondProcess stops a run in the middle and starts another one on the same
// directory: it is refused and changes nothing, and the first one ends well.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows, args := durable()
	if err := writeAnswers(filepath.Join(dir, "answers.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	args = append(args, "--id", "x")
	run := filepath.Join(dir, "runs", "x")
	for range interruptAttempts {
		first := exec.CommandContext(t.Context(), "ibid", args...)
		first.Dir = dir
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		if stopMidway(t, first, run) {
			_, stderr, code := command(t, dir, args...)
			want := regexp.MustCompile(`another ibid is working on this run: process ` + itoa(first.Process.Pid) + ` on ".*" since \d{4}-\d\d-\d\dT[\d:]+Z\nhint: wait for it, or choose another --id\n$`)
			if code != 1 || !want.MatchString(stderr) {
				t.Errorf("second process: exit code %d, stderr %q, want 1, %s", code, stderr, want)
			}
			if err := first.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if err := first.Wait(); err != nil {
				t.Errorf("first process: %v", err)
			}
			onlyResults(t, run, "agreement.parquet", "disagreements.json", "report.html")
			return
		}
		if err := os.RemoveAll(run); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("the run ended %d times before it could be stopped", interruptAttempts)
}

// stopMidway stops the process when parts of its run are done. It reports false,
// and has ended the process, if the whole run was.
func stopMidway(t *testing.T, cmd *exec.Cmd, run string) bool {
	t.Helper()
	for !partsDone(run) {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	m, err := runs.ReadManifestIfAny(run)
	if err != nil {
		t.Fatal(err)
	}
	if m != nil && !m.Complete() {
		return true
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return false
}
