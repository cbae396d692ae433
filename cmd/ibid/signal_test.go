package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ibid/dataset/runs"
)

// interruptAttempts is how often scriptInterrupt tries to catch a run in the
// middle; the first one all but always does.
const interruptAttempts = 20

// scriptInterrupt starts a run, which will land in DIR, and sends it a signal
// when two of its parts are done and others are not. The run must end with
// the exit code N; what it printed is there for stdout and stderr.
//
// The process is stopped while the state of the run is looked at, so the signal
// never comes too late to matter. A run that is over before it could be stopped
// says nothing and is tried again.
func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 4, "interrupt INT|TERM N DIR command...")
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[0]]
	usage(ts, sig != 0, "interrupt INT|TERM N DIR command...")
	dir := ts.MkAbs(args[2])
	for range interruptAttempts {
		ts.Check(os.RemoveAll(dir))
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(args[3], args[4:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &stdout, &stderr
		caught, err := signalMidway(cmd, dir, sig)
		switch {
		case err == nil || !caught && errors.Is(err, errOver):
			continue
		case itoa(exitCode(err)) != args[1]:
			ts.Fatalf("caught in the middle: %t, %v, want exit code %s; stderr:\n%s", caught, err, args[1], &stderr)
		}
		_, err = ts.Stdout().Write(stdout.Bytes())
		ts.Check(err)
		_, err = ts.Stderr().Write(stderr.Bytes())
		ts.Check(err)
		return
	}
	ts.Fatalf("the run ended %d times before it could be stopped: give it more rows", interruptAttempts)
}

// errOver means that a run was over before it could be stopped.
var errOver = errors.New("the run is over")

// signalMidway runs cmd and sends it sig when parts of the run in dir are done
// and the run is not; caught says that it was. The error is that of cmd, or
// errOver.
func signalMidway(cmd *exec.Cmd, dir string, sig syscall.Signal) (caught bool, err error) {
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for !partsDone(dir) {
		select {
		case err := <-ended:
			return false, err
		case <-time.After(time.Millisecond):
		}
	}
	if cmd.Process.Signal(syscall.SIGSTOP) != nil {
		return false, <-ended
	}
	m, err := runs.ReadManifestIfAny(dir)
	if err != nil || m == nil || m.Complete() {
		// Nobody stops a process that has been killed.
		_ = cmd.Process.Kill()
		<-ended
		return false, errors.Join(err, errOver)
	}
	for _, s := range []syscall.Signal{sig, syscall.SIGCONT} {
		if err := cmd.Process.Signal(s); err != nil {
			return false, err
		}
	}
	return true, <-ended
}

// partsDone reports whether the run in dir has two parts, or is over. A single
// part may be on disk before the run itself has heard of it.
func partsDone(dir string) bool {
	parts, _ := filepath.Glob(filepath.Join(dir, "parts", "*.rows"))
	m, _ := runs.ReadManifestIfAny(dir)
	return len(parts) > 1 || m != nil && m.Complete()
}

// TestInterruptedImport interrupts an import that waits for more of its input: it
// ends, and no file appears.
func TestInterruptedImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "ibid", "import", "jsonl", "-", "-o", "a.parquet", "--docs", "docs.parquet")
	cmd.Dir, cmd.Stderr = dir, &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte(`{"id": "1", "query": "q", "answer": "a"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	for begun := []string(nil); len(begun) < 2; begun, _ = filepath.Glob(filepath.Join(dir, ".*.tmp")) {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if got := exitCode(cmd.Wait()); got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
	if got, want := stderr.String(), "ibid: interrupted\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left, want nothing", err, left)
	}
}

// TestImportOfStreams: an import ends at once whatever it reads, also a pipe that stalls,
// or that nobody writes to, and a line without an end. Nothing is left.
func TestImportOfStreams(t *testing.T) {
	t.Parallel()
	stalled := func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if _, err := f.WriteString(`{"id": "1", "query": "q", "answer": "a"`); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, path, limit string
		write             func(t *testing.T, path string)
		kill              bool
		code              int
		stderr            string
	}{
		{"stalled pipe", "pipe", "1", stalled, true, 143, "interrupted"},
		{"pipe without a writer", "pipe", "1", nil, true, 143, "interrupted"},
		{"endless line", "/dev/zero", "1000", nil, true, 143, "interrupted"},
		{"endless line with a limit", "/dev/zero", "1", nil, false, 4, "over 67108864 bytes; nothing was written"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.path == "pipe" {
				if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tt.write != nil {
				tt.write(t, filepath.Join(dir, "pipe"))
			}
			var stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "ibid", "import", "jsonl", tt.path, "--limits", tt.limit, "-o", "a.parquet")
			cmd.Dir, cmd.Stderr = dir, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if tt.kill {
				for begun := []string(nil); len(begun) == 0; begun, _ = filepath.Glob(filepath.Join(dir, ".*.tmp")) {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(50 * time.Millisecond) // it reads
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
			}
			asked := time.Now()
			code := exitCode(cmd.Wait())
			if took := time.Since(asked); took > 10*time.Second {
				t.Errorf("it took %v to end", took)
			}
			if code != tt.code || !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("exit code %d, want %d; stderr:\n%s\nwant %q", code, tt.code, &stderr, tt.stderr)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*.parquet")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestImportCountsWhatIsLeftOut: of a million records that cannot be read for one reason,
// 50 are named and the others counted.
func TestImportCountsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := `{"id": "1", "query": "q", "answer": "a"}` + "\n" + strings.Repeat(`{"id": "2", "query": 7}`+"\n", 300) + strings.Repeat("{\n", 20)
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := command(t, dir, "import", "jsonl", "a.jsonl", "-o", "a.parquet")
	if n := strings.Count(stderr, "left out: a.jsonl:"); code != 4 || n != 70 || !strings.Contains(stderr, "left out: 250 more such as: ") {
		t.Errorf("exit code %d, %d records named, want 70; stderr:\n%s", code, n, stderr)
	}
}

// scriptResume runs the command that the last one told to go on with.
func scriptResume(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "resume")
	const mark = "hint: go on with: "
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if command, ok := strings.CutPrefix(line, mark); ok {
			ts.Check(ts.Exec("sh", "-c", command))
			return
		}
	}
	ts.Fatalf("no line of stderr begins with %q", mark)
}
