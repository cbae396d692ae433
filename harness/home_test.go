package harness_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestHome: make home renames the module in a copy of it. All of it is still sound, and a
// module elsewhere runs the examples of metrics and judge.
func TestHome(t *testing.T) {
	t.Parallel()
	if testing.Short() || underRace() {
		t.Skip("builds the module a second time")
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make")
	}
	const home = "example.org/someone/ibid"
	dir := t.TempDir()
	renamed, outside := filepath.Join(dir, "ibid"), filepath.Join(dir, "outside")
	copyModule(t, renamed)
	must := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "CGO_ENABLED=0") // as make build: what is compiled does not depend on the folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	must(renamed, "make", "home", "MODULE="+home)
	if left := must(renamed, "sh", "-c", `grep -rnE '^\s*(import )?"ibid["/]' --include='*.go' . || true`); left != "" {
		t.Errorf("imports of the old path:\n%s", left)
	}
	must(renamed, "go", "vet", ".", "./metrics/...", "./judge", "./configs") // ./... passes, too, and takes a minute

	for _, room := range []string{"metrics", "judge"} {
		text, err := os.ReadFile(filepath.Join(renamed, room, "example_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(outside, room), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, room, "example_test.go"), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} { // the modules that both need, at the same versions
		text, err := os.ReadFile(filepath.Join(renamed, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	must(outside, "go", "mod", "edit", "-module", "example.org/outside", "-require", home+"@v0.0.0", "-replace", home+"=../ibid")
	out := must(outside, "go", "test", "-v", "./...")
	if strings.Count(out, "--- PASS: Example") < 2 {
		t.Errorf("no examples were run:\n%s", out)
	}
}

func underRace() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// copyModule copies what the repository has, without what was built.
func copyModule(t *testing.T, to string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `tar -cf - --exclude=.git --exclude=./bin --exclude=./runs --exclude=./dist . | tar -xf - -C "$0"`, to)
	cmd.Dir = ".."
	if err := os.MkdirAll(to, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
