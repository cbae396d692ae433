package cli

import (
	"bytes"
	"strings"
	"testing"
)

// What is gone is refused with exit code 2 and one sentence that says what to do instead.
func TestGone(t *testing.T) {
	check := func(args []string, message, instead string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		want := "ibid: " + message + "\nhint: " + instead + "\n"
		if code != ExitUsage || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("ibid %s: exit %d, got:\n%s%swant exit %d:\n%s", strings.Join(args, " "), code, stdout.String(), stderr.String(), ExitUsage, want)
		}
		if strings.Contains(strings.TrimSuffix(instead, "."), ". ") {
			t.Errorf("ibid %s: more than one sentence: %s", strings.Join(args, " "), instead)
		}
	}
	for line := range strings.Lines(goneText) {
		gone, instead, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		kind, name, _ := strings.Cut(gone, " ")
		words := strings.Fields(name)
		last := words[len(words)-1]
		switch kind {
		case "command":
			check(words, "the command ibid "+name+" is gone", instead)
			check(append(words, "runs/a", "--no-flag", "3"), "the command ibid "+name+" is gone", instead)
		case "format":
			check([]string{words[0], "runs/a", "--format", last}, "the format "+last+" is gone", instead)
		case "flag":
			if len(words) == 1 {
				words = []string{"run", last}
			}
			check(append(words, "value"), "the flag "+last+" is gone", instead)
		default:
			t.Errorf("gone.txt: %q", line)
		}
	}
}
