package duckdb

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

var ibidFlag = flag.String("ibid", "", "the program under test; built from the tree around this module when empty")

// program is the absolute path of the program under test; scratch a folder for
// what several tests share.
var program, scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "ibid-duckdb-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	scratch = dir
	if program, err = findProgram(dir); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

func findProgram(dir string) (string, error) {
	if *ibidFlag != "" {
		path, err := filepath.Abs(*ibidFlag)
		if err != nil {
			return "", err
		}
		_, err = os.Stat(path)
		return path, err
	}
	path := filepath.Join(dir, "ibid")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./cmd/ibid")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/ibid: %w\n%s", err, out)
	}
	return path, nil
}

// An outcome is how one call of the program ended.
type outcome struct {
	exit           int
	stdout, stderr string
}

// call runs the program in dir and returns how it ended.
func call(dir string, args ...string) (outcome, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "IBID_") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		err = nil
	}
	return outcome{exit: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}, err
}

// ibid runs the program in dir and wants it to succeed; it returns what the
// program said on standard output.
func ibid(t *testing.T, dir string, args ...string) string {
	t.Helper()
	got, err := call(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	if got.exit != 0 {
		t.Fatalf("ibid %s: exit %d\n%s", strings.Join(args, " "), got.exit, got.stderr)
	}
	return got.stdout
}

// A runDir is a run directory, as the paths of its files.
type runDir struct{ rows, citations, summary string }

// evaluate runs a dataset in dir under the given name, without a judge.
func evaluate(t *testing.T, dir, source, name string, args ...string) runDir {
	t.Helper()
	ibid(t, dir, append([]string{"run", source, "--judge", "none", "--id", name, "-q"}, args...)...)
	return inRunDir(filepath.Join(dir, "runs", name))
}

func inRunDir(dir string) runDir {
	return runDir{
		rows:      filepath.Join(dir, "rows.parquet"),
		citations: filepath.Join(dir, "citations.parquet"),
		summary:   filepath.Join(dir, "summary.parquet"),
	}
}

// A sampleRun is the sample of ibid init and its results.
type sampleRun struct {
	runDir
	dir     string // run directory
	answers string
}

// sample makes the sample and runs it as its people judge it, once for all tests; words is
// its run by the offline judge.
func sample(t *testing.T) sampleRun {
	t.Helper()
	return sampleOf(t, "sample")
}

func words(t *testing.T) sampleRun {
	t.Helper()
	return sampleOf(t, "words")
}

func sampleOf(t *testing.T, id string) sampleRun {
	t.Helper()
	dir := filepath.Join(scratch, "sample")
	if err := sampleOnce(dir); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "runs", id)
	return sampleRun{runDir: inRunDir(run), dir: run, answers: filepath.Join(dir, "answers.parquet")}
}

var (
	sampleDone sync.Once
	sampleErr  error
)

func sampleOnce(dir string) error {
	sampleDone.Do(func() {
		if sampleErr = os.Mkdir(dir, 0o755); sampleErr != nil {
			return
		}
		for _, args := range [][]string{
			{"init", dir, "-q"},
			{"run", "ibid.yaml", "--id", "sample", "-q"},
			{"run", "ibid.yaml", "--judge", "lexical", "--set", "gates=[]", "--id", "words", "-q"},
		} {
			got, err := call(dir, args...)
			if err == nil && got.exit != 0 {
				err = fmt.Errorf("ibid %s: exit %d\n%s", strings.Join(args, " "), got.exit, got.stderr)
			}
			if err != nil {
				sampleErr = err
				return
			}
		}
	})
	return sampleErr
}
