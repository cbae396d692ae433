package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestCI rehearses deploy/ci against a bare repository: a pull request that makes answers
// worse, and one that does not.
func TestCI(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	script, err := filepath.Abs(filepath.Join("..", "..", "deploy", "ci", "evaluate.sh"))
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	environ := append(os.Environ(), "HOME="+dir, "ANNOTATIONS=github", "LINK=https://ci.example/page",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org", "GIT_CONFIG_NOSYSTEM=1")
	sh := func(in, line string) (text string, code int) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", line)
		cmd.Dir, cmd.Env = in, environ
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return string(out), exit.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		return string(out), 0
	}
	must := func(in, line string) {
		t.Helper()
		if out, code := sh(in, line); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", line, code, out)
		}
	}
	must(dir, `git init -q --bare origin.git && git clone -q origin.git work 2>/dev/null`)
	must(work, `git checkout -q -b main && ibid init -q . && cp answers.parquet good.parquet && git add -A && git commit -qm answers && git push -q origin main`)
	must(work, `git checkout -q -b worse && cp answers-2.parquet answers.parquet && git commit -qam worse && git push -q origin worse`)
	must(work, `git checkout -q main && git checkout -q -b same && echo notes > notes.txt && git add -A && git commit -qm notes && git push -q origin same`)

	for branch, want := range map[string]int{"worse": 3, "same": 0} {
		must(work, "git checkout -q "+branch)
		out, code := sh(work, "sh '"+script+"' ibid.yaml main '"+filepath.Join(dir, branch)+"' --gate 'diff(overall_citation_accuracy)[system=pointer] >= -0.05'")
		if code != want {
			t.Errorf("%s: exit code %d, want %d\n%s", branch, code, want, out)
		}
		if got := strings.Contains(out, "::error"); got != (want == 3) {
			t.Errorf("%s: annotations: %t\n%s", branch, got, out)
		}
		comment, err := os.ReadFile(filepath.Join(dir, branch, "comment.md"))
		if err != nil {
			t.Fatal(err)
		}
		verdict := map[int]string{3: "## ❌ ibid: 1 of 5 gates failed.\n", 0: "## ✅ ibid: 5 gates passed.\n"}[want]
		if !strings.HasPrefix(string(comment), verdict) || strings.Contains(string(comment), "Since base: pointer is worse on overall") != (want == 3) ||
			!strings.Contains(string(comment), " [page](https://ci.example/page)\n") {
			t.Errorf("%s: the comment is\n%s", branch, comment)
		}
		junit, err := os.ReadFile(filepath.Join(dir, branch, "junit.xml"))
		if err != nil {
			t.Fatal(err)
		}
		if failed := strings.Contains(string(junit), "diff(overall_citation_accuracy)[system=pointer]"); !failed {
			t.Errorf("%s: JUnit has no case of the gate:\n%s", branch, junit)
		}
		if _, err := os.Stat(filepath.Join(dir, branch, "head", "report.html")); err != nil {
			t.Error(err)
		}
		if left, _ := sh(work, "git worktree list"); strings.Count(left, "\n") != 1 {
			t.Errorf("%s: worktrees left:\n%s", branch, left)
		}
	}
}

// TestCIFiles: action and job are YAML and call the script that is tested.
func TestCIFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"action.yml", "gitlab.yml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "ci", name))
		if err != nil {
			t.Fatal(err)
		}
		var parsed map[string]any
		if err := yaml.Unmarshal(text, &parsed); err != nil || len(parsed) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(string(text), "evaluate.sh") {
			t.Errorf("%s does not call evaluate.sh", name)
		}
	}
}
